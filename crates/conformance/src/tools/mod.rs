//! The tools of the rules.

pub mod clock;
mod depth;
mod forgotten;
pub(crate) mod form;
mod hook;
mod panics;
mod platform;
mod random;
pub mod subject;
mod task;
mod waker;

pub use depth::{Depth, Watched, assert_outside, sections};
pub use forgotten::{forget, remember};
pub use hook::{Hook, Slot, hook};
pub use panics::panics;
pub use platform::Platform;
pub use random::Random;
pub use task::Task;
pub use waker::{Count, Hooks, counting_waker, hooked_waker};

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

/// A future on the heap, which a test can move and drop while the future is queued.
pub type Boxed<F> = Pin<Box<F>>;

/// Polls once.
pub fn poll_once<F: Future + ?Sized>(future: &mut Pin<Box<F>>, waker: &Waker) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(waker))
}

/// Asserts that one poll is `Ready`; returns the output.
#[track_caller]
pub fn ready<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> F::Output {
    match poll_once(future, Waker::noop()) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("expected Ready, found Pending"),
    }
}

/// Polls a new future once, which must be pending. Returns the future and the counter of its wakes.
#[track_caller]
pub fn queued<F: Future>(future: F) -> (Boxed<F>, std::sync::Arc<Count>) {
    let mut future = Box::pin(future);
    let (waker, count) = counting_waker();
    assert!(poll_once(&mut future, &waker).is_pending(), "expected Pending, found Ready");
    (future, count)
}

/// Asserts that one poll, with a new waker, is `Pending`.
#[track_caller]
pub fn assert_pending<F: Future + ?Sized>(future: &mut Pin<Box<F>>) {
    assert!(poll_once(future, Waker::noop()).is_pending(), "expected Pending, found Ready");
}

//! Waiting with a thread instead of a task.

extern crate std;

use crate::acquire::{Acquire, Request};
use crate::call_site::CallSite;
use crate::platform::Platform;
use crate::wait;
use alloc::sync::Arc;
use alloc::task::Wake;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use std::thread::{self, Thread};

/// Unparks the thread that made it.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn thread_waker() -> Waker {
    Waker::from(Arc::new(Unpark(thread::current())))
}

std::thread_local! {
    // One for each thread, so that a wait allocates nothing.
    static WAKER: Waker = thread_waker();
}

/// Acquires, if need be by parking the thread.
///
/// Every `blocking_…` method without a limit is a call of this one, so that each asks the platform first.
#[track_caller]
pub(crate) fn acquire<R: Request>(request: R) -> R::Guard {
    R::Platform::before_blocking();
    let call_site = CallSite::here();
    if wait::try_acquire(request.lock(), call_site) {
        // SAFETY: `try_acquire` said that the caller owns it.
        return unsafe { request.into_guard(call_site) };
    }
    drive(Acquire::at(call_site, request), Acquire::poll_now, |_| thread::park())
}

/// Polls a future until it is ready. `park` parks the thread in between, until it is unparked or it is time for a poll.
pub(crate) fn drive<F, T>(
    future: F,
    poll: impl Fn(Pin<&mut F>, &mut Context<'_>) -> Poll<T>,
    park: impl Fn(Pin<&F>),
) -> T {
    // While a thread ends its locals may be gone already.
    let waker = WAKER.try_with(Waker::clone).unwrap_or_else(|_| thread_waker());
    let mut future = pin!(future);
    let mut cx = Context::from_waker(&waker);
    if let Poll::Ready(output) = poll(future.as_mut(), &mut cx) {
        return output;
    }
    let _token = GiveTokenBack;
    loop {
        // An unpark that comes between the poll and the park makes the park return at once.
        park(future.as_ref());
        if let Poll::Ready(output) = poll(future.as_mut(), &mut cx) {
            return output;
        }
    }
}

/// A thread has one token for all its unparks. A wait may have taken one that was meant for whoever parks next; a token
/// too many only makes that one look once more.
struct GiveTokenBack;

impl Drop for GiveTokenBack {
    fn drop(&mut self) {
        thread::current().unpark();
    }
}

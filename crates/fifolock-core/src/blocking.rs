//! Waiting with a thread instead of a task.

extern crate std;

use alloc::sync::Arc;
use alloc::task::Wake;
use core::future::Future;
use core::pin::pin;
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

/// Parks the thread until the future is ready.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    // While a thread ends its locals may be gone already.
    let waker = WAKER.try_with(Waker::clone).unwrap_or_else(|_| thread_waker());
    let mut future = pin!(future);
    let mut cx = Context::from_waker(&waker);
    if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
        return output;
    }
    let _token = GiveTokenBack;
    loop {
        // An unpark that comes between the poll and the park makes the park return at once.
        thread::park();
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
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

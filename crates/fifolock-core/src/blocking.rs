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

    fn wake_by_ref(self: &Arc<Self>) {
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
    loop {
        // An unpark that comes between the poll and the park makes the park return at once; one that is meant for
        // somebody else only makes for one more poll.
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

//! Lock operations that give up when another future is ready.

use crate::acquire::{Acquire, Request};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;

pin_project! {
    /// A lock operation that waits until another future is ready: what `lock_until` and its like return.
    ///
    /// Its output is `Ok` with the guard, or `Err` with the other future's output, and for an upgrade also the upgradable guard
    /// ([`UpgradeError`](crate::error::UpgradeError)). A grant that is there when a poll
    /// begins wins; once the other future has given its output, that is returned, and a grant that came meanwhile is
    /// passed on. If the lock is free at once, the other future is dropped without having been polled.
    ///
    /// # Cancel safety
    ///
    /// As [`Acquire`]: dropping it gives up its place, or passes on what it had been granted.
    ///
    /// # Panics
    ///
    /// When polled after it was ready, and where the other future does.
    #[must_use = "a lock future does nothing until it is polled: `.await` it"]
    pub struct Until<R: Request, F> {
        // Before the other future: a waiter leaves the queue before foreign code is dropped.
        #[pin]
        acquire: Acquire<R>,
        #[pin]
        other: Option<F>,
    }
}

impl<R: Request, F> Until<R, F> {
    /// An operation of the caller.
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub(crate) fn new(request: R, other: F) -> Self {
        Self { acquire: Acquire::new(request), other: Some(other) }
    }
}

impl<R: Request, F: Future> Future for Until<R, F> {
    type Output = Result<R::Guard, R::Failed<F::Output>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Poll::Ready(guard) = this.acquire.as_mut().poll(cx) {
            this.other.set(None);
            return Poll::Ready(Ok(guard));
        }
        // The task has to give way before anything is tried. The lock may be free, and then the other is not polled.
        if this.acquire.as_mut().is_idle() {
            return Poll::Pending;
        }
        match this.other.as_mut().as_pin_mut().map(|other| other.poll(cx)) {
            Some(Poll::Ready(output)) => {
                let kept = this.acquire.give_up();
                this.other.set(None);
                Poll::Ready(Err(R::failed(kept, output)))
            }
            _ => Poll::Pending,
        }
    }
}

impl<R: Request, F> fmt::Debug for Until<R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Until").field("waits_for", &R::KIND).finish_non_exhaustive()
    }
}

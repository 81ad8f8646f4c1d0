//! Lock operations with a limit to their wait, written once over [`Timer`].

use crate::acquire::{Acquire, Request};
use crate::diagnostics::Place;
use crate::error::TimeoutError;
use crate::platform::Timer;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time;
use pin_project_lite::pin_project;

type Duration<R> = <<R as crate::acquire::sealed::Operations>::Platform as Timer>::Duration;
type Instant<R> = <<R as crate::acquire::sealed::Operations>::Platform as Timer>::Instant;
type Sleep<R> = <<R as crate::acquire::sealed::Operations>::Platform as Timer>::Sleep;

pin_project! {
    /// A lock operation that waits no longer than a duration: what `lock_timeout` and its like return.
    ///
    /// The time runs from the first poll. The sleep is made only when the operation has to wait, and is gone when it
    /// ends. Its output is the guard, or a [`TimeoutError`].
    ///
    /// # Cancel safety
    ///
    /// As [`Acquire`]: dropping it gives up its place, or passes on what it had been granted.
    ///
    /// # Panics
    ///
    /// When polled after it was ready, and where the runtime's timer does.
    #[must_use = "a lock future does nothing until it is polled: `.await` it"]
    pub struct Timeout<R: Request>
    where
        R::Platform: Timer,
    {
        // Before the sleep: a waiter leaves the queue before its sleep is dropped.
        #[pin]
        acquire: Acquire<R>,
        timeout: Duration<R>,
        #[pin]
        sleep: Option<Sleep<R>>,
    }
}

pin_project! {
    /// A lock operation that waits until a point in time: what `lock_deadline` and its like return.
    ///
    /// A deadline that has passed is one attempt: the guard if the lock is free, else [`TimeoutError::Elapsed`]. The
    /// clock is asked only if the lock is not free, and the sleep made only when the operation has to wait.
    ///
    /// # Cancel safety
    ///
    /// As [`Acquire`]: dropping it gives up its place, or passes on what it had been granted.
    ///
    /// # Panics
    ///
    /// When polled after it was ready, and where the runtime's timer does.
    #[must_use = "a lock future does nothing until it is polled: `.await` it"]
    pub struct Deadline<R: Request>
    where
        R::Platform: Timer,
    {
        #[pin]
        acquire: Acquire<R>,
        deadline: Instant<R>,
        #[pin]
        sleep: Option<Sleep<R>>,
    }
}

impl<R: Request> Timeout<R>
where
    R::Platform: Timer,
{
    /// An operation of the caller.
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub(crate) fn new(request: R, timeout: Duration<R>) -> Self {
        Self::at(Place::here(), request, timeout)
    }

    /// An operation for whoever asked at `place`.
    #[inline]
    pub(crate) fn at(place: Place, request: R, timeout: Duration<R>) -> Self {
        Self { acquire: Acquire::at(place, request), timeout, sleep: None }
    }
}

impl<R: Request> Deadline<R>
where
    R::Platform: Timer,
{
    /// An operation of the caller.
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub(crate) fn new(request: R, deadline: Instant<R>) -> Self {
        Self { acquire: Acquire::new(request), deadline, sleep: None }
    }
}

impl<R: Request> Future for Timeout<R>
where
    R::Platform: Timer,
{
    type Output = Result<R::Guard, TimeoutError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let timeout = *this.timeout;
        if this.acquire.is_new() && R::Platform::is_zero(timeout) {
            this.acquire.give_up();
            return Poll::Ready(Err(TimeoutError::InvalidTimeout));
        }
        if let Poll::Ready(guard) = this.acquire.as_mut().poll(cx) {
            this.sleep.set(None);
            return Poll::Ready(Ok(guard));
        }
        poll_sleep(this.acquire, this.sleep, cx, || R::Platform::sleep(timeout))
            .map(|guard| guard.ok_or_else(|| elapsed::<R>(Some(R::Platform::to_core(timeout)))))
    }
}

impl<R: Request> Future for Deadline<R>
where
    R::Platform: Timer,
{
    type Output = Result<R::Guard, TimeoutError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let deadline = *this.deadline;
        if this.acquire.is_new() {
            if let Some(guard) = this.acquire.as_mut().try_now() {
                return Poll::Ready(Ok(guard));
            }
            // Before queueing: one that is late must not hold up, or be passed over by, anyone.
            if R::Platform::now() >= deadline {
                this.acquire.give_up();
                return Poll::Ready(Err(elapsed::<R>(None)));
            }
        }
        if let Poll::Ready(guard) = this.acquire.as_mut().poll(cx) {
            this.sleep.set(None);
            return Poll::Ready(Ok(guard));
        }
        poll_sleep(this.acquire, this.sleep, cx, || R::Platform::sleep_until(deadline))
            .map(|guard| guard.ok_or_else(|| elapsed::<R>(None)))
    }
}

/// Polls the sleep of an operation that has to wait. `Ready(None)`: its time is over, and it has left the queue.
///
/// The timer is foreign code: the grant may come while it is made or polled, and then the guard is the outcome.
#[cold]
fn poll_sleep<R: Request, S: Future>(
    acquire: Pin<&mut Acquire<R>>,
    mut sleep: Pin<&mut Option<S>>,
    cx: &mut Context<'_>,
    make: impl FnOnce() -> Option<S>,
) -> Poll<Option<R::Guard>> {
    if sleep.is_none() {
        sleep.set(make());
    }
    // None still: the clock ends before the wait may. The next poll finds the same.
    if sleep.as_mut().as_pin_mut().is_none_or(|sleep| sleep.poll(cx).is_pending()) {
        return Poll::Pending;
    }
    let outcome = acquire.claim_or_leave();
    sleep.set(None);
    Poll::Ready(outcome)
}

#[cold]
fn elapsed<R: Request>(timeout: Option<time::Duration>) -> TimeoutError {
    TimeoutError::elapsed(R::KIND, timeout)
}

impl<R: Request> fmt::Debug for Timeout<R>
where
    R::Platform: Timer,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout").field("waits_for", &R::KIND).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl<R: Request> fmt::Debug for Deadline<R>
where
    R::Platform: Timer,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline")
            .field("waits_for", &R::KIND)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

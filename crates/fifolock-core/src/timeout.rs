//! Lock operations with a limit to their wait, written once over [`Timer`].

use crate::acquire::sealed::Ends;
use crate::acquire::{Acquire, Request};
use crate::call_site::CallSite;
use crate::error::{Limit, LockKind, TimeoutError};
use crate::platform::{Platform, Timer};
use crate::queue::OwnWaiter;
use crate::wait;
use core::fmt;
use core::future::Future;
use core::mem::{self, ManuallyDrop};
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use pin_project_lite::pin_project;

type Duration<R> = <<R as crate::acquire::sealed::RequestImpl>::Platform as Timer>::Duration;
type Instant<R> = <<R as crate::acquire::sealed::RequestImpl>::Platform as Timer>::Instant;

pin_project! {
    /// What a limited operation consists of.
    struct Timed<R: Request, M: Limited> {
        // Before the sleep: a waiter leaves the queue before its sleep is dropped.
        #[pin]
        acquire: Acquire<R>,
        limit: M,
        #[pin]
        sleep: Option<M::Sleep>,
    }
}

impl<R: Request, M: Limited> Timed<R, M> {
    #[inline(always)]
    fn at(call_site: CallSite, request: R, limit: M) -> Self {
        Self { acquire: Acquire::at(call_site, request), limit, sleep: None }
    }
}

impl<R: Request, M: Limited> Future for Timed<R, M> {
    type Output = Result<R::Guard, R::Failed<TimeoutError>>;

    // The timer's panic names the `.await`.
    #[track_caller]
    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let (request, waiter) = this.acquire.as_mut().parts();
        let outcome =
            ready!(poll_limited::<_, R::Platform, _>(request.lock(), waiter, this.limit, this.sleep.as_mut(), cx));
        let outcome = if outcome == Outcome::Owner {
            // SAFETY: `poll_limited` said so.
            Ok(unsafe { this.acquire.as_mut().guard() })
        } else {
            // SAFETY: `poll_limited` said so.
            let kept = unsafe { this.acquire.as_mut().keep() };
            Err(R::failed(kept, this.limit.error(R::KIND, outcome)))
        };
        // The sleep ends with the operation, not when its future is dropped. One without a destructor is nothing but bytes.
        if mem::needs_drop::<M::Sleep>() && this.sleep.is_some() {
            this.sleep.set(None);
        }
        Poll::Ready(outcome)
    }
}

/// A limited operation whose end is out of line, so that one that has ended costs a look.
struct EndsApart<R: Request, M: Limited>(ManuallyDrop<Timed<R, M>>);

impl<R: Request, M: Limited> EndsApart<R, M> {
    #[inline(always)]
    fn new(call_site: CallSite, request: R, limit: M) -> Self {
        Self(ManuallyDrop::new(Timed::at(call_site, request, limit)))
    }

    #[inline(always)]
    fn timed(self: Pin<&mut Self>) -> Pin<&mut Timed<R, M>> {
        // SAFETY: it is never moved out, and dropped in place.
        unsafe { self.map_unchecked_mut(|this| &mut *this.0) }
    }
}

impl<R: Request, M: Limited> Drop for EndsApart<R, M> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.0.acquire.has_ended() && self.0.sleep.is_none() {
            return;
        }
        end(&mut self.0);

        #[cold]
        #[inline(never)]
        fn end<R: Request, M: Limited>(timed: &mut ManuallyDrop<Timed<R, M>>) {
            // SAFETY: called once, by the drop of what it is in.
            unsafe { ManuallyDrop::drop(timed) };
        }
    }
}

pin_project! {
    /// A lock operation that waits no longer than a duration: what `lock_timeout` and its like return.
    ///
    /// The time runs from the first poll. The sleep is made only when the operation has to wait, and is gone when it
    /// ends. Its output is the guard, or a [`TimeoutError`]; for an upgrade, that and the upgradable guard
    /// ([`UpgradeError`](crate::error::UpgradeError)).
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
        #[pin]
        timed: EndsApart<R, Within<R::Platform>>,
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
        timed: EndsApart<R, Until<R::Platform>>,
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
        Self { timed: EndsApart::new(CallSite::here(), request, Within(timeout)) }
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
        Self { timed: EndsApart::new(CallSite::here(), request, Until(deadline)) }
    }
}

impl<R: Request> Future for Timeout<R>
where
    R::Platform: Timer,
{
    type Output = Result<R::Guard, R::Failed<TimeoutError>>;

    #[track_caller]
    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().timed.timed().poll(cx)
    }
}

impl<R: Request> Future for Deadline<R>
where
    R::Platform: Timer,
{
    type Output = Result<R::Guard, R::Failed<TimeoutError>>;

    #[track_caller]
    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().timed.timed().poll(cx)
    }
}

/// What limits a wait.
#[allow(unnameable_types, unreachable_pub, reason = "in the signature of a sealed trait")]
trait Limited: Copy {
    /// The runtime's sleep.
    type Sleep: Future;
    /// Whether [`has_passed`](Self::has_passed) is to be asked.
    const MAY_HAVE_PASSED: bool;

    /// Whether it is refused, before anything is tried.
    fn is_invalid(self) -> bool;
    /// Whether it allows no wait any more.
    fn has_passed(self) -> bool;
    /// Sleeps until it is reached; `None` if that is never.
    #[track_caller]
    fn sleep(self) -> Option<Self::Sleep>;
    /// The error of an operation that has ended so, without the lock.
    fn error(self, lock: LockKind, outcome: Outcome) -> TimeoutError;
}

/// The error of an operation that was limited to a span of time, and has ended without the lock.
#[inline(always)]
fn not_within(limit: impl FnOnce() -> Limit, lock: LockKind, outcome: Outcome) -> TimeoutError {
    match outcome {
        Outcome::Invalid => TimeoutError::InvalidTimeout,
        Outcome::Elapsed | Outcome::Owner => TimeoutError::elapsed(lock, Some(limit())),
    }
}

/// A span of time, from the first poll.
#[derive(Debug)]
#[allow(unnameable_types, unreachable_pub, reason = "in the signature of a sealed trait")]
pub struct Within<P: Timer>(P::Duration);

/// A point in time.
#[derive(Debug)]
#[allow(unnameable_types, unreachable_pub, reason = "in the signature of a sealed trait")]
pub struct Until<P: Timer>(P::Instant);

impl<P: Timer> Clone for Within<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Timer> Copy for Within<P> {}

impl<P: Timer> Clone for Until<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Timer> Copy for Until<P> {}

impl<P: Timer> Limited for Within<P> {
    type Sleep = P::Sleep;
    const MAY_HAVE_PASSED: bool = false;

    #[inline(always)]
    fn is_invalid(self) -> bool {
        P::is_zero(self.0)
    }

    #[inline(always)]
    fn has_passed(self) -> bool {
        false
    }

    #[inline(always)]
    fn sleep(self) -> Option<P::Sleep> {
        P::sleep(self.0)
    }

    #[inline(always)]
    fn error(self, lock: LockKind, outcome: Outcome) -> TimeoutError {
        not_within(|| P::limit(self.0), lock, outcome)
    }
}

impl<P: Timer> Limited for Until<P> {
    type Sleep = P::Sleep;
    const MAY_HAVE_PASSED: bool = true;

    #[inline(always)]
    fn is_invalid(self) -> bool {
        false
    }

    #[inline(always)]
    fn has_passed(self) -> bool {
        P::now() >= self.0
    }

    #[inline(always)]
    fn sleep(self) -> Option<P::Sleep> {
        P::sleep_until(self.0)
    }

    #[inline(always)]
    fn error(self, lock: LockKind, _: Outcome) -> TimeoutError {
        TimeoutError::elapsed(lock, None)
    }
}

/// How a limited wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(unnameable_types, unreachable_pub, reason = "in the signature of a sealed trait")]
pub enum Outcome {
    /// The time is over, and the caller is in no queue.
    Elapsed,
    /// The caller owns what it waited for.
    Owner,
    /// It was no limit to begin with, and nothing was tried.
    Invalid,
}

impl From<bool> for Outcome {
    /// Whether the caller owns it when the time is over.
    #[inline(always)]
    fn from(owns: bool) -> Self {
        if owns { Self::Owner } else { Self::Elapsed }
    }
}

/// Polls a limited operation.
#[track_caller]
#[inline(always)]
fn poll_limited<A: Ends, P: Platform, M: Limited>(
    lock: A,
    waiter: OwnWaiter<'_>,
    limit: &M,
    sleep: Pin<&mut Option<M::Sleep>>,
    cx: &mut Context<'_>,
) -> Poll<Outcome> {
    // Where already the first look is a section, all of it is one call.
    if A::HAS_FAST_PATH
        && let Poll::Ready(outcome) = poll_lock::<_, P, _>(lock, waiter, limit, cx)
    {
        return Poll::Ready(outcome);
    }
    poll_waiting::<_, P, _>(lock, waiter, limit, sleep, cx)
}

/// Polls the operation without its sleep.
#[inline(always)]
fn poll_lock<A: Ends, P: Platform, M: Limited>(
    lock: A,
    waiter: OwnWaiter<'_>,
    limit: &M,
    cx: &mut Context<'_>,
) -> Poll<Outcome> {
    if waiter.is_idle() {
        if limit.is_invalid() {
            waiter.set_done();
            return Poll::Ready(Outcome::Invalid);
        }
        ready!(P::poll_proceed(cx));
        if M::MAY_HAVE_PASSED {
            if wait::try_acquire(lock, waiter.call_site()) {
                waiter.set_done();
                return Poll::Ready(Outcome::Owner);
            }
            // Before queueing: one that is late must not hold up, or be passed over by, anyone.
            if limit.has_passed() {
                waiter.set_done();
                return Poll::Ready(Outcome::Elapsed);
            }
        }
    }
    wait::poll::<_, P>(lock, waiter, cx).map(|()| Outcome::Owner)
}

/// Polls the sleep of an operation that has to wait.
///
/// The timer is foreign code: the grant may come while it is made or polled, and then owning the lock is the outcome.
#[track_caller]
#[cold]
#[inline(never)]
fn poll_waiting<A: Ends, P: Platform, M: Limited>(
    lock: A,
    waiter: OwnWaiter<'_>,
    limit: &M,
    mut sleep: Pin<&mut Option<M::Sleep>>,
    cx: &mut Context<'_>,
) -> Poll<Outcome> {
    if !A::HAS_FAST_PATH
        && let Poll::Ready(outcome) = poll_lock::<_, P, _>(lock, waiter, limit, cx)
    {
        return Poll::Ready(outcome);
    }
    // The task has to give way before anything is tried: the wait has not begun.
    let Some(queued) = waiter.queued() else { return Poll::Pending };
    if sleep.is_none() {
        sleep.set(limit.sleep());
    }
    // None still: the clock ends before the wait may. The next poll finds the same.
    if sleep.as_pin_mut().is_none_or(|sleep| sleep.poll(cx).is_pending()) {
        return Poll::Pending;
    }
    Poll::Ready(lock.claim_or_cancel(queued).into())
}

impl<R: Request> fmt::Debug for Timeout<R>
where
    R::Platform: Timer,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout")
            .field("waits_for", &R::KIND)
            .field("timeout", &self.timed.0.limit.0)
            .finish_non_exhaustive()
    }
}

impl<R: Request> fmt::Debug for Deadline<R>
where
    R::Platform: Timer,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline")
            .field("waits_for", &R::KIND)
            .field("deadline", &self.timed.0.limit.0)
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "std")]
pub(crate) use thread::block_on;

/// Threads, which need no runtime to know what time it is.
#[cfg(feature = "std")]
mod thread {
    extern crate std;

    use super::*;
    use core::time::Duration;
    use std::time::Instant;

    /// A span of time, from the first poll, on the clock of the operating system.
    #[derive(Clone, Copy)]
    struct WithinThread(Duration);

    /// The end of such a span. It wakes nobody: a thread parks no longer than until then.
    struct ParksUntil(Instant);

    impl Future for ParksUntil {
        type Output = ();

        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            if Instant::now() >= self.0 { Poll::Ready(()) } else { Poll::Pending }
        }
    }

    impl Limited for WithinThread {
        type Sleep = ParksUntil;
        const MAY_HAVE_PASSED: bool = false;

        fn is_invalid(self) -> bool {
            self.0.is_zero()
        }

        fn has_passed(self) -> bool {
            false
        }

        fn sleep(self) -> Option<ParksUntil> {
            Instant::now().checked_add(self.0).map(ParksUntil)
        }

        fn error(self, lock: LockKind, outcome: Outcome) -> TimeoutError {
            not_within(|| self.0.into(), lock, outcome)
        }
    }

    /// Parks the thread until the operation of the caller ends, no longer than `timeout`.
    ///
    /// Every `blocking_…` method with a limit is a call of this one, so that each asks the platform first.
    #[track_caller]
    pub(crate) fn block_on<R: Request>(request: R, timeout: Duration) -> Result<R::Guard, R::Failed<TimeoutError>> {
        R::Platform::before_blocking();
        let timed = Timed::at(CallSite::here(), request, WithinThread(timeout));
        crate::blocking::drive(timed, Future::poll, |timed| match &timed.sleep {
            Some(end) => std::thread::park_timeout(end.0.saturating_duration_since(Instant::now())),
            None => std::thread::park(),
        })
    }
}

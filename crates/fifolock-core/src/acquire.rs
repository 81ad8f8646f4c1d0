//! The future of every lock operation.

use crate::call_site::CallSite;
use crate::error::TryLockError;
use crate::platform::Platform;
use crate::queue::{OwnWaiter, Queued, Waiter, polled_after_ready};
use crate::wait;
use core::fmt;
use core::future::Future;
use core::hint::unreachable_unchecked;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use pin_project_lite::pin_project;

/// A way to take a lock: which lock, borrowed or owned, to read or to write.
///
/// It names the type arguments of [`Acquire`] and its timed forms; the methods of the locks make all of these. It is
/// implemented for `&Mutex` and `Arc<Mutex>`, and for [`Reading`](crate::rwlock::Reading) and
/// [`Writing`](crate::rwlock::Writing) of a `&RwLock` or `Arc<RwLock>`. It can't be implemented elsewhere.
pub trait Request: sealed::RequestImpl {}

impl<R: sealed::RequestImpl> Request for R {}

pub(crate) mod sealed {
    use super::{CallSite, OwnWaiter, Platform, Queued};
    use crate::error::LockKind;
    use crate::rescue::Rescuing;
    use crate::wait;

    /// The lock and the side of it that a request is for.
    #[allow(unnameable_types, reason = "sealed")]
    pub trait RequestImpl: Sized {
        /// The guard that the operation ends in.
        type Guard;
        /// The lock's platform.
        type Platform: Platform;
        /// The name of the lock in errors.
        const KIND: LockKind;
        /// What the caller has again when the operation ends without the lock: what it was made from, if that was more than
        /// a way to the lock.
        type Kept;
        /// That, and why.
        type Failed<E>;
        /// The algorithm that acquires it.
        type Lock<'a>: Ends
        where
            Self: 'a;

        /// The lock that the request is for.
        fn lock(&self) -> Self::Lock<'_>;
        /// The future is dropped, or gives up: its waiter leaves, and a grant that it has not claimed is passed on.
        #[inline(always)]
        fn cancel(&self, waiter: OwnWaiter<'_>) {
            wait::cancel(self.lock(), waiter);
        }
        /// The operation ends without the lock: its waiter leaves, and a grant that it has not claimed is passed on. What it
        /// was made from is kept.
        #[inline(always)]
        fn give_up(&self, waiter: OwnWaiter<'_>) {
            self.cancel(waiter);
        }
        /// Wraps what the caller keeps, in the name of the call at `call_site`.
        ///
        /// # Safety
        ///
        /// The operation has ended without the lock, and not by [`cancel`](Self::cancel).
        unsafe fn keep(self, call_site: CallSite) -> Self::Kept;
        /// What the caller keeps, and why.
        fn failed<E>(kept: Self::Kept, error: E) -> Self::Failed<E>;
        /// Wraps what the caller owns, by the call at `call_site` that acquired it.
        ///
        /// # Safety
        ///
        /// The caller has just been told that it owns what was requested, and has no other guard for it.
        unsafe fn into_guard(self, call_site: CallSite) -> Self::Guard;
    }

    /// How a wait ends whose time is over.
    #[allow(unnameable_types, reason = "sealed")]
    pub trait Ends: Rescuing {
        /// Claims the grant if there is one, else leaves. `true`: the caller owns it. `false`: it has what the operation was
        /// made from, and whom the waiter blocked was granted and woken.
        #[inline(always)]
        fn claim_or_cancel(self, waiter: Queued<'_>) -> bool {
            wait::claim_or_cancel(self, waiter)
        }
    }

    /// The parts of an operation that has no more to keep than a way to the lock.
    macro_rules! keeps_nothing {
        () => {
            type Kept = ();
            type Failed<E> = E;

            #[inline(always)]
            unsafe fn keep(self, _: CallSite) {}

            #[inline(always)]
            fn failed<E>((): (), error: E) -> E {
                error
            }
        };
    }
    pub(crate) use keeps_nothing;
}

pin_project! {
    /// A lock operation in progress: the future that [`Mutex::lock`](crate::Mutex::lock) and its like return.
    ///
    /// The first poll takes the lock or queues; before it, the future has no part in anything. Once queued it keeps its
    /// place, however often and in whatever order it is polled. It can be stored: keep it pinned and poll it.
    ///
    /// # Cancel safety
    ///
    /// Dropping it gives up its place, or passes on what it had been granted, before the drop returns.
    ///
    /// # Panics
    ///
    /// When polled after it was ready.
    #[must_use = "a lock future does nothing until it is polled: `.await` it"]
    pub struct Acquire<R: Request> {
        // Taken when the operation ends in a guard.
        request: Option<R>,
        #[pin]
        waiter: Waiter,
    }

    impl<R: Request> PinnedDrop for Acquire<R> {
        fn drop(this: Pin<&mut Self>) {
            this.cancel();
        }
    }
}

impl<R: Request> Acquire<R> {
    /// An operation of the caller.
    #[inline(always)]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub(crate) fn new(request: R) -> Self {
        Self::at(CallSite::here(), request)
    }

    /// An operation for whoever asked at `call_site`.
    #[inline(always)]
    pub(crate) fn at(call_site: CallSite, request: R) -> Self {
        Self { request: Some(request), waiter: Waiter::new(call_site) }
    }

    #[inline(always)]
    fn cancel(self: Pin<&mut Self>) {
        let this = self.project();
        if let Some(request) = this.request {
            request.cancel(OwnWaiter::new(this.waiter));
        }
    }

    /// Whether its drop has nothing to do.
    #[inline(always)]
    pub(crate) fn has_ended(&self) -> bool {
        self.request.is_none()
    }

    /// # Safety
    ///
    /// The caller has just become the owner of what was requested, through this request; the waiter is done.
    #[inline(always)]
    pub(crate) unsafe fn guard(self: Pin<&mut Self>) -> R::Guard {
        let this = self.project();
        match this.request.take() {
            // SAFETY: the caller owns it, as it promises.
            Some(request) => unsafe { request.into_guard(this.waiter.call_site()) },
            // SAFETY: it owns it through the request, which is there until it ends, in a guard by this or in an error.
            None => unsafe { unreachable_unchecked() },
        }
    }

    /// The request and its waiter.
    #[inline(always)]
    pub(crate) fn parts<'a>(self: Pin<&'a mut Self>) -> (&'a R, OwnWaiter<'a>) {
        let this = self.project();
        match this.request {
            Some(request) => (request, OwnWaiter::new(this.waiter)),
            None => polled_after_ready(),
        }
    }

    /// Whether it has been neither queued nor ended: it was never polled, or only while its task had to give way.
    #[inline(always)]
    pub(crate) fn is_idle(self: Pin<&mut Self>) -> bool {
        OwnWaiter::new(self.project().waiter).is_idle()
    }

    /// As its poll, for a caller who has no need to give way.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) fn poll_now(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R::Guard> {
        let (request, waiter) = self.as_mut().parts();
        ready!(wait::poll::<_, R::Platform>(request.lock(), waiter, cx));
        // SAFETY: `poll` said so.
        Poll::Ready(unsafe { self.guard() })
    }

    /// # Safety
    ///
    /// The operation has ended without the lock, and its waiter is done.
    #[inline(always)]
    pub(crate) unsafe fn keep(self: Pin<&mut Self>) -> R::Kept {
        let this = self.project();
        match this.request.take() {
            // SAFETY: as the caller promises.
            Some(request) => unsafe { request.keep(this.waiter.call_site()) },
            None => polled_after_ready(),
        }
    }

    /// Ends the wait without the lock: what it was granted is passed on. It must not be polled afterwards.
    pub(crate) fn give_up(mut self: Pin<&mut Self>) -> R::Kept {
        let (request, waiter) = self.as_mut().parts();
        request.give_up(waiter);
        waiter.set_done();
        // SAFETY: it has just given up.
        unsafe { self.as_mut().keep() }
    }
}

impl<R: Request> Future for Acquire<R> {
    type Output = R::Guard;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (request, waiter) = self.as_mut().parts();
        if waiter.is_idle() {
            ready!(R::Platform::poll_proceed(cx));
        }
        ready!(wait::poll::<_, R::Platform>(request.lock(), waiter, cx));
        // SAFETY: `poll` said so.
        Poll::Ready(unsafe { self.guard() })
    }
}

impl<R: Request> fmt::Debug for Acquire<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire").field("waits_for", &R::KIND).finish_non_exhaustive()
    }
}

/// One attempt, for any request.
#[inline(always)]
#[cfg_attr(feature = "diagnostics", track_caller)]
pub(crate) fn try_now<R: sealed::RequestImpl>(request: R) -> Result<R::Guard, TryLockError> {
    let call_site = CallSite::here();
    if wait::try_acquire(request.lock(), call_site) {
        // SAFETY: `try_acquire` said that the caller owns it.
        Ok(unsafe { request.into_guard(call_site) })
    } else {
        Err(TryLockError(()))
    }
}

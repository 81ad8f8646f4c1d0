//! The future of every lock operation.

use crate::diagnostics::Place;
use crate::platform::Platform;
use crate::queue::{Waiter, polled_after_ready};
use crate::timeout::{Limited, Outcome};
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
pub trait Request: sealed::Operations {}

impl<R: sealed::Operations> Request for R {}

pub(crate) mod sealed {
    use super::{Context, Pin, Place, Platform, Poll, Waiter};
    use crate::error::LockKind;
    use crate::timeout::{Limited, Outcome};

    /// The lock's algorithm, as a request sees it.
    #[allow(unnameable_types, reason = "sealed")]
    pub trait Operations: Sized {
        /// What the operation ends in.
        type Guard;
        /// The lock's platform.
        type Platform: Platform;
        /// What an error says it waited for.
        const KIND: LockKind;

        /// One attempt, of a call at `place`. `true`: the caller owns what was requested.
        fn try_now(&self, place: Place) -> bool;
        /// `Ready`: the caller owns what was requested.
        fn poll(&self, waiter: Pin<&Waiter>, cx: &mut Context<'_>) -> Poll<()>;
        /// As `poll`, and polls a sleep while the caller has to wait.
        fn poll_limited<M: Limited>(
            &self,
            waiter: Pin<&Waiter>,
            limit: &M,
            sleep: Pin<&mut Option<M::Sleep>>,
            cx: &mut Context<'_>,
        ) -> Poll<Outcome>;
        /// The waiter leaves; what it was granted is passed on.
        fn leave(&self, waiter: Pin<&Waiter>);
        /// Wraps what the caller owns, by the call at `place` that acquired it.
        ///
        /// # Safety
        ///
        /// The caller has just been told that it owns what was requested, and has no other guard for it.
        unsafe fn into_guard(self, place: Place) -> Self::Guard;
    }
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
            this.as_ref().leave();
        }
    }
}

impl<R: Request> Acquire<R> {
    /// An operation of the caller.
    #[inline(always)]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub(crate) fn new(request: R) -> Self {
        Self::at(Place::here(), request)
    }

    /// An operation for whoever asked at `place`.
    #[inline(always)]
    pub(crate) fn at(place: Place, request: R) -> Self {
        Self { request: Some(request), waiter: Waiter::new(place) }
    }

    #[inline(always)]
    fn leave(self: Pin<&Self>) {
        let this = self.project_ref();
        if let Some(request) = this.request {
            request.leave(this.waiter);
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
    unsafe fn guard(self: Pin<&mut Self>) -> R::Guard {
        let this = self.project();
        match this.request.take() {
            // SAFETY: the caller owns it, as it promises.
            Some(request) => unsafe { request.into_guard(this.waiter.place()) },
            // SAFETY: it owns it through the request, which is there until it ends, in a guard by this or in an error.
            None => unsafe { unreachable_unchecked() },
        }
    }

    /// Polls it, and while it has to wait its sleep. The outcome is an error if it is not `Owner`. It must not be polled again after `Ready`, of either kind.
    #[inline(always)]
    pub(crate) fn poll_limited<M: Limited>(
        mut self: Pin<&mut Self>,
        limit: &M,
        sleep: Pin<&mut Option<M::Sleep>>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<R::Guard, Outcome>> {
        let this = self.as_ref().project_ref();
        let outcome = match this.request {
            Some(request) => ready!(request.poll_limited(this.waiter, limit, sleep, cx)),
            None => polled_after_ready(),
        };
        if outcome == Outcome::Owner {
            // SAFETY: `poll_limited` said so.
            return Poll::Ready(Ok(unsafe { self.guard() }));
        }
        *self.as_mut().project().request = None;
        Poll::Ready(Err(outcome))
    }

    /// Ends the wait without the lock: what it was granted is passed on. It must not be polled afterwards.
    pub(crate) fn give_up(self: Pin<&mut Self>) {
        self.as_ref().leave();
        self.as_ref().project_ref().waiter.get_ref().set_done();
    }
}

impl<R: Request> Future for Acquire<R> {
    type Output = R::Guard;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.as_ref().project_ref();
        match this.request {
            Some(request) => ready!(request.poll(this.waiter, cx)),
            None => polled_after_ready(),
        }
        // SAFETY: `poll` said so.
        Poll::Ready(unsafe { self.guard() })
    }
}

impl<R: Request> fmt::Debug for Acquire<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire").field("waits_for", &R::KIND).finish_non_exhaustive()
    }
}

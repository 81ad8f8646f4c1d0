//! A place for a future that is polled and dropped step by step.

use core::future::Future;
use core::mem::ManuallyDrop;
use core::pin::Pin;
use core::task::{Context, Poll};

/// A pinned future. Its drop can be counted without the drop of its memory.
pub(crate) struct Slot<F> {
    future: Box<ManuallyDrop<F>>,
    is_live: bool,
}

impl<F: Future> Slot<F> {
    pub(crate) fn new(future: F) -> Self {
        Self { future: Box::new(ManuallyDrop::new(future)), is_live: true }
    }

    #[inline(always)]
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<F::Output> {
        let future: &mut F = &mut self.future;
        // SAFETY: the future stays in its box until it is dropped in place.
        unsafe { Pin::new_unchecked(future) }.poll(cx)
    }

    /// Drops the future, and keeps its memory.
    #[inline(always)]
    pub(crate) fn drop_future(&mut self) {
        self.is_live = false;
        // SAFETY: `refill` and the drop check `is_live`, and no row drops a future twice. So this runs once for each
        // future.
        unsafe { ManuallyDrop::drop(&mut self.future) };
    }

    /// Puts a new future into the place of a dropped one.
    pub(crate) fn refill(&mut self, future: F) {
        assert!(!self.is_live, "the slot is taken");
        *self.future = ManuallyDrop::new(future);
        self.is_live = true;
    }
}

impl<F> Drop for Slot<F> {
    fn drop(&mut self) {
        if self.is_live {
            // SAFETY: the future is live, and this is its last use.
            unsafe { ManuallyDrop::drop(&mut self.future) };
        }
    }
}

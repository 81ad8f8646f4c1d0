//! A place for a future that is polled and dropped step by step.

use core::future::Future;
use core::mem::ManuallyDrop;
use core::pin::Pin;
use core::task::{Context, Poll};

/// A pinned future whose drop can be counted without that of its memory.
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
        // SAFETY: it stays in its box until it is dropped in place.
        unsafe { Pin::new_unchecked(future) }.poll(cx)
    }

    /// Drops the future, and leaves its memory.
    #[inline(always)]
    pub(crate) fn drop_future(&mut self) {
        self.is_live = false;
        // SAFETY: once: `refill` and the drop look at `is_live`, and no row drops a future twice.
        unsafe { ManuallyDrop::drop(&mut self.future) };
    }

    /// Puts another one into the place of one that was dropped.
    pub(crate) fn refill(&mut self, future: F) {
        assert!(!self.is_live, "the slot is taken");
        *self.future = ManuallyDrop::new(future);
        self.is_live = true;
    }
}

impl<F> Drop for Slot<F> {
    fn drop(&mut self) {
        if self.is_live {
            // SAFETY: it is live, and is not used again.
            unsafe { ManuallyDrop::drop(&mut self.future) };
        }
    }
}

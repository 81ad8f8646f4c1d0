//! Waking, outside raw-lock sections.

use core::mem::{self, ManuallyDrop};
use core::task::Waker;
use heapless::Vec;
use heapless::vec::Drain;

/// How many readers of a batch are marked in one section, and so how many wakers lie on the releaser's stack. One in loom's
/// models, so that few readers make a batch of several sections.
pub(crate) const WAKE_BATCH: usize = if cfg!(fifolock_loom) { 1 } else { 32 };

/// The wakers that one section took out of granted waiters.
// In this order, what is written first lies together: else the compiler clears all that is in between too.
#[derive(Debug)]
#[repr(C)]
pub struct Wakers {
    /// Whether members of the batch are still to be marked.
    pub(crate) more: bool,
    /// In the order of the queue. [`wake_all`](Self::wake_all) leaves it empty, so there is nothing to drop: a debug build
    /// asserts that.
    chunk: ManuallyDrop<Vec<Waker, WAKE_BATCH>>,
}

impl Default for Wakers {
    #[inline(always)]
    fn default() -> Self {
        Self { more: false, chunk: ManuallyDrop::new(Vec::new()) }
    }
}

/// A section has granted waiters, and its caller must have woken them: they would sleep for ever.
#[cfg(debug_assertions)]
impl Drop for Wakers {
    fn drop(&mut self) {
        assert!(self.chunk.is_empty() && !self.more, "granted waiters are never woken");
    }
}

impl Wakers {
    /// How many more may be granted in the same section.
    #[inline(always)]
    pub(crate) fn room(&self) -> u32 {
        (WAKE_BATCH - self.chunk.len()) as u32
    }

    /// Adds the waker of a waiter that was just granted. The section that grants ends before there are more than
    /// [`WAKE_BATCH`].
    #[inline(always)]
    pub(crate) fn push(&mut self, waker: Waker) {
        if let Err(waker) = self.chunk.push(waker) {
            debug_assert!(false, "a section granted more than a batch");
            // Not dropped in a section: that is foreign code.
            mem::forget(waker);
        }
    }

    /// Wakes all of them, and all that `refill` puts there after them, before it returns or unwinds.
    ///
    /// `refill` marks further members of the batch, in a section of its own. A waker that panics keeps nobody else from
    /// being woken: the rest is woken during the unwinding. (A second panic then aborts, as everywhere in Rust.)
    #[inline(always)]
    pub(crate) fn wake_all(&mut self, refill: impl FnMut(&mut Self)) {
        debug_assert!(!self.more || !self.chunk.is_empty(), "nobody would go on");
        if !self.chunk.is_empty() {
            let mut batch = Batch { wakers: self, refill };
            batch.run();
            mem::forget(batch);
        }
    }
}

struct Batch<'a, F: FnMut(&mut Wakers)> {
    wakers: &'a mut Wakers,
    refill: F,
}

impl<F: FnMut(&mut Wakers)> Batch<'_, F> {
    #[inline]
    fn run(&mut self) {
        loop {
            // Once it is empty there is nothing to drop.
            let mut rest = Rest(ManuallyDrop::new(self.wakers.chunk.drain(..)));
            rest.wake();
            mem::forget(rest);
            if !self.wakers.more {
                return;
            }
            (self.refill)(self.wakers);
        }
    }
}

/// Those of a chunk that are still to be woken.
struct Rest<'a>(ManuallyDrop<Drain<'a, Waker, usize>>);

impl Rest<'_> {
    #[inline(always)]
    fn wake(&mut self) {
        for waker in self.0.by_ref() {
            waker.wake();
        }
    }
}

/// A waker has panicked.
impl Drop for Rest<'_> {
    #[cold]
    fn drop(&mut self) {
        self.wake();
    }
}

/// A waker has panicked, and the rest of its chunk was woken.
impl<F: FnMut(&mut Wakers)> Drop for Batch<'_, F> {
    #[cold]
    fn drop(&mut self) {
        if self.wakers.more {
            (self.refill)(self.wakers);
            self.run();
        }
    }
}

#[cfg(all(test, not(fifolock_loom)))]
mod tests;

//! Waking, outside raw-lock sections.

use core::task::Waker;
use heapless::Deque;

/// How many readers of a batch are marked in one section, and so how many wakers lie on the releaser's stack.
pub(crate) const WAKE_BATCH: usize = 32;

/// The wakers that one section took out of granted waiters.
#[derive(Debug)]
pub(crate) struct Wakers {
    /// In the order of the queue.
    pub(crate) chunk: Deque<Waker, WAKE_BATCH>,
    /// Whether members of the batch are still to be marked.
    pub(crate) more: bool,
}

impl Default for Wakers {
    #[inline(always)]
    fn default() -> Self {
        Self { chunk: Deque::new(), more: false }
    }
}

impl Wakers {
    /// Adds the waker of a waiter that was just granted. The section that grants ends before there are more than
    /// [`WAKE_BATCH`].
    #[inline(always)]
    pub(crate) fn push(&mut self, waker: Waker) {
        let pushed = self.chunk.push_back(waker);
        debug_assert!(pushed.is_ok(), "a section granted more than a batch");
    }

    /// Wakes all of them, and all that `refill` puts there after them, before it returns or unwinds.
    ///
    /// `refill` marks further members of the batch, in a section of its own. A waker that panics keeps nobody else from
    /// being woken: the rest is woken during the unwinding. (A second panic then aborts, as everywhere in Rust.)
    #[inline(always)]
    pub(crate) fn wake_all(self, refill: impl FnMut(&mut Self)) {
        Batch { wakers: self, refill }.run();
    }
}

struct Batch<F: FnMut(&mut Wakers)> {
    wakers: Wakers,
    refill: F,
}

impl<F: FnMut(&mut Wakers)> Batch<F> {
    #[inline]
    fn run(&mut self) {
        loop {
            while let Some(waker) = self.wakers.chunk.pop_front() {
                waker.wake();
            }
            if !self.wakers.more {
                return;
            }
            (self.refill)(&mut self.wakers);
        }
    }
}

impl<F: FnMut(&mut Wakers)> Drop for Batch<F> {
    #[inline]
    fn drop(&mut self) {
        // Nothing is left, unless a waker panicked.
        self.run();
    }
}

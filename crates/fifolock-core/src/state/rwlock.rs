//! The read-write lock: its state and transitions.
//!
//! # Invariants
//!
//! - **R1 (exclusive):** `writer` implies `readers == 0`.
//! - **R2 (room):** `readers <= max_readers`, so that no count wraps, forgotten guards included.
//! - **R3 (settled):** between sections nobody waits who could be admitted: [`settle`](RwState::settle) finds nothing.
//! - **R4 (batch):** `reserved <= window`; the first `window` waiters of the readers' queue are the batch's.
//!
//! # Hand-off to a batch of readers
//!
//! ```text
//!  readers' queue   r1 r2 r3 r4 │ r5          r5 came after the grant, behind a waiting writer
//!                   └─ window ─┘
//!  reserved = 4                               shares already counted in `readers`
//! ```
//!
//! The grant reserves the shares and closes the window in O(1). Members are then marked from the head, a bounded number
//! in each section. One that leaves before its mark gives its share back at once, or leaves it to a member that had no
//! share (W7: less room than members).

use super::QueueFull;
use crate::queue::Waiter;
use crate::raw::Word;
use core::ptr;

/// What is to be done after a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Action {
    /// Nobody was admitted.
    Nothing,
    /// Take the first waiting writer out of its queue and put its address into `granted`.
    GrantWriter,
    /// Mark waiting readers, as long as [`take_share`](RwState::take_share) says so.
    GrantReaders,
}

/// The part of the state that has no place in the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Readers in the queue, those with a reserved share not counted.
    pub(crate) waiting_readers: u32,
    pub(crate) waiting_writers: u32,
    /// Shares counted in `readers` whose owners are still in the queue.
    pub(crate) reserved: u32,
    /// Waiters at the head of the readers' queue to whom the reserved shares may go.
    window: u32,
    /// Given to readers that queue now; readers of the window have another.
    ticket: u32,
}

impl Counts {
    pub(crate) const NEW: Self = Self { waiting_readers: 0, waiting_writers: 0, reserved: 0, window: 0, ticket: 0 };

    fn anyone_queued(self) -> bool {
        self.waiting_readers > 0 || self.waiting_writers > 0 || self.reserved > 0
    }
}

/// What is known of a read-write lock inside a section.
///
/// | `writer` | `granted` | `readers` | meaning |
/// |---|---|---|---|
/// | no | null | 0 | free |
/// | no | null | n | n readers, granted-unclaimed and reserved ones included |
/// | yes | null | 0 | owned by a write guard |
/// | yes | a waiter | 0 | owned by that writer, which has not claimed it |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RwState {
    pub(crate) writer: bool,
    pub(crate) granted: *mut Waiter,
    pub(crate) readers: u32,
    pub(crate) counts: Counts,
    pub(crate) max_readers: u32,
}

impl RwState {
    #[inline(always)]
    pub(crate) fn decode(word: Word, counts: Counts, max_readers: u32) -> Self {
        let writer = word.is_held();
        let (granted, readers) = if writer { (word.granted(), 0) } else { (ptr::null_mut(), word.readers()) };
        Self { writer, granted, readers, counts, max_readers }
    }

    #[inline(always)]
    pub(crate) fn encode(self) -> Word {
        debug_assert!(!self.writer || self.readers == 0, "R1 (exclusive)");
        debug_assert!(self.readers <= self.max_readers, "R2 (room)");
        debug_assert!(self.counts.reserved <= self.counts.window, "R4 (batch)");
        let queued = self.counts.anyone_queued();
        if self.writer { Word::new_held(self.granted, queued) } else { Word::new_shared(self.readers, queued) }
    }

    /// W1, W7: a reader enters if no writer holds or waits and there is room.
    #[inline(always)]
    pub(crate) fn try_read(&mut self) -> bool {
        let enters = !self.writer && self.counts.waiting_writers == 0 && self.readers < self.max_readers;
        self.readers += u32::from(enters);
        enters
    }

    /// W2: a writer enters if nobody holds. Nobody waits then (R3).
    #[inline(always)]
    pub(crate) fn try_write(&mut self) -> bool {
        let enters = !self.writer && self.readers == 0;
        debug_assert!(!enters || !self.counts.anyone_queued(), "R3 (settled)");
        self.writer |= enters;
        enters
    }

    /// Counts a reader that could not enter; returns its ticket.
    #[inline(always)]
    pub(crate) fn enqueue_reader(&mut self) -> Result<u32, QueueFull> {
        let all = self.counts.waiting_readers.checked_add(self.counts.reserved).ok_or(QueueFull)?;
        all.checked_add(1).ok_or(QueueFull)?;
        self.counts.waiting_readers += 1;
        Ok(self.counts.ticket)
    }

    /// Counts a writer that could not enter.
    #[inline(always)]
    pub(crate) fn enqueue_writer(&mut self) -> Result<(), QueueFull> {
        self.counts.waiting_writers = self.counts.waiting_writers.checked_add(1).ok_or(QueueFull)?;
        Ok(())
    }

    /// A reader, claimed or not, gives its share back.
    #[inline(always)]
    pub(crate) fn release_reader(&mut self) -> Action {
        debug_assert!(self.readers > 0, "released more shares than there were");
        self.readers -= 1;
        self.settle()
    }

    /// The writer, claimed or not, gives the lock up.
    #[inline(always)]
    pub(crate) fn release_writer(&mut self) -> Action {
        debug_assert!(self.writer, "released while no writer holds");
        self.writer = false;
        self.granted = ptr::null_mut();
        self.settle()
    }

    /// W6: the writer becomes a reader. There is no moment with none or two.
    #[inline(always)]
    pub(crate) fn downgrade(&mut self) -> Action {
        debug_assert!(self.writer && self.granted.is_null(), "downgraded without a write guard");
        self.writer = false;
        self.readers = 1;
        self.settle()
    }

    /// The granted writer takes its grant.
    #[inline(always)]
    pub(crate) fn claim_writer(&mut self) {
        debug_assert!(self.writer && !self.granted.is_null(), "claimed without a grant");
        self.granted = ptr::null_mut();
    }

    /// W5: a writer leaves the queue ungranted; whom it blocked is admitted.
    #[inline(always)]
    pub(crate) fn leave_writer(&mut self) -> Action {
        self.counts.waiting_writers -= 1;
        self.settle()
    }

    /// A reader leaves the queue unmarked.
    ///
    /// | the waiter | a share for each of the window | after |
    /// |---|---|---|
    /// | outside the window | – | one less waits |
    /// | of the window | yes | its share is given back |
    /// | of the window | no (W7) | another member will get the share; one less waits |
    #[inline(always)]
    pub(crate) fn leave_reader(&mut self, ticket: u32) -> Action {
        let of_the_window = ticket != self.counts.ticket;
        self.counts.window -= u32::from(of_the_window);
        if of_the_window && self.counts.window < self.counts.reserved {
            self.counts.reserved -= 1;
            self.readers -= 1;
        } else {
            self.counts.waiting_readers -= 1;
        }
        self.settle()
    }

    /// Whether the first waiting reader is to be marked; if so, its share becomes its own.
    #[inline(always)]
    pub(crate) fn take_share(&mut self) -> bool {
        if self.counts.reserved == 0 {
            return false;
        }
        self.counts.reserved -= 1;
        self.counts.window -= 1;
        true
    }

    /// Admits whoever the policy lets in now. This is the whole policy: writers first (W3, W4), else all readers for
    /// whom there is room (W4, W6, W7).
    ///
    /// | a writer holds | a writer waits | readers inside | after |
    /// |---|---|---|---|
    /// | yes | any | 0 | the same |
    /// | no | yes | some | the same: the last one admits the writer |
    /// | no | yes | 0 | the first waiting writer holds |
    /// | no | no | any | waiting readers are inside, as far as there is room |
    #[inline(always)]
    fn settle(&mut self) -> Action {
        if self.writer {
            return Action::Nothing;
        }
        if self.counts.waiting_writers > 0 {
            if self.readers > 0 {
                return Action::Nothing;
            }
            self.counts.waiting_writers -= 1;
            self.writer = true;
            return Action::GrantWriter;
        }
        let admitted = self.counts.waiting_readers.min(self.max_readers - self.readers);
        if admitted == 0 {
            return Action::Nothing;
        }
        self.counts.window = self.counts.waiting_readers + self.counts.reserved;
        self.counts.waiting_readers -= admitted;
        self.counts.reserved += admitted;
        self.readers += admitted;
        // Wraps: a member of the window is told by inequality, and before the number comes round every waiter that was
        // queued has been at the head of a batch.
        self.counts.ticket = self.counts.ticket.wrapping_add(1);
        Action::GrantReaders
    }
}

#[cfg(test)]
#[path = "rwlock_tests.rs"]
mod tests;

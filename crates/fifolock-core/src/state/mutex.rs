//! The mutex: its state and transitions.

use super::QueueFull;
use crate::queue::Waiter;
use crate::raw::Word;
use core::ptr;

/// What is known of a mutex inside a section.
///
/// | `held` | `granted` | `queued` | meaning |
/// |---|---|---|---|
/// | no | null | 0 | free |
/// | yes | null | any | owned by a guard |
/// | yes | a waiter | any | owned by that waiter, which has not claimed it |
///
/// A free mutex has no waiters: whoever releases hands it to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MutexState {
    pub(crate) held: bool,
    pub(crate) granted: *mut Waiter,
    pub(crate) queued: u32,
}

impl MutexState {
    #[inline(always)]
    pub(crate) fn decode(word: Word, queued: u32) -> Self {
        let held = word.is_held();
        let granted = if held { word.granted() } else { ptr::null_mut() };
        Self { held, granted, queued }
    }

    #[inline(always)]
    pub(crate) fn encode(self) -> Word {
        debug_assert!(self.held || (self.granted.is_null() && self.queued == 0), "a free mutex has no waiters");
        if self.held { Word::new_held(self.granted, self.queued > 0) } else { Word::INIT }
    }

    /// Takes the mutex if it is free.
    ///
    /// | before | after | returns |
    /// |---|---|---|
    /// | free | held | `true` |
    /// | held | the same | `false` |
    #[inline(always)]
    pub(crate) fn try_lock(&mut self) -> bool {
        let free = !self.held;
        self.held = true;
        free
    }

    /// Counts a new waiter of a held mutex.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self) -> Result<(), QueueFull> {
        debug_assert!(self.held, "nobody queues at a free mutex");
        self.queued = self.queued.checked_add(1).ok_or(QueueFull)?;
        Ok(())
    }

    /// Takes a waiter that leaves ungranted off the count.
    #[inline(always)]
    pub(crate) fn leave(&mut self) {
        self.queued -= 1;
    }

    /// The owner, claimed or not, gives the mutex up. `true`: the first waiter is to be granted.
    ///
    /// | before | after | returns |
    /// |---|---|---|
    /// | held, nobody queued | free | `false` |
    /// | held, n queued | held, n - 1 queued | `true`: put the first waiter's address into `granted` |
    #[inline(always)]
    pub(crate) fn release(&mut self) -> bool {
        debug_assert!(self.held, "released while free");
        self.granted = ptr::null_mut();
        if self.queued == 0 {
            self.held = false;
            return false;
        }
        self.queued -= 1;
        true
    }

    /// The granted waiter takes its grant.
    #[inline(always)]
    pub(crate) fn claim(&mut self) {
        debug_assert!(self.held && !self.granted.is_null(), "claimed without a grant");
        self.granted = ptr::null_mut();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: MutexState = MutexState { held: false, granted: ptr::null_mut(), queued: 0 };

    fn a_waiter() -> *mut Waiter {
        ptr::without_provenance_mut(0x40)
    }

    #[test]
    fn words_and_states_are_the_same() {
        for state in [
            FREE,
            MutexState { held: true, ..FREE },
            MutexState { held: true, granted: a_waiter(), queued: 0 },
            MutexState { held: true, granted: ptr::null_mut(), queued: 7 },
            MutexState { held: true, granted: a_waiter(), queued: u32::MAX },
        ] {
            let word = state.encode();
            assert_eq!(word.bits() & Word::BUSY_BIT, 0, "{word:?}");
            assert_eq!(MutexState::decode(word, state.queued), state, "{word:?}");
        }
        assert_eq!(FREE.encode(), Word::INIT);
        assert_eq!(MutexState { held: true, ..FREE }.encode(), Word::HELD);
    }

    #[test]
    fn a_held_mutex_is_not_taken_again() {
        let mut state = FREE;
        assert!(state.try_lock());
        let held = state;
        assert!(!state.try_lock());
        assert_eq!(state, held);
    }

    #[test]
    fn a_release_grants_while_somebody_waits() {
        let mut state = MutexState { held: true, granted: ptr::null_mut(), queued: 2 };
        assert!(state.release());
        state.granted = a_waiter();
        assert!(state.held, "never free in between");
        state.claim();
        assert!(state.release());
        assert!(!state.release());
        assert_eq!(state, FREE);
    }

    #[test]
    fn a_full_queue_refuses_and_stays_as_it_was() {
        let full = MutexState { held: true, granted: ptr::null_mut(), queued: u32::MAX };
        let mut state = full;
        assert_eq!(state.enqueue(), Err(QueueFull));
        assert_eq!(state, full);
    }
}

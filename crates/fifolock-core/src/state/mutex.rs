//! The mutex: its state and transitions.

use super::{QueueFull, one_more};
use crate::queue::Waiter;
use crate::raw::Word;

/// What is known of a mutex inside a section: its word as it is, so that a section that changes nothing does nothing.
///
/// | held | granted | `queued` | meaning |
/// |---|---|---|---|
/// | no | null | 0 | free |
/// | yes | null | any | owned by a guard |
/// | yes | a waiter | any | owned by that waiter, which has not claimed it |
///
/// A free mutex has no waiters: whoever releases hands it to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MutexState {
    word: Word,
    pub(crate) queued: u32,
}

impl MutexState {
    #[inline(always)]
    pub(crate) fn decode(word: Word, queued: u32) -> Self {
        debug_assert!(word.is_held() || (word == Word::INIT && queued == 0), "a free mutex has no waiters");
        debug_assert_eq!(word.has_queued(), queued > 0, "the word and the count differ");
        Self { word, queued }
    }

    #[inline(always)]
    pub(crate) fn encode(self) -> Word {
        self.word
    }

    #[inline(always)]
    pub(crate) fn is_held(self) -> bool {
        self.word.is_held()
    }

    /// The owner that has not claimed it, or null. Only of a held mutex.
    #[inline(always)]
    pub(crate) fn granted(self) -> *mut Waiter {
        self.word.granted()
    }

    /// Takes the mutex if it is free.
    ///
    /// | before | after | returns |
    /// |---|---|---|
    /// | free | held | `true` |
    /// | held | the same | `false` |
    #[inline(always)]
    pub(crate) fn try_lock(&mut self) -> bool {
        let free = !self.is_held();
        if free {
            self.word = Word::HELD;
        }
        free
    }

    /// Takes the mutex if it is free, or granted to this waiter.
    ///
    /// | before | after | returns |
    /// |---|---|---|
    /// | free | held | `true` |
    /// | held, granted to the waiter | held, claimed | `true` |
    /// | else | the same | `false` |
    #[inline(always)]
    pub(crate) fn own(&mut self, waiter: *mut Waiter) -> bool {
        let owns = !self.is_held() || self.granted() == waiter;
        if owns {
            self.word = self.word.owned();
        }
        owns
    }

    /// Counts a new waiter of a held mutex.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self) -> Result<(), QueueFull> {
        debug_assert!(self.is_held(), "nobody queues at a free mutex");
        self.queued = one_more(self.queued)?;
        self.word = self.word.with_queued(true);
        Ok(())
    }

    /// Takes a waiter that leaves ungranted off the count.
    #[inline(always)]
    pub(crate) fn leave(&mut self) {
        self.queued -= 1;
        self.word = self.word.with_queued(self.queued > 0);
    }

    /// The owner, claimed or not, gives the mutex up to the first waiter, which was taken out of the queue, or null.
    ///
    /// | before | after |
    /// |---|---|
    /// | held, nobody queued | free |
    /// | held, n queued | held, granted to the first, n - 1 queued |
    #[inline(always)]
    pub(crate) fn release(&mut self, first: *mut Waiter) {
        debug_assert!(self.is_held(), "released while free");
        debug_assert_eq!(first.is_null(), self.queued == 0, "the count and the queue differ");
        if first.is_null() {
            self.word = Word::INIT;
        } else {
            self.queued -= 1;
            self.word = Word::new_held(first, self.queued > 0);
        }
    }

    /// The granted waiter takes its grant.
    #[inline(always)]
    pub(crate) fn claim(&mut self) {
        debug_assert!(!self.granted().is_null(), "claimed without a grant");
        self.word = self.word.claimed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr;

    const FREE: MutexState = MutexState { word: Word::INIT, queued: 0 };

    fn held(queued: u32) -> MutexState {
        MutexState { word: Word::new_held(ptr::null_mut(), queued > 0), queued }
    }

    fn a_waiter() -> *mut Waiter {
        ptr::without_provenance_mut(0x40)
    }

    #[test]
    fn words_tell_what_is_so() {
        assert_eq!(FREE.encode(), Word::INIT);
        assert_eq!(held(0).encode(), Word::HELD);
        for queued in [0, 1, 7, u32::MAX] {
            for granted in [ptr::null_mut(), a_waiter()] {
                let state = MutexState { word: Word::new_held(granted, queued > 0), queued };
                let word = state.encode();
                assert_eq!(word.bits() & Word::BUSY_BIT, 0, "{word:?}");
                assert_eq!((word.is_held(), word.granted(), word.has_queued()), (true, granted, queued > 0));
                assert_eq!(MutexState::decode(word, queued), state, "{word:?}");
            }
        }
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
        let mut state = held(2);
        state.release(a_waiter());
        assert!(state.is_held(), "never free in between");
        assert_eq!((state.granted(), state.encode().has_queued()), (a_waiter(), true));
        state.claim();
        assert_eq!(state, held(1));
        state.release(a_waiter());
        assert!(!state.encode().has_queued());
        state.release(ptr::null_mut());
        assert_eq!(state, FREE);
    }

    #[test]
    fn waiters_are_counted() {
        let mut state = held(0);
        state.enqueue().expect("there is room");
        assert_eq!(state, held(1));
        state.enqueue().expect("there is room");
        state.leave();
        assert_eq!(state, held(1));
        state.leave();
        assert_eq!(state, held(0));
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_full_queue_refuses_and_stays_as_it_was() {
        let full = held(u32::MAX);
        let mut state = full;
        assert_eq!(state.enqueue(), Err(QueueFull));
        assert_eq!(state, full);
    }
}

//! The mutex: its state and transitions.

use super::{QueueFull, one_more};
use crate::queue::{MoreWait, Waiter};
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
#[derive(Debug)]
pub(crate) struct MutexState<'s> {
    word: Word,
    queued: &'s mut u32,
}

impl<'s> MutexState<'s> {
    #[inline(always)]
    pub(crate) fn decode(word: Word, queued: &'s mut u32) -> Self {
        debug_assert!(word.is_held() || (word == Word::INIT && *queued == 0), "a free mutex has no waiters");
        debug_assert_eq!(word.has_queued(), *queued > 0, "the word and the count differ");
        Self { word, queued }
    }

    #[inline(always)]
    pub(crate) fn encode(&self) -> Word {
        self.word
    }

    #[inline(always)]
    pub(crate) fn is_held(&self) -> bool {
        self.word.is_held()
    }

    /// Whether it is held by a guard.
    #[inline(always)]
    pub(crate) fn is_owned(&self) -> bool {
        self.word.with_queued(true) == Word::HELD.with_queued(true)
    }

    pub(crate) fn queued(&self) -> u32 {
        *self.queued
    }

    /// The owner that has not claimed it, or null. Only of a held mutex.
    #[inline(always)]
    pub(crate) fn granted(&self) -> *mut Waiter {
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
    pub(crate) fn acquire_or_claim(&mut self, waiter: *mut Waiter) -> bool {
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
        *self.queued = one_more(*self.queued)?;
        self.word = self.word.with_queued(true);
        Ok(())
    }

    /// Takes a waiter that leaves ungranted off the count; `others` if more wait.
    #[inline(always)]
    pub(crate) fn remove_waiter(&mut self, others: MoreWait) {
        *self.queued -= 1;
        debug_assert_eq!(others.0, *self.queued > 0, "the count and the queue differ");
        if !others.0 {
            self.word = self.word.with_queued(false);
        }
    }

    /// The owner, claimed or not, gives the mutex up, and nobody waits.
    ///
    /// | before | after |
    /// |---|---|
    /// | held, nobody queued | free |
    #[inline(always)]
    pub(crate) fn release(&mut self) {
        debug_assert!(self.is_held(), "released while free");
        debug_assert_eq!(*self.queued, 0, "the count and the queue differ");
        self.word = Word::INIT;
    }

    /// The owner, claimed or not, gives the mutex up to the first waiter, which was taken out of the queue; `others` if more
    /// wait.
    ///
    /// | before | after |
    /// |---|---|
    /// | held, n queued | held, granted to the first, n - 1 queued |
    #[inline(always)]
    pub(crate) fn hand_off(&mut self, first: *mut Waiter, others: MoreWait) {
        debug_assert!(self.is_held(), "released while free");
        *self.queued -= 1;
        debug_assert_eq!(others.0, *self.queued > 0, "the count and the queue differ");
        self.word = Word::new_held(first, others.0);
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

    /// What the state is made of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Parts {
        word: Word,
        queued: u32,
    }

    const FREE: Parts = Parts { word: Word::INIT, queued: 0 };

    fn held(queued: u32) -> Parts {
        Parts { word: Word::new_held(ptr::null_mut(), queued > 0), queued }
    }

    impl Parts {
        /// A section.
        fn with<R>(&mut self, f: impl FnOnce(&mut MutexState<'_>) -> R) -> R {
            let mut state = MutexState::decode(self.word, &mut self.queued);
            let result = f(&mut state);
            self.word = state.encode();
            result
        }
    }

    fn a_waiter() -> *mut Waiter {
        ptr::without_provenance_mut(0x40)
    }

    #[test]
    fn words_tell_what_is_so() {
        assert_eq!(held(0).word, Word::HELD);
        for queued in [0, 1, 7, u32::MAX] {
            for granted in [ptr::null_mut(), a_waiter()] {
                let word = Word::new_held(granted, queued > 0);
                assert_eq!(word.bits() & Word::BUSY_BIT, 0, "{word:?}");
                assert_eq!((word.is_held(), word.granted(), word.has_queued()), (true, granted, queued > 0));
                let mut parts = Parts { word, queued };
                assert_eq!(
                    parts.with(|state| (state.is_held(), state.granted(), state.queued())),
                    (true, granted, queued)
                );
                assert_eq!(parts, Parts { word, queued }, "to look changes nothing");
            }
        }
    }

    #[test]
    fn a_held_mutex_is_not_taken_again() {
        let mut parts = FREE;
        assert!(parts.with(|state| state.try_lock()));
        let held = parts;
        assert!(!parts.with(|state| state.try_lock()));
        assert_eq!(parts, held);
    }

    #[test]
    fn a_release_grants_while_somebody_waits() {
        let mut parts = held(2);
        parts.with(|state| state.hand_off(a_waiter(), MoreWait(true)));
        assert!(parts.word.is_held(), "never free in between");
        assert_eq!((parts.word.granted(), parts.word.has_queued()), (a_waiter(), true));
        parts.with(|state| state.claim());
        assert_eq!(parts, held(1));
        parts.with(|state| state.hand_off(a_waiter(), MoreWait(false)));
        assert!(!parts.word.has_queued());
        parts.with(|state| state.release());
        assert_eq!(parts, FREE);
    }

    #[test]
    fn waiters_are_counted() {
        let mut parts = held(0);
        parts.with(|state| state.enqueue()).expect("there is room");
        assert_eq!(parts, held(1));
        parts.with(|state| state.enqueue()).expect("there is room");
        parts.with(|state| state.remove_waiter(MoreWait(true)));
        assert_eq!(parts, held(1));
        parts.with(|state| state.remove_waiter(MoreWait(false)));
        assert_eq!(parts, held(0));
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_full_queue_refuses_and_stays_as_it_was() {
        let full = held(u32::MAX);
        let mut parts = full;
        assert_eq!(parts.with(|state| state.enqueue()), Err(QueueFull));
        assert_eq!(parts, full);
    }
}

//! The atomic lock word that the `std` and spin flavours share.
//!
//! # State
//!
//! | word | meaning |
//! |---|---|
//! | any with bit 2 clear | idle: the value is the lock's state, and may be changed by one compare-exchange |
//! | `BUSY` (4) | a section runs; its owner keeps the state in a local variable |
//! | `BUSY \| PARKED` (5) | the same, and a thread sleeps until the section ends |
//!
//! Since the busy word shows nothing of the state, no fast path can succeed while a section runs, and the section works
//! on a plain value. The last step of a section stores the new state, which is at once the new state's publication and
//! the section's end.

use super::Word;
use crate::sync_shim::{AtomicPtr, Ordering, const_fn};
use core::ptr;

const BUSY: *mut () = ptr::without_provenance_mut(Word::BUSY_BIT);
const BUSY_PARKED: *mut () = ptr::without_provenance_mut(Word::BUSY_BIT | 1);

/// A section runs.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "for flavours that park"))]
pub(super) struct Busy {
    /// Threads sleep until it ends, and the mark that said so is gone.
    pub(super) parked: bool,
}

#[derive(Debug)]
pub(super) struct AtomicWord(AtomicPtr<()>);

impl AtomicWord {
    const_fn! {
        pub(super) const fn new() -> Self {
            Self(AtomicPtr::new(ptr::null_mut()))
        }
    }

    #[inline(always)]
    pub(super) fn peek(&self) -> Option<Word> {
        // Ordering: Relaxed. What follows is an exchange that checks it, or a wait, or nothing that reads what is protected.
        let word = self.0.load(Ordering::Relaxed);
        (word.addr() & Word::BUSY_BIT == 0).then_some(Word::from_ptr(word))
    }

    #[inline(always)]
    pub(super) fn guess(&self) -> Word {
        // Ordering: Relaxed, since an exchange follows. A busy word is no state, so that exchange can't take it for one.
        Word::from_ptr(self.0.load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub(super) fn try_acquire(&self, from: Word, to: Word) -> bool {
        // Ordering: Acquire, pairs with the Release in `try_release`, `leave` and `end_and_peek`: the new owner sees
        // what the last one wrote. It publishes nothing, so no Release; being a read-modify-write it continues the
        // release sequence of whoever stored `from`. A failure is answered by a section or a fresh look: Relaxed.
        self.0.compare_exchange(from.ptr(), to.ptr(), Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline(always)]
    pub(super) fn try_release(&self, from: Word, to: Word) -> bool {
        // Ordering: Release, pairs with the Acquire in `try_acquire`, `enter` and `try_enter`: publishes T. It learns
        // nothing but that the word was `from`, so no Acquire.
        self.0.compare_exchange(from.ptr(), to.ptr(), Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Starts a section and returns the state, unless one runs.
    ///
    /// One exchange, whatever the word is. It takes off the mark that threads are parked; who is told so has to see to it.
    #[cfg_attr(not(feature = "std"), allow(dead_code, reason = "for flavours that park"))]
    #[inline(always)]
    pub(super) fn begin(&self) -> Result<Word, Busy> {
        // Ordering: Acquire, pairs with the Release in `try_release`, `leave` and `end_and_peek`: the section sees
        // the queue as earlier sections left it, and what released owners wrote. A busy word stays one, for its owner
        // to end.
        let found = self.0.swap(BUSY, Ordering::Acquire);
        if found.addr() & Word::BUSY_BIT == 0 {
            Ok(Word::from_ptr(found))
        } else {
            Err(Busy { parked: found == BUSY_PARKED })
        }
    }

    /// The same, once it looks as if no section runs.
    #[inline]
    pub(super) fn try_enter(&self) -> Option<Word> {
        // Ordering: Relaxed, a guess that the exchange below checks.
        let word = self.0.load(Ordering::Relaxed);
        if word.addr() & Word::BUSY_BIT != 0 {
            return None;
        }
        // Ordering: Acquire, as in `enter`.
        // The word as the exchange has found it: the guess may be an earlier pointer to the same address.
        self.0.compare_exchange(word, BUSY, Ordering::Acquire, Ordering::Relaxed).ok().map(Word::from_ptr)
    }

    /// Ends a section where nobody can be parked.
    #[cfg_attr(not(feature = "spin"), allow(dead_code, reason = "for flavours that spin"))]
    #[inline]
    pub(super) fn end(&self, word: Word) {
        debug_assert!(word.bits() & Word::BUSY_BIT == 0, "a state uses the busy bit");
        // Ordering: Release, pairs with the Acquire in `try_enter` and `try_acquire`. A plain store will do:
        // while the word is busy nobody else changes it.
        self.0.store(word.ptr(), Ordering::Release);
    }

    /// Ends a section; returns whether threads are parked until then.
    #[cfg_attr(not(feature = "std"), allow(dead_code, reason = "for flavours that park"))]
    #[inline]
    pub(super) fn end_and_peek(&self, word: Word) -> bool {
        debug_assert!(word.bits() & Word::BUSY_BIT == 0, "a state uses the busy bit");
        // Ordering: Release, as in `leave`. The mark that a swap may find was set under the parking bucket's mutex,
        // which orders the rest.
        self.0.swap(word.ptr(), Ordering::Release) == BUSY_PARKED
    }

    /// Marks a running section as awaited; returns whether one runs.
    #[cfg_attr(not(feature = "std"), allow(dead_code, reason = "for flavours that park"))]
    pub(super) fn mark_parked(&self) -> bool {
        // Ordering: Relaxed on both. The caller holds the parking bucket's mutex, which whoever finds the mark takes
        // before it wakes anyone; or it sets a mark again whose sleepers have held that mutex since.
        self.0
            .compare_exchange(BUSY, BUSY_PARKED, Ordering::Relaxed, Ordering::Relaxed)
            .map_or_else(|found| found == BUSY_PARKED, |_| true)
    }
}

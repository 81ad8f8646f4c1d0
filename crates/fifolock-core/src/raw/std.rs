//! The raw lock for programs on an operating system.

use super::atomic::AtomicWord;
use super::{RawLock, Word};
use crate::sync_shim::const_fn;

/// An atomic word; whoever finds a section running spins briefly and then parks its thread.
///
/// Sections take some tens of nanoseconds. A thread that is preempted inside one costs the others no more than the
/// spin: they sleep until it has gone on.
#[derive(Debug)]
pub struct StdLock {
    word: AtomicWord,
}

impl StdLock {
    const_fn! {
        const fn new() -> Self {
            Self { word: AtomicWord::new() }
        }
    }
}

/// Ends the section with the state that the closure left, also should the closure panic by a fault of ours: a lock
/// that stays busy would hang every thread that touches it.
struct Section<'a> {
    word: &'a AtomicWord,
    state: Word,
}

impl Drop for Section<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        #[cfg(not(fifolock_loom))]
        if self.word.leave_and_look(self.state) {
            park::unpark(self.word);
        }
        #[cfg(fifolock_loom)]
        self.word.leave(self.state);
    }
}

// SAFETY: 1, 2: one call; nothing in `with` panics. 3: the busy word excludes other sections, `try_enter` acquires and
// `leave…` releases. 4, 5: `AtomicWord`'s operations compare against idle words only, with the orderings named there.
unsafe impl RawLock for StdLock {
    #[cfg(not(fifolock_loom))]
    const INIT: Self = Self::new();

    #[cfg(fifolock_loom)]
    fn init() -> Self {
        Self::new()
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut Word) -> R) -> R {
        let state = match self.word.try_enter() {
            Some(state) => state,
            None => enter_contended(&self.word),
        };
        let mut section = Section { word: &self.word, state };
        f(&mut section.state)
    }

    #[inline(always)]
    fn peek(&self) -> Option<Word> {
        self.word.peek()
    }

    #[inline(always)]
    fn try_acquire(&self, from: Word, to: Word) -> bool {
        self.word.try_acquire(from, to)
    }

    #[inline(always)]
    fn try_release(&self, from: Word, to: Word) -> bool {
        self.word.try_release(from, to)
    }
}

/// How often a thread looks again before it parks: long enough for a section that runs on another core.
#[cfg(not(fifolock_loom))]
const SPINS: u32 = 100;

#[cfg(not(fifolock_loom))]
#[cold]
#[inline(never)]
fn enter_contended(word: &AtomicWord) -> Word {
    loop {
        for _ in 0..SPINS {
            if let Some(state) = word.try_enter() {
                return state;
            }
            core::hint::spin_loop();
        }
        park::park(word);
    }
}

/// Loom runs one thread at a time: giving way is all the waiting there is.
#[cfg(fifolock_loom)]
fn enter_contended(word: &AtomicWord) -> Word {
    loop {
        loom::thread::yield_now();
        if let Some(state) = word.try_enter() {
            return state;
        }
    }
}

/// Threads that wait for a section to end, parked by the address of its word.
///
/// A parker marks the word and sleeps under its bucket's mutex; a section that ends and finds the mark takes that mutex
/// before it wakes the bucket. So the wake can't fall between the mark and the sleep. Whoever shares a bucket is woken
/// too and looks again.
#[cfg(not(fifolock_loom))]
mod park {
    extern crate std;

    use super::AtomicWord;
    use core::ptr;
    use std::sync::{Condvar, Mutex, PoisonError};

    const BUCKETS: usize = 64;

    struct Bucket {
        mutex: Mutex<()>,
        ended: Condvar,
    }

    static TABLE: [Bucket; BUCKETS] = [const { Bucket { mutex: Mutex::new(()), ended: Condvar::new() } }; BUCKETS];

    fn bucket(word: &AtomicWord) -> &'static Bucket {
        // Locks are some tens of bytes apart, so the low bits say little.
        let address = ptr::from_ref(word).addr();
        &TABLE[(address >> 4 ^ address >> 10) % BUCKETS]
    }

    /// Sleeps until the running section has ended; returns at once when none runs.
    pub(super) fn park(word: &AtomicWord) {
        let bucket = bucket(word);
        let held = bucket.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        if word.mark_parked() {
            // One sleep, not a loop on the mark: the caller looks again, whatever woke it.
            drop(bucket.ended.wait(held).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Wakes whoever waits for a section of this word.
    #[cold]
    #[inline(never)]
    pub(super) fn unpark(word: &AtomicWord) {
        let bucket = bucket(word);
        let held = bucket.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        bucket.ended.notify_all();
        drop(held);
    }
}

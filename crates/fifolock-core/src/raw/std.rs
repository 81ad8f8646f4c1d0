//! The raw lock for programs on an operating system.

use super::atomic::{AtomicWord, Busy};
use super::park::Bucket;
use super::{RawLock, Word};
use crate::sync_shim::const_fn;
use core::mem;

/// An atomic word; whoever finds a section running spins briefly and then parks its thread.
///
/// Sections take some tens of nanoseconds. A thread that is preempted inside one costs the others no more than the
/// spin: they sleep until it has gone on.
#[derive(Debug)]
pub struct StdLock {
    word: AtomicWord,
    // Loom has no statics, and shuttle's tests run side by side: there each lock has its own place to park.
    #[cfg(any(fifolock_loom, fifolock_shuttle))]
    bucket: Bucket,
}

impl StdLock {
    const_fn! {
        const fn new() -> Self {
            Self {
                word: AtomicWord::new(),
                #[cfg(any(fifolock_loom, fifolock_shuttle))]
                bucket: Bucket::new(),
            }
        }
    }

    fn bucket(&self) -> &Bucket {
        #[cfg(not(any(fifolock_loom, fifolock_shuttle)))]
        return Bucket::of(&self.word);
        #[cfg(any(fifolock_loom, fifolock_shuttle))]
        return &self.bucket;
    }

    #[inline(always)]
    fn run<R>(&self, state: Word, f: impl FnOnce(&mut Word) -> R) -> R {
        let mut section = Section { lock: self, state };
        let result = f(&mut section.state);
        let state = section.state;
        mem::forget(section);
        if self.word.leave_and_look(state) {
            return self.unpark(result);
        }
        result
    }

    #[cold]
    #[inline(never)]
    fn with_contended<R>(&self, busy: Busy, f: impl FnOnce(&mut Word) -> R) -> R {
        let state = self.enter_contended(busy);
        self.run(state, f)
    }

    #[cold]
    #[inline(never)]
    fn enter_contended(&self, busy: Busy) -> Word {
        if busy.parked {
            self.bucket().mark_again(&self.word);
        }
        loop {
            for _ in 0..SPINS {
                if let Some(state) = self.word.try_enter() {
                    return state;
                }
                core::hint::spin_loop();
            }
            self.bucket().sleep(&self.word);
        }
    }

    #[cold]
    #[inline(never)]
    fn unpark<R>(&self, result: R) -> R {
        self.bucket().wake();
        result
    }
}

/// How often a thread looks again before it parks: long enough for a section that runs on another core.
const SPINS: u32 = if cfg!(any(fifolock_loom, fifolock_shuttle)) { 1 } else { 100 };

/// Ends the section with the state that the closure left, should it panic by a fault of ours: a lock that stays busy
/// would hang every thread that touches it.
struct Section<'a> {
    lock: &'a StdLock,
    state: Word,
}

impl Drop for Section<'_> {
    #[cold]
    fn drop(&mut self) {
        if self.lock.word.leave_and_look(self.state) {
            self.lock.unpark(());
        }
    }
}

// SAFETY: 1, 2: one call; nothing in `with` panics. 3: the busy word excludes other sections, `enter` and `try_enter`
// acquire and `leave…` releases. 4, 5: `AtomicWord`'s operations compare against idle words only, with the orderings named there.
unsafe impl RawLock for StdLock {
    #[cfg(not(fifolock_loom))]
    const INIT: Self = Self::new();

    #[cfg(fifolock_loom)]
    fn init() -> Self {
        Self::new()
    }

    const SHORTCUTS: bool = true;

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut Word) -> R) -> R {
        // Two copies of the section: one with a call before or after it has to save registers for that every time.
        match self.word.enter() {
            Ok(state) => self.run(state, f),
            Err(busy) => self.with_contended(busy, f),
        }
    }

    #[inline(always)]
    fn peek(&self) -> Option<Word> {
        self.word.peek()
    }

    #[inline(always)]
    fn guess(&self) -> Word {
        self.word.guess()
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

//! The raw lock for programs on an operating system.

use super::atomic::{AtomicWord, Busy};
use super::park::Bucket;
use super::{RawLock, Word};
use crate::sync_shim::{const_fn, raw_init};
use core::mem;

/// An atomic word; whoever finds a section running spins briefly and then parks its thread.
///
/// Sections take some tens of nanoseconds. A thread that is preempted inside one, or on its way into one for which others
/// sleep, costs the others no more than the spin: they sleep until it has gone on.
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
        if self.word.end_and_peek(state) {
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
        if self.lock.word.end_and_peek(self.state) {
            self.lock.unpark(());
        }
    }
}

// SAFETY: 1, 2: one call; nothing in `with` panics. 3: the busy word excludes other sections, `enter` and `try_enter`
// acquire and `leave…` releases. 4, 5: the `try_…` of `AtomicWord` compare against idle words only, `enter` leaves a busy word
// busy, and `mark_parked` goes from busy to busy; the orderings are named there.
unsafe impl RawLock for StdLock {
    raw_init!(INIT = Self::new());

    const HAS_FAST_PATH: bool = true;

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut Word) -> R) -> R {
        // Two copies of the section: one with a call before or after it has to save registers for that every time.
        match self.word.begin() {
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

#[cfg(all(test, fifolock_loom))]
mod tests {
    use super::*;
    use crate::test_tools::model;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    type Shared = (StdLock, UnsafeCell<u32>);

    fn count(shared: &Shared, word: &mut Word) {
        // SAFETY: in a section; sections exclude each other, and loom checks it.
        shared.1.with_mut(|count| unsafe { *count += 1 });
        *word = Word::from_bits(word.bits() + (1 << 3));
    }

    fn two_newcomers(shared: &Arc<Shared>) -> [thread::JoinHandle<()>; 2] {
        core::array::from_fn(|_| {
            let shared = Arc::clone(shared);
            thread::spawn(move || shared.0.with(|word| count(&shared, word)))
        })
    }

    /// Two come while a section runs: one may take the other's mark off, and sets it again. Nobody sleeps on, which were a
    /// deadlock to loom.
    #[test]
    fn loom_k4_a_mark_that_was_taken_off_is_set_again() {
        model(|| {
            let shared = Arc::new((StdLock::init(), UnsafeCell::new(0)));
            let Ok(state) = shared.0.word.begin() else { panic!("no section runs") };
            let threads = two_newcomers(&shared);
            shared.0.run(state, |word| count(&shared, word));
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(shared.0.peek().map(Word::bits), Some(3 << 3));
        });
    }

    /// The fast path beside two sections: none of what they add is lost.
    #[test]
    fn loom_k4_a_shortcut_against_two_sections() {
        model(|| {
            let shared = Arc::new((StdLock::init(), UnsafeCell::new(0)));
            let threads = two_newcomers(&shared);
            let added = shared.0.peek().is_some_and(|word| {
                let to = Word::from_bits(word.bits() + (1 << 8));
                shared.0.try_release(word, to)
            });
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(shared.0.peek().map(Word::bits), Some((2 << 3) + (usize::from(added) << 8)));
        });
    }
}

//! The raw lock for kernels and bare-metal programs on several cores.

use super::atomic::AtomicWord;
use super::{RawLock, Word};
use crate::sync_shim::{const_fn, raw_init};

/// An atomic word; whoever finds a section running spins.
///
/// # Interrupts
///
/// An interrupt handler that touches the lock while the code it interrupted is inside a section spins for ever. Where
/// handlers share the lock, mask interrupts around every use, or take
/// `CriticalSectionLock`, which does that itself. Where threads can be preempted,
/// take `StdLock`: here a preempted section makes the others burn their time slices.
#[derive(Debug)]
pub struct SpinLock {
    word: AtomicWord,
}

impl SpinLock {
    const_fn! {
        const fn new() -> Self {
            Self { word: AtomicWord::new() }
        }
    }

    #[inline(always)]
    fn begin(&self) -> Word {
        // Not by a swap: a section ends by a plain store here, which loom doesn't order after the swap that it must follow.
        match self.word.try_enter() {
            Some(state) => state,
            None => self.enter_contended(),
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_contended(&self) -> Word {
        loop {
            relax();
            if let Some(state) = self.word.try_enter() {
                return state;
            }
        }
    }
}

#[cfg(not(any(fifolock_loom, fifolock_shuttle)))]
fn relax() {
    <spin::relax::Spin as spin::relax::RelaxStrategy>::relax();
}

#[cfg(fifolock_loom)]
fn relax() {
    loom::thread::yield_now();
}

#[cfg(fifolock_shuttle)]
fn relax() {
    shuttle::hint::spin_loop();
}

// SAFETY: 1, 2: one call; nothing here panics. 3: the busy word excludes other sections, `try_enter` acquires and
// `leave` releases. 4, 5: `AtomicWord`'s operations compare against idle words only, with the orderings named there.
unsafe impl RawLock for SpinLock {
    raw_init!(INIT = Self::new());

    const HAS_FAST_PATH: bool = true;

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut Word) -> R) -> R {
        let mut state = self.begin();
        let result = f(&mut state);
        self.word.end(state);
        result
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

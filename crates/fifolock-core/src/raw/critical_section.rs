//! The raw lock for microcontrollers.

use super::{RawLock, Word};
use core::cell::Cell;

/// A plain cell that is touched only inside a [`critical_section`]: no compare-and-swap is needed, and interrupt
/// handlers may use the lock.
///
/// The final binary provides the implementation of critical sections; this crate enables none.
#[derive(Debug)]
pub struct CriticalSectionLock {
    word: Cell<Word>,
}

// SAFETY: the cell is reached through `with` alone, inside a critical section, which excludes every other thread, core
// and interrupt handler.
unsafe impl Sync for CriticalSectionLock {}

// SAFETY: 1: `critical_section::with` calls its closure once. 2: nothing here panics, and entering can't be refused.
// 3: critical sections exclude each other everywhere, with acquire and release semantics, as that crate requires of
// its implementations. 4: only `with` changes the word. 5: the shortcuts are left as provided.
unsafe impl RawLock for CriticalSectionLock {
    #[cfg(not(fifolock_loom))]
    const INIT: Self = Self { word: Cell::new(Word::INIT) };

    #[cfg(fifolock_loom)]
    fn init() -> Self {
        Self { word: Cell::new(Word::INIT) }
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut Word) -> R) -> R {
        ::critical_section::with(|_| {
            let mut word = self.word.get();
            let result = f(&mut word);
            self.word.set(word);
            result
        })
    }
}

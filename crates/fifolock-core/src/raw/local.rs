//! The raw lock for one thread.

use super::{RawLock, Word};
use core::cell::Cell;

/// A plain cell, for locks that one thread or one executor uses.
///
/// It is not `Sync`, so neither are the locks, guards and futures over it `Send` or `Sync`. An interrupt handler can't
/// reach it without unsafe code; with unsafe code it must not.
#[derive(Debug)]
pub struct LocalLock {
    word: Cell<Word>,
}

// SAFETY: 1, 2: one call; nothing here panics. 3: not `Sync`, so there is one thread, and a section runs no foreign
// code that could start another. 4: only `with` changes the word. 5: the shortcuts are left as provided.
unsafe impl RawLock for LocalLock {
    #[cfg(not(fifolock_loom))]
    const INIT: Self = Self { word: Cell::new(Word::INIT) };

    #[cfg(fifolock_loom)]
    fn init() -> Self {
        Self { word: Cell::new(Word::INIT) }
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut Word) -> R) -> R {
        let mut word = self.word.get();
        let result = f(&mut word);
        self.word.set(word);
        result
    }
}

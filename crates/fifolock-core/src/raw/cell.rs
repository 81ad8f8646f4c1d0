//! The raw locks without atomics: a plain cell that only sections touch.

use super::{RawLock, Refusal, Word};
use crate::sync_shim::raw_init;
use core::cell::Cell;
use core::marker::PhantomData;

/// A way to run something alone, for as long as it takes and wherever the implementor's `Sync` lets it be shared.
///
/// # Safety
///
/// An implementation promises that
///
/// 1. `run` calls its closure exactly once, and does not return before the closure has;
/// 2. `run` does not unwind where the closure does not. One that may refuse aborts instead: a waiter that is dropped
///    while it is queued *must* be unlinked, or its memory would stay in the queue.
///    [`run_with_refusal`](Self::run_with_refusal) may unwind if it is told so, before it calls its closure, and otherwise is
///    as `run`;
/// 3. runs on one value exclude each other on all threads, cores and interrupt levels that its `Sync` lets it reach, and
///    each sees what was written before and in earlier ones. One that is not `Sync` need not exclude anything.
pub unsafe trait Exclusion {
    /// A new one.
    const INIT: Self;

    /// Runs `f` alone.
    fn run<R>(&self, f: impl FnOnce() -> R) -> R;

    /// As [`run`](Self::run), by a caller that knows what a refusal must be. One that never refuses leaves it as it is.
    #[inline(always)]
    fn run_with_refusal<R>(&self, refusal: Refusal, f: impl FnOnce() -> R) -> R {
        let _ = refusal;
        self.run(f)
    }
}

/// A word in a plain cell, touched only inside an [`Exclusion`]: no atomics, no compare-and-swap.
#[derive(Debug)]
pub struct CellLock<X> {
    exclusion: X,
    word: Cell<Word>,
}

// SAFETY: the cell is reached through `with` alone, inside the exclusion.
// - X: Sync: required, since it does the excluding.
unsafe impl<X: Exclusion + Sync> Sync for CellLock<X> {}

// SAFETY: 1, 2, 3: the exclusion's own promises. Where it is not Sync, there is one thread, and a section runs no foreign
// code that could start another. 4: only `with` changes the word. 5: the methods of the fast path are left as provided.
unsafe impl<X: Exclusion> RawLock for CellLock<X> {
    raw_init!(INIT = Self { exclusion: X::INIT, word: Cell::new(Word::INIT) });

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut Word) -> R) -> R {
        self.with_refusal(Refusal::Aborts, f)
    }

    #[inline]
    fn with_refusal<R>(&self, refusal: Refusal, f: impl FnOnce(&mut Word) -> R) -> R {
        self.exclusion.run_with_refusal(refusal, || {
            let mut word = self.word.get();
            let result = f(&mut word);
            self.word.set(word);
            result
        })
    }
}

/// The raw lock for one thread or one executor.
///
/// It is not `Sync`, so neither are the locks, guards and futures over it `Send` or `Sync`. An interrupt handler can't
/// reach it without unsafe code; with unsafe code it must not.
pub type LocalLock = CellLock<OneThread>;

/// Excludes nothing, and is not `Sync`.
#[derive(Debug)]
pub struct OneThread(PhantomData<Cell<()>>);

// SAFETY: 1, 2: one call, nothing else. 3: not Sync.
unsafe impl Exclusion for OneThread {
    const INIT: Self = Self(PhantomData);

    #[inline(always)]
    fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        f()
    }
}

/// The raw lock for microcontrollers: no compare-and-swap is needed, and interrupt handlers may use the lock.
///
/// The final binary provides the implementation of critical sections; this crate enables none.
#[cfg(feature = "critical-section")]
#[cfg_attr(docsrs, doc(cfg(feature = "critical-section")))]
pub type CriticalSectionLock = CellLock<InCriticalSection>;

/// Runs everything in a [`critical_section`].
#[cfg(feature = "critical-section")]
#[cfg_attr(docsrs, doc(cfg(feature = "critical-section")))]
#[derive(Debug)]
pub struct InCriticalSection(());

// SAFETY: 1: `critical_section::with` calls its closure once. 2: entering can't be refused. 3: critical sections exclude
// each other everywhere, with acquire and release semantics, as that crate requires of its implementations.
#[cfg(feature = "critical-section")]
unsafe impl Exclusion for InCriticalSection {
    const INIT: Self = Self(());

    #[inline(always)]
    fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        critical_section::with(|_| f())
    }
}

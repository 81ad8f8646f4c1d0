//! A raw lock that knows whether the thread is inside one of its sections.

use core::cell::Cell;
use core::marker::PhantomData;
use fifolock_core::platform::Platform;
use fifolock_core::raw::{RawLock, Word};

std::thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static SECTIONS: Cell<usize> = const { Cell::new(0) };
}

/// How many sections of [`Depth`] locks the thread has entered.
#[must_use]
pub fn sections() -> usize {
    SECTIONS.get()
}

/// Panics if the thread is inside a section of a [`Depth`] lock. Foreign code calls it (contract K2).
#[track_caller]
pub fn assert_outside() {
    // A second panic would abort, and hide which test it was.
    if !std::thread::panicking() {
        assert_eq!(DEPTH.get(), 0, "foreign code runs inside a raw lock's section");
    }
}

/// The raw lock `R`, counting how deep the thread is inside sections.
#[derive(Debug)]
pub struct Depth<R>(R);

struct Inside;

impl Inside {
    fn enter() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        SECTIONS.set(SECTIONS.get() + 1);
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

// SAFETY: everything is `R`'s. The counting can't panic: a `Cell` in a thread-local without a destructor.
unsafe impl<R: RawLock> RawLock for Depth<R> {
    const INIT: Self = Self(R::INIT);

    const HAS_FAST_PATH: bool = R::HAS_FAST_PATH;

    fn with<T>(&self, f: impl FnOnce(&mut Word) -> T) -> T {
        self.0.with(|word| {
            let _inside = Inside::enter();
            f(word)
        })
    }

    fn peek(&self) -> Option<Word> {
        self.0.peek()
    }

    fn try_acquire(&self, from: Word, to: Word) -> bool {
        self.0.try_acquire(from, to)
    }

    fn try_release(&self, from: Word, to: Word) -> bool {
        self.0.try_release(from, to)
    }
}

/// The platform over a raw lock `R` that is watched: the rules' wakers and clocks assert that they run outside.
#[derive(Debug)]
pub struct Watched<R>(PhantomData<R>);

impl<R: RawLock + 'static> Platform for Watched<R> {
    type Raw = Depth<R>;
}

//! A raw lock that knows whether the thread is inside one of its sections.

use core::cell::Cell;
use core::marker::PhantomData;
use fifolock_core::platform::Platform;
use fifolock_core::raw::{RawLock, Word};

std::thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static SECTIONS: Cell<usize> = const { Cell::new(0) };
}

/// The number of sections of [`Depth`] locks that the thread is inside.
#[must_use]
pub fn sections() -> usize {
    SECTIONS.get()
}

/// Panics if the thread is inside a section of a [`Depth`] lock. Foreign code of the tests calls this function (K2).
#[track_caller]
pub fn assert_outside() {
    // A second panic would abort the program, and hide the test that failed.
    if !std::thread::panicking() {
        assert_eq!(DEPTH.get(), 0, "foreign code runs inside a raw lock's section");
    }
}

/// The raw lock `R`, with a count of the sections that the thread is inside.
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

// SAFETY: `R` does everything. The counting can't panic, since its `Cell` in a thread-local has no destructor.
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

/// The platform over the watched raw lock `R`: the wakers and clocks of the rules assert that they run outside of
/// sections.
#[derive(Debug)]
pub struct Watched<R>(PhantomData<R>);

impl<R: RawLock + 'static> Platform for Watched<R> {
    type Raw = Depth<R>;
}

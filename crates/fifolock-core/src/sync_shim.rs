//! The atomics and cells of the crate, or loom's in their place, or shuttle's atomics.
//!
//! Everything that threads share goes through these, so that a loom build checks each access. Loom's constructors
//! are not `const`; [`const_fn!`] is the one rule for that.
//!
//! The `cfg` chooses, so that no user's feature can. The features `_loom` and `_shuttle` only bring the crate.

/// A function that is `const`, except under loom.
///
/// The condition stands on the macro, and not in it: rustdoc would label each function with it.
#[cfg(not(fifolock_loom))]
macro_rules! const_fn {
    ($(#[$meta:meta])* $vis:vis const fn $($rest:tt)*) => {
        $(#[$meta])* $vis const fn $($rest)*
    };
}
#[cfg(fifolock_loom)]
macro_rules! const_fn {
    ($(#[$meta:meta])* $vis:vis const fn $($rest:tt)*) => {
        $(#[$meta])* $vis fn $($rest)*
    };
}
pub(crate) use const_fn;

/// The new raw lock of a `RawLock`: a constant, and under loom, whose atomics can't be made in one, a function.
#[cfg(not(fifolock_loom))]
macro_rules! raw_init {
    ($(#[$meta:meta])* INIT) => {
        $(#[$meta])* const INIT: Self;
    };
    (INIT = $new:expr) => {
        const INIT: Self = $new;
    };
}
#[cfg(fifolock_loom)]
macro_rules! raw_init {
    ($(#[$meta:meta])* INIT) => {
        $(#[$meta])* fn init() -> Self;
    };
    (INIT = $new:expr) => {
        fn init() -> Self {
            $new
        }
    };
}
pub(crate) use raw_init;

#[cfg(not(fifolock_loom))]
mod imp {
    #[cfg(not(fifolock_shuttle))]
    pub(crate) use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
    #[cfg(fifolock_shuttle)]
    pub(crate) use shuttle::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

    /// `core`'s cell with loom's interface.
    #[repr(transparent)]
    pub(crate) struct UnsafeCell<T: ?Sized>(core::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(core::cell::UnsafeCell::new(value))
        }

        #[inline(always)]
        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

#[cfg(fifolock_loom)]
mod imp {
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
}

pub(crate) use imp::*;

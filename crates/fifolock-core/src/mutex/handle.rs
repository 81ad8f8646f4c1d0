//! Ways to lead to a mutex.

use super::raw::RawMutex;
use super::{Locking, Mutex, MutexGuard};
use crate::held::Held;
use crate::platform::Platform;

/// Whoever leads to a mutex: a reference, or an `Arc`.
#[allow(unnameable_types, unreachable_pub, reason = "sealed")]
pub trait MutexHandle {
    /// The lock's platform.
    type Platform: Platform;
    /// What locking ends in.
    type Guard;

    /// The lock without its data.
    fn raw(&self) -> &RawMutex<<Self::Platform as Platform>::Raw>;
    /// The caller holds the mutex.
    fn guard(locked: Held<Locking<Self>>) -> Self::Guard
    where
        Self: Sized;
}

impl<'a, T: ?Sized, P: Platform> MutexHandle for &'a Mutex<T, P> {
    type Platform = P;
    type Guard = MutexGuard<'a, T, P>;

    #[inline(always)]
    fn raw(&self) -> &RawMutex<P::Raw> {
        Mutex::raw(self)
    }

    #[inline(always)]
    fn guard(locked: Held<Locking<Self>>) -> Self::Guard {
        MutexGuard::new(locked)
    }
}

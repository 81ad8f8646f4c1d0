//! Ways to lead to a read-write lock.

use super::raw::RawRwLock;
use super::{
    Reading, ReadingUpgradable, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard, Writing,
};
use crate::held::Held;
use crate::platform::Platform;
use crate::raw::RawLock;

/// Whoever leads to a read-write lock and is enough to release it.
#[allow(unnameable_types, unreachable_pub, reason = "sealed")]
pub trait RawHandle {
    /// Its raw lock.
    type Raw: RawLock;

    /// The lock without its data.
    fn raw(&self) -> &RawRwLock<Self::Raw>;
}

/// Whoever leads to a read-write lock with its data: a reference, or an `Arc`.
#[allow(unnameable_types, unreachable_pub, reason = "sealed")]
pub trait RwLockHandle: RawHandle<Raw = <Self::Platform as Platform>::Raw> + Sized {
    /// The lock's platform.
    type Platform: Platform;
    /// What reading ends in.
    type ReadGuard;
    /// What reading ends in that may become writing.
    type UpgradableGuard;
    /// What writing ends in.
    type WriteGuard;

    /// The caller has a share.
    fn read_guard(shared: Held<Reading<Self>>) -> Self::ReadGuard;
    /// The caller has the upgradable share.
    fn upgradable_guard(shared: Held<ReadingUpgradable<Self>>) -> Self::UpgradableGuard;
    /// The caller owns the lock.
    fn write_guard(owned: Held<Writing<Self>>) -> Self::WriteGuard;
}

impl<R: RawLock> RawHandle for &RawRwLock<R> {
    type Raw = R;

    #[inline(always)]
    fn raw(&self) -> &RawRwLock<R> {
        self
    }
}

impl<T: ?Sized, P: Platform> RawHandle for &RwLock<T, P> {
    type Raw = P::Raw;

    #[inline(always)]
    fn raw(&self) -> &RawRwLock<P::Raw> {
        RwLock::raw(self)
    }
}

impl<'a, T: ?Sized, P: Platform> RwLockHandle for &'a RwLock<T, P> {
    type Platform = P;
    type ReadGuard = RwLockReadGuard<'a, T, P>;
    type UpgradableGuard = RwLockUpgradableReadGuard<'a, T, P>;
    type WriteGuard = RwLockWriteGuard<'a, T, P>;

    #[inline(always)]
    fn read_guard(shared: Held<Reading<Self>>) -> Self::ReadGuard {
        RwLockReadGuard::new(shared)
    }

    #[inline(always)]
    fn upgradable_guard(shared: Held<ReadingUpgradable<Self>>) -> Self::UpgradableGuard {
        RwLockUpgradableReadGuard::new(shared)
    }

    #[inline(always)]
    fn write_guard(owned: Held<Writing<Self>>) -> Self::WriteGuard {
        RwLockWriteGuard::new(owned)
    }
}

//! The borrowed and the owned form of upgradable reading.

use crate::tools::Platform;
use core::future::Future;
use core::ops::{Deref, DerefMut};
use fifolock_core::rwlock::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};
use fifolock_core::{RwLock, TryLockError};
use std::sync::Arc;

type Lock<P> = Arc<RwLock<u32, P>>;

pub(super) trait Form {
    /// How many shares in the lock's ownership a guard or future has.
    const SHARES: usize;

    type Read<'a, P: Platform>: Deref<Target = u32>;
    type Upgradable<'a, P: Platform>: Deref<Target = u32>;
    type Write<'a, P: Platform>: DerefMut<Target = u32>;

    fn read<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Read<'_, P>>;
    fn upgradable<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Upgradable<'_, P>>;
    fn write<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Write<'_, P>>;
    fn try_read<P: Platform>(lock: &Lock<P>) -> Result<Self::Read<'_, P>, TryLockError>;
    fn try_upgradable<P: Platform>(lock: &Lock<P>) -> Result<Self::Upgradable<'_, P>, TryLockError>;
    fn try_write<P: Platform>(lock: &Lock<P>) -> Result<Self::Write<'_, P>, TryLockError>;
    fn upgrade<P: Platform>(guard: Self::Upgradable<'_, P>) -> impl Future<Output = Self::Write<'_, P>>;
    fn try_upgrade<P: Platform>(guard: Self::Upgradable<'_, P>) -> Result<Self::Write<'_, P>, Self::Upgradable<'_, P>>;
    fn downgrade<P: Platform>(guard: Self::Upgradable<'_, P>) -> Self::Read<'_, P>;
    fn downgrade_to_upgradable<P: Platform>(guard: Self::Write<'_, P>) -> Self::Upgradable<'_, P>;
    fn is_of<P: Platform>(guard: &Self::Upgradable<'_, P>, lock: &Lock<P>) -> bool;
}

pub(super) enum Borrowed {}
pub(super) enum Owned {}

/// What both forms spell alike.
macro_rules! conversions {
    ($upgradable:ident, $write:ident) => {
        fn upgrade<P: Platform>(guard: Self::Upgradable<'_, P>) -> impl Future<Output = Self::Write<'_, P>> {
            $upgradable::upgrade(guard)
        }

        fn try_upgrade<P: Platform>(
            guard: Self::Upgradable<'_, P>,
        ) -> Result<Self::Write<'_, P>, Self::Upgradable<'_, P>> {
            $upgradable::try_upgrade(guard)
        }

        fn downgrade<P: Platform>(guard: Self::Upgradable<'_, P>) -> Self::Read<'_, P> {
            $upgradable::downgrade(guard)
        }

        fn downgrade_to_upgradable<P: Platform>(guard: Self::Write<'_, P>) -> Self::Upgradable<'_, P> {
            $write::downgrade_to_upgradable(guard)
        }
    };
}

impl Form for Borrowed {
    const SHARES: usize = 0;

    type Read<'a, P: Platform> = RwLockReadGuard<'a, u32, P>;
    type Upgradable<'a, P: Platform> = RwLockUpgradableReadGuard<'a, u32, P>;
    type Write<'a, P: Platform> = RwLockWriteGuard<'a, u32, P>;

    fn read<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Read<'_, P>> {
        RwLock::read(lock)
    }

    fn upgradable<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Upgradable<'_, P>> {
        RwLock::upgradable_read(lock)
    }

    fn write<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Write<'_, P>> {
        RwLock::write(lock)
    }

    fn try_read<P: Platform>(lock: &Lock<P>) -> Result<Self::Read<'_, P>, TryLockError> {
        RwLock::try_read(lock)
    }

    fn try_upgradable<P: Platform>(lock: &Lock<P>) -> Result<Self::Upgradable<'_, P>, TryLockError> {
        RwLock::try_upgradable_read(lock)
    }

    fn try_write<P: Platform>(lock: &Lock<P>) -> Result<Self::Write<'_, P>, TryLockError> {
        RwLock::try_write(lock)
    }

    fn is_of<P: Platform>(guard: &Self::Upgradable<'_, P>, lock: &Lock<P>) -> bool {
        core::ptr::eq(RwLockUpgradableReadGuard::rwlock(guard), &**lock)
    }

    conversions!(RwLockUpgradableReadGuard, RwLockWriteGuard);
}

impl Form for Owned {
    const SHARES: usize = 1;

    type Read<'a, P: Platform> = OwnedRwLockReadGuard<u32, u32, P>;
    type Upgradable<'a, P: Platform> = OwnedRwLockUpgradableReadGuard<u32, P>;
    type Write<'a, P: Platform> = OwnedRwLockWriteGuard<u32, P>;

    fn read<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Read<'_, P>> {
        Arc::clone(lock).read_owned()
    }

    fn upgradable<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Upgradable<'_, P>> {
        Arc::clone(lock).upgradable_read_owned()
    }

    fn write<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Write<'_, P>> {
        Arc::clone(lock).write_owned()
    }

    fn try_read<P: Platform>(lock: &Lock<P>) -> Result<Self::Read<'_, P>, TryLockError> {
        Arc::clone(lock).try_read_owned()
    }

    fn try_upgradable<P: Platform>(lock: &Lock<P>) -> Result<Self::Upgradable<'_, P>, TryLockError> {
        Arc::clone(lock).try_upgradable_read_owned()
    }

    fn try_write<P: Platform>(lock: &Lock<P>) -> Result<Self::Write<'_, P>, TryLockError> {
        Arc::clone(lock).try_write_owned()
    }

    fn is_of<P: Platform>(guard: &Self::Upgradable<'_, P>, lock: &Lock<P>) -> bool {
        Arc::ptr_eq(OwnedRwLockUpgradableReadGuard::rwlock(guard), lock)
    }

    conversions!(OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard);
}

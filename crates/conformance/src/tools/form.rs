//! The borrowed and the owned form of every operation of a read-write lock, with the types of guards.

use super::Platform;
use core::future::Future;
use core::ops::{Deref, DerefMut};
use fifolock_core::rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
};
use fifolock_core::{RwLock, TryLockError};
use std::sync::Arc;

type Lock<T, P> = Arc<RwLock<T, P>>;

/// A way to use a lock.
pub(crate) trait Form {
    const NAME: &'static str;
    /// The number of shares in the ownership of the lock that a guard or future has.
    const SHARES: usize;

    type Read<'a, T: 'static, P: Platform>: Deref<Target = T>;
    type ReadPart<'a, T: 'static, P: Platform>: Deref<Target = u32>;
    type Write<'a, T: 'static, P: Platform>: DerefMut<Target = T>;
    type Upgradable<'a, T: 'static, P: Platform>: Deref<Target = T>;
    type WriteAll<'a, T: 'static, P: Platform>: DerefMut<Target = T>;
    type WritePart<'a, T: 'static, P: Platform>: DerefMut<Target = u32>;

    fn read<T: 'static, P: Platform>(lock: &Lock<T, P>) -> impl Future<Output = Self::Read<'_, T, P>>;
    fn write<T: 'static, P: Platform>(lock: &Lock<T, P>) -> impl Future<Output = Self::Write<'_, T, P>>;
    fn try_read<T: 'static, P: Platform>(lock: &Lock<T, P>) -> Result<Self::Read<'_, T, P>, TryLockError>;
    fn try_write<T: 'static, P: Platform>(lock: &Lock<T, P>) -> Result<Self::Write<'_, T, P>, TryLockError>;

    fn map<'a, T: 'static, P: Platform>(
        guard: Self::Read<'a, T, P>,
        f: impl FnOnce(&T) -> &u32,
    ) -> Self::ReadPart<'a, T, P>;
    fn try_map<'a, T: 'static, P: Platform>(
        guard: Self::Read<'a, T, P>,
        f: impl FnOnce(&T) -> Option<&u32>,
    ) -> Result<Self::ReadPart<'a, T, P>, Self::Read<'a, T, P>>;
    fn map_part<'a, T: 'static, P: Platform>(
        guard: Self::ReadPart<'a, T, P>,
        f: impl FnOnce(&u32) -> &u32,
    ) -> Self::ReadPart<'a, T, P>;
    fn try_map_part<'a, T: 'static, P: Platform>(
        guard: Self::ReadPart<'a, T, P>,
        f: impl FnOnce(&u32) -> Option<&u32>,
    ) -> Result<Self::ReadPart<'a, T, P>, Self::ReadPart<'a, T, P>>;

    fn map_mut<'a, T: 'static, P: Platform>(
        guard: Self::Write<'a, T, P>,
        f: impl FnOnce(&mut T) -> &mut u32,
    ) -> Self::WritePart<'a, T, P>;
    fn try_map_mut<'a, T: 'static, P: Platform>(
        guard: Self::Write<'a, T, P>,
        f: impl FnOnce(&mut T) -> Option<&mut u32>,
    ) -> Result<Self::WritePart<'a, T, P>, Self::Write<'a, T, P>>;
    fn into_mapped<T: 'static, P: Platform>(guard: Self::Write<'_, T, P>) -> Self::WriteAll<'_, T, P>;
    fn map_all<'a, T: 'static, P: Platform>(
        guard: Self::WriteAll<'a, T, P>,
        f: impl FnOnce(&mut T) -> &mut u32,
    ) -> Self::WritePart<'a, T, P>;
    fn try_map_all<'a, T: 'static, P: Platform>(
        guard: Self::WriteAll<'a, T, P>,
        f: impl FnOnce(&mut T) -> Option<&mut u32>,
    ) -> Result<Self::WritePart<'a, T, P>, Self::WriteAll<'a, T, P>>;

    fn upgradable<T: 'static, P: Platform>(lock: &Lock<T, P>) -> impl Future<Output = Self::Upgradable<'_, T, P>>;
    fn try_upgradable<T: 'static, P: Platform>(lock: &Lock<T, P>) -> Result<Self::Upgradable<'_, T, P>, TryLockError>;
    fn upgrade<T: 'static, P: Platform>(
        guard: Self::Upgradable<'_, T, P>,
    ) -> impl Future<Output = Self::Write<'_, T, P>>;
    fn try_upgrade<T: 'static, P: Platform>(
        guard: Self::Upgradable<'_, T, P>,
    ) -> Result<Self::Write<'_, T, P>, Self::Upgradable<'_, T, P>>;
    fn downgrade_upgradable<T: 'static, P: Platform>(guard: Self::Upgradable<'_, T, P>) -> Self::Read<'_, T, P>;
    fn downgrade_to_upgradable<T: 'static, P: Platform>(guard: Self::Write<'_, T, P>) -> Self::Upgradable<'_, T, P>;
    fn is_of<T: 'static, P: Platform>(guard: &Self::Upgradable<'_, T, P>, lock: &Lock<T, P>) -> bool;

    fn downgrade<T: 'static, P: Platform>(guard: Self::Write<'_, T, P>) -> Self::Read<'_, T, P>;
    fn downgrade_map<'a, T: 'static, P: Platform>(
        guard: Self::Write<'a, T, P>,
        f: impl FnOnce(&T) -> &u32,
    ) -> Self::ReadPart<'a, T, P>;
    fn try_downgrade_map<'a, T: 'static, P: Platform>(
        guard: Self::Write<'a, T, P>,
        f: impl FnOnce(&T) -> Option<&u32>,
    ) -> Result<Self::ReadPart<'a, T, P>, Self::Write<'a, T, P>>;
}

/// Futures and guards borrow the lock.
pub(crate) enum Borrowed {}

/// Futures and guards share in the lock's ownership.
pub(crate) enum Owned {}

/// Implements the conversions, which have the same names in both forms.
macro_rules! conversions {
    ($read:ident, $upgradable:ident, $write:ident, $mapped:ident) => {
        fn map<'a, T: 'static, P: Platform>(
            guard: Self::Read<'a, T, P>,
            f: impl FnOnce(&T) -> &u32,
        ) -> Self::ReadPart<'a, T, P> {
            $read::map(guard, f)
        }

        fn try_map<'a, T: 'static, P: Platform>(
            guard: Self::Read<'a, T, P>,
            f: impl FnOnce(&T) -> Option<&u32>,
        ) -> Result<Self::ReadPart<'a, T, P>, Self::Read<'a, T, P>> {
            $read::try_map(guard, f)
        }

        fn map_part<'a, T: 'static, P: Platform>(
            guard: Self::ReadPart<'a, T, P>,
            f: impl FnOnce(&u32) -> &u32,
        ) -> Self::ReadPart<'a, T, P> {
            $read::map(guard, f)
        }

        fn try_map_part<'a, T: 'static, P: Platform>(
            guard: Self::ReadPart<'a, T, P>,
            f: impl FnOnce(&u32) -> Option<&u32>,
        ) -> Result<Self::ReadPart<'a, T, P>, Self::ReadPart<'a, T, P>> {
            $read::try_map(guard, f)
        }

        fn map_mut<'a, T: 'static, P: Platform>(
            guard: Self::Write<'a, T, P>,
            f: impl FnOnce(&mut T) -> &mut u32,
        ) -> Self::WritePart<'a, T, P> {
            $write::map(guard, f)
        }

        fn try_map_mut<'a, T: 'static, P: Platform>(
            guard: Self::Write<'a, T, P>,
            f: impl FnOnce(&mut T) -> Option<&mut u32>,
        ) -> Result<Self::WritePart<'a, T, P>, Self::Write<'a, T, P>> {
            $write::try_map(guard, f)
        }

        fn into_mapped<T: 'static, P: Platform>(guard: Self::Write<'_, T, P>) -> Self::WriteAll<'_, T, P> {
            $write::into_mapped(guard)
        }

        fn map_all<'a, T: 'static, P: Platform>(
            guard: Self::WriteAll<'a, T, P>,
            f: impl FnOnce(&mut T) -> &mut u32,
        ) -> Self::WritePart<'a, T, P> {
            $mapped::map(guard, f)
        }

        fn try_map_all<'a, T: 'static, P: Platform>(
            guard: Self::WriteAll<'a, T, P>,
            f: impl FnOnce(&mut T) -> Option<&mut u32>,
        ) -> Result<Self::WritePart<'a, T, P>, Self::WriteAll<'a, T, P>> {
            $mapped::try_map(guard, f)
        }

        fn upgrade<T: 'static, P: Platform>(
            guard: Self::Upgradable<'_, T, P>,
        ) -> impl Future<Output = Self::Write<'_, T, P>> {
            $upgradable::upgrade(guard)
        }

        fn try_upgrade<T: 'static, P: Platform>(
            guard: Self::Upgradable<'_, T, P>,
        ) -> Result<Self::Write<'_, T, P>, Self::Upgradable<'_, T, P>> {
            $upgradable::try_upgrade(guard)
        }

        fn downgrade_upgradable<T: 'static, P: Platform>(guard: Self::Upgradable<'_, T, P>) -> Self::Read<'_, T, P> {
            $upgradable::downgrade(guard)
        }

        fn downgrade_to_upgradable<T: 'static, P: Platform>(
            guard: Self::Write<'_, T, P>,
        ) -> Self::Upgradable<'_, T, P> {
            $write::downgrade_to_upgradable(guard)
        }

        fn downgrade<T: 'static, P: Platform>(guard: Self::Write<'_, T, P>) -> Self::Read<'_, T, P> {
            guard.downgrade()
        }

        fn downgrade_map<'a, T: 'static, P: Platform>(
            guard: Self::Write<'a, T, P>,
            f: impl FnOnce(&T) -> &u32,
        ) -> Self::ReadPart<'a, T, P> {
            $write::downgrade_map(guard, f)
        }

        fn try_downgrade_map<'a, T: 'static, P: Platform>(
            guard: Self::Write<'a, T, P>,
            f: impl FnOnce(&T) -> Option<&u32>,
        ) -> Result<Self::ReadPart<'a, T, P>, Self::Write<'a, T, P>> {
            $write::try_downgrade_map(guard, f)
        }
    };
}

impl Form for Borrowed {
    const NAME: &'static str = "borrowed";
    const SHARES: usize = 0;

    type Read<'a, T: 'static, P: Platform> = RwLockReadGuard<'a, T, P>;
    type ReadPart<'a, T: 'static, P: Platform> = RwLockReadGuard<'a, u32, P>;
    type Write<'a, T: 'static, P: Platform> = RwLockWriteGuard<'a, T, P>;
    type Upgradable<'a, T: 'static, P: Platform> = RwLockUpgradableReadGuard<'a, T, P>;
    type WriteAll<'a, T: 'static, P: Platform> = RwLockMappedWriteGuard<'a, T, P>;
    type WritePart<'a, T: 'static, P: Platform> = RwLockMappedWriteGuard<'a, u32, P>;

    fn read<T: 'static, P: Platform>(lock: &Lock<T, P>) -> impl Future<Output = Self::Read<'_, T, P>> {
        RwLock::read(lock)
    }

    fn write<T: 'static, P: Platform>(lock: &Lock<T, P>) -> impl Future<Output = Self::Write<'_, T, P>> {
        RwLock::write(lock)
    }

    fn try_read<T: 'static, P: Platform>(lock: &Lock<T, P>) -> Result<Self::Read<'_, T, P>, TryLockError> {
        RwLock::try_read(lock)
    }

    fn try_write<T: 'static, P: Platform>(lock: &Lock<T, P>) -> Result<Self::Write<'_, T, P>, TryLockError> {
        RwLock::try_write(lock)
    }

    fn upgradable<T: 'static, P: Platform>(lock: &Lock<T, P>) -> impl Future<Output = Self::Upgradable<'_, T, P>> {
        RwLock::upgradable_read(lock)
    }

    fn try_upgradable<T: 'static, P: Platform>(lock: &Lock<T, P>) -> Result<Self::Upgradable<'_, T, P>, TryLockError> {
        RwLock::try_upgradable_read(lock)
    }

    fn is_of<T: 'static, P: Platform>(guard: &Self::Upgradable<'_, T, P>, lock: &Lock<T, P>) -> bool {
        core::ptr::eq(RwLockUpgradableReadGuard::rwlock(guard), &**lock)
    }

    conversions!(RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard, RwLockMappedWriteGuard);
}

impl Form for Owned {
    const NAME: &'static str = "owned";
    const SHARES: usize = 1;

    type Read<'a, T: 'static, P: Platform> = OwnedRwLockReadGuard<T, T, P>;
    type ReadPart<'a, T: 'static, P: Platform> = OwnedRwLockReadGuard<T, u32, P>;
    type Write<'a, T: 'static, P: Platform> = OwnedRwLockWriteGuard<T, P>;
    type Upgradable<'a, T: 'static, P: Platform> = OwnedRwLockUpgradableReadGuard<T, P>;
    type WriteAll<'a, T: 'static, P: Platform> = OwnedRwLockMappedWriteGuard<T, T, P>;
    type WritePart<'a, T: 'static, P: Platform> = OwnedRwLockMappedWriteGuard<T, u32, P>;

    fn read<T: 'static, P: Platform>(lock: &Lock<T, P>) -> impl Future<Output = Self::Read<'_, T, P>> {
        Arc::clone(lock).read_owned()
    }

    fn write<T: 'static, P: Platform>(lock: &Lock<T, P>) -> impl Future<Output = Self::Write<'_, T, P>> {
        Arc::clone(lock).write_owned()
    }

    fn try_read<T: 'static, P: Platform>(lock: &Lock<T, P>) -> Result<Self::Read<'_, T, P>, TryLockError> {
        Arc::clone(lock).try_read_owned()
    }

    fn try_write<T: 'static, P: Platform>(lock: &Lock<T, P>) -> Result<Self::Write<'_, T, P>, TryLockError> {
        Arc::clone(lock).try_write_owned()
    }

    fn upgradable<T: 'static, P: Platform>(lock: &Lock<T, P>) -> impl Future<Output = Self::Upgradable<'_, T, P>> {
        Arc::clone(lock).upgradable_read_owned()
    }

    fn try_upgradable<T: 'static, P: Platform>(lock: &Lock<T, P>) -> Result<Self::Upgradable<'_, T, P>, TryLockError> {
        Arc::clone(lock).try_upgradable_read_owned()
    }

    fn is_of<T: 'static, P: Platform>(guard: &Self::Upgradable<'_, T, P>, lock: &Lock<T, P>) -> bool {
        Arc::ptr_eq(OwnedRwLockUpgradableReadGuard::rwlock(guard), lock)
    }

    conversions!(
        OwnedRwLockReadGuard,
        OwnedRwLockUpgradableReadGuard,
        OwnedRwLockWriteGuard,
        OwnedRwLockMappedWriteGuard
    );
}

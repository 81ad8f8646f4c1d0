//! The borrowed and the owned form of every operation.

use super::Data;
use crate::tools::Platform;
use core::ops::{Deref, DerefMut};
use fifolock_core::rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLockMappedWriteGuard, RwLockReadGuard,
    RwLockWriteGuard,
};
use fifolock_core::{RwLock, TryLockError};
use std::sync::Arc;

type Lock<P> = Arc<RwLock<Data, P>>;

/// A way to use a lock.
pub(super) trait Form {
    const NAME: &'static str;
    /// How many shares in the lock's ownership a guard or future has.
    const SHARES: usize;

    type Read<'a, P: Platform>: Deref<Target = Data>;
    type ReadPart<'a, P: Platform>: Deref<Target = u32>;
    type Write<'a, P: Platform>: DerefMut<Target = Data>;
    type WriteAll<'a, P: Platform>: DerefMut<Target = Data>;
    type WritePart<'a, P: Platform>: DerefMut<Target = u32>;

    fn read<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Read<'_, P>>;
    fn write<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Write<'_, P>>;
    fn try_read<P: Platform>(lock: &Lock<P>) -> Result<Self::Read<'_, P>, TryLockError>;
    fn try_write<P: Platform>(lock: &Lock<P>) -> Result<Self::Write<'_, P>, TryLockError>;

    fn map<'a, P: Platform>(guard: Self::Read<'a, P>, f: impl FnOnce(&Data) -> &u32) -> Self::ReadPart<'a, P>;
    fn try_map<'a, P: Platform>(
        guard: Self::Read<'a, P>,
        f: impl FnOnce(&Data) -> Option<&u32>,
    ) -> Result<Self::ReadPart<'a, P>, Self::Read<'a, P>>;
    fn map_part<'a, P: Platform>(guard: Self::ReadPart<'a, P>, f: impl FnOnce(&u32) -> &u32) -> Self::ReadPart<'a, P>;
    fn try_map_part<'a, P: Platform>(
        guard: Self::ReadPart<'a, P>,
        f: impl FnOnce(&u32) -> Option<&u32>,
    ) -> Result<Self::ReadPart<'a, P>, Self::ReadPart<'a, P>>;

    fn map_mut<'a, P: Platform>(
        guard: Self::Write<'a, P>,
        f: impl FnOnce(&mut Data) -> &mut u32,
    ) -> Self::WritePart<'a, P>;
    fn try_map_mut<'a, P: Platform>(
        guard: Self::Write<'a, P>,
        f: impl FnOnce(&mut Data) -> Option<&mut u32>,
    ) -> Result<Self::WritePart<'a, P>, Self::Write<'a, P>>;
    fn into_mapped<P: Platform>(guard: Self::Write<'_, P>) -> Self::WriteAll<'_, P>;
    fn map_all<'a, P: Platform>(
        guard: Self::WriteAll<'a, P>,
        f: impl FnOnce(&mut Data) -> &mut u32,
    ) -> Self::WritePart<'a, P>;
    fn try_map_all<'a, P: Platform>(
        guard: Self::WriteAll<'a, P>,
        f: impl FnOnce(&mut Data) -> Option<&mut u32>,
    ) -> Result<Self::WritePart<'a, P>, Self::WriteAll<'a, P>>;

    fn downgrade<P: Platform>(guard: Self::Write<'_, P>) -> Self::Read<'_, P>;
    fn downgrade_map<'a, P: Platform>(
        guard: Self::Write<'a, P>,
        f: impl FnOnce(&Data) -> &u32,
    ) -> Self::ReadPart<'a, P>;
    fn try_downgrade_map<'a, P: Platform>(
        guard: Self::Write<'a, P>,
        f: impl FnOnce(&Data) -> Option<&u32>,
    ) -> Result<Self::ReadPart<'a, P>, Self::Write<'a, P>>;
}

/// Futures and guards borrow the lock.
pub(super) enum Borrowed {}

/// Futures and guards share in the lock's ownership.
pub(super) enum Owned {}

/// Implements the conversions, which both forms spell alike.
macro_rules! conversions {
    ($read:ident, $write:ident, $mapped:ident) => {
        fn map<'a, P: Platform>(guard: Self::Read<'a, P>, f: impl FnOnce(&Data) -> &u32) -> Self::ReadPart<'a, P> {
            $read::map(guard, f)
        }

        fn try_map<'a, P: Platform>(
            guard: Self::Read<'a, P>,
            f: impl FnOnce(&Data) -> Option<&u32>,
        ) -> Result<Self::ReadPart<'a, P>, Self::Read<'a, P>> {
            $read::try_map(guard, f)
        }

        fn map_part<'a, P: Platform>(
            guard: Self::ReadPart<'a, P>,
            f: impl FnOnce(&u32) -> &u32,
        ) -> Self::ReadPart<'a, P> {
            $read::map(guard, f)
        }

        fn try_map_part<'a, P: Platform>(
            guard: Self::ReadPart<'a, P>,
            f: impl FnOnce(&u32) -> Option<&u32>,
        ) -> Result<Self::ReadPart<'a, P>, Self::ReadPart<'a, P>> {
            $read::try_map(guard, f)
        }

        fn map_mut<'a, P: Platform>(
            guard: Self::Write<'a, P>,
            f: impl FnOnce(&mut Data) -> &mut u32,
        ) -> Self::WritePart<'a, P> {
            $write::map(guard, f)
        }

        fn try_map_mut<'a, P: Platform>(
            guard: Self::Write<'a, P>,
            f: impl FnOnce(&mut Data) -> Option<&mut u32>,
        ) -> Result<Self::WritePart<'a, P>, Self::Write<'a, P>> {
            $write::try_map(guard, f)
        }

        fn into_mapped<P: Platform>(guard: Self::Write<'_, P>) -> Self::WriteAll<'_, P> {
            $write::into_mapped(guard)
        }

        fn map_all<'a, P: Platform>(
            guard: Self::WriteAll<'a, P>,
            f: impl FnOnce(&mut Data) -> &mut u32,
        ) -> Self::WritePart<'a, P> {
            $mapped::map(guard, f)
        }

        fn try_map_all<'a, P: Platform>(
            guard: Self::WriteAll<'a, P>,
            f: impl FnOnce(&mut Data) -> Option<&mut u32>,
        ) -> Result<Self::WritePart<'a, P>, Self::WriteAll<'a, P>> {
            $mapped::try_map(guard, f)
        }

        fn downgrade<P: Platform>(guard: Self::Write<'_, P>) -> Self::Read<'_, P> {
            guard.downgrade()
        }

        fn downgrade_map<'a, P: Platform>(
            guard: Self::Write<'a, P>,
            f: impl FnOnce(&Data) -> &u32,
        ) -> Self::ReadPart<'a, P> {
            $write::downgrade_map(guard, f)
        }

        fn try_downgrade_map<'a, P: Platform>(
            guard: Self::Write<'a, P>,
            f: impl FnOnce(&Data) -> Option<&u32>,
        ) -> Result<Self::ReadPart<'a, P>, Self::Write<'a, P>> {
            $write::try_downgrade_map(guard, f)
        }
    };
}

impl Form for Borrowed {
    const NAME: &'static str = "borrowed";
    const SHARES: usize = 0;

    type Read<'a, P: Platform> = RwLockReadGuard<'a, Data, P>;
    type ReadPart<'a, P: Platform> = RwLockReadGuard<'a, u32, P>;
    type Write<'a, P: Platform> = RwLockWriteGuard<'a, Data, P>;
    type WriteAll<'a, P: Platform> = RwLockMappedWriteGuard<'a, Data, P>;
    type WritePart<'a, P: Platform> = RwLockMappedWriteGuard<'a, u32, P>;

    fn read<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Read<'_, P>> {
        RwLock::read(lock)
    }

    fn write<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Write<'_, P>> {
        RwLock::write(lock)
    }

    fn try_read<P: Platform>(lock: &Lock<P>) -> Result<Self::Read<'_, P>, TryLockError> {
        RwLock::try_read(lock)
    }

    fn try_write<P: Platform>(lock: &Lock<P>) -> Result<Self::Write<'_, P>, TryLockError> {
        RwLock::try_write(lock)
    }

    conversions!(RwLockReadGuard, RwLockWriteGuard, RwLockMappedWriteGuard);
}

impl Form for Owned {
    const NAME: &'static str = "owned";
    const SHARES: usize = 1;

    type Read<'a, P: Platform> = OwnedRwLockReadGuard<Data, Data, P>;
    type ReadPart<'a, P: Platform> = OwnedRwLockReadGuard<Data, u32, P>;
    type Write<'a, P: Platform> = OwnedRwLockWriteGuard<Data, P>;
    type WriteAll<'a, P: Platform> = OwnedRwLockMappedWriteGuard<Data, Data, P>;
    type WritePart<'a, P: Platform> = OwnedRwLockMappedWriteGuard<Data, u32, P>;

    fn read<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Read<'_, P>> {
        Arc::clone(lock).read_owned()
    }

    fn write<P: Platform>(lock: &Lock<P>) -> impl Future<Output = Self::Write<'_, P>> {
        Arc::clone(lock).write_owned()
    }

    fn try_read<P: Platform>(lock: &Lock<P>) -> Result<Self::Read<'_, P>, TryLockError> {
        Arc::clone(lock).try_read_owned()
    }

    fn try_write<P: Platform>(lock: &Lock<P>) -> Result<Self::Write<'_, P>, TryLockError> {
        Arc::clone(lock).try_write_owned()
    }

    conversions!(OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedRwLockMappedWriteGuard);
}

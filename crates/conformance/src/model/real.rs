//! The real locks, as the sequences use them.

use super::reference::{MutexReference, Reference, RwLockReference};
use super::{Counts, Kind};
use crate::tools::Boxed;
use core::fmt::Debug;
use fifolock_core::mutex::{MutexGuard, OwnedMutexGuard};
use fifolock_core::platform::Platform;
use fifolock_core::rwlock::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLockReadGuard, RwLockWriteGuard};
use fifolock_core::{Mutex, RwLock};
use std::sync::Arc;

pub(super) trait Real: Debug + Sized + 'static {
    const NAME: &'static str;
    type Reference: Reference;
    type Guard<'a>;

    /// One of three variants, for many operations at a time or for few.
    fn new(variant: usize, crowded: bool) -> (Self, Self::Reference);
    fn acquire(lock: &Arc<Self>, kind: Kind, owned: bool) -> Boxed<dyn Future<Output = Self::Guard<'_>> + '_>;
    fn try_acquire(lock: &Arc<Self>, kind: Kind, owned: bool) -> Option<Self::Guard<'_>>;
    /// The guard itself, where it can't be downgraded.
    fn downgrade(guard: Self::Guard<'_>) -> Result<Self::Guard<'_>, Self::Guard<'_>>;
    fn value(guard: &Self::Guard<'_>) -> u64;
    fn value_mut<'g>(guard: &'g mut Self::Guard<'_>) -> Option<&'g mut u64>;
    fn counts(&self) -> Counts;
}

pub(super) enum Exclusive<'a, P: Platform> {
    Borrowed(MutexGuard<'a, u64, P>),
    Owned(OwnedMutexGuard<u64, P>),
}

impl<P: Platform> Real for Mutex<u64, P> {
    const NAME: &'static str = "Mutex";
    type Reference = MutexReference;
    type Guard<'a> = Exclusive<'a, P>;

    fn new(_: usize, _: bool) -> (Self, MutexReference) {
        (Self::new(0), MutexReference::default())
    }

    fn acquire(lock: &Arc<Self>, _: Kind, owned: bool) -> Boxed<dyn Future<Output = Exclusive<'_, P>> + '_> {
        // The lock's own future exists from the start, polled or not.
        if owned {
            let future = Arc::clone(lock).lock_owned();
            Box::pin(async { Exclusive::Owned(future.await) })
        } else {
            let future = lock.lock();
            Box::pin(async { Exclusive::Borrowed(future.await) })
        }
    }

    fn try_acquire(lock: &Arc<Self>, _: Kind, owned: bool) -> Option<Exclusive<'_, P>> {
        if owned {
            Arc::clone(lock).try_lock_owned().ok().map(Exclusive::Owned)
        } else {
            lock.try_lock().ok().map(Exclusive::Borrowed)
        }
    }

    fn downgrade(guard: Self::Guard<'_>) -> Result<Self::Guard<'_>, Self::Guard<'_>> {
        Err(guard)
    }

    fn value(guard: &Exclusive<'_, P>) -> u64 {
        match guard {
            Exclusive::Borrowed(guard) => **guard,
            Exclusive::Owned(guard) => **guard,
        }
    }

    fn value_mut<'g>(guard: &'g mut Exclusive<'_, P>) -> Option<&'g mut u64> {
        match guard {
            Exclusive::Borrowed(guard) => Some(guard),
            Exclusive::Owned(guard) => Some(guard),
        }
    }

    fn counts(&self) -> Counts {
        let state = self.state();
        assert_eq!((state.locked, state.queued), (self.is_locked(), self.queued()));
        (0, state.locked, 0, state.queued)
    }
}

pub(super) enum Shared<'a, P: Platform> {
    Read(RwLockReadGuard<'a, u64, P>),
    ReadOwned(OwnedRwLockReadGuard<u64, u64, P>),
    Write(RwLockWriteGuard<'a, u64, P>),
    WriteOwned(OwnedRwLockWriteGuard<u64, P>),
}

impl<P: Platform> Real for RwLock<u64, P> {
    const NAME: &'static str = "RwLock";
    type Reference = RwLockReference;
    type Guard<'a> = Shared<'a, P>;

    fn new(variant: usize, crowded: bool) -> (Self, RwLockReference) {
        let limits = if crowded { [35, 40, Self::MAX_READERS] } else { [1, 3, Self::MAX_READERS] };
        let max_readers = limits[variant];
        (Self::with_max_readers(0, max_readers), RwLockReference::new(max_readers))
    }

    fn acquire(lock: &Arc<Self>, kind: Kind, owned: bool) -> Boxed<dyn Future<Output = Shared<'_, P>> + '_> {
        match (kind, owned) {
            (Kind::Read, false) => {
                let future = lock.read();
                Box::pin(async { Shared::Read(future.await) })
            }
            (Kind::Read, true) => {
                let future = Arc::clone(lock).read_owned();
                Box::pin(async { Shared::ReadOwned(future.await) })
            }
            (Kind::Write, false) => {
                let future = lock.write();
                Box::pin(async { Shared::Write(future.await) })
            }
            (Kind::Write, true) => {
                let future = Arc::clone(lock).write_owned();
                Box::pin(async { Shared::WriteOwned(future.await) })
            }
        }
    }

    fn try_acquire(lock: &Arc<Self>, kind: Kind, owned: bool) -> Option<Shared<'_, P>> {
        let own = Arc::clone(lock);
        match (kind, owned) {
            (Kind::Read, false) => lock.try_read().ok().map(Shared::Read),
            (Kind::Read, true) => own.try_read_owned().ok().map(Shared::ReadOwned),
            (Kind::Write, false) => lock.try_write().ok().map(Shared::Write),
            (Kind::Write, true) => own.try_write_owned().ok().map(Shared::WriteOwned),
        }
    }

    fn downgrade(guard: Self::Guard<'_>) -> Result<Self::Guard<'_>, Self::Guard<'_>> {
        match guard {
            Shared::Write(guard) => Ok(Shared::Read(guard.downgrade())),
            Shared::WriteOwned(guard) => Ok(Shared::ReadOwned(guard.downgrade())),
            guard => Err(guard),
        }
    }

    fn value(guard: &Shared<'_, P>) -> u64 {
        match guard {
            Shared::Read(guard) => **guard,
            Shared::ReadOwned(guard) => **guard,
            Shared::Write(guard) => **guard,
            Shared::WriteOwned(guard) => **guard,
        }
    }

    fn value_mut<'g>(guard: &'g mut Shared<'_, P>) -> Option<&'g mut u64> {
        match guard {
            Shared::Write(guard) => Some(guard),
            Shared::WriteOwned(guard) => Some(guard),
            _ => None,
        }
    }

    fn counts(&self) -> Counts {
        let state = self.state();
        (state.readers, state.writer, state.waiting_readers, state.waiting_writers)
    }
}

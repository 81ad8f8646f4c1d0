//! The mutex.

use super::{Acquiring, Real, Setup, acquire, map, ticks, wrapped};
use crate::alphabet::{Form, Limit, Mapping};
use crate::reference::{self, Counts, Kind};
use core::time::Duration;
use fifolock_conformance::tools::clock::TestTimer;
use fifolock_core::Mutex;
use fifolock_core::mutex::{MappedMutexGuard, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
use std::sync::Arc;

/// Any guard of a mutex.
#[derive(Debug)]
pub enum Guard<P: TestTimer<Duration = Duration>> {
    /// From `lock`.
    Borrowed(MutexGuard<'static, u64, P>),
    /// From `lock_owned`.
    Owned(OwnedMutexGuard<u64, P>),
    /// From a map of a borrowed guard.
    Mapped(MappedMutexGuard<'static, u64, P>),
    /// From a map of an owned guard.
    OwnedMapped(OwnedMappedMutexGuard<u64, u64, P>),
}

impl<P: TestTimer<Duration = Duration>> Real for Mutex<u64, P> {
    const NAME: &'static str = "Mutex";
    type Platform = P;
    type Reference = reference::Mutex;
    type Guard = Guard<P>;

    fn new(_: Setup) -> (Self, reference::Mutex) {
        (Self::new(0), reference::Mutex::default())
    }

    fn acquire(lock: &'static Arc<Self>, _: Kind, form: Form, limit: Limit) -> Acquiring<Self> {
        match form {
            Form::Borrowed => acquire!(limit, Guard::Borrowed, lock, lock, lock_timeout, lock_deadline),
            Form::Owned => {
                let lock = Arc::clone(lock);
                acquire!(limit, Guard::Owned, lock, lock_owned, lock_owned_timeout, lock_owned_deadline)
            }
        }
    }

    fn try_acquire(lock: &'static Arc<Self>, _: Kind, form: Form) -> Option<Guard<P>> {
        match form {
            Form::Borrowed => lock.try_lock().ok().map(Guard::Borrowed),
            Form::Owned => Arc::clone(lock).try_lock_owned().ok().map(Guard::Owned),
        }
    }

    fn upgrade(_: Guard<P>) -> Acquiring<Self> {
        unreachable!("a mutex has no upgrade")
    }

    fn try_upgrade(_: Guard<P>) -> Result<Guard<P>, Guard<P>> {
        unreachable!("a mutex has no upgrade")
    }

    fn downgrade(_: Guard<P>, _: Kind) -> Guard<P> {
        unreachable!("a mutex has no downgrade")
    }

    fn map(guard: Guard<P>, mapping: Mapping) -> Result<Guard<P>, Guard<P>> {
        match guard {
            Guard::Borrowed(guard) => map!(mapping, MutexGuard, guard, Guard::Borrowed, Guard::Mapped),
            Guard::Owned(guard) => map!(mapping, OwnedMutexGuard, guard, Guard::Owned, Guard::OwnedMapped),
            Guard::Mapped(guard) => map!(mapping, MappedMutexGuard, guard, Guard::Mapped, Guard::Mapped),
            Guard::OwnedMapped(guard) => {
                map!(mapping, OwnedMappedMutexGuard, guard, Guard::OwnedMapped, Guard::OwnedMapped)
            }
        }
    }

    fn value(guard: &Guard<P>) -> u64 {
        match guard {
            Guard::Borrowed(guard) => **guard,
            Guard::Owned(guard) => **guard,
            Guard::Mapped(guard) => **guard,
            Guard::OwnedMapped(guard) => **guard,
        }
    }

    fn value_mut(guard: &mut Guard<P>) -> Option<&mut u64> {
        Some(match guard {
            Guard::Borrowed(guard) => guard,
            Guard::Owned(guard) => guard,
            Guard::Mapped(guard) => guard,
            Guard::OwnedMapped(guard) => guard,
        })
    }

    fn counts(&self) -> Counts {
        let state = self.state();
        assert_eq!((state.locked, state.queued), (self.is_locked(), self.queued()));
        Counts { writer: state.locked, waiting_writers: state.queued, ..Counts::default() }
    }
}

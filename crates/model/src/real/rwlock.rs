//! The read-write lock.

use super::{Acquiring, Real, Setup, acquire, map, ticks, wrapped};
use crate::alphabet::{Form, Limit, Mapping};
use crate::reference::{self, Counts, Kind};
use core::time::Duration;
use fifolock_conformance::tools::clock::TestTimer;
use fifolock_core::RwLock;
use fifolock_core::rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
};
use std::sync::Arc;

/// Any guard of a read-write lock.
#[derive(Debug)]
pub enum Guard<P: TestTimer<Duration = Duration>> {
    /// From `read`.
    Read(RwLockReadGuard<'static, u64, P>),
    /// From `read_owned`.
    ReadOwned(OwnedRwLockReadGuard<u64, u64, P>),
    /// From `upgradable_read`.
    Upgradable(RwLockUpgradableReadGuard<'static, u64, P>),
    /// From `upgradable_read_owned`.
    UpgradableOwned(OwnedRwLockUpgradableReadGuard<u64, P>),
    /// From `write`.
    Write(RwLockWriteGuard<'static, u64, P>),
    /// From `write_owned`.
    WriteOwned(OwnedRwLockWriteGuard<u64, P>),
    /// From a map of a borrowed guard.
    Mapped(RwLockMappedWriteGuard<'static, u64, P>),
    /// From a map of an owned guard.
    OwnedMapped(OwnedRwLockMappedWriteGuard<u64, u64, P>),
}

impl<P: TestTimer<Duration = Duration>> Real for RwLock<u64, P> {
    const NAME: &'static str = "RwLock";
    type Platform = P;
    type Reference = reference::RwLock;
    type Guard = Guard<P>;

    fn new(setup: Setup) -> (Self, reference::RwLock) {
        let Setup { policy, max_readers } = setup;
        (Self::with_policy_and_max_readers(0, policy, max_readers), reference::RwLock::new(policy, max_readers))
    }

    fn acquire(lock: &'static Arc<Self>, kind: Kind, form: Form, limit: Limit) -> Acquiring<Self> {
        let own = Arc::clone(lock);
        match (kind, form) {
            (Kind::Read, Form::Borrowed) => acquire!(limit, Guard::Read, lock, read, read_timeout, read_deadline),
            (Kind::Read, Form::Owned) => {
                acquire!(limit, Guard::ReadOwned, own, read_owned, read_owned_timeout, read_owned_deadline)
            }
            (Kind::Upgradable, Form::Borrowed) => acquire!(
                limit,
                Guard::Upgradable,
                lock,
                upgradable_read,
                upgradable_read_timeout,
                upgradable_read_deadline
            ),
            (Kind::Upgradable, Form::Owned) => acquire!(
                limit,
                Guard::UpgradableOwned,
                own,
                upgradable_read_owned,
                upgradable_read_owned_timeout,
                upgradable_read_owned_deadline
            ),
            (Kind::Write, Form::Borrowed) => acquire!(limit, Guard::Write, lock, write, write_timeout, write_deadline),
            (Kind::Write, Form::Owned) => {
                acquire!(limit, Guard::WriteOwned, own, write_owned, write_owned_timeout, write_owned_deadline)
            }
            (Kind::Upgrade, _) => unreachable!("an upgrade starts from a guard"),
        }
    }

    fn try_acquire(lock: &'static Arc<Self>, kind: Kind, form: Form) -> Option<Guard<P>> {
        let own = Arc::clone(lock);
        match (kind, form) {
            (Kind::Read, Form::Borrowed) => lock.try_read().ok().map(Guard::Read),
            (Kind::Read, Form::Owned) => own.try_read_owned().ok().map(Guard::ReadOwned),
            (Kind::Upgradable, Form::Borrowed) => lock.try_upgradable_read().ok().map(Guard::Upgradable),
            (Kind::Upgradable, Form::Owned) => own.try_upgradable_read_owned().ok().map(Guard::UpgradableOwned),
            (Kind::Write, Form::Borrowed) => lock.try_write().ok().map(Guard::Write),
            (Kind::Write, Form::Owned) => own.try_write_owned().ok().map(Guard::WriteOwned),
            (Kind::Upgrade, _) => unreachable!("an upgrade starts from a guard"),
        }
    }

    fn upgrade(guard: Guard<P>) -> Acquiring<Self> {
        match guard {
            Guard::Upgradable(guard) => {
                wrapped(RwLockUpgradableReadGuard::upgrade(guard), |guard| Ok(Guard::Write(guard)))
            }
            Guard::UpgradableOwned(guard) => {
                wrapped(OwnedRwLockUpgradableReadGuard::upgrade(guard), |guard| Ok(Guard::WriteOwned(guard)))
            }
            _ => unreachable!("only an upgradable guard is upgraded"),
        }
    }

    fn try_upgrade(guard: Guard<P>) -> Result<Guard<P>, Guard<P>> {
        match guard {
            Guard::Upgradable(guard) => {
                RwLockUpgradableReadGuard::try_upgrade(guard).map(Guard::Write).map_err(Guard::Upgradable)
            }
            Guard::UpgradableOwned(guard) => OwnedRwLockUpgradableReadGuard::try_upgrade(guard)
                .map(Guard::WriteOwned)
                .map_err(Guard::UpgradableOwned),
            _ => unreachable!("only an upgradable guard is upgraded"),
        }
    }

    fn downgrade(guard: Guard<P>, keeps: Kind) -> Guard<P> {
        match (guard, keeps) {
            (Guard::Write(guard), Kind::Read) => Guard::Read(guard.downgrade()),
            (Guard::WriteOwned(guard), Kind::Read) => Guard::ReadOwned(guard.downgrade()),
            (Guard::Upgradable(guard), Kind::Read) => Guard::Read(RwLockUpgradableReadGuard::downgrade(guard)),
            (Guard::UpgradableOwned(guard), Kind::Read) => {
                Guard::ReadOwned(OwnedRwLockUpgradableReadGuard::downgrade(guard))
            }
            (Guard::Write(guard), Kind::Upgradable) => {
                Guard::Upgradable(RwLockWriteGuard::downgrade_to_upgradable(guard))
            }
            (Guard::WriteOwned(guard), Kind::Upgradable) => {
                Guard::UpgradableOwned(OwnedRwLockWriteGuard::downgrade_to_upgradable(guard))
            }
            _ => unreachable!("the guard has no more access than that"),
        }
    }

    fn map(guard: Guard<P>, mapping: Mapping) -> Result<Guard<P>, Guard<P>> {
        match guard {
            Guard::Read(guard) => map!(mapping, RwLockReadGuard, guard, Guard::Read, Guard::Read),
            Guard::ReadOwned(guard) => map!(mapping, OwnedRwLockReadGuard, guard, Guard::ReadOwned, Guard::ReadOwned),
            Guard::Write(guard) => map!(mapping, RwLockWriteGuard, guard, Guard::Write, Guard::Mapped),
            Guard::WriteOwned(guard) => {
                map!(mapping, OwnedRwLockWriteGuard, guard, Guard::WriteOwned, Guard::OwnedMapped)
            }
            Guard::Mapped(guard) => map!(mapping, RwLockMappedWriteGuard, guard, Guard::Mapped, Guard::Mapped),
            Guard::OwnedMapped(guard) => {
                map!(mapping, OwnedRwLockMappedWriteGuard, guard, Guard::OwnedMapped, Guard::OwnedMapped)
            }
            _ => unreachable!("an upgradable guard has no map"),
        }
    }

    fn value(guard: &Guard<P>) -> u64 {
        match guard {
            Guard::Read(guard) => **guard,
            Guard::ReadOwned(guard) => **guard,
            Guard::Upgradable(guard) => **guard,
            Guard::UpgradableOwned(guard) => **guard,
            Guard::Write(guard) => **guard,
            Guard::WriteOwned(guard) => **guard,
            Guard::Mapped(guard) => **guard,
            Guard::OwnedMapped(guard) => **guard,
        }
    }

    fn value_mut(guard: &mut Guard<P>) -> Option<&mut u64> {
        match guard {
            Guard::Write(guard) => Some(guard),
            Guard::WriteOwned(guard) => Some(guard),
            Guard::Mapped(guard) => Some(guard),
            Guard::OwnedMapped(guard) => Some(guard),
            _ => None,
        }
    }

    fn counts(&self) -> Counts {
        let state = self.state();
        Counts {
            readers: state.readers,
            upgradable: state.upgradable,
            writer: state.writer,
            waiting_readers: state.waiting_readers,
            waiting_upgradable: state.waiting_upgradable,
            waiting_writers: state.waiting_writers,
        }
    }
}

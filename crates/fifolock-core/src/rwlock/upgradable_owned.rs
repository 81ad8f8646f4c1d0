//! Reading that may become writing: the owned forms.

use super::upgradable::{downgrade_upgradable, try_upgrade};
use super::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, ReadingUpgradable, RwLock, Upgrading, handle::RwLockHandle};
use crate::acquire::Acquire;
use crate::diagnostics::Place;
use crate::error::TryLockError;
use crate::permit::Permit;
use crate::platform::{Platform, Timer};
use crate::timeout::{Deadline, Timeout};
use alloc::sync::Arc;
use core::fmt;
use core::ops::Deref;

/// The future of [`RwLock::upgradable_read_owned`].
pub type UpgradableReadOwned<T, P> = Acquire<ReadingUpgradable<Arc<RwLock<T, P>>>>;
/// The future of [`RwLock::upgradable_read_owned_timeout`].
pub type UpgradableReadOwnedTimeout<T, P> = Timeout<ReadingUpgradable<Arc<RwLock<T, P>>>>;
/// The future of [`RwLock::upgradable_read_owned_deadline`].
pub type UpgradableReadOwnedDeadline<T, P> = Deadline<ReadingUpgradable<Arc<RwLock<T, P>>>>;
/// The future of [`OwnedRwLockUpgradableReadGuard::upgrade`].
pub type UpgradeOwned<T, P> = Acquire<Upgrading<Arc<RwLock<T, P>>>>;

#[cfg_attr(docsrs, doc(cfg(feature = "alloc")))]
impl<T: ?Sized, P: Platform> RwLock<T, P> {
    /// As [`upgradable_read`](Self::upgradable_read), with a guard that shares in the lock and borrows nothing.
    ///
    /// # Fairness
    ///
    /// As [`upgradable_read`](Self::upgradable_read).
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read).
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgradable_read_owned(self: Arc<Self>) -> UpgradableReadOwned<T, P> {
        Acquire::new(ReadingUpgradable(self))
    }

    /// As [`try_upgradable_read`](Self::try_upgradable_read), with a guard that shares in the lock and borrows nothing.
    ///
    /// # Errors
    ///
    /// As [`try_upgradable_read`](Self::try_upgradable_read). This share in the lock's ownership is gone then.
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn try_upgradable_read_owned(self: Arc<Self>) -> Result<OwnedRwLockUpgradableReadGuard<T, P>, TryLockError> {
        crate::acquire::try_now(ReadingUpgradable(self))
    }

    /// As [`upgradable_read_timeout`](Self::upgradable_read_timeout), with a guard that shares in the lock and borrows
    /// nothing.
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read).
    ///
    /// # Errors
    ///
    /// As [`read_timeout`](Self::read_timeout).
    ///
    /// # Panics
    ///
    /// As [`read_timeout`](Self::read_timeout).
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgradable_read_owned_timeout(self: Arc<Self>, timeout: P::Duration) -> UpgradableReadOwnedTimeout<T, P>
    where
        P: Timer,
    {
        Timeout::new(ReadingUpgradable(self), timeout)
    }

    /// As [`upgradable_read_deadline`](Self::upgradable_read_deadline), with a guard that shares in the lock and borrows
    /// nothing.
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read).
    ///
    /// # Errors
    ///
    /// As [`read_deadline`](Self::read_deadline).
    ///
    /// # Panics
    ///
    /// As [`read_deadline`](Self::read_deadline).
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgradable_read_owned_deadline(self: Arc<Self>, deadline: P::Instant) -> UpgradableReadOwnedDeadline<T, P>
    where
        P: Timer,
    {
        Deadline::new(ReadingUpgradable(self), deadline)
    }
}

/// A share in the lock, for reading, that can become the lock for writing; it shares in the lock's ownership.
///
/// Dropping it gives the share back as a [`RwLockUpgradableReadGuard`](super::RwLockUpgradableReadGuard) does, and then
/// drops its `Arc`.
#[must_use = "the lock is released at once when the guard is not kept"]
#[clippy::has_significant_drop]
pub struct OwnedRwLockUpgradableReadGuard<T: ?Sized, P: Platform> {
    shared: Permit<ReadingUpgradable<Arc<RwLock<T, P>>>>,
}

impl<T: ?Sized, P: Platform> OwnedRwLockUpgradableReadGuard<T, P> {
    #[inline(always)]
    pub(super) fn new(shared: Permit<ReadingUpgradable<Arc<RwLock<T, P>>>>) -> Self {
        Self { shared }
    }

    /// The lock that this guard has a share in.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T, P>> {
        &this.shared.held().0
    }

    /// Becomes a write guard, as [`RwLockUpgradableReadGuard::upgrade`](super::RwLockUpgradableReadGuard::upgrade).
    ///
    /// # Fairness
    ///
    /// It goes before writers that wait, and no new reader enters until it has had its turn.
    ///
    /// # Cancel safety
    ///
    /// The future keeps this guard's share. Dropping it gives the share back too, and lets in whom it kept out.
    ///
    /// # Panics
    ///
    /// The future panics when polled after it was ready.
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgrade(this: Self) -> UpgradeOwned<T, P> {
        Acquire::new(Upgrading(this.shared.into_held().0.0))
    }

    /// Becomes a write guard if there is no other reader.
    ///
    /// # Errors
    ///
    /// This guard, if there is one. Nothing has changed then.
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn try_upgrade(this: Self) -> Result<OwnedRwLockWriteGuard<T, P>, Self> {
        try_upgrade(this.shared, Place::here()).map(RwLockHandle::write_guard).map_err(Self::new)
    }

    /// Becomes a plain read guard. The next upgradable reader may enter then.
    pub fn downgrade(this: Self) -> OwnedRwLockReadGuard<T, T, P> {
        RwLockHandle::read_guard(downgrade_upgradable(this.shared))
    }
}

impl<T: ?Sized, P: Platform> Deref for OwnedRwLockUpgradableReadGuard<T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        let data = self.shared.held().0.inner.data.get();
        // SAFETY: this guard has a share, so nobody writes.
        unsafe { &*data }
    }
}

crate::transparent_fmt!([T] OwnedRwLockUpgradableReadGuard<T, P> => T);

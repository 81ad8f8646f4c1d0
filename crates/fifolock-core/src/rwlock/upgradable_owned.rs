//! Reading that may become writing: the owned forms.

use super::upgradable::{downgrade_upgradable, try_upgrade};
use super::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, ReadingUpgradable, RwLock, Upgrading, handle::RwLockHandle};
use crate::acquire::Acquire;
use crate::call_site::CallSite;
use crate::error::TryLockError;
#[cfg(any(feature = "std", doc))]
use crate::error::{TimeoutError, UpgradeError};
use crate::held::Held;
use crate::platform::{Platform, Timer};
use crate::timeout::{Deadline, Timeout};
use crate::until::Until;
use alloc::sync::Arc;
use core::fmt;
use core::future::Future;
use core::ops::Deref;

/// The future of [`RwLock::upgradable_read_owned`].
pub type UpgradableReadOwned<T, P> = Acquire<ReadingUpgradable<Arc<RwLock<T, P>>>>;
/// The future of [`RwLock::upgradable_read_owned_timeout`].
pub type UpgradableReadOwnedTimeout<T, P> = Timeout<ReadingUpgradable<Arc<RwLock<T, P>>>>;
/// The future of [`RwLock::upgradable_read_owned_deadline`].
pub type UpgradableReadOwnedDeadline<T, P> = Deadline<ReadingUpgradable<Arc<RwLock<T, P>>>>;
/// The future of [`OwnedRwLockUpgradableReadGuard::upgrade`].
pub type UpgradeOwned<T, P> = Acquire<Upgrading<Arc<RwLock<T, P>>>>;
/// The future of [`RwLock::upgradable_read_owned_until`].
pub type UpgradableReadOwnedUntil<T, P, F> = Until<ReadingUpgradable<Arc<RwLock<T, P>>>, F>;
/// The future of [`OwnedRwLockUpgradableReadGuard::upgrade_timeout`].
pub type UpgradeOwnedTimeout<T, P> = Timeout<Upgrading<Arc<RwLock<T, P>>>>;
/// The future of [`OwnedRwLockUpgradableReadGuard::upgrade_deadline`].
pub type UpgradeOwnedDeadline<T, P> = Deadline<Upgrading<Arc<RwLock<T, P>>>>;
/// The future of [`OwnedRwLockUpgradableReadGuard::upgrade_until`].
pub type UpgradeOwnedUntil<T, P, F> = Until<Upgrading<Arc<RwLock<T, P>>>, F>;

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
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    /// use std::sync::Arc;
    ///
    /// # futures_lite::future::block_on(async {
    /// let cache = Arc::new(RwLock::new(1));
    /// let guard = cache.clone().upgradable_read_owned().await;
    /// // MoreWait read; one alone may be about to write.
    /// assert!(cache.try_read().is_ok() && cache.try_upgradable_read().is_err());
    /// # drop(guard);
    /// # });
    /// ```
    #[doc(alias = "upgradable_read_arc")]
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
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    /// use std::sync::Arc;
    ///
    /// let cache = Arc::new(RwLock::new(1));
    /// let guard = cache.clone().try_upgradable_read_owned()?;
    /// assert!(cache.try_read().is_ok() && cache.try_upgradable_read().is_err());
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    #[doc(alias = "try_upgradable_read_arc")]
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
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::RwLock;
    /// use std::sync::Arc;
    /// use tokio::time::Duration;
    ///
    /// # futures_lite::future::block_on(async {
    /// let cache = Arc::new(RwLock::new(1));
    /// let guard = cache.clone().upgradable_read_owned_timeout(Duration::from_millis(50)).await?;
    /// assert_eq!(*guard, 1);
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::RwLock;
    /// use std::sync::Arc;
    /// use tokio::time::{Duration, Instant};
    ///
    /// # futures_lite::future::block_on(async {
    /// let cache = Arc::new(RwLock::new(1));
    /// let deadline = Instant::now() + Duration::from_millis(50);
    /// let guard = cache.clone().upgradable_read_owned_deadline(deadline).await?;
    /// assert_eq!(*guard, 1);
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgradable_read_owned_deadline(self: Arc<Self>, deadline: P::Instant) -> UpgradableReadOwnedDeadline<T, P>
    where
        P: Timer,
    {
        Deadline::new(ReadingUpgradable(self), deadline)
    }

    /// As [`upgradable_read_until`](Self::upgradable_read_until), with a guard that shares in the lock and borrows nothing: both the future and the guard can go
    /// to a spawned task.
    ///
    /// # Cancel safety
    ///
    /// As [`upgradable_read`](Self::upgradable_read).
    ///
    /// # Errors
    ///
    /// As [`upgradable_read_until`](Self::upgradable_read_until).
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// # #[allow(clippy::arc_with_non_send_sync)]
    /// let lock = std::sync::Arc::new(RwLock::new(1));
    /// let held = lock.write().await;
    /// let shutdown = async { "shutting down" };
    /// assert_eq!(lock.clone().upgradable_read_owned_until(shutdown).await.err(), Some("shutting down"));
    /// # drop(held);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgradable_read_owned_until<F: Future>(self: Arc<Self>, other: F) -> UpgradableReadOwnedUntil<T, P, F> {
        Until::new(ReadingUpgradable(self), other)
    }

    /// As [`blocking_upgradable_read`](Self::blocking_upgradable_read), with a guard that shares in the lock and borrows nothing.
    ///
    /// # Fairness
    ///
    /// As [`upgradable_read`](Self::upgradable_read): threads and tasks are served alike.
    ///
    /// # Examples
    ///
    /// A guard that outlives the function that locks:
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// # fifolock_core::__facade!();
    /// use fifolock::RwLock;
    /// use std::{sync::Arc, thread};
    ///
    /// let lock = Arc::new(RwLock::new(1));
    /// let guard = lock.clone().blocking_upgradable_read_owned();
    /// thread::spawn(move || assert_eq!(*guard, 1)).join().unwrap();
    /// # }
    /// ```
    #[doc(alias = "upgradable_read_arc_blocking")]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_upgradable_read_owned(self: Arc<Self>) -> OwnedRwLockUpgradableReadGuard<T, P> {
        crate::blocking::acquire(ReadingUpgradable(self))
    }
}

/// A share in the lock, for reading, that can become the lock for writing; it shares in the lock's ownership.
///
/// Dropping it gives the share back as a [`RwLockUpgradableReadGuard`](super::RwLockUpgradableReadGuard) does, and then
/// drops its `Arc`.
#[doc(alias("RwLockUpgradableReadGuardArc", "ArcRwLockUpgradableReadGuard"))]
#[must_use = "the lock is released at once when the guard is not kept"]
#[clippy::has_significant_drop]
pub struct OwnedRwLockUpgradableReadGuard<T: ?Sized, P: Platform> {
    shared: Held<ReadingUpgradable<Arc<RwLock<T, P>>>>,
}

impl<T: ?Sized, P: Platform> OwnedRwLockUpgradableReadGuard<T, P> {
    #[inline(always)]
    pub(super) fn new(shared: Held<ReadingUpgradable<Arc<RwLock<T, P>>>>) -> Self {
        Self { shared }
    }

    /// The share, as the upgrade's.
    #[inline(always)]
    fn into_upgrading(self) -> Upgrading<Arc<RwLock<T, P>>> {
        Upgrading(self.shared.into_held().0.0)
    }

    /// The lock that this guard has a share in.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockUpgradableReadGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let cache = Arc::new(RwLock::new(1));
    /// let guard = cache.clone().try_upgradable_read_owned()?;
    /// assert_eq!(OwnedRwLockUpgradableReadGuard::rwlock(&guard).queued(), 0);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockUpgradableReadGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// # futures_lite::future::block_on(async {
    /// let cache = Arc::new(RwLock::new(1));
    /// let guard = cache.clone().upgradable_read_owned().await;
    /// // Waits until the other readers have left. No writer comes in between: the value is still what was read.
    /// let mut guard = OwnedRwLockUpgradableReadGuard::upgrade(guard).await;
    /// *guard += 1;
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgrade(this: Self) -> UpgradeOwned<T, P> {
        Acquire::new(this.into_upgrading())
    }

    /// As [`upgrade`](Self::upgrade), waiting no longer than `timeout`; what ends without the lock gives this guard back.
    ///
    /// The timeout limits the wait, from the first poll; never the holding. If there is no other reader no timer is made.
    ///
    /// # Fairness
    ///
    /// As [`upgrade`](Self::upgrade). One that is granted in time gets the lock, however late it is polled.
    ///
    /// # Cancel safety
    ///
    /// As [`upgrade`](Self::upgrade): dropping the future gives the share back too. The sleep goes with the future.
    ///
    /// # Errors
    ///
    /// [`UpgradeError`], with this guard, whose share was held all the time, and the reason:
    /// [`TimeoutError::Elapsed`] if the other readers had not left in time; those whom only this upgrade kept out have been let
    /// in then. [`TimeoutError::InvalidTimeout`] if the timeout is zero, whether there are other readers or not: where the rest of
    /// some budget may be zero, use [`try_upgrade`](Self::try_upgrade) then.
    ///
    /// # Panics
    ///
    /// As [`upgrade`](Self::upgrade), and where the runtime's timer does: tokio's, outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::{OwnedRwLockUpgradableReadGuard, RwLock};
    /// use tokio::time::Duration;
    /// use std::sync::Arc;
    /// async fn refresh(config: &Arc<RwLock<u32>>, patience: Duration) -> u32 {
    ///     let guard = Arc::clone(config).upgradable_read_owned().await;
    ///     match OwnedRwLockUpgradableReadGuard::upgrade_timeout(guard, patience).await {
    ///         Ok(mut guard) => {
    ///             *guard += 1;
    ///             *guard
    ///         }
    ///         // Some reader stays. What was read is still so, and nobody else could write.
    ///         Err(failed) => *failed.guard,
    ///     }
    /// }
    /// ```
    #[doc(alias = "try_upgrade_for")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgrade_timeout(this: Self, timeout: P::Duration) -> UpgradeOwnedTimeout<T, P>
    where
        P: Timer,
    {
        Timeout::new(this.into_upgrading(), timeout)
    }

    /// As [`upgrade_timeout`](Self::upgrade_timeout), until a point in time. A deadline that has passed is one attempt.
    ///
    /// # Cancel safety
    ///
    /// As [`upgrade_timeout`](Self::upgrade_timeout).
    ///
    /// # Errors
    ///
    /// [`UpgradeError`], with this guard and [`TimeoutError::Elapsed`], if the other readers had not left by then.
    ///
    /// # Panics
    ///
    /// As [`upgrade_timeout`](Self::upgrade_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::{OwnedRwLockUpgradableReadGuard, RwLock, TimeoutError};
    /// use tokio::time::Instant;
    /// use std::sync::Arc;
    /// /// One budget for both waits.
    /// async fn refresh(config: &Arc<RwLock<u32>>, by: Instant) -> Result<(), TimeoutError> {
    ///     let guard = Arc::clone(config).upgradable_read_owned_deadline(by).await?;
    ///     *OwnedRwLockUpgradableReadGuard::upgrade_deadline(guard, by).await? += 1;
    ///     Ok(())
    /// }
    /// ```
    #[doc(alias = "try_upgrade_until")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgrade_deadline(this: Self, deadline: P::Instant) -> UpgradeOwnedDeadline<T, P>
    where
        P: Timer,
    {
        Deadline::new(this.into_upgrading(), deadline)
    }

    /// As [`upgrade`](Self::upgrade), unless the other future is ready first; what ends without the lock gives this guard back.
    ///
    /// If there is no other reader the other future is dropped without having been polled. A grant that is there when a poll
    /// begins wins.
    ///
    /// # Cancel safety
    ///
    /// As [`upgrade`](Self::upgrade).
    ///
    /// # Errors
    ///
    /// [`UpgradeError`], with this guard and the other future's output. A grant that came meanwhile has become this guard's share
    /// again, without a moment in which a writer could enter.
    ///
    /// # Panics
    ///
    /// As [`upgrade`](Self::upgrade), and where the other future does.
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockUpgradableReadGuard, RwLock};
    ///
    /// # #[allow(clippy::arc_with_non_send_sync)]
    /// let lock = std::sync::Arc::new(RwLock::new(1));
    /// let reader = lock.read().await;
    /// let guard = lock.clone().upgradable_read_owned().await;
    /// let shutdown = async { "shutting down" };
    /// let failed = OwnedRwLockUpgradableReadGuard::upgrade_until(guard, shutdown).await.unwrap_err();
    /// assert_eq!((*failed.guard, failed.error), (1, "shutting down"));
    /// # drop(reader);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgrade_until<F: Future>(this: Self, other: F) -> UpgradeOwnedUntil<T, P, F> {
        Until::new(this.into_upgrading(), other)
    }

    /// As [`upgrade`](Self::upgrade), parking the thread until the other readers have left.
    ///
    /// Inside an async runtime this blocks a worker: if the other readers need that worker to go on, it never does. Nothing
    /// detects that; use [`upgrade`](Self::upgrade) there.
    ///
    /// # Fairness
    ///
    /// As [`upgrade`](Self::upgrade): threads and tasks are served alike.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// # fifolock_core::__facade!();
    /// use fifolock::{OwnedRwLockUpgradableReadGuard, RwLock};
    ///
    /// let lock = std::sync::Arc::new(RwLock::new(1));
    /// let guard = lock.clone().blocking_upgradable_read_owned();
    /// if *guard == 1 {
    ///     // Nobody else has written since.
    ///     *OwnedRwLockUpgradableReadGuard::blocking_upgrade(guard) += 1;
    /// }
    /// assert_eq!(*lock.blocking_read(), 2);
    /// # }
    /// ```
    #[doc(alias = "upgrade_blocking")]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_upgrade(this: Self) -> OwnedRwLockWriteGuard<T, P> {
        // A panic must find the guard: a request has no destructor.
        P::before_blocking();
        crate::blocking::acquire(this.into_upgrading())
    }

    /// As [`blocking_upgrade`](Self::blocking_upgrade), parking the thread no longer than `timeout`, a span of the operating
    /// system's monotonic clock; what ends without the lock gives this guard back.
    ///
    /// # Errors
    ///
    /// As [`upgrade_timeout`](Self::upgrade_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// # fifolock_core::__facade!();
    /// use fifolock::{OwnedRwLockUpgradableReadGuard, RwLock};
    /// use std::time::Duration;
    ///
    /// let lock = std::sync::Arc::new(RwLock::new(1));
    /// let reader = lock.blocking_read();
    /// let guard = lock.clone().blocking_upgradable_read_owned();
    /// let failed = OwnedRwLockUpgradableReadGuard::blocking_upgrade_timeout(guard, Duration::from_millis(5)).unwrap_err();
    /// assert_eq!(*failed.guard, 1);
    /// assert_eq!(failed.to_string(), "timed out waiting for upgrade to write lock after 5ms");
    /// # drop(reader);
    /// # }
    /// ```
    #[doc(alias("try_upgrade_for", "try_upgrade_until"))]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_upgrade_timeout(
        this: Self,
        timeout: core::time::Duration,
    ) -> Result<OwnedRwLockWriteGuard<T, P>, UpgradeError<Self, TimeoutError>> {
        P::before_blocking();
        crate::timeout::block_on(this.into_upgrading(), timeout)
    }

    /// Becomes a write guard if there is no other reader.
    ///
    /// # Errors
    ///
    /// This guard, if there is one. Nothing has changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockUpgradableReadGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let cache = Arc::new(RwLock::new(1));
    /// let reader = cache.try_read()?;
    /// let guard = cache.clone().try_upgradable_read_owned()?;
    /// // Another task reads: the guard is given back, with its share.
    /// let guard = OwnedRwLockUpgradableReadGuard::try_upgrade(guard).unwrap_err();
    /// assert_eq!(*guard, 1);
    /// # drop(reader);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn try_upgrade(this: Self) -> Result<OwnedRwLockWriteGuard<T, P>, Self> {
        try_upgrade(this.shared, CallSite::here()).map(RwLockHandle::write_guard).map_err(Self::new)
    }

    /// Becomes a plain read guard. The next upgradable reader may enter then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockUpgradableReadGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let cache = Arc::new(RwLock::new(1));
    /// let guard = cache.clone().try_upgradable_read_owned()?;
    /// // It was not needed: another task may have its turn.
    /// let guard = OwnedRwLockUpgradableReadGuard::downgrade(guard);
    /// assert!(cache.try_upgradable_read().is_ok());
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
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

crate::held::transparent_fmt!([T] OwnedRwLockUpgradableReadGuard<T, P> => T);

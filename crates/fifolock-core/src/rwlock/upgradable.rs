//! Reading that may become writing: the borrowed guard and its futures.

use super::handle::RawHandle;
use super::raw::{OnSide, UpgradeSide};
use super::{Reading, ReadingUpgradable, RwLock, RwLockReadGuard, RwLockWriteGuard, Upgrading, Writing};
use crate::acquire::Acquire;
use crate::call_site::CallSite;
use crate::error::TryLockError;
#[cfg(any(feature = "std", doc))]
use crate::error::{TimeoutError, UpgradeError};
use crate::held::Held;
use crate::platform::{Platform, Timer};
use crate::timeout::{Deadline, Timeout};
use crate::until::Until;
use crate::wait;
use core::fmt;
use core::future::Future;
use core::ops::Deref;

/// The future of [`RwLock::upgradable_read`].
pub type UpgradableRead<'a, T, P> = Acquire<ReadingUpgradable<&'a RwLock<T, P>>>;
/// The future of [`RwLock::upgradable_read_timeout`].
pub type UpgradableReadTimeout<'a, T, P> = Timeout<ReadingUpgradable<&'a RwLock<T, P>>>;
/// The future of [`RwLock::upgradable_read_deadline`].
pub type UpgradableReadDeadline<'a, T, P> = Deadline<ReadingUpgradable<&'a RwLock<T, P>>>;
/// The future of [`RwLock::upgradable_read_until`].
pub type UpgradableReadUntil<'a, T, P, F> = Until<ReadingUpgradable<&'a RwLock<T, P>>, F>;
/// The future of [`RwLockUpgradableReadGuard::upgrade`].
pub type Upgrade<'a, T, P> = Acquire<Upgrading<&'a RwLock<T, P>>>;
/// The future of [`RwLockUpgradableReadGuard::upgrade_timeout`].
pub type UpgradeTimeout<'a, T, P> = Timeout<Upgrading<&'a RwLock<T, P>>>;
/// The future of [`RwLockUpgradableReadGuard::upgrade_deadline`].
pub type UpgradeDeadline<'a, T, P> = Deadline<Upgrading<&'a RwLock<T, P>>>;
/// The future of [`RwLockUpgradableReadGuard::upgrade_until`].
pub type UpgradeUntil<'a, T, P, F> = Until<Upgrading<&'a RwLock<T, P>>, F>;

impl<T: ?Sized, P: Platform> RwLock<T, P> {
    /// Locks for reading, with a guard that can become a write guard before any other writer enters.
    ///
    /// There is one upgradable reader at a time; plain readers come and go beside it.
    ///
    /// # Fairness
    ///
    /// It takes its turn among writers and other upgradable readers, first come, first served; under
    /// [`TaskFair`](super::RwLockPolicy::TaskFair), among all. While it holds the lock writers wait as for any reader.
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read).
    ///
    /// # Panics
    ///
    /// As [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{RwLock, RwLockUpgradableReadGuard};
    ///
    /// let cache = RwLock::<Option<u32>>::new(None);
    /// {
    ///     let guard = cache.upgradable_read().await;
    ///     if guard.is_none() {
    ///         // Other readers may look meanwhile; no other task can fill it.
    ///         let value = 42;
    ///         *RwLockUpgradableReadGuard::upgrade(guard).await = Some(value);
    ///     }
    /// }
    /// assert_eq!(cache.into_inner(), Some(42));
    /// # });
    /// ```
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgradable_read(&self) -> UpgradableRead<'_, T, P> {
        Acquire::new(ReadingUpgradable(self))
    }

    /// Locks for upgradable reading if no writer holds the lock or waits for it, there is no other upgradable reader, and
    /// there is room.
    ///
    /// # Errors
    ///
    /// If that is not so. Nothing has changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let cache = RwLock::new(1);
    /// let guard = cache.try_upgradable_read()?;
    /// assert!(cache.try_read().is_ok() && cache.try_upgradable_read().is_err());
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn try_upgradable_read(&self) -> Result<RwLockUpgradableReadGuard<'_, T, P>, TryLockError> {
        crate::acquire::try_now(ReadingUpgradable(self))
    }

    /// Locks for upgradable reading, unless the other future is ready first.
    ///
    /// If the lock can be had at once the other future is dropped without having been polled. A grant that is there when
    /// a poll begins wins.
    ///
    /// # Fairness
    ///
    /// As [`upgradable_read`](Self::upgradable_read).
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read).
    ///
    /// # Errors
    ///
    /// The other future's output. The wait is over then: a share that was granted meanwhile was given back.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// # futures_lite::future::block_on(async {
    /// let cache = RwLock::new(1);
    /// let writer = cache.write().await;
    /// let shutdown = async { "shutting down" };
    /// assert_eq!(cache.upgradable_read_until(shutdown).await.err(), Some("shutting down"));
    /// # drop(writer);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgradable_read_until<F: Future>(&self, other: F) -> UpgradableReadUntil<'_, T, P, F> {
        Until::new(ReadingUpgradable(self), other)
    }

    /// Locks for upgradable reading, waiting no longer than `timeout`.
    ///
    /// # Fairness
    ///
    /// As [`upgradable_read`](Self::upgradable_read). A timed waiter that is granted in time gets the lock, however late
    /// it is polled.
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read). The sleep goes with the future.
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
    /// use tokio::time::Duration;
    ///
    /// # futures_lite::future::block_on(async {
    /// let cache = RwLock::new(1);
    /// let guard = cache.upgradable_read_timeout(Duration::from_millis(50)).await?;
    /// assert_eq!(*guard, 1);
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[doc(alias = "try_upgradable_read_for")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgradable_read_timeout(&self, timeout: P::Duration) -> UpgradableReadTimeout<'_, T, P>
    where
        P: Timer,
    {
        Timeout::new(ReadingUpgradable(self), timeout)
    }

    /// Locks for upgradable reading, waiting no longer than until `deadline`. A deadline that has passed is one attempt.
    ///
    /// # Fairness
    ///
    /// As [`upgradable_read_timeout`](Self::upgradable_read_timeout).
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read). The sleep goes with the future.
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
    /// use tokio::time::{Duration, Instant};
    ///
    /// # futures_lite::future::block_on(async {
    /// let cache = RwLock::new(1);
    /// let deadline = Instant::now() + Duration::from_millis(50);
    /// let guard = cache.upgradable_read_deadline(deadline).await?;
    /// assert_eq!(*guard, 1);
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[doc(alias = "try_upgradable_read_until")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgradable_read_deadline(&self, deadline: P::Instant) -> UpgradableReadDeadline<'_, T, P>
    where
        P: Timer,
    {
        Deadline::new(ReadingUpgradable(self), deadline)
    }

    /// Locks for upgradable reading, parking the thread until it may enter, in the same queue. In async code, as
    /// [`blocking_read`](Self::blocking_read).
    ///
    /// # Panics
    ///
    /// As [`blocking_read`](Self::blocking_read).
    /// Locks for upgradable reading, parking the thread until it may enter, in the same queue. As
    /// [`blocking_read`](Self::blocking_read), it blocks a worker inside an async runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::{RwLock, RwLockUpgradableReadGuard};
    ///
    /// let cache = RwLock::new(None);
    /// let guard = cache.blocking_upgradable_read();
    /// if guard.is_none() {
    ///     *RwLockUpgradableReadGuard::blocking_upgrade(guard) = Some(42);
    /// }
    /// assert_eq!(*cache.blocking_read(), Some(42));
    /// ```
    #[doc(alias = "upgradable_read_blocking")]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_upgradable_read(&self) -> RwLockUpgradableReadGuard<'_, T, P> {
        crate::blocking::acquire(ReadingUpgradable(self))
    }

    /// As [`blocking_upgradable_read`](Self::blocking_upgradable_read), parking the thread no longer than `timeout`, a span of the operating system's monotonic clock.
    ///
    /// The timeout limits the wait, never the holding. It needs no runtime, and a lock that can be had at once costs no look at the
    /// clock.
    ///
    /// # Fairness
    ///
    /// As [`blocking_upgradable_read`](Self::blocking_upgradable_read). A thread that is granted in time gets the lock, however late it wakes up.
    ///
    /// # Errors
    ///
    /// [`TimeoutError::Elapsed`] if it was not granted in time; it is out of the queue then.
    /// [`TimeoutError::InvalidTimeout`] if the timeout is zero, whether the lock is free or not: where the rest of some budget may be
    /// zero, use [`try_upgradable_read`](Self::try_upgradable_read) then.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// # fifolock_core::__facade!();
    /// use fifolock::RwLock;
    /// use std::time::Duration;
    ///
    /// let lock = RwLock::new(1);
    /// let held = lock.blocking_write();
    /// let error = lock.blocking_upgradable_read_timeout(Duration::from_millis(5)).unwrap_err();
    /// assert_eq!(error.to_string(), "timed out waiting for upgradable read lock after 5ms");
    /// # drop(held);
    /// # }
    /// ```
    #[doc(alias("try_upgradable_read_for", "try_upgradable_read_until"))]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_upgradable_read_timeout(
        &self,
        timeout: core::time::Duration,
    ) -> Result<RwLockUpgradableReadGuard<'_, T, P>, TimeoutError> {
        crate::timeout::block_on(ReadingUpgradable(self), timeout)
    }
}

/// A share in the lock, for reading, that can become the lock for writing before any other writer enters.
///
/// Dropping it gives the share back. Forgetting it keeps writers, and other upgradable readers, out for ever.
#[must_use = "the lock is released at once when the guard is not kept"]
#[clippy::has_significant_drop]
pub struct RwLockUpgradableReadGuard<'a, T: ?Sized, P: Platform> {
    shared: Held<ReadingUpgradable<&'a RwLock<T, P>>>,
}

impl<'a, T: ?Sized, P: Platform> RwLockUpgradableReadGuard<'a, T, P> {
    #[inline(always)]
    pub(super) fn new(shared: Held<ReadingUpgradable<&'a RwLock<T, P>>>) -> Self {
        Self { shared }
    }

    /// The share, as the upgrade's.
    #[inline(always)]
    fn into_upgrading(self) -> Upgrading<&'a RwLock<T, P>> {
        Upgrading(self.shared.into_held().0.0)
    }

    /// The lock that this guard has a share in.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{RwLock, RwLockUpgradableReadGuard};
    ///
    /// let cache = RwLock::new(1);
    /// let guard = cache.try_upgradable_read()?;
    /// assert_eq!(RwLockUpgradableReadGuard::rwlock(&guard).queued(), 0);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn rwlock(this: &Self) -> &'a RwLock<T, P> {
        this.shared.held().0
    }

    /// Becomes a write guard: waits until the other readers have left. What was read through this guard is still so then.
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
    /// The future panics when polled after it was ready. A task that holds another read guard of this lock does not
    /// panic: it waits for itself, for ever.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{RwLock, RwLockUpgradableReadGuard};
    ///
    /// # futures_lite::future::block_on(async {
    /// let cache = RwLock::new(1);
    /// let guard = cache.upgradable_read().await;
    /// // Waits until the other readers have left. No writer comes in between: the value is still what was read.
    /// let mut guard = RwLockUpgradableReadGuard::upgrade(guard).await;
    /// *guard += 1;
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgrade(this: Self) -> Upgrade<'a, T, P> {
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
    /// use fifolock::tokio::{RwLock, RwLockUpgradableReadGuard};
    /// use tokio::time::Duration;
    /// async fn refresh(config: &RwLock<u32>, patience: Duration) -> u32 {
    ///     let guard = config.upgradable_read().await;
    ///     match RwLockUpgradableReadGuard::upgrade_timeout(guard, patience).await {
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
    pub fn upgrade_timeout(this: Self, timeout: P::Duration) -> UpgradeTimeout<'a, T, P>
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
    /// use fifolock::tokio::{RwLock, RwLockUpgradableReadGuard, TimeoutError};
    /// use tokio::time::Instant;
    /// /// One budget for both waits.
    /// async fn refresh(config: &RwLock<u32>, by: Instant) -> Result<(), TimeoutError> {
    ///     let guard = config.upgradable_read_deadline(by).await?;
    ///     *RwLockUpgradableReadGuard::upgrade_deadline(guard, by).await? += 1;
    ///     Ok(())
    /// }
    /// ```
    #[doc(alias = "try_upgrade_until")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgrade_deadline(this: Self, deadline: P::Instant) -> UpgradeDeadline<'a, T, P>
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
    /// use fifolock::local::{RwLock, RwLockUpgradableReadGuard};
    ///
    /// let lock = RwLock::new(1);
    /// let reader = lock.read().await;
    /// let guard = lock.upgradable_read().await;
    /// let shutdown = async { "shutting down" };
    /// let failed = RwLockUpgradableReadGuard::upgrade_until(guard, shutdown).await.unwrap_err();
    /// assert_eq!((*failed.guard, failed.error), (1, "shutting down"));
    /// # drop(reader);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn upgrade_until<F: Future>(this: Self, other: F) -> UpgradeUntil<'a, T, P, F> {
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
    /// use fifolock::{RwLock, RwLockUpgradableReadGuard};
    ///
    /// let lock = RwLock::new(1);
    /// let guard = lock.blocking_upgradable_read();
    /// if *guard == 1 {
    ///     // Nobody else has written since.
    ///     *RwLockUpgradableReadGuard::blocking_upgrade(guard) += 1;
    /// }
    /// assert_eq!(*lock.blocking_read(), 2);
    /// # }
    /// ```
    #[doc(alias = "upgrade_blocking")]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_upgrade(this: Self) -> RwLockWriteGuard<'a, T, P> {
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
    /// use fifolock::{RwLock, RwLockUpgradableReadGuard};
    /// use std::time::Duration;
    ///
    /// let lock = RwLock::new(1);
    /// let reader = lock.blocking_read();
    /// let guard = lock.blocking_upgradable_read();
    /// let failed = RwLockUpgradableReadGuard::blocking_upgrade_timeout(guard, Duration::from_millis(5)).unwrap_err();
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
    ) -> Result<RwLockWriteGuard<'a, T, P>, UpgradeError<Self, TimeoutError>> {
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
    /// use fifolock::local::{RwLock, RwLockUpgradableReadGuard};
    ///
    /// let cache = RwLock::new(1);
    /// let reader = cache.try_read()?;
    /// let guard = cache.try_upgradable_read()?;
    /// // Another task reads: the guard is given back, with its share.
    /// let guard = RwLockUpgradableReadGuard::try_upgrade(guard).unwrap_err();
    /// assert_eq!(*guard, 1);
    /// # drop(reader);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn try_upgrade(this: Self) -> Result<RwLockWriteGuard<'a, T, P>, Self> {
        try_upgrade(this.shared, CallSite::here()).map(RwLockWriteGuard::new).map_err(Self::new)
    }

    /// Becomes a plain read guard. The next upgradable reader may enter then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{RwLock, RwLockUpgradableReadGuard};
    ///
    /// let cache = RwLock::new(1);
    /// let guard = cache.try_upgradable_read()?;
    /// // It was not needed: another task may have its turn.
    /// let guard = RwLockUpgradableReadGuard::downgrade(guard);
    /// assert!(cache.try_upgradable_read().is_ok());
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn downgrade(this: Self) -> RwLockReadGuard<'a, T, P> {
        RwLockReadGuard::new(downgrade_upgradable(this.shared))
    }
}

/// The upgradable reader becomes the writer, if nobody else holds the lock.
#[inline(always)]
pub(super) fn try_upgrade<L: RawHandle>(
    shared: Held<ReadingUpgradable<L>>,
    call_site: CallSite,
) -> Result<Held<Writing<L>>, Held<ReadingUpgradable<L>>> {
    if !wait::try_acquire(OnSide::<_, UpgradeSide>::to(shared.held().0.raw()), call_site) {
        return Err(shared);
    }
    // SAFETY: the share has just become the lock, and its `Held` is used up.
    Ok(unsafe { Held::new(Writing(shared.into_held().0.0), call_site) })
}

/// The upgradable reader becomes a plain one, which holds its share before anyone is woken: a waker may panic.
#[inline(always)]
pub(super) fn downgrade_upgradable<L: RawHandle>(shared: Held<ReadingUpgradable<L>>) -> Held<Reading<L>> {
    let (ReadingUpgradable(lock), call_site) = shared.into_held();
    // SAFETY: taken over from the other guard's `Held`; in the next line nothing can panic before the share is a plain one.
    let shared = unsafe { Held::new(Reading(lock), call_site) };
    shared.held().0.raw().downgrade_upgradable(call_site);
    shared
}

/// The writer becomes the upgradable reader, which holds its share before anyone is woken: a waker may panic.
#[inline(always)]
pub(super) fn downgrade_to_upgradable<L: RawHandle>(owned: Held<Writing<L>>) -> Held<ReadingUpgradable<L>> {
    let (Writing(lock), call_site) = owned.into_held();
    // SAFETY: taken over from the writer's `Held`; in the next line nothing can panic before there is the share.
    let shared = unsafe { Held::new(ReadingUpgradable(lock), call_site) };
    shared.held().0.raw().downgrade_to_upgradable(call_site);
    shared
}

impl<T: ?Sized, P: Platform> Deref for RwLockUpgradableReadGuard<'_, T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        let data = self.shared.held().0.inner.data.get();
        // SAFETY: this guard has a share, so nobody writes.
        unsafe { &*data }
    }
}

crate::held::transparent_fmt!([T] RwLockUpgradableReadGuard<'_, T, P> => T);

//! The owned forms: futures and guards that share in the lock through an `Arc`.

use super::guard::downgrade;
use super::handle::{RawHandle, RwLockHandle};
use super::raw::RawRwLock;
use super::upgradable::downgrade_to_upgradable;
use super::{OwnedRwLockUpgradableReadGuard, Reading, ReadingUpgradable, RwLock, Writing};
use crate::acquire::Acquire;
use crate::error::TryLockError;
use crate::held::{Held, ReadPtr, WritePtr};
use crate::platform::{Platform, Timer};
use crate::timeout::{Deadline, Timeout};
use crate::until::Until;
use alloc::sync::Arc;
use core::fmt;
use core::future::Future;
use core::ops::{Deref, DerefMut};

/// The future of [`RwLock::read_owned`].
pub type ReadOwned<T, P> = Acquire<Reading<Arc<RwLock<T, P>>>>;
/// The future of [`RwLock::read_owned_timeout`].
pub type ReadOwnedTimeout<T, P> = Timeout<Reading<Arc<RwLock<T, P>>>>;
/// The future of [`RwLock::read_owned_deadline`].
pub type ReadOwnedDeadline<T, P> = Deadline<Reading<Arc<RwLock<T, P>>>>;
/// The future of [`RwLock::write_owned`].
pub type WriteOwned<T, P> = Acquire<Writing<Arc<RwLock<T, P>>>>;
/// The future of [`RwLock::write_owned_timeout`].
pub type WriteOwnedTimeout<T, P> = Timeout<Writing<Arc<RwLock<T, P>>>>;
/// The future of [`RwLock::write_owned_deadline`].
pub type WriteOwnedDeadline<T, P> = Deadline<Writing<Arc<RwLock<T, P>>>>;
/// The future of [`RwLock::read_owned_until`].
pub type ReadOwnedUntil<T, P, F> = Until<Reading<Arc<RwLock<T, P>>>, F>;
/// The future of [`RwLock::write_owned_until`].
pub type WriteOwnedUntil<T, P, F> = Until<Writing<Arc<RwLock<T, P>>>, F>;

#[cfg_attr(docsrs, doc(cfg(feature = "alloc")))]
impl<T: ?Sized, P: Platform> RwLock<T, P> {
    /// As [`read`](Self::read), with a guard that shares in the lock and borrows nothing.
    ///
    /// # Fairness
    ///
    /// As [`read`](Self::read).
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
    /// let config = Arc::new(RwLock::new(1));
    /// // The guard keeps the lock alive: a spawned task can take it along.
    /// let guard = config.clone().read_owned().await;
    /// assert_eq!(*guard, 1);
    /// # });
    /// ```
    #[doc(alias = "read_arc")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn read_owned(self: Arc<Self>) -> ReadOwned<T, P> {
        Acquire::new(Reading(self))
    }

    /// As [`try_read`](Self::try_read), with a guard that shares in the lock and borrows nothing.
    ///
    /// # Errors
    ///
    /// As [`try_read`](Self::try_read). This share in the lock's ownership is gone then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    /// use std::sync::Arc;
    ///
    /// let config = Arc::new(RwLock::new(1));
    /// let guard = config.clone().try_read_owned()?;
    /// assert!(config.try_write().is_err());
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    #[doc(alias = "try_read_arc")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T, T, P>, TryLockError> {
        crate::acquire::try_now(Reading(self))
    }

    /// As [`read_timeout`](Self::read_timeout), with a guard that shares in the lock and borrows nothing.
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
    /// let config = Arc::new(RwLock::new(1));
    /// let guard = config.clone().read_owned_timeout(Duration::from_millis(50)).await?;
    /// assert_eq!(*guard, 1);
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[doc(alias = "try_read_arc_for")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn read_owned_timeout(self: Arc<Self>, timeout: P::Duration) -> ReadOwnedTimeout<T, P>
    where
        P: Timer,
    {
        Timeout::new(Reading(self), timeout)
    }

    /// As [`read_deadline`](Self::read_deadline), with a guard that shares in the lock and borrows nothing.
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
    /// let config = Arc::new(RwLock::new(1));
    /// let deadline = Instant::now() + Duration::from_millis(50);
    /// let guard = config.clone().read_owned_deadline(deadline).await?;
    /// assert_eq!(*guard, 1);
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[doc(alias = "try_read_arc_until")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn read_owned_deadline(self: Arc<Self>, deadline: P::Instant) -> ReadOwnedDeadline<T, P>
    where
        P: Timer,
    {
        Deadline::new(Reading(self), deadline)
    }

    /// As [`read_until`](Self::read_until), with a guard that shares in the lock and borrows nothing: both the future and the guard can go
    /// to a spawned task.
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read).
    ///
    /// # Errors
    ///
    /// As [`read_until`](Self::read_until).
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
    /// assert_eq!(lock.clone().read_owned_until(shutdown).await.err(), Some("shutting down"));
    /// # drop(held);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn read_owned_until<F: Future>(self: Arc<Self>, other: F) -> ReadOwnedUntil<T, P, F> {
        Until::new(Reading(self), other)
    }

    /// As [`blocking_read`](Self::blocking_read), with a guard that shares in the lock and borrows nothing.
    ///
    /// # Fairness
    ///
    /// As [`read`](Self::read): threads and tasks are served alike.
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
    /// let guard = lock.clone().blocking_read_owned();
    /// thread::spawn(move || assert_eq!(*guard, 1)).join().unwrap();
    /// # }
    /// ```
    #[doc(alias = "read_arc_blocking")]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_read_owned(self: Arc<Self>) -> OwnedRwLockReadGuard<T, T, P> {
        crate::blocking::acquire(Reading(self))
    }

    /// As [`write`](Self::write), with a guard that shares in the lock and borrows nothing.
    ///
    /// # Fairness
    ///
    /// As [`write`](Self::write).
    ///
    /// # Cancel safety
    ///
    /// As [`write`](Self::write).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    /// use std::sync::Arc;
    ///
    /// # futures_lite::future::block_on(async {
    /// let config = Arc::new(RwLock::new(1));
    /// // The guard keeps the lock alive: a spawned task can take it along.
    /// let mut guard = config.clone().write_owned().await;
    /// *guard = 2;
    /// # });
    /// ```
    #[doc(alias = "write_arc")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn write_owned(self: Arc<Self>) -> WriteOwned<T, P> {
        Acquire::new(Writing(self))
    }

    /// As [`try_write`](Self::try_write), with a guard that shares in the lock and borrows nothing.
    ///
    /// # Errors
    ///
    /// As [`try_write`](Self::try_write). This share in the lock's ownership is gone then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    /// use std::sync::Arc;
    ///
    /// let config = Arc::new(RwLock::new(1));
    /// let guard = config.clone().try_write_owned()?;
    /// assert!(config.try_read().is_err());
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    #[doc(alias = "try_write_arc")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T, P>, TryLockError> {
        crate::acquire::try_now(Writing(self))
    }

    /// As [`write_timeout`](Self::write_timeout), with a guard that shares in the lock and borrows nothing.
    ///
    /// # Cancel safety
    ///
    /// As [`write`](Self::write).
    ///
    /// # Errors
    ///
    /// As [`write_timeout`](Self::write_timeout).
    ///
    /// # Panics
    ///
    /// As [`write_timeout`](Self::write_timeout).
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
    /// let config = Arc::new(RwLock::new(1));
    /// let mut guard = config.clone().write_owned_timeout(Duration::from_millis(50)).await?;
    /// *guard = 2;
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[doc(alias = "try_write_arc_for")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn write_owned_timeout(self: Arc<Self>, timeout: P::Duration) -> WriteOwnedTimeout<T, P>
    where
        P: Timer,
    {
        Timeout::new(Writing(self), timeout)
    }

    /// As [`write_deadline`](Self::write_deadline), with a guard that shares in the lock and borrows nothing.
    ///
    /// # Cancel safety
    ///
    /// As [`write`](Self::write).
    ///
    /// # Errors
    ///
    /// As [`write_deadline`](Self::write_deadline).
    ///
    /// # Panics
    ///
    /// As [`write_deadline`](Self::write_deadline).
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
    /// let config = Arc::new(RwLock::new(1));
    /// let deadline = Instant::now() + Duration::from_millis(50);
    /// let mut guard = config.clone().write_owned_deadline(deadline).await?;
    /// *guard = 2;
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[doc(alias = "try_write_arc_until")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn write_owned_deadline(self: Arc<Self>, deadline: P::Instant) -> WriteOwnedDeadline<T, P>
    where
        P: Timer,
    {
        Deadline::new(Writing(self), deadline)
    }

    /// As [`write_until`](Self::write_until), with a guard that shares in the lock and borrows nothing: both the future and the guard can go
    /// to a spawned task.
    ///
    /// # Cancel safety
    ///
    /// As [`write`](Self::write).
    ///
    /// # Errors
    ///
    /// As [`write_until`](Self::write_until).
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
    /// let held = lock.read().await;
    /// let shutdown = async { "shutting down" };
    /// assert_eq!(lock.clone().write_owned_until(shutdown).await.err(), Some("shutting down"));
    /// # drop(held);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn write_owned_until<F: Future>(self: Arc<Self>, other: F) -> WriteOwnedUntil<T, P, F> {
        Until::new(Writing(self), other)
    }

    /// As [`blocking_write`](Self::blocking_write), with a guard that shares in the lock and borrows nothing.
    ///
    /// # Fairness
    ///
    /// As [`write`](Self::write): threads and tasks are served alike.
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
    /// let guard = lock.clone().blocking_write_owned();
    /// thread::spawn(move || assert_eq!(*guard, 1)).join().unwrap();
    /// # }
    /// ```
    #[doc(alias = "write_arc_blocking")]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_write_owned(self: Arc<Self>) -> OwnedRwLockWriteGuard<T, P> {
        crate::blocking::acquire(Writing(self))
    }

    /// The same lock as one of another platform with the same raw lock, with its `Arc`: what [`on`](Self::on) is for the
    /// owned forms, which take an `Arc`.
    ///
    /// It consumes this `Arc`, as the owned forms do; clone it to keep one. The count of owners stays as it is.
    ///
    /// # Examples
    ///
    /// A library gives away an `Arc` of its lock. With a runtime's platform, `write_owned_timeout` and the other timed forms are there.
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// # fifolock_core::__facade!();
    /// use fifolock::{RwLock, tokio::Tokio};
    /// use std::sync::Arc;
    ///
    /// let library_lock = Arc::new(RwLock::new(0));
    /// let timed: Arc<fifolock::tokio::RwLock<_>> = library_lock.clone().on_arc::<Tokio>();
    /// assert_eq!(Arc::strong_count(&library_lock), 2);
    /// # drop(timed);
    /// # }
    /// ```
    #[must_use]
    pub fn on_arc<Q>(self: Arc<Self>) -> Arc<RwLock<T, Q>>
    where
        Q: Platform<Raw = P::Raw>,
    {
        let this = Arc::into_raw(self) as *const RwLock<T, Q>;
        // SAFETY: it comes from `into_raw`, and both types are `repr(transparent)` over the same `Inner<P::Raw, T>` and have
        // no `Drop` of their own: size, alignment and what a drop does are the same.
        unsafe { Arc::from_raw(this) }
    }
}

impl<T: ?Sized, P: Platform> RawHandle for Arc<RwLock<T, P>> {
    type Raw = P::Raw;

    #[inline(always)]
    fn raw(&self) -> &RawRwLock<P::Raw> {
        RwLock::raw(self)
    }
}

impl<T: ?Sized, P: Platform> RwLockHandle for Arc<RwLock<T, P>> {
    type Platform = P;
    type ReadGuard = OwnedRwLockReadGuard<T, T, P>;
    type UpgradableGuard = OwnedRwLockUpgradableReadGuard<T, P>;
    type WriteGuard = OwnedRwLockWriteGuard<T, P>;

    #[inline(always)]
    fn read_guard(shared: Held<Reading<Self>>) -> Self::ReadGuard {
        let data = shared.held().0.inner.data.get();
        // SAFETY: a reader has a share, so nobody writes.
        let data = ReadPtr::new(unsafe { &*data });
        OwnedRwLockReadGuard { shared, data }
    }

    #[inline(always)]
    fn upgradable_guard(shared: Held<ReadingUpgradable<Self>>) -> Self::UpgradableGuard {
        OwnedRwLockUpgradableReadGuard::new(shared)
    }

    #[inline(always)]
    fn write_guard(owned: Held<Writing<Self>>) -> Self::WriteGuard {
        OwnedRwLockWriteGuard { owned }
    }
}

/// A share in the lock, for reading its data `T` through a part `U` of it; it shares in the lock's ownership.
///
/// Dropping it gives the share back as a [`RwLockReadGuard`](super::RwLockReadGuard) does, and then drops its `Arc`.
/// With that `Arc` the data may go: the guard is `Send` and `Sync` where `T` is both, and `U` is `Sync`.
#[doc(alias("RwLockReadGuardArc", "ArcRwLockReadGuard"))]
#[must_use = "the lock is released at once when the guard is not kept"]
#[clippy::has_significant_drop]
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized, P: Platform> {
    shared: Held<Reading<Arc<RwLock<T, P>>>>,
    data: ReadPtr<U>,
}

impl<T: ?Sized, U: ?Sized, P: Platform> OwnedRwLockReadGuard<T, U, P> {
    /// The lock that this guard has a share in.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockReadGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let guard = Arc::new(RwLock::new(0)).try_read_owned()?;
    /// let lock = Arc::clone(OwnedRwLockReadGuard::rwlock(&guard));
    /// drop(guard);
    /// assert!(!lock.is_locked());
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T, P>> {
        &this.shared.held().0
    }

    /// A guard for a part of the data.
    ///
    /// # Panics
    ///
    /// If `f` does; the share is given back then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockReadGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let pair = Arc::new(RwLock::new((1, 2)));
    /// let first = OwnedRwLockReadGuard::map(pair.try_read_owned()?, |pair| &pair.0);
    /// assert_eq!(*first, 1);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn map<F, V: ?Sized>(this: Self, f: F) -> OwnedRwLockReadGuard<T, V, P>
    where
        F: FnOnce(&U) -> &V,
    {
        let part = ReadPtr::new(f(&this));
        this.with_part(part)
    }

    /// A guard for a part of the data, if `f` finds it.
    ///
    /// # Errors
    ///
    /// The guard itself, if `f` returns `None`.
    ///
    /// # Panics
    ///
    /// If `f` does; the share is given back then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockReadGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let list = Arc::new(RwLock::new(vec![1]));
    /// let item = OwnedRwLockReadGuard::try_map(list.try_read_owned()?, |list| list.get(3));
    /// assert!(item.is_err(), "there is no such item, and the guard is back");
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn try_map<F, V: ?Sized>(this: Self, f: F) -> Result<OwnedRwLockReadGuard<T, V, P>, Self>
    where
        F: FnOnce(&U) -> Option<&V>,
    {
        match f(&this).map(ReadPtr::new) {
            Some(part) => Ok(this.with_part(part)),
            None => Err(this),
        }
    }

    /// The same share, for data that was borrowed from this guard's.
    fn with_part<V: ?Sized>(self, part: ReadPtr<V>) -> OwnedRwLockReadGuard<T, V, P> {
        OwnedRwLockReadGuard { shared: self.shared, data: part }
    }
}

impl<T: ?Sized, U: ?Sized, P: Platform> Deref for OwnedRwLockReadGuard<T, U, P> {
    type Target = U;

    #[inline(always)]
    fn deref(&self) -> &U {
        // SAFETY: it points into the lock's data, of which this guard has a share.
        unsafe { &*self.data.as_ptr() }
    }
}

/// The lock is held for writing as long as this lives; it shares in the lock's ownership.
///
/// Dropping it releases the lock as a [`RwLockWriteGuard`](super::RwLockWriteGuard) does, and then drops its `Arc`.
#[doc(alias("RwLockWriteGuardArc", "ArcRwLockWriteGuard"))]
#[must_use = "the lock is released at once when the guard is not kept"]
#[clippy::has_significant_drop]
pub struct OwnedRwLockWriteGuard<T: ?Sized, P: Platform> {
    owned: Held<Writing<Arc<RwLock<T, P>>>>,
}

impl<T: ?Sized, P: Platform> OwnedRwLockWriteGuard<T, P> {
    /// The lock that this guard holds.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let guard = Arc::new(RwLock::new(0)).try_write_owned()?;
    /// assert!(OwnedRwLockWriteGuard::rwlock(&guard).is_write_locked());
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T, P>> {
        &this.owned.held().0
    }

    /// Becomes a read guard, without a moment in which another writer could enter. If no writer waits, the waiting
    /// readers enter too.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let config = Arc::new(RwLock::new(1));
    /// let mut guard = config.clone().try_write_owned()?;
    /// *guard = 2;
    /// let guard = OwnedRwLockWriteGuard::downgrade(guard);
    /// assert_eq!((*guard, config.state().readers), (2, 1));
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn downgrade(self) -> OwnedRwLockReadGuard<T, T, P> {
        RwLockHandle::read_guard(downgrade(self.owned))
    }

    /// Becomes an upgradable read guard, as [`downgrade`](Self::downgrade): it can become a write guard again before
    /// another writer enters.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let config = Arc::new(RwLock::new(1));
    /// let guard = OwnedRwLockWriteGuard::downgrade_to_upgradable(config.clone().try_write_owned()?);
    /// assert!(config.try_read().is_ok() && config.try_write().is_err());
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn downgrade_to_upgradable(this: Self) -> OwnedRwLockUpgradableReadGuard<T, P> {
        OwnedRwLockUpgradableReadGuard::new(downgrade_to_upgradable(this.owned))
    }

    /// Becomes a read guard for a part of the data, as [`downgrade`](Self::downgrade). `f` runs before, while nobody else
    /// is inside.
    ///
    /// # Panics
    ///
    /// If `f` does; the lock is released then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let pair = Arc::new(RwLock::new((1, 2)));
    /// let first = OwnedRwLockWriteGuard::downgrade_map(pair.try_write_owned()?, |pair| &pair.0);
    /// assert_eq!(*first, 1);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn downgrade_map<F, U: ?Sized>(this: Self, f: F) -> OwnedRwLockReadGuard<T, U, P>
    where
        F: FnOnce(&T) -> &U,
    {
        let part = ReadPtr::new(f(&this));
        this.downgrade().with_part(part)
    }

    /// Becomes a read guard for a part of the data, if `f` finds it, as [`downgrade`](Self::downgrade).
    ///
    /// # Errors
    ///
    /// The guard itself, still for writing, if `f` returns `None`.
    ///
    /// # Panics
    ///
    /// If `f` does; the lock is released then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let list = Arc::new(RwLock::new(vec![1]));
    /// let item = OwnedRwLockWriteGuard::try_downgrade_map(list.try_write_owned()?, |list| list.get(3));
    /// assert!(item.is_err(), "there is no such item, and the lock is held to write still");
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn try_downgrade_map<F, U: ?Sized>(this: Self, f: F) -> Result<OwnedRwLockReadGuard<T, U, P>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match f(&this).map(ReadPtr::new) {
            Some(part) => Ok(this.downgrade().with_part(part)),
            None => Err(this),
        }
    }

    /// A guard like those of [`map`](Self::map), for all of the data.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockMappedWriteGuard, OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// // A function may return both a mapped and a whole guard.
    /// fn all(lock: Arc<RwLock<u32>>) -> Option<OwnedRwLockMappedWriteGuard<u32>> {
    ///     lock.try_write_owned().ok().map(OwnedRwLockWriteGuard::into_mapped)
    /// }
    /// assert!(all(Arc::new(RwLock::new(1))).is_some());
    /// ```
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T, T, P> {
        Self::map(this, |data| data)
    }

    /// A guard for a part of the data.
    ///
    /// # Panics
    ///
    /// If `f` does; the lock is released then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let pair = Arc::new(RwLock::new((1, 2)));
    /// let mut first = OwnedRwLockWriteGuard::map(pair.try_write_owned()?, |pair| &mut pair.0);
    /// *first = 10;
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn map<F, U: ?Sized>(mut this: Self, f: F) -> OwnedRwLockMappedWriteGuard<T, U, P>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let data = WritePtr::new(f(&mut this));
        OwnedRwLockMappedWriteGuard { owned: this.owned, data }
    }

    /// A guard for a part of the data, if `f` finds it.
    ///
    /// # Errors
    ///
    /// The guard itself, if `f` returns `None`.
    ///
    /// # Panics
    ///
    /// If `f` does; the lock is released then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let list = Arc::new(RwLock::new(vec![1]));
    /// let item = OwnedRwLockWriteGuard::try_map(list.try_write_owned()?, |list| list.get_mut(3));
    /// assert!(item.is_err(), "there is no such item, and the guard is back");
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn try_map<F, U: ?Sized>(mut this: Self, f: F) -> Result<OwnedRwLockMappedWriteGuard<T, U, P>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match f(&mut this).map(WritePtr::new) {
            Some(data) => Ok(OwnedRwLockMappedWriteGuard { owned: this.owned, data }),
            None => Err(this),
        }
    }
}

impl<T: ?Sized, P: Platform> Deref for OwnedRwLockWriteGuard<T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        let data = self.owned.held().0.inner.data.get();
        // SAFETY: this guard owns the lock, and lends it shared.
        unsafe { &*data }
    }
}

impl<T: ?Sized, P: Platform> DerefMut for OwnedRwLockWriteGuard<T, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        let data = self.owned.held().0.inner.data.get();
        // SAFETY: this guard owns the lock, and lends itself exclusively.
        unsafe { &mut *data }
    }
}

/// The lock is held for writing, seen through a part `U` of its data `T`; it shares in the lock's ownership. It can't be
/// downgraded.
#[must_use = "the lock is released at once when the guard is not kept"]
#[clippy::has_significant_drop]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized, P: Platform> {
    owned: Held<Writing<Arc<RwLock<T, P>>>>,
    data: WritePtr<U>,
}

impl<T: ?Sized, U: ?Sized, P: Platform> OwnedRwLockMappedWriteGuard<T, U, P> {
    /// The lock that this guard holds.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockMappedWriteGuard, OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let pair = Arc::new(RwLock::new((1, 2)));
    /// let first = OwnedRwLockWriteGuard::map(pair.try_write_owned()?, |pair| &mut pair.0);
    /// assert!(OwnedRwLockMappedWriteGuard::rwlock(&first).is_write_locked());
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T, P>> {
        &this.owned.held().0
    }

    /// A guard for a part of this part.
    ///
    /// # Panics
    ///
    /// If `f` does; the lock is released then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockMappedWriteGuard, OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let nested = Arc::new(RwLock::new(((1, 2), 3)));
    /// let pair = OwnedRwLockWriteGuard::map(nested.try_write_owned()?, |nested| &mut nested.0);
    /// let first = OwnedRwLockMappedWriteGuard::map(pair, |pair| &mut pair.0);
    /// assert_eq!(*first, 1);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn map<F, V: ?Sized>(mut this: Self, f: F) -> OwnedRwLockMappedWriteGuard<T, V, P>
    where
        F: FnOnce(&mut U) -> &mut V,
    {
        let data = WritePtr::new(f(&mut this));
        OwnedRwLockMappedWriteGuard { owned: this.owned, data }
    }

    /// A guard for a part of this part, if `f` finds it.
    ///
    /// # Errors
    ///
    /// The guard itself, if `f` returns `None`.
    ///
    /// # Panics
    ///
    /// If `f` does; the lock is released then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{OwnedRwLockMappedWriteGuard, OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let user = Arc::new(RwLock::new((1, Some("name"))));
    /// let name = OwnedRwLockWriteGuard::map(user.try_write_owned()?, |user| &mut user.1);
    /// let name = OwnedRwLockMappedWriteGuard::try_map(name, Option::as_mut);
    /// assert_eq!(*name.expect("it has one"), "name");
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn try_map<F, V: ?Sized>(mut this: Self, f: F) -> Result<OwnedRwLockMappedWriteGuard<T, V, P>, Self>
    where
        F: FnOnce(&mut U) -> Option<&mut V>,
    {
        match f(&mut this).map(WritePtr::new) {
            Some(data) => Ok(OwnedRwLockMappedWriteGuard { owned: this.owned, data }),
            None => Err(this),
        }
    }
}

impl<T: ?Sized, U: ?Sized, P: Platform> Deref for OwnedRwLockMappedWriteGuard<T, U, P> {
    type Target = U;

    #[inline(always)]
    fn deref(&self) -> &U {
        // SAFETY: it was borrowed exclusively from a guard that this one has replaced.
        unsafe { &*self.data.as_ptr() }
    }
}

impl<T: ?Sized, U: ?Sized, P: Platform> DerefMut for OwnedRwLockMappedWriteGuard<T, U, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut U {
        // SAFETY: as above, and this guard lends itself exclusively.
        unsafe { &mut *self.data.as_ptr() }
    }
}

crate::held::transparent_fmt!([T, U] OwnedRwLockReadGuard<T, U, P> => U);
crate::held::transparent_fmt!([T] OwnedRwLockWriteGuard<T, P> => T);
crate::held::transparent_fmt!([T, U] OwnedRwLockMappedWriteGuard<T, U, P> => U);

//! The owned forms: futures and guards that share in the mutex through an `Arc`.

use super::handle::MutexHandle;
use super::raw::RawMutex;
use super::{Locking, Mutex};
use crate::acquire::Acquire;
use crate::error::TryLockError;
use crate::held::{ExclusivePtr, Held};
use crate::platform::{Platform, Timer};
use crate::timeout::{Deadline, Timeout};
use crate::until::Until;
use alloc::sync::Arc;
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

/// The future of [`Mutex::lock_owned`].
#[doc(alias("OwnedMutexLockFuture", "LockArc"))]
pub type LockOwned<T, P> = Acquire<Locking<Arc<Mutex<T, P>>>>;
/// The future of [`Mutex::lock_owned_timeout`].
pub type LockOwnedTimeout<T, P> = Timeout<Locking<Arc<Mutex<T, P>>>>;
/// The future of [`Mutex::lock_owned_deadline`].
pub type LockOwnedDeadline<T, P> = Deadline<Locking<Arc<Mutex<T, P>>>>;
/// The future of [`Mutex::lock_owned_until`].
pub type LockOwnedUntil<T, P, F> = Until<Locking<Arc<Mutex<T, P>>>, F>;

#[cfg_attr(docsrs, doc(cfg(feature = "alloc")))]
impl<T: ?Sized, P: Platform> Mutex<T, P> {
    /// As [`lock`](Self::lock), with a guard that shares in the mutex and borrows nothing.
    ///
    /// # Fairness
    ///
    /// As [`lock`](Self::lock).
    ///
    /// # Cancel safety
    ///
    /// As [`lock`](Self::lock).
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// # #[allow(clippy::arc_with_non_send_sync)]
    /// let mutex = std::sync::Arc::new(Mutex::new(1));
    /// let mut guard = mutex.clone().lock_owned().await;
    /// *guard += 1;
    /// # });
    /// ```
    #[doc(alias = "lock_arc")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn lock_owned(self: Arc<Self>) -> LockOwned<T, P> {
        Acquire::new(Locking(self))
    }

    /// As [`try_lock`](Self::try_lock), with a guard that shares in the mutex and borrows nothing.
    ///
    /// # Errors
    ///
    /// As [`try_lock`](Self::try_lock). This share in the mutex is gone then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    /// use std::sync::Arc;
    ///
    /// let mutex = Arc::new(Mutex::new(0));
    /// // The guard keeps the mutex alive, so it can go wherever a value can.
    /// let guard = mutex.clone().try_lock_owned()?;
    /// assert!(mutex.clone().try_lock_owned().is_err());
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    #[doc(alias = "try_lock_arc")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T, P>, TryLockError> {
        crate::acquire::try_now(Locking(self))
    }

    /// As [`lock_timeout`](Self::lock_timeout), with a guard that shares in the mutex and borrows nothing.
    ///
    /// # Cancel safety
    ///
    /// As [`lock`](Self::lock).
    ///
    /// # Errors
    ///
    /// As [`lock_timeout`](Self::lock_timeout).
    ///
    /// # Panics
    ///
    /// As [`lock_timeout`](Self::lock_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::Mutex;
    /// use std::sync::Arc;
    /// use tokio::time::Duration;
    ///
    /// # futures_lite::future::block_on(async {
    /// let mutex = Arc::new(Mutex::new(0));
    /// // For a task that is spawned with the guard in it.
    /// let mut guard = mutex.clone().lock_owned_timeout(Duration::from_millis(50)).await?;
    /// *guard += 1;
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[doc(alias = "try_lock_arc_for")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn lock_owned_timeout(self: Arc<Self>, timeout: P::Duration) -> LockOwnedTimeout<T, P>
    where
        P: Timer,
    {
        Timeout::new(Locking(self), timeout)
    }

    /// As [`lock_deadline`](Self::lock_deadline), with a guard that shares in the mutex and borrows nothing.
    ///
    /// # Cancel safety
    ///
    /// As [`lock`](Self::lock).
    ///
    /// # Errors
    ///
    /// As [`lock_deadline`](Self::lock_deadline).
    ///
    /// # Panics
    ///
    /// As [`lock_deadline`](Self::lock_deadline).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::Mutex;
    /// use std::sync::Arc;
    /// use tokio::time::{Duration, Instant};
    ///
    /// # futures_lite::future::block_on(async {
    /// let mutex = Arc::new(Mutex::new(0));
    /// let deadline = Instant::now() + Duration::from_millis(50);
    /// let guard = mutex.clone().lock_owned_deadline(deadline).await?;
    /// assert_eq!(*guard, 0);
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[doc(alias = "try_lock_arc_until")]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn lock_owned_deadline(self: Arc<Self>, deadline: P::Instant) -> LockOwnedDeadline<T, P>
    where
        P: Timer,
    {
        Deadline::new(Locking(self), deadline)
    }

    /// As [`lock_until`](Self::lock_until), with a guard that shares in the mutex and borrows nothing: both the future and the guard can go
    /// to a spawned task.
    ///
    /// # Cancel safety
    ///
    /// As [`lock`](Self::lock).
    ///
    /// # Errors
    ///
    /// As [`lock_until`](Self::lock_until).
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// # #[allow(clippy::arc_with_non_send_sync)]
    /// let lock = std::sync::Arc::new(Mutex::new(1));
    /// let held = lock.lock().await;
    /// let shutdown = async { "shutting down" };
    /// assert_eq!(lock.clone().lock_owned_until(shutdown).await.err(), Some("shutting down"));
    /// # drop(held);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn lock_owned_until<F: Future>(self: Arc<Self>, other: F) -> LockOwnedUntil<T, P, F> {
        Until::new(Locking(self), other)
    }

    /// As [`blocking_lock`](Self::blocking_lock), with a guard that shares in the mutex and borrows nothing.
    ///
    /// # Panics
    ///
    /// As [`blocking_lock`](Self::blocking_lock).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::Mutex;
    /// use std::{sync::Arc, thread};
    ///
    /// let mutex = Arc::new(Mutex::new(0));
    /// let mut guard = mutex.clone().blocking_lock_owned();
    /// // The thread that releases it need not be the one that locked it.
    /// thread::spawn(move || *guard += 1).join().unwrap();
    /// assert_eq!(*mutex.blocking_lock(), 1);
    /// ```
    #[doc(alias("lock_arc_blocking", "lock_blocking_arc"))]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T, P> {
        crate::blocking::acquire(Locking(self))
    }

    /// The same mutex as one of another platform with the same raw lock, with its `Arc`: what [`on`](Self::on) is for the
    /// owned forms, which take an `Arc`.
    ///
    /// It consumes this `Arc`, as the owned forms do; clone it to keep one. The count of owners stays as it is.
    ///
    /// # Examples
    ///
    /// A library gives away an `Arc` of its lock. With a runtime's platform, `lock_owned_timeout` and the other timed forms are there.
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// # fifolock_core::__facade!();
    /// use fifolock::{Mutex, tokio::Tokio};
    /// use std::sync::Arc;
    ///
    /// let library_lock = Arc::new(Mutex::new(0));
    /// let timed: Arc<fifolock::tokio::Mutex<_>> = library_lock.clone().on_arc::<Tokio>();
    /// assert_eq!(Arc::strong_count(&library_lock), 2);
    /// # drop(timed);
    /// # }
    /// ```
    #[must_use]
    pub fn on_arc<Q>(self: Arc<Self>) -> Arc<Mutex<T, Q>>
    where
        Q: Platform<Raw = P::Raw>,
    {
        let this = Arc::into_raw(self) as *const Mutex<T, Q>;
        // SAFETY: it comes from `into_raw`, and both types are `repr(transparent)` over the same `Inner<P::Raw, T>` and have
        // no `Drop` of their own: size, alignment and what a drop does are the same.
        unsafe { Arc::from_raw(this) }
    }
}

impl<T: ?Sized, P: Platform> MutexHandle for Arc<Mutex<T, P>> {
    type Platform = P;
    type Guard = OwnedMutexGuard<T, P>;

    #[inline(always)]
    fn raw(&self) -> &RawMutex<P::Raw> {
        Mutex::raw(self)
    }

    #[inline(always)]
    fn guard(locked: Held<Locking<Self>>) -> Self::Guard {
        OwnedMutexGuard { locked, data: PhantomData }
    }
}

/// The mutex is locked as long as this lives; it shares in the mutex.
///
/// Dropping it releases the mutex as a [`MutexGuard`](super::MutexGuard) does, and then drops its `Arc`.
#[doc(alias("MutexGuardArc", "ArcMutexGuard"))]
#[must_use = "the mutex is released at once when the guard is not kept"]
#[clippy::has_significant_drop]
pub struct OwnedMutexGuard<T: ?Sized, P: Platform> {
    locked: Held<Locking<Arc<Mutex<T, P>>>>,
    // As if it held the data's pointer, like its mapped form: Sync only if T is.
    data: PhantomData<ExclusivePtr<T>>,
}

impl<T: ?Sized, P: Platform> OwnedMutexGuard<T, P> {
    /// The mutex that this guard locks.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{Mutex, OwnedMutexGuard};
    /// use std::sync::Arc;
    ///
    /// let guard = Arc::new(Mutex::new(0)).try_lock_owned()?;
    /// // The guard is what is left of it: the `Arc` comes from there.
    /// let mutex = Arc::clone(OwnedMutexGuard::mutex(&guard));
    /// drop(guard);
    /// assert!(!mutex.is_locked());
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    #[doc(alias = "source")]
    pub fn mutex(this: &Self) -> &Arc<Mutex<T, P>> {
        &this.locked.held().0
    }

    /// A guard for a part of the data.
    ///
    /// # Panics
    ///
    /// If `f` does; the mutex is released then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{Mutex, OwnedMutexGuard};
    /// use std::sync::Arc;
    ///
    /// let pair = Arc::new(Mutex::new((1, String::from("a"))));
    /// let mut name = OwnedMutexGuard::map(pair.clone().try_lock_owned()?, |pair| &mut pair.1);
    /// name.push('b');
    /// assert!(pair.is_locked());
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn map<U: ?Sized, F>(mut this: Self, f: F) -> OwnedMappedMutexGuard<T, U, P>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let data = ExclusivePtr::new(f(&mut this));
        OwnedMappedMutexGuard { locked: this.locked, data }
    }

    /// A guard for a part of the data, if `f` finds it.
    ///
    /// # Errors
    ///
    /// The guard itself, if `f` returns `None`.
    ///
    /// # Panics
    ///
    /// If `f` does; the mutex is released then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{Mutex, OwnedMutexGuard};
    /// use std::sync::Arc;
    ///
    /// let list = Arc::new(Mutex::new(vec![1]));
    /// let item = OwnedMutexGuard::try_map(list.try_lock_owned()?, |list| list.get_mut(3));
    /// assert!(item.is_err(), "there is no such item, and the guard is back");
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn try_map<U: ?Sized, F>(mut this: Self, f: F) -> Result<OwnedMappedMutexGuard<T, U, P>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match f(&mut this).map(ExclusivePtr::new) {
            Some(data) => Ok(OwnedMappedMutexGuard { locked: this.locked, data }),
            None => Err(this),
        }
    }
}

impl<T: ?Sized, P: Platform> Deref for OwnedMutexGuard<T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        let data = self.locked.held().0.inner.data.get();
        // SAFETY: this guard owns the mutex, and lends it shared.
        unsafe { &*data }
    }
}

impl<T: ?Sized, P: Platform> DerefMut for OwnedMutexGuard<T, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        let data = self.locked.held().0.inner.data.get();
        // SAFETY: this guard owns the mutex, and lends itself exclusively.
        unsafe { &mut *data }
    }
}

/// A locked mutex, seen through a part `U` of its data `T`; it shares in the mutex.
#[must_use = "the mutex is released at once when the guard is not kept"]
#[clippy::has_significant_drop]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized, P: Platform> {
    locked: Held<Locking<Arc<Mutex<T, P>>>>,
    data: ExclusivePtr<U>,
}

impl<T: ?Sized, U: ?Sized, P: Platform> OwnedMappedMutexGuard<T, U, P> {
    /// The mutex that this guard locks.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard};
    /// use std::sync::Arc;
    ///
    /// let pair = Arc::new(Mutex::new((1, 2)));
    /// let first = OwnedMutexGuard::map(pair.try_lock_owned()?, |pair| &mut pair.0);
    /// assert!(OwnedMappedMutexGuard::mutex(&first).is_locked());
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn mutex(this: &Self) -> &Arc<Mutex<T, P>> {
        &this.locked.held().0
    }

    /// A guard for a part of this part.
    ///
    /// # Panics
    ///
    /// If `f` does; the mutex is released then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard};
    /// use std::sync::Arc;
    ///
    /// let nested = Arc::new(Mutex::new(((1, 2), 3)));
    /// let pair = OwnedMutexGuard::map(nested.try_lock_owned()?, |nested| &mut nested.0);
    /// let first = OwnedMappedMutexGuard::map(pair, |pair| &mut pair.0);
    /// assert_eq!(*first, 1);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn map<S: ?Sized, F>(mut this: Self, f: F) -> OwnedMappedMutexGuard<T, S, P>
    where
        F: FnOnce(&mut U) -> &mut S,
    {
        let data = ExclusivePtr::new(f(&mut this));
        OwnedMappedMutexGuard { locked: this.locked, data }
    }

    /// A guard for a part of this part, if `f` finds it.
    ///
    /// # Errors
    ///
    /// The guard itself, if `f` returns `None`.
    ///
    /// # Panics
    ///
    /// If `f` does; the mutex is released then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard};
    /// use std::sync::Arc;
    ///
    /// let user = Arc::new(Mutex::new((1, Some("name"))));
    /// let name = OwnedMutexGuard::map(user.try_lock_owned()?, |user| &mut user.1);
    /// let name = OwnedMappedMutexGuard::try_map(name, Option::as_mut);
    /// assert_eq!(*name.expect("it has one"), "name");
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn try_map<S: ?Sized, F>(mut this: Self, f: F) -> Result<OwnedMappedMutexGuard<T, S, P>, Self>
    where
        F: FnOnce(&mut U) -> Option<&mut S>,
    {
        match f(&mut this).map(ExclusivePtr::new) {
            Some(data) => Ok(OwnedMappedMutexGuard { locked: this.locked, data }),
            None => Err(this),
        }
    }
}

impl<T: ?Sized, U: ?Sized, P: Platform> Deref for OwnedMappedMutexGuard<T, U, P> {
    type Target = U;

    #[inline(always)]
    fn deref(&self) -> &U {
        // SAFETY: it was borrowed exclusively from a guard that this one has replaced.
        unsafe { &*self.data.as_ptr() }
    }
}

impl<T: ?Sized, U: ?Sized, P: Platform> DerefMut for OwnedMappedMutexGuard<T, U, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut U {
        // SAFETY: as above, and this guard lends itself exclusively.
        unsafe { &mut *self.data.as_ptr() }
    }
}

crate::held::transparent_fmt!([T] OwnedMutexGuard<T, P> => T);
crate::held::transparent_fmt!([T, U] OwnedMappedMutexGuard<T, U, P> => U);

//! The borrowed write guards.

use super::raw::RawRwLock;
use super::upgradable::downgrade_to_upgradable;
use super::{Reading, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, Writing};
use crate::held::{Held, ReadPtr, WritePtr};
use crate::platform::Platform;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

/// The lock is held for writing as long as this lives.
///
/// Dropping it hands over to the next writer, or to all waiting readers, or frees the lock. Forgetting it leaves the
/// lock held.
#[must_use = "the lock is released at once when the guard is not kept"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized, P: Platform> {
    owned: Held<Writing<&'a RwLock<T, P>>>,
}

impl<'a, T: ?Sized, P: Platform> RwLockWriteGuard<'a, T, P> {
    #[inline(always)]
    pub(super) fn new(owned: Held<Writing<&'a RwLock<T, P>>>) -> Self {
        Self { owned }
    }

    /// The data, for as long as the lock is borrowed.
    ///
    /// # Safety
    ///
    /// Nothing that is made of it outlives this guard, or is used while the guard is.
    #[inline(always)]
    pub(super) unsafe fn data_beyond(&mut self) -> &'a mut T {
        let data = self.owned.held().0.inner.data.get();
        // SAFETY: this guard owns the lock, and outlives the reference, as the caller promises.
        unsafe { &mut *data }
    }

    /// The lock that this guard holds.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{RwLock, RwLockWriteGuard};
    ///
    /// let lock = RwLock::new(0);
    /// let guard = lock.try_write()?;
    /// assert!(RwLockWriteGuard::rwlock(&guard).is_write_locked());
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn rwlock(this: &Self) -> &'a RwLock<T, P> {
        this.owned.held().0
    }

    /// Becomes a read guard, without a moment in which another writer could enter. If no writer waits, the waiting
    /// readers enter too.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{RwLock, RwLockWriteGuard};
    ///
    /// let config = RwLock::new(1);
    /// let mut guard = config.try_write()?;
    /// *guard = 2;
    /// // No other writer comes in between: what was written is what is read.
    /// let guard = RwLockWriteGuard::downgrade(guard);
    /// assert_eq!((*guard, config.state().readers), (2, 1));
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn downgrade(self) -> RwLockReadGuard<'a, T, P> {
        RwLockReadGuard::new(downgrade(self.owned))
    }

    /// Becomes an upgradable read guard, as [`downgrade`](Self::downgrade): it can become a write guard again before
    /// another writer enters.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{RwLock, RwLockWriteGuard};
    ///
    /// let config = RwLock::new(1);
    /// let guard = RwLockWriteGuard::downgrade_to_upgradable(config.try_write()?);
    /// // Readers look meanwhile, and this task writes again before anyone else does.
    /// assert!(config.try_read().is_ok() && config.try_write().is_err());
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn downgrade_to_upgradable(this: Self) -> RwLockUpgradableReadGuard<'a, T, P> {
        RwLockUpgradableReadGuard::new(downgrade_to_upgradable(this.owned))
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
    /// use fifolock::local::{RwLock, RwLockWriteGuard};
    ///
    /// let pair = RwLock::new((1, 2));
    /// let first = RwLockWriteGuard::downgrade_map(pair.try_write()?, |pair| &pair.0);
    /// assert_eq!(*first, 1);
    /// assert!(pair.try_read().is_ok());
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn downgrade_map<F, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U, P>
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
    /// use fifolock::local::{RwLock, RwLockWriteGuard};
    ///
    /// let list = RwLock::new(vec![1]);
    /// let item = RwLockWriteGuard::try_downgrade_map(list.try_write()?, |list| list.get(3));
    /// assert!(item.is_err(), "there is no such item, and the lock is held to write still");
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn try_downgrade_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U, P>, Self>
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
    /// use fifolock::local::{RwLock, RwLockMappedWriteGuard, RwLockWriteGuard};
    ///
    /// // A function may return both a mapped and a whole guard.
    /// fn all(lock: &RwLock<u32>) -> Option<RwLockMappedWriteGuard<'_, u32>> {
    ///     lock.try_write().ok().map(RwLockWriteGuard::into_mapped)
    /// }
    /// assert!(all(&RwLock::new(1)).is_some());
    /// ```
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T, P> {
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
    /// use fifolock::local::{RwLock, RwLockWriteGuard};
    ///
    /// let pair = RwLock::new((1, 2));
    /// let mut first = RwLockWriteGuard::map(pair.try_write()?, |pair| &mut pair.0);
    /// *first = 10;
    /// drop(first);
    /// assert_eq!(pair.into_inner(), (10, 2));
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn map<F, U: ?Sized>(mut this: Self, f: F) -> RwLockMappedWriteGuard<'a, U, P>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let data = WritePtr::new(f(&mut this));
        RwLockMappedWriteGuard::new(this, data)
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
    /// use fifolock::local::{RwLock, RwLockWriteGuard};
    ///
    /// let list = RwLock::new(vec![1]);
    /// let item = RwLockWriteGuard::try_map(list.try_write()?, |list| list.get_mut(3));
    /// assert!(item.is_err(), "there is no such item, and the guard is back");
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn try_map<F, U: ?Sized>(mut this: Self, f: F) -> Result<RwLockMappedWriteGuard<'a, U, P>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match f(&mut this).map(WritePtr::new) {
            Some(data) => Ok(RwLockMappedWriteGuard::new(this, data)),
            None => Err(this),
        }
    }
}

/// The writer becomes a reader, which holds its share before anyone is woken: a waker may panic.
#[inline(always)]
pub(super) fn downgrade<L: super::handle::RawHandle>(owned: Held<Writing<L>>) -> Held<Reading<L>> {
    let (Writing(lock), call_site) = owned.into_held();
    // SAFETY: taken over from the writer's `Held`; there is a share to give back from the next line on, in which nothing
    // can panic before there is.
    let shared = unsafe { Held::new(Reading(lock), call_site) };
    shared.held().0.raw().downgrade(call_site);
    shared
}

impl<T: ?Sized, P: Platform> Deref for RwLockWriteGuard<'_, T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        let data = self.owned.held().0.inner.data.get();
        // SAFETY: this guard owns the lock, and lends it shared.
        unsafe { &*data }
    }
}

impl<T: ?Sized, P: Platform> DerefMut for RwLockWriteGuard<'_, T, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        let data = self.owned.held().0.inner.data.get();
        // SAFETY: this guard owns the lock, and lends itself exclusively.
        unsafe { &mut *data }
    }
}

/// The lock is held for writing, seen through a part of its data.
///
/// It can't be downgraded: the part may be something that must not be shared, such as what a `Cell` in the data gives
/// to its exclusive owner.
#[doc(alias = "MappedRwLockWriteGuard")]
#[must_use = "the lock is released at once when the guard is not kept"]
#[clippy::has_significant_drop]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized, P: Platform> {
    owned: Held<Writing<&'a RawRwLock<P::Raw>>>,
    data: WritePtr<T>,
    _borrow: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized, P: Platform> RwLockMappedWriteGuard<'a, T, P> {
    fn new<W: ?Sized>(whole: RwLockWriteGuard<'a, W, P>, data: WritePtr<T>) -> Self {
        let (Writing(lock), call_site) = whole.owned.into_held();
        // SAFETY: the duty to release, taken over from the whole guard's `Held`.
        let owned = unsafe { Held::new(Writing(lock.raw()), call_site) };
        Self { owned, data, _borrow: PhantomData }
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
    /// use fifolock::local::{RwLock, RwLockMappedWriteGuard, RwLockWriteGuard};
    ///
    /// let nested = RwLock::new(((1, 2), 3));
    /// let pair = RwLockWriteGuard::map(nested.try_write()?, |nested| &mut nested.0);
    /// let first = RwLockMappedWriteGuard::map(pair, |pair| &mut pair.0);
    /// assert_eq!(*first, 1);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn map<F, U: ?Sized>(mut this: Self, f: F) -> RwLockMappedWriteGuard<'a, U, P>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let data = WritePtr::new(f(&mut this));
        RwLockMappedWriteGuard { owned: this.owned, data, _borrow: PhantomData }
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
    /// use fifolock::local::{RwLock, RwLockMappedWriteGuard, RwLockWriteGuard};
    ///
    /// let user = RwLock::new((1, Some("name")));
    /// let name = RwLockWriteGuard::map(user.try_write()?, |user| &mut user.1);
    /// let name = RwLockMappedWriteGuard::try_map(name, Option::as_mut);
    /// assert_eq!(*name.expect("it has one"), "name");
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn try_map<F, U: ?Sized>(mut this: Self, f: F) -> Result<RwLockMappedWriteGuard<'a, U, P>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match f(&mut this).map(WritePtr::new) {
            Some(data) => Ok(RwLockMappedWriteGuard { owned: this.owned, data, _borrow: PhantomData }),
            None => Err(this),
        }
    }
}

impl<T: ?Sized, P: Platform> Deref for RwLockMappedWriteGuard<'_, T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: it was borrowed exclusively from a guard that this one has replaced.
        unsafe { &*self.data.as_ptr() }
    }
}

impl<T: ?Sized, P: Platform> DerefMut for RwLockMappedWriteGuard<'_, T, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and this guard lends itself exclusively.
        unsafe { &mut *self.data.as_ptr() }
    }
}

crate::held::transparent_fmt!([T] RwLockWriteGuard<'_, T, P> => T);
crate::held::transparent_fmt!([T] RwLockMappedWriteGuard<'_, T, P> => T);

//! The borrowed guards.

use super::raw::RawMutex;
use super::{Locking, Mutex};
use crate::algorithm::Algorithm;
use crate::call_site::CallSite;
use crate::held::{ExclusivePtr, Held, Release};
use crate::platform::Platform;
use crate::raw::RawLock;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

/// The mutex is locked as long as this lives.
///
/// Dropping it gives the mutex to the first waiter, or frees it. Forgetting it leaves the mutex locked.
#[must_use = "the mutex is released at once when the guard is not kept"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized, P: Platform> {
    locked: Held<Locking<&'a Mutex<T, P>>>,
    // As if it held the data's pointer, like its mapped form: Sync only if T is.
    data: PhantomData<ExclusivePtr<T>>,
}

impl<'a, T: ?Sized, P: Platform> MutexGuard<'a, T, P> {
    #[inline(always)]
    pub(super) fn new(locked: Held<Locking<&'a Mutex<T, P>>>) -> Self {
        Self { locked, data: PhantomData }
    }

    /// The data, for as long as the mutex is borrowed.
    ///
    /// # Safety
    ///
    /// Nothing that is made of it outlives this guard, or is used while the guard is.
    #[inline(always)]
    pub(super) unsafe fn data_beyond(&mut self) -> &'a mut T {
        let data = self.locked.held().0.inner.data.get();
        // SAFETY: this guard owns the mutex, and outlives the reference, as the caller promises.
        unsafe { &mut *data }
    }

    /// The mutex that this guard locks.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{Mutex, MutexGuard};
    ///
    /// let mutex = Mutex::new(0);
    /// let guard = mutex.try_lock()?;
    /// // Who waits for what this guard holds?
    /// assert_eq!(MutexGuard::mutex(&guard).queued(), 0);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    #[doc(alias = "source")]
    pub fn mutex(this: &Self) -> &'a Mutex<T, P> {
        this.locked.held().0
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
    /// use fifolock::local::{Mutex, MutexGuard};
    ///
    /// let pair = Mutex::new((1, String::from("a")));
    /// // The caller sees the name alone; the whole pair stays locked.
    /// let mut name = MutexGuard::map(pair.try_lock()?, |pair| &mut pair.1);
    /// name.push('b');
    /// drop(name);
    /// assert_eq!(pair.into_inner().1, "ab");
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn map<U: ?Sized, F>(mut this: Self, f: F) -> MappedMutexGuard<'a, U, P>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let data = ExclusivePtr::new(f(&mut this));
        MappedMutexGuard::new(this, data)
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
    /// use fifolock::local::{Mutex, MutexGuard};
    ///
    /// let list = Mutex::new(vec![1]);
    /// match MutexGuard::try_map(list.try_lock()?, |list| list.get_mut(3)) {
    ///     Ok(item) => println!("{item}"),
    ///     // The guard is given back: the lock was held all the time.
    ///     Err(mut list) => list.push(2),
    /// }
    /// assert_eq!(list.into_inner(), [1, 2]);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn try_map<U: ?Sized, F>(mut this: Self, f: F) -> Result<MappedMutexGuard<'a, U, P>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match f(&mut this).map(ExclusivePtr::new) {
            Some(data) => Ok(MappedMutexGuard::new(this, data)),
            None => Err(this),
        }
    }
}

impl<T: ?Sized, P: Platform> Deref for MutexGuard<'_, T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        let data = self.locked.held().0.inner.data.get();
        // SAFETY: this guard owns the mutex, and lends it shared.
        unsafe { &*data }
    }
}

impl<T: ?Sized, P: Platform> DerefMut for MutexGuard<'_, T, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        let data = self.locked.held().0.inner.data.get();
        // SAFETY: this guard owns the mutex, and lends itself exclusively.
        unsafe { &mut *data }
    }
}

/// A locked mutex, seen through a part of its data.
///
/// Dropping it releases the mutex. There is no way back to the whole.
#[must_use = "the mutex is released at once when the guard is not kept"]
#[clippy::has_significant_drop]
pub struct MappedMutexGuard<'a, T: ?Sized, P: Platform> {
    locked: Held<Unlock<'a, P::Raw>>,
    data: ExclusivePtr<T>,
    _borrow: PhantomData<&'a mut T>,
}

/// A locked mutex without its data's type.
struct Unlock<'a, R: RawLock>(&'a RawMutex<R>);

impl<R: RawLock> Release for Unlock<'_, R> {
    #[inline(always)]
    fn release(&self, call_site: CallSite) {
        self.0.release(call_site);
    }
}

impl<'a, T: ?Sized, P: Platform> MappedMutexGuard<'a, T, P> {
    fn new<W: ?Sized>(whole: MutexGuard<'a, W, P>, data: ExclusivePtr<T>) -> Self {
        let (Locking(mutex), call_site) = whole.locked.into_held();
        // SAFETY: the duty to release, taken over from the whole guard's `Held`.
        let locked = unsafe { Held::new(Unlock(mutex.raw()), call_site) };
        Self { locked, data, _borrow: PhantomData }
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
    /// use fifolock::local::{MappedMutexGuard, Mutex, MutexGuard};
    ///
    /// let nested = Mutex::new(((1, 2), 3));
    /// let pair = MutexGuard::map(nested.try_lock()?, |nested| &mut nested.0);
    /// let mut first = MappedMutexGuard::map(pair, |pair| &mut pair.0);
    /// *first = 10;
    /// drop(first);
    /// assert_eq!(nested.into_inner().0.0, 10);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn map<U: ?Sized, F>(mut this: Self, f: F) -> MappedMutexGuard<'a, U, P>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let data = ExclusivePtr::new(f(&mut this));
        MappedMutexGuard { locked: this.locked, data, _borrow: PhantomData }
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
    /// use fifolock::local::{MappedMutexGuard, Mutex, MutexGuard};
    ///
    /// let user = Mutex::new((1, Some("name")));
    /// let name = MutexGuard::map(user.try_lock()?, |user| &mut user.1);
    /// let name = MappedMutexGuard::try_map(name, Option::as_mut);
    /// assert_eq!(*name.expect("it has one"), "name");
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn try_map<U: ?Sized, F>(mut this: Self, f: F) -> Result<MappedMutexGuard<'a, U, P>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match f(&mut this).map(ExclusivePtr::new) {
            Some(data) => Ok(MappedMutexGuard { locked: this.locked, data, _borrow: PhantomData }),
            None => Err(this),
        }
    }
}

impl<T: ?Sized, P: Platform> Deref for MappedMutexGuard<'_, T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: it was borrowed exclusively from a guard that this one has replaced.
        unsafe { &*self.data.as_ptr() }
    }
}

impl<T: ?Sized, P: Platform> DerefMut for MappedMutexGuard<'_, T, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and this guard lends itself exclusively.
        unsafe { &mut *self.data.as_ptr() }
    }
}

crate::held::transparent_fmt!([T] MutexGuard<'_, T, P> => T);
crate::held::transparent_fmt!([T] MappedMutexGuard<'_, T, P> => T);

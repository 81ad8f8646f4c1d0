//! The borrowed read guard.

use super::raw::RawRwLock;
use super::{Reading, RwLock};
use crate::held::{Held, ReadPtr};
use crate::platform::Platform;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

/// A share in the lock, for reading the data or, after [`map`](Self::map), a part of it.
///
/// Dropping it gives the share back; the last reader hands over to the first waiting writer. Forgetting it keeps writers
/// out for ever.
///
/// It is `Send` and `Sync` where the data, or the part of it, is `Sync`, as `&T` is; the raw lock must be `Sync` too.
/// A guard for a part of the data has the same type, so neither leads back to the lock: what is to find the lock keeps a
/// reference to it, or an owned guard, which has it.
#[doc(alias = "MappedRwLockReadGuard")]
#[must_use = "the lock is released at once when the guard is not kept"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized, P: Platform> {
    shared: Held<Reading<&'a RawRwLock<P::Raw>>>,
    data: ReadPtr<T>,
    _borrow: PhantomData<&'a T>,
}

impl<'a, T: ?Sized, P: Platform> RwLockReadGuard<'a, T, P> {
    #[inline(always)]
    pub(super) fn new(shared: Held<Reading<&'a RwLock<T, P>>>) -> Self {
        let lock = shared.held().0;
        // SAFETY: a reader has a share, so nobody writes.
        let data = ReadPtr::new(unsafe { &*lock.inner.data.get() });
        let (Reading(lock), call_site) = shared.into_held();
        // SAFETY: the share, taken over from the other guard's `Held`.
        let shared = unsafe { Held::new(Reading(lock.raw()), call_site) };
        Self { shared, data, _borrow: PhantomData }
    }

    /// The data, for as long as the lock is borrowed.
    ///
    /// # Safety
    ///
    /// Nothing that is made of it outlives this guard.
    #[inline(always)]
    pub(super) unsafe fn data_beyond(&self) -> &'a T {
        // SAFETY: this guard has a share in the lock, and outlives the reference, as the caller promises.
        unsafe { &*self.data.as_ptr() }
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
    /// use fifolock::local::{RwLock, RwLockReadGuard};
    ///
    /// let pair = RwLock::new((1, 2));
    /// let first = RwLockReadGuard::map(pair.try_read()?, |pair| &pair.0);
    /// assert_eq!(*first, 1);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U, P>
    where
        F: FnOnce(&T) -> &U,
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
    /// use fifolock::local::{RwLock, RwLockReadGuard};
    ///
    /// let list = RwLock::new(vec![1]);
    /// let item = RwLockReadGuard::try_map(list.try_read()?, |list| list.get(3));
    /// assert!(item.is_err(), "there is no such item, and the guard is back");
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U, P>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match f(&this).map(ReadPtr::new) {
            Some(part) => Ok(this.with_part(part)),
            None => Err(this),
        }
    }

    /// The same share, for data that was borrowed from this guard's.
    pub(super) fn with_part<U: ?Sized>(self, part: ReadPtr<U>) -> RwLockReadGuard<'a, U, P> {
        RwLockReadGuard { shared: self.shared, data: part, _borrow: PhantomData }
    }
}

impl<T: ?Sized, P: Platform> Deref for RwLockReadGuard<'_, T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: it points into the lock's data, of which this guard has a share.
        unsafe { &*self.data.as_ptr() }
    }
}

crate::held::transparent_fmt!([T] RwLockReadGuard<'_, T, P> => T);

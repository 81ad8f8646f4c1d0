//! A mutex that excludes nothing, for the programs without a lock.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

#[derive(Debug)]
pub struct Mutex<M, T>(UnsafeCell<T>, PhantomData<M>);

// SAFETY: the programs run in one executor on one core, and their interrupt handlers don't use this type.
unsafe impl<M, T> Sync for Mutex<M, T> {}

impl<M, T> Mutex<M, T> {
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value), PhantomData)
    }

    #[inline(always)]
    pub fn lock(&self) -> Guard<'_, T> {
        Guard(&self.0)
    }
}

#[derive(Debug)]
pub struct Guard<'a, T>(&'a UnsafeCell<T>);

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the program has one executor, and no task keeps a reference over an `await`.
        unsafe { &*self.0.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the program has one executor, and no task keeps a reference over an `await`.
        unsafe { &mut *self.0.get() }
    }
}

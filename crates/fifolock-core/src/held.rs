//! What every guard is made of: the duty to release, and a pointer to the data.

use crate::call_site::CallSite;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

/// A way of holding a lock, and how it ends.
#[allow(unnameable_types, unreachable_pub, reason = "sealed")]
pub trait Release {
    /// Gives up what is held, by a call at `call_site`. Only for a holder, once.
    fn release(&self, call_site: CallSite);
}

/// Something is held: it is released when this is dropped, exactly once.
///
/// An owned lock's `Arc` is dropped after the release, and the wakes, have returned.
#[derive(Debug)]
#[allow(unnameable_types, unreachable_pub, reason = "in the signature of a sealed trait")]
pub struct Held<H: Release> {
    held: H,
    /// The call that made its holder one.
    call_site: CallSite,
}

impl<H: Release> Held<H> {
    /// # Safety
    ///
    /// The caller holds what `held` says, and has no other `Held` for it.
    #[inline(always)]
    pub(crate) unsafe fn new(held: H, call_site: CallSite) -> Self {
        Self { held, call_site }
    }

    #[inline(always)]
    pub(crate) fn held(&self) -> &H {
        &self.held
    }

    /// Takes the duty to release over, and the place that goes with it.
    #[inline(always)]
    pub(crate) fn into_held(self) -> (H, CallSite) {
        let this = ManuallyDrop::new(self);
        // SAFETY: moved out of a value that is neither used nor dropped again.
        let held = unsafe { ptr::read(&raw const this.held) };
        (held, this.call_site)
    }
}

impl<H: Release> Drop for Held<H> {
    #[inline(always)]
    fn drop(&mut self) {
        self.held.release(self.call_site);
    }
}

/// A guard's pointer to data that a mutex protects: Send and Sync as the guard of a mutex is to be, and invariant.
#[derive(Debug)]
pub(crate) struct ExclusivePtr<U: ?Sized>(NonNull<U>, PhantomData<*mut U>);

// SAFETY: the guard is the only way to the data, as a `&mut U` would be.
// - Send: required, since `U` goes to the other thread.
// - Sync: not required, since nobody else has access.
unsafe impl<U: ?Sized + Send> Send for ExclusivePtr<U> {}
// SAFETY: a shared guard gives `&U` only.
// - Sync: required for that.
// - Send: as the table of the contract has it; a guard behind `&` can't be moved, so it would not be required.
unsafe impl<U: ?Sized + Send + Sync> Sync for ExclusivePtr<U> {}

impl<U: ?Sized> ExclusivePtr<U> {
    #[inline(always)]
    pub(crate) fn new(data: &mut U) -> Self {
        Self(NonNull::from(data), PhantomData)
    }

    #[inline(always)]
    pub(crate) fn as_ptr(&self) -> *mut U {
        self.0.as_ptr()
    }
}

/// A guard's pointer to data that a read-write lock protects, while it is written: invariant.
#[derive(Debug)]
pub(crate) struct WritePtr<U: ?Sized>(NonNull<U>, PhantomData<*mut U>);

// SAFETY: the guard is the only way to the data.
// - Send: required, since `U` goes to the other thread.
// - Sync: required, since a write lock can become a read lock, whose data others share.
unsafe impl<U: ?Sized + Send + Sync> Send for WritePtr<U> {}
// SAFETY: a shared guard gives `&U` only. Bounds as above.
unsafe impl<U: ?Sized + Send + Sync> Sync for WritePtr<U> {}

impl<U: ?Sized> WritePtr<U> {
    #[inline(always)]
    pub(crate) fn new(data: &mut U) -> Self {
        Self(NonNull::from(data), PhantomData)
    }

    #[inline(always)]
    pub(crate) fn as_ptr(&self) -> *mut U {
        self.0.as_ptr()
    }
}

/// A guard's pointer to data that a read-write lock protects, while it is read: covariant.
#[derive(Debug)]
pub(crate) struct ReadPtr<U: ?Sized>(NonNull<U>);

// SAFETY: the pointer is used as the `&U` that it was made from would be, while a share in the lock keeps writers out.
// - Sync: required, since guards of several threads give `&U` at the same time.
// - Send: not required. No read guard gives `&mut U`, moves `U` out, or drops it. A borrowed guard releases through the raw
//   lock alone, which does not know the data; the next writer's access comes after that (contract K7), on a thread that
//   could reach the lock anyway. The last owner of an owned lock does drop the data, wherever its guard is: the guard's
//   `Arc` of the lock asks for `T: Send + Sync` there. A part `U` of such a `T` is dropped as the `T` that it belongs to.
unsafe impl<U: ?Sized + Sync> Send for ReadPtr<U> {}
// SAFETY: a shared guard gives `&U` only, as the guard itself does. Bounds as above.
unsafe impl<U: ?Sized + Sync> Sync for ReadPtr<U> {}

impl<U: ?Sized> ReadPtr<U> {
    #[inline(always)]
    pub(crate) fn new(data: &U) -> Self {
        Self(NonNull::from(data))
    }

    #[inline(always)]
    pub(crate) fn as_ptr(&self) -> *const U {
        self.0.as_ptr()
    }
}

/// A guard prints as what it guards.
macro_rules! transparent_fmt {
    ([$($param:ident),+] $guard:ty => $target:ident) => {
        impl<$($param: ?Sized,)+ P: Platform> fmt::Debug for $guard
        where
            $target: fmt::Debug,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<$($param: ?Sized,)+ P: Platform> fmt::Display for $guard
        where
            $target: fmt::Display,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}
pub(crate) use transparent_fmt;

//! Values that tests forget on purpose (K5). A static keeps their addresses, so a leak that a tool reports is a real
//! one.

use super::Boxed;
use core::mem;
use core::ptr;
use core::sync::atomic::AtomicPtr;
use std::sync::{Mutex, PoisonError};

static FORGOTTEN: Mutex<Vec<AtomicPtr<()>>> = Mutex::new(Vec::new());

/// Forgets a future without freeing it.
pub fn forget<F: ?Sized>(future: Boxed<F>) {
    remember(&*future);
    mem::forget(future);
}

/// Makes a value that is forgotten by other means known to leak checkers.
pub fn remember<T: ?Sized>(what: &T) {
    let address = ptr::from_ref(what).cast_mut().cast();
    FORGOTTEN.lock().unwrap_or_else(PoisonError::into_inner).push(AtomicPtr::new(address));
}

//! What tests forget on purpose (contract K5), known to a static: so a leak that a tool reports is one.

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

/// Lets tools know of what is, or will be, forgotten by other means.
pub fn remember<T: ?Sized>(what: &T) {
    let address = ptr::from_ref(what).cast_mut().cast();
    FORGOTTEN.lock().unwrap_or_else(PoisonError::into_inner).push(AtomicPtr::new(address));
}

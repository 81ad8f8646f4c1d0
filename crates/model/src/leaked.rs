//! A lock that guards may borrow for as long as they like.

use core::ops::Deref;
use core::ptr::NonNull;
use std::sync::Arc;

/// A lock on the heap, which is there until it is [`reclaim`](Self::reclaim)ed.
pub(crate) struct Leaked<L: 'static>(NonNull<Arc<L>>);

impl<L> Leaked<L> {
    pub(crate) fn new(lock: L) -> Self {
        Self(NonNull::from(Box::leak(Box::new(Arc::new(lock)))))
    }

    pub(crate) fn get(&self) -> &'static Arc<L> {
        // SAFETY: it is on the heap until `reclaim`, whose caller promises that no such borrow is left.
        unsafe { self.0.as_ref() }
    }

    /// Drops the lock.
    ///
    /// # Safety
    ///
    /// It is called once, and nothing borrows the lock any more.
    pub(crate) unsafe fn reclaim(&mut self) {
        // SAFETY: it came from a box; the rest is the caller's promise.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl<L> Deref for Leaked<L> {
    type Target = Arc<L>;

    fn deref(&self) -> &Arc<L> {
        self.get()
    }
}

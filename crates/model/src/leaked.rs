//! A lock that guards may borrow for any lifetime.

use core::ops::Deref;
use core::ptr::NonNull;
use std::sync::Arc;

/// A lock on the heap, which lives until [`reclaim`](Self::reclaim).
pub(crate) struct Leaked<L: 'static>(NonNull<Arc<L>>);

impl<L> Leaked<L> {
    pub(crate) fn new(lock: L) -> Self {
        Self(NonNull::from(Box::leak(Box::new(Arc::new(lock)))))
    }

    pub(crate) fn get(&self) -> &'static Arc<L> {
        // SAFETY: the lock is on the heap until `reclaim`, whose caller promises that no borrow is left.
        unsafe { self.0.as_ref() }
    }

    /// Drops the lock.
    ///
    /// # Safety
    ///
    /// Must be called once, after every borrow of the lock has ended.
    pub(crate) unsafe fn reclaim(&mut self) {
        // SAFETY: the pointer came from a box. The caller promises that this is the first call and that no borrow is
        // left.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl<L> Deref for Leaked<L> {
    type Target = Arc<L>;

    fn deref(&self) -> &Arc<L> {
        self.get()
    }
}

//! Wakers that count, and wakers that call back.

use super::assert_outside;
use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{RawWaker, RawWakerVTable, Waker};
use std::sync::Arc;

/// The number of wakes of a waker, and of its clones.
#[derive(Debug, Default)]
pub struct Count {
    wakes: AtomicUsize,
    alive: AtomicUsize,
}

impl Count {
    /// The number of wakes.
    #[must_use]
    pub fn wakes(&self) -> usize {
        self.wakes.load(Ordering::SeqCst)
    }

    /// The number of clones of the waker, the test's own included.
    #[must_use]
    pub fn alive(&self) -> usize {
        self.alive.load(Ordering::SeqCst)
    }
}

/// Hooks that a waker runs besides counting. The test fails if a waker is used inside a section.
#[derive(Default)]
pub struct Hooks {
    /// Called by `clone`.
    pub on_clone: Option<Box<dyn Fn() + Send + Sync>>,
    /// Called by `wake` and `wake_by_ref`.
    pub on_wake: Option<Box<dyn Fn() + Send + Sync>>,
    /// Called by `drop`, and by `wake`, which drops too.
    pub on_drop: Option<Box<dyn Fn() + Send + Sync>>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}

struct Inner {
    count: Arc<Count>,
    hooks: Hooks,
}

impl Inner {
    fn call(hook: &Option<Box<dyn Fn() + Send + Sync>>) {
        assert_outside();
        if let Some(hook) = hook {
            hook();
        }
    }
}

/// A waker that counts.
#[must_use]
pub fn counting_waker() -> (Waker, Arc<Count>) {
    hooked_waker(Hooks::default())
}

/// A waker that counts and calls back.
#[must_use]
pub fn hooked_waker(hooks: Hooks) -> (Waker, Arc<Count>) {
    let count = Arc::new(Count::default());
    count.alive.store(1, Ordering::SeqCst);
    let inner = Arc::new(Inner { count: Arc::clone(&count), hooks });
    // SAFETY: the data is an `Arc<Inner>`, which is what the vtable's functions take it for, and is Send and Sync.
    let waker = unsafe { Waker::new(Arc::into_raw(inner).cast(), &VTABLE) };
    (waker, count)
}

// All wakers share this vtable, so two wakers are equal exactly if their data is.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

/// # Safety
///
/// `data` must come from [`hooked_waker`] or `clone`, and must not have been dropped.
unsafe fn borrow<'a>(data: *const ()) -> &'a Inner {
    // SAFETY: as the caller promises.
    unsafe { &*data.cast::<Inner>() }
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the vtable's contract.
    let inner = unsafe { borrow(data) };
    Inner::call(&inner.hooks.on_clone);
    inner.count.alive.fetch_add(1, Ordering::SeqCst);
    // SAFETY: the vtable's contract: the `Arc` is alive.
    unsafe { Arc::increment_strong_count(data.cast::<Inner>()) };
    RawWaker::new(data, &VTABLE)
}

unsafe fn wake(data: *const ()) {
    /// Drops the waker, however its hook ends.
    struct Consumed(*const ());
    impl Drop for Consumed {
        fn drop(&mut self) {
            // SAFETY: by the contract of the vtable, `wake` owns the waker.
            unsafe { drop_waker(self.0) };
        }
    }
    let _consumed = Consumed(data);
    // SAFETY: the vtable's contract.
    unsafe { wake_by_ref(data) };
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the vtable's contract.
    let inner = unsafe { borrow(data) };
    inner.count.wakes.fetch_add(1, Ordering::SeqCst);
    Inner::call(&inner.hooks.on_wake);
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: by the contract of the vtable, this is the waker's own share, and its last use.
    let inner = unsafe { Arc::from_raw(data.cast::<Inner>()) };
    inner.count.alive.fetch_sub(1, Ordering::SeqCst);
    Inner::call(&inner.hooks.on_drop);
}

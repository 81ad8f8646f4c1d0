//! What wakers call back with: closures of one thread, and places to leave things for them.

use core::cell::{Cell, RefCell};
use core::fmt;
use std::rc::Rc;
use std::thread;

/// What a waker calls.
pub type Hook = Box<dyn Fn() + Send + Sync>;

std::thread_local! {
    static HOOKS: RefCell<Vec<Rc<dyn Fn()>>> = const { RefCell::new(Vec::new()) };
}

/// A hook out of a closure that must stay on its thread: so it can use locks that do.
///
/// The closure stays with the thread; the hook only names it, and fails the test if another thread calls it.
#[must_use]
pub fn hook(f: impl Fn() + 'static) -> Option<Hook> {
    let home = thread::current().id();
    let index = HOOKS.with_borrow_mut(|hooks| {
        hooks.push(Rc::new(f));
        hooks.len() - 1
    });
    Some(Box::new(move || {
        assert_eq!(thread::current().id(), home, "a waker of one thread's lock is called by another");
        // While the thread ends there is nobody to call.
        if let Ok(hook) = HOOKS.try_with(|hooks| Rc::clone(&hooks.borrow()[index])) {
            hook();
        }
    }))
}

/// A place that a hook and its test share.
pub struct Slot<T>(Rc<Cell<Option<T>>>);

impl<T> Slot<T> {
    /// An empty place.
    #[must_use]
    pub fn new() -> Self {
        Self(Rc::new(Cell::new(None)))
    }

    /// Leaves a value.
    pub fn put(&self, value: T) {
        drop(self.0.replace(Some(value)));
    }

    /// Takes the value. The place is free while the value is dropped, so that a drop may come back here.
    #[must_use]
    pub fn take(&self) -> Option<T> {
        self.0.take()
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Slot")
    }
}

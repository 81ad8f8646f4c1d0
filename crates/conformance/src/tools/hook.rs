//! Hooks for wakers: closures that stay on their thread, and slots for the values that they leave.

use core::cell::{Cell, RefCell};
use core::fmt;
use std::rc::Rc;
use std::thread;

/// A function that a waker calls.
pub type Hook = Box<dyn Fn() + Send + Sync>;

std::thread_local! {
    static HOOKS: RefCell<Vec<Rc<dyn Fn()>>> = const { RefCell::new(Vec::new()) };
}

/// Makes a hook of a closure that must stay on its thread, and so may use locks that do.
///
/// The closure is kept in a thread-local. The hook names the closure, and fails the test if another thread calls the
/// hook.
#[must_use]
pub fn hook(f: impl Fn() + 'static) -> Option<Hook> {
    let home = thread::current().id();
    let index = HOOKS.with_borrow_mut(|hooks| {
        hooks.push(Rc::new(f));
        hooks.len() - 1
    });
    Some(Box::new(move || {
        assert_eq!(thread::current().id(), home, "another thread calls a waker of a lock for one thread");
        // While the thread ends, the closures are gone already.
        if let Ok(hook) = HOOKS.try_with(|hooks| Rc::clone(&hooks.borrow()[index])) {
            hook();
        }
    }))
}

/// A value that a hook and its test share.
pub struct Slot<T>(Rc<Cell<Option<T>>>);

impl<T> Slot<T> {
    /// An empty slot.
    #[must_use]
    pub fn new() -> Self {
        Self(Rc::new(Cell::new(None)))
    }

    /// Leaves a value.
    pub fn put(&self, value: T) {
        drop(self.0.replace(Some(value)));
    }

    /// Takes the value. The slot is empty while the value is dropped, so the drop may use the slot.
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

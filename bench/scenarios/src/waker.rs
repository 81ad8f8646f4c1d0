//! A waker that only records its wakes, as a small executor would: a reference count, and a list of the woken tasks.

use core::cell::{Cell, UnsafeCell};
use core::ptr;
use core::task::{RawWaker, RawWakerVTable, Waker};

use crate::count::{counted, row};

/// The length of the list. Older wakes are overwritten.
const NOTED: usize = 1024;

/// A task in a program with one thread.
#[derive(Debug)]
pub struct Task {
    woken: &'static Woken,
    references: Cell<usize>,
    wakes: Cell<usize>,
}

/// The woken task, and the number of the wake.
type Note = (*const Task, usize);

/// The woken tasks, in the order of the wakes.
#[derive(Debug)]
pub struct Woken {
    count: Cell<usize>,
    notes: UnsafeCell<[Note; NOTED]>,
}

impl Woken {
    /// A new list, which is leaked.
    pub fn new() -> &'static Self {
        Box::leak(Box::new(Self { count: Cell::new(0), notes: UnsafeCell::new([(ptr::null(), 0); NOTED]) }))
    }

    /// The number of wakes.
    pub fn count(&self) -> usize {
        self.count.get()
    }

    /// The task that the wake with this number woke, if it is one of the last [`NOTED`] wakes.
    pub fn at(&self, number: usize) -> *const Task {
        // SAFETY: the program has one thread, and the reference ends with the expression.
        unsafe { (*self.notes.get())[number % NOTED].0 }
    }
}

impl Task {
    /// A new task, which is leaked.
    pub fn new() -> &'static Self {
        Self::with(Woken::new())
    }

    /// A new task, which is leaked, and which shares its list with others.
    pub fn with(woken: &'static Woken) -> &'static Self {
        Box::leak(Box::new(Self { woken, references: Cell::new(0), wakes: Cell::new(0) }))
    }

    /// A waker of the task.
    pub fn waker(&'static self) -> Waker {
        // SAFETY: the functions of the table keep the contract of wakers in a program with one thread.
        unsafe { Waker::from_raw(clone(ptr::from_ref(self).cast())) }
    }

    /// The number of wakes of the task.
    pub fn wakes(&self) -> usize {
        self.wakes.get()
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop);

fn task(data: *const ()) -> &'static Task {
    // SAFETY: every waker of this table is made from a leaked task.
    unsafe { &*data.cast() }
}

fn clone(data: *const ()) -> RawWaker {
    let references = &task(data).references;
    references.set(references.get() + 1);
    RawWaker::new(data, &VTABLE)
}

fn wake(data: *const ()) {
    wake_by_ref(data);
    drop(data);
}

fn wake_by_ref(data: *const ()) {
    let task = task(data);
    let count = task.woken.count.get();
    // SAFETY: the program has one thread, and the reference ends with the statement.
    unsafe { (*task.woken.notes.get())[count % NOTED] = (task, count) };
    task.woken.count.set(count + 1);
    task.wakes.set(task.wakes.get() + 1);
}

fn drop(data: *const ()) {
    let references = &task(data).references;
    references.set(references.get() - 1);
}

/// Counts the cost of the waker, which is part of every row with a waiter.
pub fn rows() {
    let waker = core::hint::black_box(Task::new().waker());
    row("waker_clone", || core::mem::drop(counted(|| waker.clone())));
    row("waker_wake", || {
        let clone = core::hint::black_box(waker.clone());
        counted(|| clone.wake());
    });
    row("waker_drop", || {
        let clone = core::hint::black_box(waker.clone());
        counted(|| core::mem::drop(clone));
    });
}

//! A waker that only notes that it was woken, as a small executor would: a count of references, and a list of the woken.

use core::cell::{Cell, UnsafeCell};
use core::ptr;
use core::task::{RawWaker, RawWakerVTable, Waker};

use crate::count::{counted, row};

/// As many wakes as the list holds; older ones are overwritten.
const NOTED: usize = 1024;

/// One task of a program with one thread.
#[derive(Debug)]
pub struct Task {
    woken: &'static Woken,
    references: Cell<usize>,
    wakes: Cell<usize>,
}

/// Which task was woken, and the number of the wake.
type Note = (*const Task, usize);

/// Who was woken, in the order of the wakes.
#[derive(Debug)]
pub struct Woken {
    count: Cell<usize>,
    notes: UnsafeCell<[Note; NOTED]>,
}

impl Woken {
    /// A new list, for ever.
    pub fn new() -> &'static Self {
        Box::leak(Box::new(Self { count: Cell::new(0), notes: UnsafeCell::new([(ptr::null(), 0); NOTED]) }))
    }

    /// How many wakes there have been.
    pub fn count(&self) -> usize {
        self.count.get()
    }

    /// Who was woken by the wake with this number, if it is one of the last [`NOTED`].
    pub fn at(&self, number: usize) -> *const Task {
        // SAFETY: one thread, and the reference ends with the expression.
        unsafe { (*self.notes.get())[number % NOTED].0 }
    }
}

impl Task {
    /// A new one, for ever.
    pub fn new() -> &'static Self {
        Self::with(Woken::new())
    }

    /// A new one, for ever, that shares its list with others.
    pub fn with(woken: &'static Woken) -> &'static Self {
        Box::leak(Box::new(Self { woken, references: Cell::new(0), wakes: Cell::new(0) }))
    }

    /// A waker of this task.
    pub fn waker(&'static self) -> Waker {
        // SAFETY: the functions of the table keep to the contract of wakers, in a program with one thread.
        unsafe { Waker::from_raw(clone(ptr::from_ref(self).cast())) }
    }

    /// How often it was woken.
    pub fn wakes(&self) -> usize {
        self.wakes.get()
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop);

fn task(data: *const ()) -> &'static Task {
    // SAFETY: every waker of this table is made from a task, which lives for ever.
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
    // SAFETY: one thread, and the reference ends with the statement.
    unsafe { (*task.woken.notes.get())[count % NOTED] = (task, count) };
    task.woken.count.set(count + 1);
    task.wakes.set(task.wakes.get() + 1);
}

fn drop(data: *const ()) {
    let references = &task(data).references;
    references.set(references.get() - 1);
}

/// Counts what a waker costs: it is part of every row in which somebody waits.
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

//! What readers and writers share with the waiters of a mutex (W8: M5 to M7, M9, M10).

use super::{Data, FREE, Form, all_woken, assert_free, assert_shut, counts, new_limited, new_lock};
use crate::tools::{Platform, Slot, Task, panics};
use core::cell::Cell;
use core::fmt;
use core::ops::Deref;
use fifolock_core::RwLock;
use std::rc::Rc;
use std::sync::Arc;

pub(super) fn w8_m5_dropped_readers_leave_from_anywhere<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let guard = F::try_write(&lock).expect("free");
    let mut readers: Vec<_> = (0..7).map(|_| Task::queued(F::read(&lock))).collect();
    for (n, left) in [(0, 6), (3, 5), (6, 4)] {
        readers[n].cancel();
        assert_eq!(counts(&lock), (0, true, left, 0));
        assert_eq!(readers[n].wakers_kept(), 0, "a dropped waiter drops its waker");
    }
    drop(guard);
    assert_eq!(counts(&lock), (4, false, 0, 0));
    assert_eq!(readers.iter().map(Task::wakes).collect::<Vec<_>>(), [0, 1, 1, 0, 1, 1, 0]);
    for n in [5, 1, 2, 4] {
        drop(readers[n].ready());
    }
    // All waiters are dropped, and the lock is as if they had never come.
    let guard = F::try_write(&lock).expect("free");
    let all: Vec<_> = (0..40).map(|_| Task::queued(F::read(&lock))).collect();
    drop(all);
    assert_eq!(counts(&lock), (0, true, 0, 0));
    drop(guard);
    assert_free(&lock);
}

pub(super) fn w8_m6_dropped_batch_admits_the_next_writer<P: Platform, F: Form>() {
    for size in [1, 2, 5, 70] {
        let lock = new_lock::<P>();
        let writing = F::try_write(&lock).expect("free");
        let mut readers: Vec<_> = (0..size).map(|_| Task::queued(F::read(&lock))).collect();
        drop(writing);
        let mut writer = Task::queued(F::write(&lock));
        for (gone, reader) in readers.iter_mut().enumerate() {
            assert_eq!((counts(&lock), writer.wakes()), ((size - gone, false, 0, 1), 0));
            reader.cancel();
        }
        assert_eq!((counts(&lock), writer.wakes()), ((0, true, 0, 0), 1));
        assert!(all_woken(&readers, 1));
        drop(writer.ready());
        assert_free(&lock);
    }
}

pub(super) fn w8_m6_part_of_the_batch_is_dropped<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let writing = F::try_write(&lock).expect("free");
    let mut readers: Vec<_> = (0..4).map(|_| Task::queued(F::read(&lock))).collect();
    drop(writing);
    readers[0].cancel();
    assert_eq!(counts(&lock), (3, false, 0, 0));
    let reading = readers[2].ready();
    readers[3].cancel();
    assert_eq!(counts(&lock), (2, false, 0, 0));
    let mut writer = Task::queued(F::write(&lock));
    drop(reading);
    assert_eq!((counts(&lock), writer.wakes()), ((1, false, 0, 1), 0));
    drop(readers[1].ready());
    assert_eq!((counts(&lock), writer.wakes()), ((0, true, 0, 0), 1));
    drop(writer.ready());
    assert_free(&lock);
}

pub(super) fn w8_m7_guards_release_once_also_on_panic<P: Platform, F: Form>() {
    fn panic_with(guard: impl Deref<Target = Data>) {
        panic!("with {}", guard.left);
    }
    fn early_return<G>(_guard: G) -> Option<()> {
        None?;
        unreachable!("the early return above ends the function")
    }
    let lock = new_lock::<P>();
    let stays = F::try_read(&lock).expect("free");
    // A second release would show in the number of readers, or would let in the second writer.
    let leaves = F::try_read(&lock).expect("shared");
    assert_eq!(panics(|| panic_with(leaves)), "with 0");
    assert_eq!(counts(&lock), (1, false, 0, 0));
    assert_eq!(early_return(F::try_read(&lock).expect("shared")), None);
    assert_eq!(counts(&lock), (1, false, 0, 0));
    let mut writers: Vec<_> = (0..4).map(|_| Task::queued(F::write(&lock))).collect();
    drop(stays);
    let guard = writers[0].ready();
    assert_eq!(panics(|| panic_with(guard)), "with 0");
    assert!(all_woken(&writers[..2], 1) && all_woken(&writers[2..], 0));
    assert_eq!(early_return(writers[1].ready()), None);
    assert!(all_woken(&writers[..3], 1) && all_woken(&writers[3..], 0));
    drop(writers[2].ready());
    drop(writers[3].ready());
    assert_free(&lock);
}

pub(super) fn w8_m9_a_task_that_locks_twice_waits_for_itself<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    // The task writes, and then reads or writes.
    let writing = F::try_write(&lock).expect("free");
    assert_shut(&lock);
    drop((Task::queued(F::read(&lock)), Task::queued(F::write(&lock))));
    drop(writing);
    // The task reads, and then writes.
    let reading = F::try_read(&lock).expect("free");
    assert!(F::try_write(&lock).is_err());
    let mut writer = Task::queued(F::write(&lock));
    // The task reads, and reads again after a writer has queued.
    assert!(F::try_read(&lock).is_err());
    let mut again = Task::queued(F::read(&lock));
    for _ in 0..3 {
        writer.pending();
        again.pending();
    }
    assert_eq!(counts(&lock), (1, false, 1, 1));
    writer.cancel();
    drop((again.ready(), reading));
    assert_free(&lock);
}

pub(super) fn w8_m10_snapshots_are_right_at_once<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    assert_eq!(counts(&lock), FREE);
    let first = F::try_write(&lock).expect("free");
    assert_eq!(counts(&lock), (0, true, 0, 0));
    let mut writer = Task::queued(F::write(&lock));
    assert_eq!(counts(&lock), (0, true, 0, 1));
    let mut r1 = Task::queued(F::read(&lock));
    let mut r2 = Task::queued(F::read(&lock));
    assert_eq!(counts(&lock), (0, true, 2, 1));
    drop(first);
    // A granted waiter that has not claimed counts as a holder.
    assert_eq!(counts(&lock), (0, true, 2, 0));
    let writing = writer.ready();
    assert_eq!(counts(&lock), (0, true, 2, 0));
    drop(writing);
    assert_eq!(counts(&lock), (2, false, 0, 0));
    let reading = r2.ready();
    assert_eq!(counts(&lock), (2, false, 0, 0));
    r1.cancel();
    assert_eq!(counts(&lock), (1, false, 0, 0));
    drop(reading);
    assert_eq!(counts(&lock), FREE);
}

pub(super) fn w8_m10_debug_never_waits<P: Platform>() {
    let lock = new_lock::<P>();
    let shown = "RwLock { data: Data { left: 0, right: 0 } }";
    let locked = "RwLock { data: <locked> }";
    assert_eq!(format!("{lock:?}"), shown);
    let writing = lock.try_write().expect("free");
    assert_eq!(format!("{lock:?}"), locked);
    assert_eq!(format!("{writing:?}"), "Data { left: 0, right: 0 }");
    let mut writer = Task::queued(lock.write());
    let reading = writing.downgrade();
    assert_eq!(format!("{lock:?}"), locked, "a writer waits");
    writer.cancel();
    assert_eq!(format!("{lock:?}"), shown, "it is read");
    assert_eq!(format!("{reading:?}"), "Data { left: 0, right: 0 }");
    assert_eq!(counts(&lock), (1, false, 0, 0));
    drop(reading);
    assert_eq!(format!("{lock:?}"), shown);
    // The lock has all the readers that it has room for.
    let lock = new_limited::<P>(1);
    let reading = lock.try_read().expect("free");
    assert_eq!(format!("{lock:?}"), locked);
    drop(reading);
    assert_free(&lock);
}

/// Data that calls a hook when it is printed.
struct Spy(Slot<Box<dyn Fn()>>);

impl fmt::Debug for Spy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(call) = self.0.take() {
            call();
        }
        f.pad("Spy")
    }
}

pub(super) fn w8_m10_debug_holds_a_share_while_it_prints<P: Platform>() {
    let slot = Slot::<Box<dyn Fn()>>::new();
    let lock = Arc::new(RwLock::<_, P>::new(Spy(slot.clone())));
    let writer = Slot::new();
    let called = Rc::new(Cell::new(false));
    slot.put({
        let (lock, writer, called) = (Arc::clone(&lock), writer.clone(), Rc::clone(&called));
        Box::new(move || {
            assert_eq!(counts(&lock), (1, false, 0, 0));
            assert_eq!(format!("{lock:?}"), "RwLock { data: Spy }", "readers share");
            writer.put(Task::queued(Arc::clone(&lock).write_owned()));
            assert_eq!(format!("{lock:?}"), "RwLock { data: <locked> }");
            called.set(true);
        })
    });
    assert_eq!(format!("{lock:?}"), "RwLock { data: Spy }");
    assert!(called.get());
    // A writer that queues meanwhile is granted afterwards.
    let mut writer = writer.take().expect("queued");
    assert_eq!((counts(&lock), writer.wakes()), ((0, true, 0, 0), 1));
    drop(writer.ready());
    assert_eq!(counts(&lock), FREE);
}

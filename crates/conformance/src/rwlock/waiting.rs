//! What holds for readers and writers as for the mutex (W8: M1 to M7, M9, M10).

use super::{Data, FREE, Form, all_woken, assert_free, assert_shut, counts, new_limited, new_lock};
use crate::tools::{Hooks, Platform, Slot, Task, counting_waker, hook, hooked_waker, panics, poll_once};
use core::cell::Cell;
use core::fmt;
use core::ops::Deref;
use core::task::Poll;
use fifolock_core::RwLock;
use std::rc::Rc;
use std::sync::Arc;

pub(super) fn w8_m1_first_poll_of_a_free_lock_touches_no_waker<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let on_clone = hook(|| panic!("the waker was cloned"));
    let (waker, count) = hooked_waker(Hooks { on_clone, ..Hooks::default() });
    let mut read = Box::pin(F::read(&lock));
    let Poll::Ready(reading) = poll_once(&mut read, &waker) else { panic!("a free lock can be read") };
    let mut also = Box::pin(F::read(&lock));
    assert!(poll_once(&mut also, &waker).is_ready());
    drop(reading);
    let mut write = Box::pin(F::write(&lock));
    assert!(poll_once(&mut write, &waker).is_ready());
    assert_eq!((count.wakes(), count.alive()), (0, 1));
    assert_free(&lock);
}

pub(super) fn w8_m2_order_among_writers_is_that_of_first_polls<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let mut guard = F::try_write(&lock).expect("free");
    let mut writers: Vec<_> = (0..5).map(|_| Task::new(F::write(&lock))).collect();
    let order = [3, 0, 4, 1, 2];
    for n in order {
        writers[n].pending();
    }
    for writer in &mut writers {
        writer.pending();
    }
    for (turn, n) in order.into_iter().enumerate() {
        drop(guard);
        assert_eq!(counts(&lock), (0, true, 0, 4 - turn));
        // Polls of those that wait, in the order of creation: no turn changes.
        for other in &order[turn + 1..] {
            writers[*other].pending();
            assert_eq!(writers[*other].wakes(), 0);
        }
        assert_eq!(writers[n].wakes(), 1);
        guard = writers[n].ready();
    }
    drop(guard);
    assert_free(&lock);
}

pub(super) fn w8_m2_order_among_readers_is_that_of_first_polls<P: Platform, F: Form>() {
    let lock = new_limited::<P>(1);
    let mut guard = F::try_read(&lock).expect("free");
    let mut readers: Vec<_> = (0..4).map(|_| Task::new(F::read(&lock))).collect();
    let order = [2, 3, 0, 1];
    for n in order {
        readers[n].pending();
    }
    for (turn, n) in order.into_iter().enumerate() {
        for other in order[turn..].iter().rev() {
            readers[*other].pending();
        }
        drop(guard);
        for other in &order[turn + 1..] {
            readers[*other].pending();
            assert_eq!(readers[*other].wakes(), 0);
        }
        assert_eq!(readers[n].wakes(), 1);
        guard = readers[n].ready();
    }
    drop(guard);
    assert_free(&lock);
}

pub(super) fn w8_m2_an_unpolled_future_has_no_part<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let unpolled = (Box::pin(F::write(&lock)), Box::pin(F::read(&lock)));
    assert_eq!(counts(&lock), FREE);
    assert!(F::try_write(&lock).is_ok());
    let reading = F::try_read(&lock).expect("free");
    drop(unpolled);
    let mut early = Task::new(F::write(&lock));
    let mut late = Task::queued(F::write(&lock));
    assert_eq!(counts(&lock), (1, false, 0, 1));
    early.pending();
    drop(reading);
    assert_eq!((early.wakes(), late.wakes()), (0, 1));
    drop(late.ready());
    drop(early.ready());
    assert_free(&lock);
}

pub(super) fn w8_m2_polled_after_ready_panics<P: Platform, F: Form>() {
    let message = "a lock future was polled after it was ready; make a new one for the next wait";
    let lock = new_lock::<P>();
    // Ready at once.
    let (mut first, mut second) = (Task::new(F::read(&lock)), Task::new(F::read(&lock)));
    let guards = (first.ready(), second.ready());
    assert_eq!(panics(|| first.poll().is_ready()), message);
    assert_eq!(counts(&lock), (2, false, 0, 0));
    // Ready after a wait.
    let mut writer = Task::queued(F::write(&lock));
    drop(guards);
    let writing = writer.ready();
    assert_eq!(panics(|| writer.poll().is_ready()), message);
    let mut reader = Task::queued(F::read(&lock));
    drop(writing);
    let reading = reader.ready();
    assert_eq!(panics(|| reader.poll().is_ready()), message);
    assert_eq!(counts(&lock), (1, false, 0, 0));
    drop(reading);
    let mut writer = Task::new(F::write(&lock));
    drop(writer.ready());
    assert_eq!(panics(|| writer.poll().is_ready()), message);
    assert_free(&lock);
}

pub(super) fn w8_m3_each_grant_wakes_once<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let reading = F::try_read(&lock).expect("free");
    let mut writer = Task::queued(F::write(&lock));
    drop(reading);
    assert_eq!(writer.wakes(), 1);
    // Whatever comes and goes before the claim.
    let mut others = [Task::queued(F::write(&lock)), Task::queued(F::write(&lock))];
    let mut readers = [Task::queued(F::read(&lock)), Task::queued(F::read(&lock))];
    others[0].cancel();
    readers[0].cancel();
    assert_eq!((writer.wakes(), others[1].wakes(), readers[1].wakes()), (1, 0, 0));
    drop(writer.ready());
    drop(others[1].ready());
    assert_eq!(readers[1].wakes(), 1);
    let also = F::try_read(&lock).expect("no writer waits");
    drop(also);
    drop(readers[1].ready());
    assert_eq!((writer.wakes(), others[0].wakes(), others[1].wakes()), (1, 0, 1));
    assert_eq!((readers[0].wakes(), readers[1].wakes()), (0, 1));
    assert_free(&lock);
}

pub(super) fn w8_m4_nobody_barges_past_a_granted_writer<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    for granted_by_reader in [false, true] {
        let mut writer = Task::new(F::write(&lock));
        if granted_by_reader {
            let reading = F::try_read(&lock).expect("free");
            writer.pending();
            drop(reading);
        } else {
            let writing = F::try_write(&lock).expect("free");
            writer.pending();
            drop(writing);
        }
        assert_shut(&lock);
        let mut reader = Task::queued(F::read(&lock));
        let mut next = Task::queued(F::write(&lock));
        assert_eq!(counts(&lock), (0, true, 1, 1));
        let writing = writer.ready();
        assert_shut(&lock);
        drop(writing);
        drop(next.ready());
        drop(reader.ready());
        assert_free(&lock);
    }
}

pub(super) fn w8_m4_nobody_barges_past_a_granted_reader<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let writing = F::try_write(&lock).expect("free");
    let mut reader = Task::queued(F::read(&lock));
    drop(writing);
    assert!(F::try_write(&lock).is_err());
    let mut writer = Task::queued(F::write(&lock));
    // With a writer in the queue readers may not pass either.
    assert_shut(&lock);
    let mut late = Task::queued(F::read(&lock));
    assert_eq!(counts(&lock), (1, false, 1, 1));
    let reading = reader.ready();
    assert_shut(&lock);
    drop(reading);
    drop(writer.ready());
    drop(late.ready());
    assert_free(&lock);
}

pub(super) fn w8_m5_dropped_writers_leave_from_anywhere<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let mut guard = F::try_write(&lock).expect("free");
    let mut writers: Vec<_> = (0..7).map(|_| Task::queued(F::write(&lock))).collect();
    // Head, middle, tail.
    for (n, left) in [(0, 6), (3, 5), (6, 4)] {
        writers[n].cancel();
        assert_eq!(counts(&lock), (0, true, 0, left));
        assert_eq!(writers[n].wakers_kept(), 0, "the waker is gone with the waiter");
    }
    for n in [1, 2, 4, 5] {
        drop(guard);
        for (m, writer) in writers.iter().enumerate() {
            assert_eq!(writer.wakes(), usize::from(m <= n && ![0, 3, 6].contains(&m)));
        }
        guard = writers[n].ready();
    }
    drop(guard);
    assert_free(&lock);
}

pub(super) fn w8_m5_dropped_readers_leave_from_anywhere<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let guard = F::try_write(&lock).expect("free");
    let mut readers: Vec<_> = (0..7).map(|_| Task::queued(F::read(&lock))).collect();
    for (n, left) in [(0, 6), (3, 5), (6, 4)] {
        readers[n].cancel();
        assert_eq!(counts(&lock), (0, true, left, 0));
        assert_eq!(readers[n].wakers_kept(), 0, "the waker is gone with the waiter");
    }
    drop(guard);
    assert_eq!(counts(&lock), (4, false, 0, 0));
    assert_eq!(readers.iter().map(Task::wakes).collect::<Vec<_>>(), [0, 1, 1, 0, 1, 1, 0]);
    for n in [5, 1, 2, 4] {
        drop(readers[n].ready());
    }
    // All of them: the lock is as if they had not been.
    let guard = F::try_write(&lock).expect("free");
    let all: Vec<_> = (0..40).map(|_| Task::queued(F::read(&lock))).collect();
    drop(all);
    assert_eq!(counts(&lock), (0, true, 0, 0));
    drop(guard);
    assert_free(&lock);
}

pub(super) fn w8_m6_chain_of_granted_writers_that_are_dropped<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let reading = F::try_read(&lock).expect("free");
    let mut writers: Vec<_> = (0..10).map(|_| Task::queued(F::write(&lock))).collect();
    let mut readers: Vec<_> = (0..3).map(|_| Task::queued(F::read(&lock))).collect();
    drop(reading);
    for n in 0..10 {
        assert_eq!(counts(&lock), (0, true, 3, 9 - n));
        assert!(all_woken(&writers[..=n], 1) && all_woken(&writers[n + 1..], 0) && all_woken(&readers, 0));
        assert_shut(&lock);
        writers[n].cancel();
    }
    assert_eq!(counts(&lock), (3, false, 0, 0));
    assert!(all_woken(&readers, 1));
    for reader in &mut readers {
        reader.cancel();
    }
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
        unreachable!("it has returned")
    }
    let lock = new_lock::<P>();
    let stays = F::try_read(&lock).expect("free");
    // A second release would show in the count of the readers, or in the second writer.
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
    // It writes, and reads or writes.
    let writing = F::try_write(&lock).expect("free");
    assert_shut(&lock);
    drop((Task::queued(F::read(&lock)), Task::queued(F::write(&lock))));
    drop(writing);
    // It reads, and writes.
    let reading = F::try_read(&lock).expect("free");
    assert!(F::try_write(&lock).is_err());
    let mut writer = Task::queued(F::write(&lock));
    // It reads, and reads again with a writer in between.
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
    // Granted-unclaimed counts as holding.
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

pub(super) fn w8_m10_looking_changes_nothing<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let reading = F::try_read(&lock).expect("free");
    let mut writers: Vec<_> = (0..2).map(|_| Task::queued(F::write(&lock))).collect();
    let mut readers: Vec<_> = (0..2).map(|_| Task::queued(F::read(&lock))).collect();
    let look = |expected| {
        for _ in 0..3 {
            assert_eq!(counts(&lock), expected);
            assert_eq!(format!("{lock:?}"), "RwLock { data: <locked> }");
            assert_shut(&lock);
        }
    };
    look((1, false, 2, 2));
    assert!(all_woken(&writers, 0) && all_woken(&readers, 0));
    assert!(writers.iter().all(|writer| writer.wakers_kept() == 1));
    assert!(readers.iter().all(|reader| reader.wakers_kept() == 1));
    drop(reading);
    look((0, true, 2, 1));
    let writing = writers[0].ready();
    look((0, true, 2, 1));
    drop(writing);
    look((0, true, 2, 0));
    assert!(all_woken(&writers, 1) && all_woken(&readers, 0));
    drop(writers[1].ready());
    assert!(all_woken(&readers, 1));
    for reader in &mut readers {
        drop(reader.ready());
    }
    assert_free(&lock);
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
    // All its readers.
    let lock = new_limited::<P>(1);
    let reading = lock.try_read().expect("free");
    assert_eq!(format!("{lock:?}"), locked);
    drop(reading);
    assert_free(&lock);
}

/// Calls back when it is printed.
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
    // Who queued meanwhile was granted after.
    let mut writer = writer.take().expect("queued");
    assert_eq!((counts(&lock), writer.wakes()), ((0, true, 0, 0), 1));
    drop(writer.ready());
    assert_eq!(counts(&lock), FREE);
}

pub(super) fn w8_newest_waker_is_woken<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let guard = F::try_write(&lock).expect("free");
    let mut writer = Task::queued(F::write(&lock));
    let mut reader = Task::queued(F::read(&lock));
    let (writer_waker, writer_wakes) = counting_waker();
    let (reader_waker, reader_wakes) = counting_waker();
    assert!(writer.poll_with(&writer_waker).is_pending());
    assert!(reader.poll_with(&reader_waker).is_pending());
    assert_eq!((writer.wakers_kept(), reader.wakers_kept()), (0, 0), "the old ones are gone");
    assert_eq!((writer_wakes.alive(), reader_wakes.alive()), (2, 2));
    assert_eq!(counts(&lock), (0, true, 1, 1));
    drop(guard);
    assert_eq!((writer_wakes.wakes(), reader_wakes.wakes()), (1, 0));
    drop(writer.ready());
    assert_eq!((writer_wakes.wakes(), reader_wakes.wakes()), (1, 1));
    drop(reader.ready());
    assert_eq!((writer.wakes(), reader.wakes()), (0, 0));
    assert_eq!((writer_wakes.alive(), reader_wakes.alive()), (1, 1));
    assert_free(&lock);
}

//! A writer that leaves the queue admits the readers that only it kept out (W5).

use super::batch::BATCHES;
use super::{Form, all_woken, assert_free, assert_shut, counts, new_limited, new_lock};
use crate::tools::{Platform, Task, ready};
use core::cell::Cell;
use core::future::poll_fn;
use core::task::Poll;

pub(super) fn w5_last_waiting_writer_that_is_dropped_admits_the_readers<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let inside = F::try_read(&lock).expect("free");
    let mut writer = Task::queued(F::write(&lock));
    let mut readers: Vec<_> = (0..3).map(|_| Task::queued(F::read(&lock))).collect();
    assert_eq!(counts(&lock), (1, false, 3, 1));
    writer.cancel();
    assert_eq!(counts(&lock), (4, false, 0, 0));
    assert_eq!((writer.wakes(), writer.wakers_kept()), (0, 0));
    assert!(all_woken(&readers, 1));
    let guards: Vec<_> = readers.iter_mut().map(Task::ready).collect();
    assert!(F::try_write(&lock).is_err());
    drop((inside, guards));
    assert_free(&lock);
}

pub(super) fn w5_last_waiting_writer_that_gives_up_admits_the_readers<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let inside = F::try_read(&lock).expect("free");
    let given_up = Cell::new(false);
    let other = poll_fn(|_| if given_up.get() { Poll::Ready("given up") } else { Poll::Pending });
    let mut writer = Task::queued(lock.write_until(other));
    let mut readers: Vec<_> = (0..3).map(|_| Task::queued(F::read(&lock))).collect();
    assert_eq!(counts(&lock), (1, false, 3, 1));
    given_up.set(true);
    assert_eq!(writer.ready().err(), Some("given up"));
    // The readers enter before the poll of the writer returns. The future of the writer still exists.
    assert_eq!(counts(&lock), (4, false, 0, 0));
    assert!(all_woken(&readers, 1));
    for reader in &mut readers {
        drop(reader.ready());
    }
    drop(inside);
    assert_eq!((writer.wakes(), writer.wakers_kept()), (0, 0));
    assert_free(&lock);
}

pub(super) fn w5_admits_a_batch_of_several_chunks<P: Platform, F: Form>() {
    for &size in BATCHES {
        let lock = new_lock::<P>();
        let inside = F::try_read(&lock).expect("free");
        let writer = Task::queued(F::write(&lock));
        let mut readers: Vec<_> = (0..size).map(|_| Task::queued(F::read(&lock))).collect();
        drop(writer);
        assert_eq!(counts(&lock), (1 + size, false, 0, 0));
        for reader in &mut readers {
            assert_eq!(reader.wakes(), 1);
            drop(reader.ready());
        }
        drop(inside);
        assert_free(&lock);
    }
}

pub(super) fn w5_admits_as_many_as_there_is_room_for<P: Platform, F: Form>() {
    let lock = new_limited::<P>(3);
    let inside = F::try_read(&lock).expect("free");
    let writer = Task::queued(F::write(&lock));
    let mut readers: Vec<_> = (0..4).map(|_| Task::queued(F::read(&lock))).collect();
    drop(writer);
    assert_eq!(counts(&lock), (3, false, 2, 0));
    let wakes: Vec<_> = readers.iter().map(Task::wakes).collect();
    assert_eq!(wakes, [1, 1, 0, 0], "the first in the queue");
    assert!(F::try_read(&lock).is_err());
    drop(inside);
    assert_eq!(counts(&lock), (3, false, 1, 0));
    assert_eq!((readers[2].wakes(), readers[3].wakes()), (1, 0));
    for reader in &mut readers {
        drop(reader.ready());
    }
    assert_free(&lock);
}

pub(super) fn w5_nobody_enters_while_another_writer_waits<P: Platform, F: Form>() {
    // Either of the two leaves first.
    for first in [0, 1] {
        let lock = new_lock::<P>();
        let inside = F::try_read(&lock).expect("free");
        let mut writers = vec![Task::queued(F::write(&lock))];
        let mut readers = vec![Task::queued(F::read(&lock))];
        writers.push(Task::queued(F::write(&lock)));
        readers.push(Task::queued(F::read(&lock)));
        drop(writers.remove(first));
        assert_eq!(counts(&lock), (1, false, 2, 1));
        assert!(all_woken(&readers, 0));
        assert!(F::try_read(&lock).is_err(), "a writer still waits");
        for reader in &mut readers {
            reader.pending();
        }
        assert_eq!(writers[0].wakes(), 0);
        // The last waiter leaves, granted or not.
        drop(inside);
        assert_eq!(writers[0].wakes(), 1);
        drop(writers);
        assert_eq!(counts(&lock), (2, false, 0, 0));
        for reader in &mut readers {
            drop(reader.ready());
        }
        assert_free(&lock);
    }
}

pub(super) fn w5_nobody_enters_while_a_writer_holds<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let inside = F::try_write(&lock).expect("free");
    let writer = Task::queued(F::write(&lock));
    let mut reader = Task::queued(F::read(&lock));
    drop(writer);
    assert_eq!(counts(&lock), (0, true, 1, 0));
    assert_eq!(reader.wakes(), 0);
    assert_shut(&lock);
    reader.pending();
    drop(inside);
    assert_eq!(reader.wakes(), 1);
    drop(reader.ready());
    assert_free(&lock);
}

pub(super) fn w5_nobody_enters_while_a_granted_writer_is_unclaimed<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let inside = F::try_read(&lock).expect("free");
    let mut granted = Task::queued(F::write(&lock));
    let mut leaving = Task::queued(F::write(&lock));
    let mut reader = Task::queued(F::read(&lock));
    drop(inside);
    leaving.cancel();
    assert_eq!(counts(&lock), (0, true, 1, 0));
    assert_eq!((granted.wakes(), leaving.wakes(), reader.wakes()), (1, 0, 0));
    assert_shut(&lock);
    drop(granted.ready());
    assert_eq!(reader.wakes(), 1);
    drop(reader.ready());
    assert_free(&lock);
}

pub(super) fn w5_unpolled_writer_keeps_nobody_out<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let inside = F::try_read(&lock).expect("free");
    let unpolled = Box::pin(F::write(&lock));
    let also = ready(&mut Box::pin(F::read(&lock)));
    let writer = Task::queued(F::write(&lock));
    let reader = Task::queued(F::read(&lock));
    drop(unpolled);
    assert_eq!(counts(&lock), (2, false, 1, 1));
    assert_eq!(reader.wakes(), 0);
    drop(writer);
    assert_eq!(reader.wakes(), 1);
    drop((inside, also, reader));
    assert_free(&lock);
}

pub(super) fn h02_queued_writer_is_dropped_under_a_reader<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let r1 = F::try_read(&lock).expect("free");
    let writer = Task::queued(F::write(&lock));
    let mut r2 = Task::queued(F::read(&lock));
    drop(writer);
    assert_eq!(r2.wakes(), 1);
    let r2_guard = r2.ready();
    assert_eq!(counts(&lock), (2, false, 0, 0), "R1 is still held");
    assert!(F::try_write(&lock).is_err());
    drop(r1);
    assert!(F::try_write(&lock).is_err());
    drop(r2_guard);
    assert_free(&lock);
}

//! A writer becomes a reader (W6, H11).

use super::batch::BATCHES;
use super::{Form, all_woken, assert_free, assert_shut, counts, new_limited, new_lock};
use crate::tools::{Platform, Task};

pub(super) fn w6_downgrade_admits_all_waiting_readers<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let mut writing = F::try_write(&lock).expect("free");
    writing.left = 5;
    let mut readers: Vec<_> = (0..3).map(|_| Task::queued(F::read(&lock))).collect();
    let reading = F::downgrade(writing);
    assert_eq!(counts(&lock), (4, false, 0, 0));
    assert!(all_woken(&readers, 1));
    assert_eq!(reading.left, 5);
    let guards: Vec<_> = readers.iter_mut().map(Task::ready).collect();
    assert!(guards.iter().all(|guard| guard.left == 5));
    assert!(F::try_write(&lock).is_err());
    drop((guards, reading));
    assert_free(&lock);
}

pub(super) fn w6_downgrade_admits_a_batch_of_several_chunks<P: Platform, F: Form>() {
    for &size in BATCHES {
        let lock = new_lock::<P>();
        let writing = F::try_write(&lock).expect("free");
        let mut readers: Vec<_> = (0..size).map(|_| Task::queued(F::read(&lock))).collect();
        let reading = F::downgrade(writing);
        assert_eq!(counts(&lock), (1 + size, false, 0, 0));
        assert!(all_woken(&readers, 1));
        for reader in &mut readers {
            drop(reader.ready());
        }
        drop(reading);
        assert_free(&lock);
    }
}

pub(super) fn w6_downgrade_admits_nobody_while_a_writer_waits<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let writing = F::try_write(&lock).expect("free");
    let mut readers: Vec<_> = (0..2).map(|_| Task::queued(F::read(&lock))).collect();
    let mut writers: Vec<_> = (0..2).map(|_| Task::queued(F::write(&lock))).collect();
    let reading = F::downgrade(writing);
    assert_eq!(counts(&lock), (1, false, 2, 2));
    assert!(all_woken(&readers, 0) && all_woken(&writers, 0));
    assert_shut(&lock);
    for writer in &mut writers {
        writer.pending();
    }
    for reader in &mut readers {
        reader.pending();
    }
    drop(reading);
    assert_eq!((writers[0].wakes(), writers[1].wakes()), (1, 0));
    drop(writers[0].ready());
    assert_eq!(writers[1].wakes(), 1);
    drop(writers[1].ready());
    assert!(all_woken(&readers, 1));
    for reader in &mut readers {
        drop(reader.ready());
    }
    assert_free(&lock);
}

pub(super) fn w6_downgrade_admits_as_many_as_there_is_room_for<P: Platform, F: Form>() {
    let lock = new_limited::<P>(3);
    let writing = F::try_write(&lock).expect("free");
    let mut readers: Vec<_> = (0..4).map(|_| Task::queued(F::read(&lock))).collect();
    let reading = F::downgrade(writing);
    assert_eq!(counts(&lock), (3, false, 2, 0));
    assert_eq!(readers.iter().map(Task::wakes).collect::<Vec<_>>(), [1, 1, 0, 0]);
    assert!(F::try_read(&lock).is_err());
    drop(reading);
    assert_eq!(readers.iter().map(Task::wakes).collect::<Vec<_>>(), [1, 1, 1, 0]);
    assert_eq!(counts(&lock), (3, false, 1, 0));
    for reader in &mut readers {
        drop(reader.ready());
    }
    assert_free(&lock);
}

pub(super) fn w6_downgrade_without_waiters_lets_readers_in_and_no_writer<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    // The writer enters once by the fast path, where the flavour has one, and once as a granted waiter.
    for granted in [false, true] {
        let mut writing = F::try_write(&lock).expect("free");
        if granted {
            let mut writer = Task::queued(F::write(&lock));
            drop(writing);
            writing = writer.ready();
        }
        let reading = F::downgrade(writing);
        assert_eq!(counts(&lock), (1, false, 0, 0));
        assert!(F::try_write(&lock).is_err());
        let also = F::try_read(&lock).expect("no writer waits");
        assert_eq!(counts(&lock), (2, false, 0, 0));
        drop(reading);
        assert!(F::try_write(&lock).is_err());
        drop(also);
        assert_free(&lock);
    }
}

pub(super) fn w6_downgraded_reader_that_leaves_hands_over<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let writing = F::try_write(&lock).expect("free");
    let mut writer = Task::queued(F::write(&lock));
    let reading = F::downgrade(writing);
    assert_eq!((counts(&lock), writer.wakes()), ((1, false, 0, 1), 0));
    drop(reading);
    assert_eq!((counts(&lock), writer.wakes()), ((0, true, 0, 0), 1));
    drop(writer.ready());
    assert_free(&lock);
}

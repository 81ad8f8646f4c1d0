//! The owner after a writer (W4): the next writer, or all readers together.

use super::{Form, all_woken, assert_free, assert_shut, counts, new_lock};
use crate::tools::{Platform, Task};

pub(super) fn w4_next_writer_goes_before_a_reader_that_has_waited_longer<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let inside = F::try_write(&lock).expect("free");
    let mut r1 = Task::queued(F::read(&lock));
    let mut w = Task::queued(F::write(&lock));
    let mut r2 = Task::queued(F::read(&lock));
    assert_eq!(counts(&lock), (0, true, 2, 1));
    drop(inside);
    assert_eq!(counts(&lock), (0, true, 2, 0));
    assert_eq!((r1.wakes(), w.wakes(), r2.wakes()), (0, 1, 0));
    assert_shut(&lock);
    let writing = w.ready();
    assert_eq!((r1.wakes(), r2.wakes()), (0, 0));
    drop(writing);
    assert_eq!(counts(&lock), (2, false, 0, 0));
    assert_eq!((r1.wakes(), w.wakes(), r2.wakes()), (1, 1, 1));
    // Both are inside; the later one claims first.
    let second = r2.ready();
    let first = r1.ready();
    assert_eq!(counts(&lock), (2, false, 0, 0));
    drop((first, second));
    assert_free(&lock);
}

pub(super) fn w4_writers_hand_over_from_one_to_the_next<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let mut writing = F::try_write(&lock).expect("free");
    let mut writers: Vec<_> = (0..5).map(|_| Task::queued(F::write(&lock))).collect();
    let mut reader = Task::queued(F::read(&lock));
    for n in 0..5 {
        drop(writing);
        assert_eq!(counts(&lock), (0, true, 1, 4 - n));
        assert_shut(&lock);
        for (m, writer) in writers.iter().enumerate() {
            assert_eq!(writer.wakes(), usize::from(m <= n));
        }
        writing = writers[n].ready();
        assert_eq!(writing.left as usize, n, "a writer sees the write of the last one");
        writing.left += 1;
        assert_eq!(reader.wakes(), 0);
    }
    drop(writing);
    assert_eq!(reader.wakes(), 1);
    assert_eq!(reader.ready().left, 5);
    assert_free(&lock);
}

pub(super) fn w4_all_waiting_readers_enter_in_one_batch<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let mut inside = F::try_write(&lock).expect("free");
    inside.right = 3;
    let mut readers: Vec<_> = (0..5).map(|_| Task::queued(F::read(&lock))).collect();
    assert_eq!(counts(&lock), (0, true, 5, 0));
    drop(inside);
    // The release wakes all of them: no reader wakes another.
    assert_eq!(counts(&lock), (5, false, 0, 0));
    assert!(all_woken(&readers, 1));
    let guards: Vec<_> = readers.iter_mut().map(Task::ready).collect();
    assert!(guards.iter().all(|guard| guard.right == 3));
    assert_eq!(counts(&lock), (5, false, 0, 0), "a claim takes no further share");
    let also = F::try_read(&lock).expect("no writer waits");
    assert!(all_woken(&readers, 1));
    drop((also, guards));
    assert_free(&lock);
}

/// Sizes around the bounds of chunks, and far past them.
pub(super) const BATCHES: &[usize] = if cfg!(miri) { &[1, 32, 33, 65] } else { &[1, 31, 32, 33, 64, 65, 200] };

pub(super) fn w4_batch_of_several_chunks_enters_by_one_release<P: Platform, F: Form>() {
    for &size in BATCHES {
        let lock = new_lock::<P>();
        let inside = F::try_write(&lock).expect("free");
        let mut readers: Vec<_> = (0..size).map(|_| Task::queued(F::read(&lock))).collect();
        drop(inside);
        assert_eq!(counts(&lock), (size, false, 0, 0));
        assert!(all_woken(&readers, 1), "{size} readers");
        let mut writer = Task::queued(F::write(&lock));
        let mut guards: Vec<_> = readers.iter_mut().rev().map(Task::ready).collect();
        assert_eq!(counts(&lock), (size, false, 0, 1));
        let last = guards.pop();
        drop(guards);
        assert_eq!(writer.wakes(), 0);
        drop(last);
        assert_eq!(writer.wakes(), 1);
        assert!(all_woken(&readers, 1));
        drop(writer.ready());
        assert_free(&lock);
    }
}

pub(super) fn w4_no_writer_enters_before_the_whole_batch_has_left<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let inside = F::try_write(&lock).expect("free");
    let mut readers: Vec<_> = (0..3).map(|_| Task::queued(F::read(&lock))).collect();
    drop(inside);
    // One member claims and releases before the others have been polled.
    drop(readers[1].ready());
    assert!(F::try_write(&lock).is_err());
    let mut writer = Task::queued(F::write(&lock));
    assert_eq!(counts(&lock), (2, false, 0, 1));
    let first = readers[0].ready();
    drop(first);
    writer.pending();
    assert_eq!(counts(&lock), (1, false, 0, 1));
    drop(readers[2].ready());
    assert_eq!(counts(&lock), (0, true, 0, 0));
    assert_eq!(writer.wakes(), 1);
    drop(writer.ready());
    assert_free(&lock);
}

pub(super) fn w4_unclaimed_writer_that_is_dropped_admits_the_batch<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let inside = F::try_write(&lock).expect("free");
    let writer = Task::queued(F::write(&lock));
    let mut readers: Vec<_> = (0..40).map(|_| Task::queued(F::read(&lock))).collect();
    drop(inside);
    assert_eq!(writer.wakes(), 1);
    assert!(all_woken(&readers, 0));
    drop(writer);
    assert_eq!(counts(&lock), (40, false, 0, 0));
    for reader in &mut readers {
        assert_eq!(reader.wakes(), 1);
        drop(reader.ready());
    }
    assert_free(&lock);
}

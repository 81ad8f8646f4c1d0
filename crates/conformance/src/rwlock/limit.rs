//! The limit of readers, which the lock was made with (W7, H12).

use super::{Data, Form, all_woken, assert_free, assert_shut, counts, new_limited};
use crate::tools::{Platform, Task, panics};
use core::mem;
use fifolock_core::RwLock;

/// `readers` read guards.
fn inside<P: Platform, F: Form>(lock: &std::sync::Arc<RwLock<Data, P>>, readers: usize) -> Vec<F::Read<'_, Data, P>> {
    (0..readers).map(|_| F::try_read(lock).expect("there is room")).collect()
}

pub(super) fn w7_limits_out_of_range_are_refused<P: Platform>() {
    let zero = "a RwLock may not be created with 0 readers";
    assert_eq!(panics(|| RwLock::<u32, P>::with_max_readers(1, 0)), zero);
    assert_eq!(panics(|| RwLock::<u32, P>::const_with_max_readers(1, 0)), zero);
    let many = "a RwLock may not be created with more than RwLock::MAX_READERS readers";
    let max = RwLock::<u32, P>::MAX_READERS;
    assert_eq!(max, 536_870_911, "as documented");
    for too_many in [max + 1, u32::MAX] {
        assert_eq!(panics(|| RwLock::<u32, P>::with_max_readers(1, too_many)), many);
        assert_eq!(panics(|| RwLock::<u32, P>::const_with_max_readers(1, too_many)), many);
    }
    for lock in [RwLock::<u32, P>::with_max_readers(1, max), RwLock::const_with_max_readers(1, max), RwLock::new(1)] {
        let readers = (lock.try_read().expect("free"), lock.try_read().expect("shared"));
        assert_eq!(counts(&lock), (2, false, 0, 0));
        drop(readers);
        assert!(lock.try_write().is_ok());
    }
}

pub(super) fn w7_reader_beyond_the_limit_queues<P: Platform, F: Form>() {
    for max in 1..4 {
        let lock = new_limited::<P>(max);
        let max = max as usize;
        let guards = inside::<P, F>(&lock, max);
        assert!(F::try_read(&lock).is_err());
        assert_eq!(counts(&lock), (max, false, 0, 0), "a refusal changes nothing");
        let reader = Task::queued(F::read(&lock));
        assert_eq!(counts(&lock), (max, false, 1, 0));
        assert_shut(&lock);
        drop(reader);
        assert_eq!(counts(&lock), (max, false, 0, 0));
        drop(guards);
        assert_free(&lock);
    }
}

pub(super) fn w7_reader_beyond_the_limit_enters_when_one_leaves<P: Platform, F: Form>() {
    let lock = new_limited::<P>(2);
    let mut guards = inside::<P, F>(&lock, 2);
    let mut readers: Vec<_> = (0..3).map(|_| Task::queued(F::read(&lock))).collect();
    for n in 0..3 {
        drop(guards.remove(0));
        // The share passes to a waiter. The lock has no room for another reader in between.
        assert_eq!(counts(&lock), (2, false, 2 - n, 0));
        assert_shut(&lock);
        for (m, reader) in readers.iter().enumerate() {
            assert_eq!(reader.wakes(), usize::from(m <= n), "in order");
        }
        guards.push(readers[n].ready());
    }
    drop(guards.pop());
    assert!(F::try_read(&lock).is_ok(), "there is room again");
    drop(guards);
    assert_free(&lock);
}

pub(super) fn w7_reader_beyond_the_limit_stays_out_while_a_writer_waits<P: Platform, F: Form>() {
    let lock = new_limited::<P>(2);
    let mut guards = inside::<P, F>(&lock, 2);
    let mut reader = Task::queued(F::read(&lock));
    let mut writer = Task::queued(F::write(&lock));
    drop(guards.pop());
    assert_eq!(counts(&lock), (1, false, 1, 1));
    assert_eq!((reader.wakes(), writer.wakes()), (0, 0));
    assert_shut(&lock);
    reader.pending();
    // There is room, and no writer waits any more (W5).
    writer.cancel();
    assert_eq!(counts(&lock), (2, false, 0, 0));
    assert_eq!(reader.wakes(), 1);
    drop((guards, reader.ready()));
    assert_free(&lock);
}

pub(super) fn w7_batch_admits_what_there_is_room_for<P: Platform, F: Form>() {
    for (max, waiting) in [(3, 5), (1, 4), (4, 4), (40, 100), (32, 64), (33, 64)] {
        let lock = new_limited::<P>(max);
        let max = max as usize;
        let writing = F::try_write(&lock).expect("free");
        let mut readers: Vec<_> = (0..waiting).map(|_| Task::queued(F::read(&lock))).collect();
        drop(writing);
        assert_eq!(counts(&lock), (max, false, waiting - max, 0));
        assert!(all_woken(&readers[..max], 1) && all_woken(&readers[max..], 0));
        // The other readers enter one by one.
        for n in 0..waiting {
            let guard = readers[n].ready();
            assert_eq!(lock.state().readers, max.min(waiting - n));
            drop(guard);
            let entered = (n + 1 + max).min(waiting);
            assert!(all_woken(&readers[..entered], 1) && all_woken(&readers[entered..], 0));
        }
        assert_free(&lock);
    }
}

pub(super) fn w7_waiter_at_the_limit_that_is_dropped_takes_no_share<P: Platform, F: Form>() {
    let lock = new_limited::<P>(1);
    let guard = F::try_read(&lock).expect("free");
    let mut leaves = Task::queued(F::read(&lock));
    let mut stays = Task::queued(F::read(&lock));
    leaves.cancel();
    assert_eq!(counts(&lock), (1, false, 1, 0));
    assert_eq!(stays.wakes(), 0);
    drop(guard);
    assert_eq!((leaves.wakes(), stays.wakes()), (0, 1));
    drop(stays.ready());
    assert_free(&lock);
}

pub(super) fn w7_unclaimed_share_that_is_dropped_goes_to_the_next<P: Platform, F: Form>() {
    let lock = new_limited::<P>(2);
    let guards = inside::<P, F>(&lock, 2);
    let mut readers: Vec<_> = (0..4).map(|_| Task::queued(F::read(&lock))).collect();
    drop(guards);
    assert!(all_woken(&readers[..2], 1) && all_woken(&readers[2..], 0));
    readers[1].cancel();
    assert_eq!(counts(&lock), (2, false, 1, 0));
    assert_eq!((readers[2].wakes(), readers[3].wakes()), (1, 0));
    // While a writer waits, no reader gets the share; the last reader that leaves grants the writer.
    let mut writer = Task::queued(F::write(&lock));
    readers[0].cancel();
    assert_eq!(counts(&lock), (1, false, 1, 1));
    assert_eq!((readers[3].wakes(), writer.wakes()), (0, 0));
    readers[2].cancel();
    assert_eq!(counts(&lock), (0, true, 1, 0));
    assert_eq!((readers[3].wakes(), writer.wakes()), (0, 1));
    drop(writer.ready());
    drop(readers[3].ready());
    assert_free(&lock);
}

pub(super) fn w7_limit_of_one_serves_readers_in_order<P: Platform, F: Form>() {
    let lock = new_limited::<P>(1);
    let mut guard = F::try_read(&lock).expect("free");
    let mut readers: Vec<_> = (0..4).map(|_| Task::queued(F::read(&lock))).collect();
    for n in 0..4 {
        drop(guard);
        assert!(all_woken(&readers[..=n], 1) && all_woken(&readers[n + 1..], 0));
        assert_shut(&lock);
        guard = readers[n].ready();
    }
    drop(guard);
    assert_free(&lock);
}

pub(super) fn w7_forgotten_guards_never_let_a_writer_in<P: Platform>() {
    let lock = new_limited::<P>(3);
    // Owned guards would leak the lock as well, so the test uses borrowed ones.
    let mut forgotten = 0;
    for _ in 0..100 {
        if let Ok(guard) = lock.try_read() {
            mem::forget(guard);
            forgotten += 1;
        }
        assert!(lock.try_write().is_err());
    }
    assert_eq!(forgotten, 3);
    assert_shut(&lock);
    let mut reader = Task::queued(lock.read());
    let mut writer = Task::queued(lock.write());
    assert_eq!(counts(&lock), (3, false, 1, 1));
    reader.pending();
    writer.pending();
    writer.cancel();
    assert_eq!(counts(&lock), (3, false, 1, 0));
    reader.cancel();
    assert_eq!(counts(&lock), (3, false, 0, 0));
    assert_eq!((reader.wakes(), writer.wakes()), (0, 0));
    assert_shut(&lock);
}

pub(super) fn w7_forgotten_guards_do_not_wrap_the_count<P: Platform>() {
    const MAX: usize = if cfg!(miri) { 70 } else { 1000 };
    let lock = new_limited::<P>(MAX as u32);
    for n in 1..=MAX {
        mem::forget(lock.try_read().expect("there is room"));
        assert_eq!(counts(&lock), (n, false, 0, 0));
    }
    assert_shut(&lock);
    drop(Task::queued(lock.read()));
    drop(Task::queued(lock.write()));
    assert_eq!(counts(&lock), (MAX, false, 0, 0));
}

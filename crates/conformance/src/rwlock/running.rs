//! `run_shared` and `run_exclusive` release the lock however they end (W8: M8).

use super::{Counts, Data, assert_free, counts, new_lock};
use crate::tools::{Platform, Task, panics};
use core::cell::Cell;
use core::future::pending;
use fifolock_core::RwLock;

/// Notes what the lock's state is when it is dropped: a future's local variable.
struct AtDrop<'a, P: Platform>(&'a RwLock<Data, P>, &'a Cell<Option<Counts>>);

impl<P: Platform> Drop for AtDrop<'_, P> {
    fn drop(&mut self) {
        self.1.set(Some(counts(self.0)));
    }
}

pub(super) fn w8_m8_run_shared_releases_however_it_ends<P: Platform>() {
    let lock = new_lock::<P>();
    // Return, and error.
    let mut run = Task::new(lock.run_shared(async |data| data.left + u32::from(counts(&lock) == (1, false, 0, 0))));
    assert_eq!(run.ready(), 1);
    let mut run = Task::new(lock.run_shared(async |data| Err::<(), _>(data.left)));
    assert_eq!(run.ready(), Err(0));
    assert_free(&lock);
    // Panic.
    let mut run = Task::new(lock.run_shared(async |data| panic!("with {}", data.left)));
    assert_eq!(panics(|| run.poll().is_ready()), "with 0");
    assert_free(&lock);
    // Dropped inside: what is the user's goes first.
    let at_drop = Cell::new(None);
    let mut run = Task::new(lock.run_shared(async |_| {
        let _local = AtDrop(&lock, &at_drop);
        pending::<()>().await;
    }));
    run.pending();
    let mut writer = Task::queued(lock.write());
    run.cancel();
    assert_eq!(at_drop.get(), Some((1, false, 0, 1)), "dropped before the guard");
    assert_eq!(writer.wakes(), 1);
    // Dropped while it waits.
    let writing = writer.ready();
    let ran = Cell::new(false);
    let mut run = Task::new(lock.run_shared(async |_| ran.set(true)));
    run.pending();
    assert_eq!(counts(&lock), (0, true, 1, 0));
    run.cancel();
    assert_eq!(counts(&lock), (0, true, 0, 0));
    drop(writing);
    assert!(!ran.get());
    assert_free(&lock);
}

pub(super) fn w8_m8_run_exclusive_releases_however_it_ends<P: Platform>() {
    let lock = new_lock::<P>();
    // Return, and error.
    let mut run = Task::new(lock.run_exclusive(async |data| {
        data.left += 1;
        counts(&lock)
    }));
    assert_eq!(run.ready(), (0, true, 0, 0));
    let mut run = Task::new(lock.run_exclusive(async |data| Err::<(), _>(data.left)));
    assert_eq!(run.ready(), Err(1));
    assert_free(&lock);
    // Panic.
    let mut run = Task::new(lock.run_exclusive(async |data| panic!("with {}", data.left)));
    assert_eq!(panics(|| run.poll().is_ready()), "with 1");
    assert_free(&lock);
    // Dropped inside: what is the user's goes first, and the data stays as far as it had got.
    let at_drop = Cell::new(None);
    let mut run = Task::new(lock.run_exclusive(async |data| {
        let _local = AtDrop(&lock, &at_drop);
        data.left += 1;
        pending::<()>().await;
        data.left += 1;
    }));
    run.pending();
    let mut reader = Task::queued(lock.read());
    run.cancel();
    assert_eq!(at_drop.get(), Some((0, true, 1, 0)), "dropped before the guard");
    assert_eq!(reader.wakes(), 1);
    let reading = reader.ready();
    assert_eq!(reading.left, 2);
    // Dropped while it waits.
    let ran = Cell::new(false);
    let mut run = Task::new(lock.run_exclusive(async |_| ran.set(true)));
    run.pending();
    assert_eq!(counts(&lock), (1, false, 0, 1));
    run.cancel();
    assert_eq!(counts(&lock), (1, false, 0, 0));
    drop(reading);
    assert!(!ran.get());
    assert_free(&lock);
}

//! `run_exclusive` of the mutex (M8) releases however it ends.

use super::{assert_free, state};
use crate::tools::{Platform, Task, panics};
use core::cell::Cell;
use core::future::{pending, poll_fn};
use core::task::Poll;
use fifolock_core::Mutex;

pub(super) fn m8_run_exclusive_releases_when_it_returns<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    let mut run = Task::new(mutex.run_exclusive(async |value| {
        assert!(mutex.try_lock().is_err());
        *value += 1;
        *value
    }));
    assert_eq!(run.ready(), 2);
    assert_free(&mutex);

    // Over a suspension.
    let gate = Cell::new(false);
    let mut run = Task::new(mutex.run_exclusive(async |value| {
        poll_fn(|_| if gate.get() { Poll::Ready(()) } else { Poll::Pending }).await;
        *value += 1;
    }));
    run.pending();
    let mut next = Task::queued(mutex.lock());
    run.pending();
    assert_eq!((state(&mutex), next.wakes()), ((true, 1), 0));
    gate.set(true);
    run.ready();
    assert_eq!(next.wakes(), 1);
    assert_eq!(*next.ready(), 3);
    assert_free(&mutex);
}

pub(super) fn m8_run_exclusive_releases_on_an_error<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    let mut run = Task::new(mutex.run_exclusive(async |value| {
        *value += 1;
        Err::<u32, _>("refused")?;
        *value += 1;
        Ok::<_, &str>(0)
    }));
    assert_eq!(run.ready(), Err("refused"));
    assert_free(&mutex);
    assert_eq!(*mutex.try_lock().expect("free"), 2);
}

pub(super) fn m8_run_exclusive_releases_on_a_panic<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    let mut run = Task::new(mutex.run_exclusive(async |_: &mut u32| panic!("the body panics")));
    assert_eq!(panics(|| run.poll().is_ready()), "the body panics");
    assert_free(&mutex);

    // Over a suspension.
    let gate = Cell::new(false);
    let mut run = Task::new(mutex.run_exclusive(async |_: &mut u32| {
        poll_fn(|_| if gate.get() { Poll::Ready(()) } else { Poll::Pending }).await;
        panic!("the body panics");
    }));
    run.pending();
    let mut next = Task::queued(mutex.lock());
    gate.set(true);
    assert_eq!(panics(|| run.poll().is_ready()), "the body panics");
    assert_eq!(next.wakes(), 1);
    drop(next.ready());
    assert_free(&mutex);
}

pub(super) fn m8_run_exclusive_releases_when_it_is_dropped<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    drop(Task::new(mutex.run_exclusive(async |value| *value += 1)));
    assert_free(&mutex);

    // While it runs.
    let mut run = Task::new(mutex.run_exclusive(async |value| {
        *value += 1;
        pending::<()>().await;
    }));
    run.pending();
    let mut next = Task::queued(mutex.lock());
    run.cancel();
    assert_eq!(next.wakes(), 1);
    let guard = next.ready();
    assert_eq!(*guard, 2);

    // While it waits, and after it was granted.
    let mut waiting = Task::queued(mutex.run_exclusive(async |value| *value += 1));
    let mut granted = Task::queued(mutex.run_exclusive(async |value| *value += 1));
    let mut last = Task::queued(mutex.lock());
    waiting.cancel();
    assert_eq!(state(&mutex), (true, 2));
    drop(guard);
    assert_eq!((waiting.wakes(), granted.wakes(), last.wakes()), (0, 1, 0));
    granted.cancel();
    assert_eq!(last.wakes(), 1);
    assert_eq!(*last.ready(), 2);
    assert_free(&mutex);
}

pub(super) fn m8_run_exclusive_waits_its_turn<P: Platform>() {
    let mutex = Mutex::<_, P>::new(Vec::new());
    let guard = mutex.try_lock().expect("free");
    let mut first = Task::queued(mutex.run_exclusive(async |log| log.push(1)));
    let mut second = Task::queued(mutex.lock());
    let mut third = Task::queued(mutex.run_exclusive(async |log| log.push(3)));
    drop(guard);
    third.pending();
    second.pending();
    first.ready();
    third.pending();
    second.ready().push(2);
    third.ready();
    assert_free(&mutex);
    assert_eq!(*mutex.try_lock().expect("free"), [1, 2, 3]);
}

//! K10: the order of drops.

use crate::tools::{Hooks, Platform, Slot, Task, hook, panics};
use core::cell::RefCell;
use core::future::{Future, pending};
use fifolock_core::mutex::{MappedMutexGuard, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
use fifolock_core::{Mutex, RwLock};
use std::rc::Rc;
use std::sync::Arc;

/// Calls its closure when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A log of events, in order.
type Log = Rc<RefCell<Vec<&'static str>>>;

/// Cancels a run while another task waits behind the run. The body of the run holds a value whose drop is logged.
#[track_caller]
fn cancelled<R: Future, W: Future>(run: R, waiter: W, log: &Log) -> W::Output {
    let mut run = Task::new(run);
    run.pending();
    let on_wake = hook({
        let log = Rc::clone(log);
        move || log.borrow_mut().push("the next is granted")
    });
    let mut waiter = Task::with_hooks(waiter, Hooks { on_wake, ..Hooks::default() });
    waiter.pending();
    assert!(log.borrow().is_empty());
    run.cancel();
    assert_eq!(log.take(), ["the body is dropped", "the next is granted"]);
    waiter.ready()
}

pub(super) fn k10_a_cancelled_run_drops_the_users_future_before_it_releases<P: Platform>() {
    let log = Log::default();

    let mutex = Mutex::<_, P>::new(());
    let run = mutex.run_exclusive(async |()| {
        let _local = OnDrop(|| log.borrow_mut().push("the body is dropped"));
        pending::<()>().await;
    });
    drop(cancelled(run, mutex.lock(), &log));

    let lock = RwLock::<_, P>::new(());
    let run = lock.run_exclusive(async |()| {
        let _local = OnDrop(|| log.borrow_mut().push("the body is dropped"));
        pending::<()>().await;
    });
    drop(cancelled(run, lock.read(), &log));

    let run = lock.run_shared(async |()| {
        let _local = OnDrop(|| log.borrow_mut().push("the body is dropped"));
        pending::<()>().await;
    });
    drop(cancelled(run, lock.write(), &log));
    assert!(lock.try_write().is_ok());
}

pub(super) fn k10_a_finished_run_drops_the_users_future_before_it_releases<P: Platform>() {
    let seen = Slot::new();

    let mutex = Mutex::<_, P>::new(());
    let captured = OnDrop(|| seen.put(mutex.is_locked()));
    Task::new(mutex.run_exclusive(async move |()| _ = &captured)).ready();
    assert_eq!(seen.take(), Some(true));
    let captured = OnDrop(|| seen.put(mutex.is_locked()));
    let mut run = Task::new(mutex.run_exclusive(async move |()| {
        let _local = captured;
        panic!("the body panics");
    }));
    assert_eq!(panics(|| run.poll().is_ready()), "the body panics");
    assert_eq!(seen.take(), Some(true));
    assert!(mutex.try_lock().is_ok());

    let lock = RwLock::<_, P>::new(());
    let captured = OnDrop(|| seen.put(lock.state().writer));
    Task::new(lock.run_exclusive(async move |()| _ = &captured)).ready();
    assert_eq!(seen.take(), Some(true));
    let captured = OnDrop(|| seen.put(lock.state().readers == 1));
    Task::new(lock.run_shared(async move |()| _ = &captured)).ready();
    assert_eq!(seen.take(), Some(true));
    assert!(lock.try_write().is_ok());
}

/// Panics in a closure of a map method or of `run_…`.
fn fails<T>() -> T {
    panic!("the closure panics")
}

/// Two tasks wait for the lock. The release by the panic must reach the first task only; a second release would reach
/// the other.
#[track_caller]
fn mutex_releases_once<P: Platform, G>(mutex: &Mutex<[u8; 2], P>, guard: G, map: impl FnOnce(G)) {
    let mut first = Task::queued(mutex.lock());
    let mut second = Task::queued(mutex.lock());
    assert_eq!(panics(|| map(guard)), "the closure panics");
    assert_eq!((first.wakes(), second.wakes()), (1, 0));
    drop(first.ready());
    drop(second.ready());
    assert!(mutex.try_lock().is_ok());
}

pub(super) fn k10_a_map_that_panics_releases_a_mutex_once<P: Platform>() {
    let mutex = Arc::new(Mutex::<[u8; 2], P>::new([1, 2]));
    let locked = || mutex.try_lock().expect("free");
    let mapped = || MutexGuard::map(locked(), |data| &mut data[0]);
    let owned = || Arc::clone(&mutex).try_lock_owned().expect("free");
    let owned_mapped = || OwnedMutexGuard::map(owned(), |data| &mut data[0]);

    mutex_releases_once(&mutex, locked(), |guard| drop(MutexGuard::map(guard, |_| -> &mut u8 { fails() })));
    mutex_releases_once(&mutex, locked(), |guard| {
        drop(MutexGuard::try_map(guard, |_| -> Option<&mut u8> { fails() }));
    });
    mutex_releases_once(&mutex, mapped(), |guard| drop(MappedMutexGuard::map(guard, |_| -> &mut u8 { fails() })));
    mutex_releases_once(&mutex, mapped(), |guard| {
        drop(MappedMutexGuard::try_map(guard, |_| -> Option<&mut u8> { fails() }));
    });
    mutex_releases_once(&mutex, owned(), |guard| drop(OwnedMutexGuard::map(guard, |_| -> &mut u8 { fails() })));
    mutex_releases_once(&mutex, owned(), |guard| {
        drop(OwnedMutexGuard::try_map(guard, |_| -> Option<&mut u8> { fails() }));
    });
    mutex_releases_once(&mutex, owned_mapped(), |guard| {
        drop(OwnedMappedMutexGuard::map(guard, |_| -> &mut u8 { fails() }));
    });
    mutex_releases_once(&mutex, owned_mapped(), |guard| {
        drop(OwnedMappedMutexGuard::try_map(guard, |_| -> Option<&mut u8> { fails() }));
    });
}

pub(super) fn k10_a_map_that_panics_gives_the_arc_back<P: Platform>() {
    let mutex = Arc::new(Mutex::<u8, P>::new(1));
    let guard = Arc::clone(&mutex).try_lock_owned().expect("free");
    panics(|| drop(OwnedMutexGuard::map(guard, |_| -> &mut u8 { fails() })));
    assert_eq!(Arc::strong_count(&mutex), 1);
    let guard = Arc::clone(&mutex).try_lock_owned().expect("free");
    let guard = OwnedMutexGuard::map(guard, |data| data);
    panics(|| drop(OwnedMappedMutexGuard::try_map(guard, |_| -> Option<&mut u8> { fails() })));
    assert_eq!(Arc::strong_count(&mutex), 1);
}

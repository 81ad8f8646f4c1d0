//! What code written for `tokio::sync` may rely on beside the rules.

use core::panic::UnwindSafe;
use core::time::Duration;
use fifolock::tokio::{
    Mutex, MutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockError,
};
use std::sync::Arc;
use std::thread;

/// Type arguments stand where tokio has them: before the closure's for a mutex, after it for a read-write lock.
#[test]
fn type_arguments_are_in_tokios_order() {
    let mutex = Mutex::new(String::from("ab"));
    let guard = mutex.try_lock().expect("free");
    assert_eq!(&*MutexGuard::map::<str, _>(guard, |s| s.as_mut_str()), "ab");

    let lock = Arc::new(RwLock::new(String::from("ab")));
    let guard = lock.try_read().expect("free");
    assert_eq!(&*RwLockReadGuard::map::<_, str>(guard, |s| s.as_str()), "ab");
    let guard = lock.try_write().expect("free");
    assert_eq!(&*RwLockWriteGuard::map::<_, str>(guard, |s| s.as_mut_str()), "ab");
    let guard = lock.try_write().expect("free");
    assert_eq!(&*RwLockWriteGuard::downgrade_map::<_, str>(guard, |s| s.as_str()), "ab");
    let guard = Arc::clone(&lock).try_read_owned().expect("free");
    assert_eq!(&*OwnedRwLockReadGuard::map::<_, str>(guard, |s| s.as_str()), "ab");
    let guard = Arc::clone(&lock).try_write_owned().expect("free");
    assert_eq!(&*OwnedRwLockWriteGuard::map::<_, str>(guard, |s| s.as_mut_str()), "ab");
}

#[test]
fn locks_may_cross_a_catch_unwind() {
    fn unwind_safe<T: UnwindSafe>() {}
    unwind_safe::<Mutex<i32>>();
    unwind_safe::<RwLock<i32>>();
    fn a_copy<T: Copy>() {}
    a_copy::<TryLockError>();
}

/// M11: a thread that waits for a lock inside another wait keeps the unpark that was meant for that.
#[test]
fn m11_a_blocking_wait_gives_back_an_unpark_that_was_meant_for_another() {
    let mutex = Arc::new(Mutex::new(()));
    let held = mutex.try_lock().expect("free");
    let waiter = {
        let mutex = Arc::clone(&mutex);
        thread::spawn(move || {
            drop(mutex.blocking_lock());
            // The event came while the lock was waited for.
            thread::park();
        })
    };
    while mutex.queued() == 0 {
        thread::yield_now();
    }
    // Time for it to park, so that this ends that park; without it the test may pass without showing anything.
    thread::sleep(Duration::from_millis(50));
    waiter.thread().unpark();
    thread::sleep(Duration::from_millis(50));
    drop(held);
    // A waiter that never ends would end the test by the runner's limit; this says why.
    for _ in 0..600 {
        if waiter.is_finished() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert!(waiter.is_finished(), "the unpark was lost");
    waiter.join().expect("no panic");
}

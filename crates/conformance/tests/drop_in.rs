//! What code written for `tokio::sync` may rely on, besides the rules.

use core::panic::UnwindSafe;
use core::task::Waker;
use core::time::Duration;
use fifolock::platform::Platform;
use fifolock::tokio::drop_in::{self, DropIn};
use fifolock::tokio::{
    Mutex, MutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockPolicy, RwLockReadGuard,
    RwLockWriteGuard, Tokio, TryLockError,
};
use fifolock_conformance::tools;
use std::sync::Arc;
use std::thread;

/// The type parameters are where tokio has them: before the closure's for a mutex, after it for a read-write lock.
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

/// The policies of a lock from each constructor, first without a policy, then with `PhaseFair`.
fn policies<P: Platform>() -> (Vec<RwLockPolicy>, Vec<RwLockPolicy>) {
    type Lock<P> = fifolock::rwlock::RwLock<u8, P>;
    let phase_fair = RwLockPolicy::PhaseFair;
    (
        vec![
            Lock::<P>::new(0).policy(),
            Lock::<P>::const_new(0).policy(),
            Lock::<P>::with_max_readers(0, 2).policy(),
            Lock::<P>::const_with_max_readers(0, 2).policy(),
            Lock::<P>::default().policy(),
            Lock::<P>::from(0).policy(),
        ],
        vec![
            Lock::<P>::with_policy(0, phase_fair).policy(),
            Lock::<P>::with_policy_and_max_readers(0, phase_fair, 2).policy(),
        ],
    )
}

#[test]
fn p1_a_lock_without_a_policy_has_that_of_its_platform() {
    use RwLockPolicy::{PhaseFair, TaskFair, WriterPreferring};
    assert_eq!(policies::<Tokio>(), (vec![WriterPreferring; 6], vec![PhaseFair; 2]));
    assert_eq!(policies::<fifolock::platform::Std>(), (vec![WriterPreferring; 6], vec![PhaseFair; 2]));
    assert_eq!(policies::<fifolock::platform::Local>(), (vec![WriterPreferring; 6], vec![PhaseFair; 2]));
    assert_eq!(policies::<DropIn>(), (vec![TaskFair; 6], vec![PhaseFair; 2]));
    static TASK_FAIR: drop_in::RwLock<u8> = drop_in::RwLock::new(0);
    assert_eq!(TASK_FAIR.policy(), TaskFair);
    // A view of the lock is the same lock.
    let lock = drop_in::RwLock::new(0);
    let view: &RwLock<_> = lock.on::<Tokio>();
    assert_eq!(view.policy(), TaskFair);
    assert_eq!(RwLock::new(0).on::<DropIn>().policy(), WriterPreferring);
    let held = lock.try_write().expect("free");
    assert!(view.try_read().is_err());
    drop(held);
    assert!(view.try_read().is_ok());
}

/// The order in which a held lock serves a read, a write and another read that queue for it, by their numbers.
macro_rules! order_of_turns {
    ($lock:expr) => {{
        let lock = $lock;
        let held = lock.try_write().expect("free");
        let mut reads = [Box::pin(lock.read()), Box::pin(lock.read())];
        let mut write = Box::pin(lock.write());
        tools::assert_pending(&mut reads[0]);
        tools::assert_pending(&mut write);
        tools::assert_pending(&mut reads[1]);
        drop(held);
        let mut order = vec![];
        let (mut has_read, mut has_written) = ([false; 2], false);
        while order.len() < 3 {
            for number in 0..2 {
                if !has_read[number] && tools::poll_once(&mut reads[number], Waker::noop()).is_ready() {
                    has_read[number] = true;
                    order.push([1, 3][number]);
                }
            }
            if !has_written && tools::poll_once(&mut write, Waker::noop()).is_ready() {
                has_written = true;
                order.push(2);
            }
        }
        order
    }};
}

/// The same program runs over tokio's lock and over each of this project's.
#[test]
fn p2_the_locks_of_drop_in_serve_as_tokios() {
    let tokios = order_of_turns!(tokio::sync::RwLock::new(0));
    assert_eq!(tokios, [1, 2, 3]);
    assert_eq!(order_of_turns!(drop_in::RwLock::new(0)), tokios);
    assert_eq!(order_of_turns!(drop_in::RwLock::with_max_readers(0, 5)), tokios);
    assert_eq!(order_of_turns!(RwLock::new(0)), [2, 1, 3]);
}

/// Every name that `tokio::sync` has for its locks.
#[test]
fn all_of_tokios_names_are_there_twice() {
    macro_rules! names {
        ($path:path) => {{
            use locks::{
                MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard,
                OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
                RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard, TryLockError,
            };
            use $path as locks;
            type All<'a> = (
                (Mutex<u8>, MutexGuard<'a, u8>, MappedMutexGuard<'a, u8>, OwnedMutexGuard<u8>),
                (OwnedMappedMutexGuard<u8>, RwLock<u8>, RwLockReadGuard<'a, u8>, RwLockWriteGuard<'a, u8>),
                (RwLockMappedWriteGuard<'a, u8>, OwnedRwLockReadGuard<u8>, OwnedRwLockWriteGuard<u8>),
                (OwnedRwLockMappedWriteGuard<u8>, TryLockError),
            );
            size_of::<All<'_>>()
        }};
    }
    assert!(names!(tokio::sync) > 0);
    assert_eq!(names!(fifolock::tokio), names!(fifolock::tokio::drop_in));
}

/// M11: a thread waits for a lock inside another wait. It keeps the unpark that was meant for the outer wait.
#[test]
fn m11_a_blocking_wait_gives_back_an_unpark_that_was_meant_for_another() {
    let mutex = Arc::new(Mutex::new(()));
    let held = mutex.try_lock().expect("free");
    let waiter = {
        let mutex = Arc::clone(&mutex);
        thread::spawn(move || {
            drop(mutex.blocking_lock());
            // The event came during the wait for the lock.
            thread::park();
        })
    };
    while mutex.queued() == 0 {
        thread::yield_now();
    }
    // This gives the thread time to park, so that the unpark ends that park. If the thread is later, the test passes
    // without showing anything.
    thread::sleep(Duration::from_millis(50));
    waiter.thread().unpark();
    thread::sleep(Duration::from_millis(50));
    drop(held);
    // This bounds the wait, so that a waiter that never ends fails the test with a reason.
    for _ in 0..600 {
        if waiter.is_finished() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert!(waiter.is_finished(), "the unpark was lost");
    waiter.join().expect("no panic");
}

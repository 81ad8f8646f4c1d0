//! Threads that wait with a limit, and the blocking forms of every operation (M11, T1 to T5, U3, U7).
//!
//! The clock is that of the operating system. No test depends on speed: limits that must pass are short, and the others
//! are far longer than any test.

use core::fmt::Debug;
use core::time::Duration;
use fifolock::tokio::Tokio;
use fifolock_conformance::tools::Task;
use fifolock_core::platform::{CriticalSection, Platform, Spin, Std};
use fifolock_core::rwlock::{OwnedRwLockUpgradableReadGuard, RwLockUpgradableReadGuard};
use fifolock_core::{Mutex, RwLock, TimeoutError};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(600);

/// The locks, with every operation that takes a limit.
struct Locks<P: Platform> {
    mutex: Mutex<u32, P>,
    rwlock: Arc<RwLock<u32, P>>,
}

type Outcome = Result<(), TimeoutError>;
type Operation<P> = (&'static str, fn(&Locks<P>, Duration) -> Outcome);

impl<P: Platform> Locks<P>
where
    P::Raw: Send + Sync,
{
    fn new() -> Self {
        Self { mutex: Mutex::new(0), rwlock: Arc::new(RwLock::new(0)) }
    }

    /// The operations, each with the name that its errors use.
    fn operations() -> [Operation<P>; 6] {
        [
            ("mutex", |locks, limit| locks.mutex.blocking_lock_timeout(limit).map(drop)),
            ("read lock", |locks, limit| locks.rwlock.blocking_read_timeout(limit).map(drop)),
            ("write lock", |locks, limit| locks.rwlock.blocking_write_timeout(limit).map(drop)),
            ("upgradable read lock", |locks, limit| locks.rwlock.blocking_upgradable_read_timeout(limit).map(drop)),
            ("upgrade to write lock", |locks, limit| {
                let guard = locks.rwlock.blocking_upgradable_read();
                let outcome = RwLockUpgradableReadGuard::blocking_upgrade_timeout(guard, limit);
                assert_eq!(outcome.is_err(), locks.rwlock.state().upgradable, "the guard's share is kept");
                outcome.map(drop).map_err(TimeoutError::from)
            }),
            ("upgrade to write lock", |locks, limit| {
                let guard = Arc::clone(&locks.rwlock).blocking_upgradable_read_owned();
                let outcome = OwnedRwLockUpgradableReadGuard::blocking_upgrade_timeout(guard, limit);
                assert_eq!(outcome.is_err(), locks.rwlock.state().upgradable, "the guard's share is kept");
                outcome.map(drop).map_err(TimeoutError::from)
            }),
        ]
    }

    /// Runs `f` while the operation of this name must wait.
    fn held<O>(&self, noun: &str, f: impl FnOnce() -> O) -> O {
        let mutex = self.mutex.blocking_lock();
        let reader = noun.starts_with("upgrade ").then(|| self.rwlock.blocking_read());
        let writer = reader.is_none().then(|| self.rwlock.blocking_write());
        let output = f();
        drop((mutex, reader, writer));
        output
    }

    fn queued(&self) -> usize {
        self.mutex.queued() + self.rwlock.queued()
    }

    #[track_caller]
    fn assert_free(&self) {
        assert_eq!(self.queued(), 0);
        assert!(!self.mutex.is_locked() && !self.rwlock.is_locked());
    }
}

/// Waits until `happened` returns true.
#[track_caller]
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < LONG, "never: {what}");
        thread::yield_now();
    }
}

fn t1_a_thread_waits_no_longer_than_its_limit<P: Platform>()
where
    P::Raw: Send + Sync,
{
    for (noun, operation) in Locks::<P>::operations() {
        let locks = Locks::new();
        assert_eq!(operation(&locks, SHORT), Ok(()), "free");
        let start = Instant::now();
        let error = locks.held(noun, || operation(&locks, SHORT)).expect_err("the lock is held");
        assert!(start.elapsed() >= SHORT, "{noun}: {:?}", start.elapsed());
        assert_eq!(error.to_string(), format!("timed out waiting for {noun} after 20ms"));
        locks.assert_free();
    }
}

fn t2_a_thread_may_not_wait_for_no_time<P: Platform>()
where
    P::Raw: Send + Sync,
{
    for (noun, operation) in Locks::<P>::operations() {
        let locks = Locks::new();
        assert_eq!(operation(&locks, Duration::ZERO), Err(TimeoutError::InvalidTimeout), "free");
        assert_eq!(locks.held(noun, || operation(&locks, Duration::ZERO)), Err(TimeoutError::InvalidTimeout));
        // The smallest duration.
        assert!(locks.held(noun, || operation(&locks, Duration::from_nanos(1))).is_err_and(|error| error.is_elapsed()));
        locks.assert_free();
    }
}

/// The limit is past the end of the clock, or far away: the thread waits until it is granted.
fn t3_a_thread_waits_as_long_as_it_takes<P: Platform>()
where
    P::Raw: Send + Sync,
{
    for (noun, operation) in Locks::<P>::operations() {
        for limit in [LONG, Duration::MAX] {
            let locks = Locks::new();
            thread::scope(|scope| {
                let waiting = locks.held(noun, || {
                    let waiting = scope.spawn(|| operation(&locks, limit));
                    until("it waits", || locks.queued() == 1);
                    waiting
                });
                assert_eq!(waiting.join().expect("no panic"), Ok(()));
            });
            locks.assert_free();
        }
    }
}

/// An unpark that is meant for something else neither ends the wait nor starts it again.
fn t4_a_stray_unpark_changes_nothing<P: Platform>()
where
    P::Raw: Send + Sync,
{
    for (noun, operation) in Locks::<P>::operations() {
        let locks = Locks::new();
        let start = Instant::now();
        thread::scope(|scope| {
            locks.held(noun, || {
                let waiting = scope.spawn(|| operation(&locks, SHORT));
                until("the wait is over", || {
                    waiting.thread().unpark();
                    thread::sleep(SHORT / 10);
                    waiting.is_finished()
                });
                assert!(waiting.join().expect("no panic").is_err_and(|error| error.is_elapsed()));
            });
        });
        assert!(start.elapsed() >= SHORT);
        locks.assert_free();
    }
}

/// W5, for a thread.
fn t4_a_thread_that_gives_up_lets_the_readers_in<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let lock = RwLock::<u32, P>::new(0);
    let reader = lock.blocking_read();
    // The reader must queue while the thread still waits; otherwise the test tries again.
    until("a reader waits behind the thread", || {
        thread::scope(|scope| {
            let writing = scope.spawn(|| lock.blocking_write_timeout(SHORT).map(drop));
            until("the thread waits, or has given up", || lock.queued() == 1 || writing.is_finished());
            let mut waiting = Task::new(lock.read());
            let behind = waiting.poll().is_pending();
            assert!(writing.join().expect("no panic").is_err());
            if behind {
                assert_eq!(waiting.wakes(), 1);
                drop(waiting.ready());
            }
            behind
        })
    });
    drop(reader);
    assert!(!lock.is_locked());
}

fn m11_timed_threads_are_served_in_order<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let mutex = Mutex::<Vec<usize>, P>::new(Vec::new());
    let held = mutex.blocking_lock();
    thread::scope(|scope| {
        for turn in 0..4 {
            let mutex = &mutex;
            scope.spawn(move || match turn % 2 {
                0 => mutex.blocking_lock_timeout(LONG).expect("the mutex is granted in time").push(turn),
                _ => mutex.blocking_lock().push(turn),
            });
            until("it waits", || mutex.queued() == turn + 1);
        }
        drop(held);
    });
    assert_eq!(mutex.into_inner(), [0, 1, 2, 3]);
}

/// Owned guards of every kind move to other threads.
fn m11_blocking_owned_forms<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let lock = Arc::new(RwLock::<u32, P>::new(0));
    fn elsewhere<G: Send + Debug>(guard: G) {
        thread::scope(|scope| scope.spawn(move || drop(guard)).join().expect("no panic"));
    }
    let mut writer = Arc::clone(&lock).blocking_write_owned();
    *writer += 1;
    thread::scope(|scope| {
        let waiting = scope.spawn(|| elsewhere(Arc::clone(&lock).blocking_read_owned()));
        let upgrading = scope.spawn(|| {
            let guard = Arc::clone(&lock).blocking_upgradable_read_owned();
            let mut guard = OwnedRwLockUpgradableReadGuard::blocking_upgrade(guard);
            *guard += 1;
            elsewhere(guard);
        });
        until("both wait", || lock.queued() == 2);
        elsewhere(writer);
        waiting.join().expect("no panic");
        upgrading.join().expect("no panic");
    });
    assert_eq!((*lock.blocking_read(), Arc::strong_count(&lock)), (2, 1));
}

/// A thread that upgrades goes before the waiting writers.
fn u3_a_thread_upgrades_before_any_writer<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let lock = RwLock::<Vec<u32>, P>::new(Vec::new());
    let reader = lock.blocking_read();
    let guard = lock.blocking_upgradable_read();
    thread::scope(|scope| {
        scope.spawn(|| lock.blocking_write().push(2));
        until("the writer waits", || lock.queued() == 1);
        scope.spawn(|| RwLockUpgradableReadGuard::blocking_upgrade(guard).push(1));
        until("the upgrade waits", || lock.queued() == 2);
        drop(reader);
    });
    assert_eq!(lock.into_inner(), [1, 2]);
}

/// The methods of a lock that report its state.
fn m10_a_lock_knows_who_holds_and_waits<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let lock = RwLock::<u32, P>::new(0);
    let says = || (lock.is_locked(), lock.is_write_locked(), lock.queued());
    assert_eq!(says(), (false, false, 0));
    let reader = lock.blocking_read();
    assert_eq!(says(), (true, false, 0));
    let upgradable = lock.blocking_upgradable_read();
    let mut next = Task::queued(lock.upgradable_read());
    let mut writer = Task::queued(lock.write());
    let mut waiting = Task::queued(lock.read());
    assert_eq!(says(), (true, false, 3));
    let mut upgrade = Task::queued(RwLockUpgradableReadGuard::upgrade(upgradable));
    assert_eq!(says(), (true, false, 4));
    drop(reader);
    assert_eq!(says(), (true, true, 3), "granted and not claimed");
    drop(upgrade.ready());
    next.cancel();
    writer.cancel();
    assert_eq!(says(), (true, false, 0), "the reader was granted");
    drop(waiting.ready());
    assert_eq!(says(), (false, false, 0));
}

macro_rules! rules {
    ([$($name:ident: $platform:ty),+] $rules:tt) => {
        $(
            mod $name {
                use super::*;

                rules!(@ $platform: $rules);
            }
        )+
    };
    (@ $platform:ty: [$($rule:ident,)+]) => {
        $(
            #[test]
            fn $rule() {
                super::$rule::<$platform>();
            }
        )+
    };
}

rules!([on_std: Std, on_critical_section: CriticalSection, on_spin: Spin, on_tokio: Tokio] [
    t1_a_thread_waits_no_longer_than_its_limit,
    t2_a_thread_may_not_wait_for_no_time,
    t3_a_thread_waits_as_long_as_it_takes,
    t4_a_stray_unpark_changes_nothing,
    t4_a_thread_that_gives_up_lets_the_readers_in,
    m11_timed_threads_are_served_in_order,
    m11_blocking_owned_forms,
    u3_a_thread_upgrades_before_any_writer,
    m10_a_lock_knows_who_holds_and_waits,
]);

/// T2, for functions that return an `io::Result`.
#[test]
fn t2_errors_become_io_errors() {
    use std::io;
    let mutex = Mutex::<u32, Std>::new(0);
    let lock = |limit| -> io::Result<u32> { Ok(*mutex.blocking_lock_timeout(limit)?) };
    assert_eq!(lock(SHORT).expect("free"), 0);
    assert_eq!(lock(Duration::ZERO).expect_err("zero").kind(), io::ErrorKind::InvalidInput);
    let _held = mutex.blocking_lock();
    let error = lock(SHORT).expect_err("held");
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (io::ErrorKind::TimedOut, "timed out waiting for mutex after 20ms")
    );
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<TimeoutError>());
    assert!(inner.is_some_and(TimeoutError::is_elapsed));
}

//! The read-write lock and threads: the `blocking_…` methods (M11), and guards that are dropped on another thread (K7).
//! The programs that mix all operations are in `threads.rs`.
//!
//! No test waits for time. A thread that waits until others have queued reads the lock's state.

use core::time::Duration;
use fifolock_conformance::tools::{Task, Watched};
use fifolock_core::RwLock;
use fifolock_core::platform::{self, Platform};
use fifolock_core::raw;
use std::sync::Barrier;
use std::thread::{self};
use std::time::Instant;

/// Readers and writer inside; waiting readers and writers.
fn counts<T, P: Platform>(lock: &RwLock<T, P>) -> (usize, bool, usize, usize) {
    let state = lock.state();
    (state.readers, state.writer, state.waiting_readers, state.waiting_writers)
}

/// Waits until the other threads have come that far.
#[track_caller]
fn until(reached: impl Fn() -> bool) {
    let start = Instant::now();
    while !reached() {
        thread::yield_now();
        assert!(start.elapsed() < LOST, "the other threads never came that far");
    }
}

fn w8_m11_blocking_on_a_free_lock_returns_at_once<P: Platform>() {
    let lock = RwLock::<_, P>::new(1);
    *lock.blocking_write() += 1;
    let readers = (lock.blocking_read(), lock.blocking_read());
    assert_eq!(*readers.0 + *readers.1, 4);
    assert_eq!(counts(&lock), (2, false, 0, 0));
    drop(readers);
    assert_eq!(counts(&lock), (0, false, 0, 0));
}

fn w8_m11_blocking_writers_are_served_in_order_with_tasks<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let lock = RwLock::<_, P>::new(Vec::new());
    thread::scope(|scope| {
        let inside = lock.blocking_read();
        let thread = |name| {
            let lock = &lock;
            scope.spawn(move || lock.blocking_write().push(name))
        };
        let first = thread("first thread");
        until(|| counts(&lock) == (1, false, 0, 1));
        let mut task = Task::queued(lock.write());
        let second = thread("second thread");
        until(|| counts(&lock) == (1, false, 0, 3));
        drop(inside);
        first.join().expect("the first thread");
        assert_eq!(task.wakes(), 1);
        // The second thread waits behind the task, for as long as the task holds the lock.
        assert_eq!(counts(&lock), (0, true, 0, 1));
        let mut writing = task.ready();
        assert_eq!(*writing, ["first thread"]);
        writing.push("task");
        drop(writing);
        second.join().expect("the second thread");
    });
    assert_eq!(counts(&lock), (0, false, 0, 0));
    assert_eq!(lock.into_inner(), ["first thread", "task", "second thread"]);
}

fn w8_m11_blocking_readers_enter_together<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let lock = RwLock::<_, P>::new(0);
    let (together, done) = (Barrier::new(3), Barrier::new(4));
    thread::scope(|scope| {
        let mut writing = lock.blocking_write();
        for _ in 0..3 {
            scope.spawn(|| {
                let reading = lock.blocking_read();
                // A thread passes this barrier only when all readers are inside.
                together.wait();
                assert_eq!(*reading, 7);
                done.wait();
            });
        }
        until(|| counts(&lock) == (0, true, 3, 0));
        *writing = 7;
        drop(writing);
        assert!(lock.try_write().is_err());
        let mut writer = Task::queued(lock.write());
        assert_eq!(counts(&lock), (3, false, 0, 1));
        done.wait();
        until(|| writer.wakes() == 1);
        drop(writer.ready());
    });
    assert_eq!(counts(&lock), (0, false, 0, 0));
}

fn w8_m11_blocking_reader_queues_behind_a_waiting_writer<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let lock = RwLock::<_, P>::new(0);
    thread::scope(|scope| {
        let inside = lock.blocking_read();
        let mut writer = Task::queued(lock.write());
        let reader = scope.spawn(|| *lock.blocking_read());
        until(|| counts(&lock) == (1, false, 1, 1));
        drop(inside);
        let mut writing = writer.ready();
        assert_eq!(counts(&lock), (0, true, 1, 0));
        *writing = 3;
        drop(writing);
        assert_eq!(reader.join().expect("the reader"), 3);

        // A writer that gives up lets the reading thread in (W5).
        let inside = lock.blocking_read();
        let writer = Task::queued(lock.write());
        let reader = scope.spawn(|| *lock.blocking_read());
        until(|| counts(&lock) == (1, false, 1, 1));
        drop(writer);
        assert_eq!(reader.join().expect("the reader"), 3);
        drop(inside);
    });
    assert_eq!(counts(&lock), (0, false, 0, 0));
}

/// Far longer than any wait of these tests; a longer wait means a lost wake.
const LOST: Duration = Duration::from_secs(60);

/// K6 and K7: a read guard of data that is not Send moves to another thread, is read there, and its release grants a
/// writer here.
fn k7_a_read_guard_of_data_that_is_only_sync_is_released_on_another_thread<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let data = std::sync::Mutex::new(1);
    let lock = RwLock::<_, P>::new(data.lock().expect("free"));
    let guard = lock.try_read().expect("free");
    {
        let mut writer = Task::queued(lock.write());
        thread::scope(|scope| {
            scope.spawn(move || {
                assert_eq!(**guard, 1);
                drop(guard);
            });
        });
        assert_eq!(writer.wakes(), 1);
        **writer.ready() = 2;
    }
    drop(lock);
    assert_eq!(data.into_inner().expect("no panic"), 2);
}

macro_rules! thread_rules {
    ($platform:ty) => {
        thread_rules! { $platform:
            w8_m11_blocking_on_a_free_lock_returns_at_once,
            w8_m11_blocking_writers_are_served_in_order_with_tasks,
            w8_m11_blocking_readers_enter_together,
            w8_m11_blocking_reader_queues_behind_a_waiting_writer,
            k7_a_read_guard_of_data_that_is_only_sync_is_released_on_another_thread,
        }
    };
    ($platform:ty: $($rule:ident,)+) => {
        $(
            #[test]
            fn $rule() {
                super::$rule::<$platform>();
            }
        )+
    };
}

mod std_lock {
    use super::*;
    thread_rules!(Watched<raw::StdLock>);
}

mod critical_section_lock {
    use super::*;
    thread_rules!(Watched<raw::CriticalSectionLock>);
}

mod spin_lock {
    use super::*;
    thread_rules!(Watched<raw::SpinLock>);
}

mod std_platform {
    use super::*;
    thread_rules!(platform::Std);
}

mod tokio {
    thread_rules!(fifolock::tokio::Tokio);
}

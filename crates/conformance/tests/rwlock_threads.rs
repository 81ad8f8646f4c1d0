//! The read-write lock and threads: the `blocking_…` methods (M11), and everything at once (W1 to W8, K7).
//!
//! Nothing here waits for time: who waits for others to queue looks at the lock's state.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::task::{Poll, Waker};
use core::time::Duration;
use fifolock_conformance::tools::{Boxed, Random, Task, Watched, poll_once};
use fifolock_core::RwLock;
use fifolock_core::platform::{self, Platform};
use fifolock_core::raw;
use fifolock_core::rwlock::{RwLockReadGuard, RwLockWriteGuard};
use std::sync::{Arc, Barrier};
use std::task::Wake;
use std::thread::{self, Thread};
use std::time::Instant;

/// Readers, writer, waiting readers, waiting writers.
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
        assert!(start.elapsed() < LOST, "the others never came that far");
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
        // The second thread stays behind the task, however long that takes.
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
                // All are inside, or none gets past this.
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

        // A writer that gives up lets the thread in (W5).
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

/// Wakes a thread that waits for it.
struct Unpark {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

impl Unpark {
    fn of_this_thread() -> Arc<Self> {
        Arc::new(Self { thread: thread::current(), woken: AtomicBool::new(false) })
    }

    /// Polls when it is woken, and then only.
    fn block_on<F: Future>(self: &Arc<Self>, mut future: Boxed<F>) -> F::Output {
        let waker = Waker::from(Arc::clone(self));
        loop {
            if let Poll::Ready(output) = poll_once(&mut future, &waker) {
                return output;
            }
            let start = Instant::now();
            while !self.woken.swap(false, Ordering::SeqCst) {
                thread::park_timeout(LOST);
                assert!(start.elapsed() < LOST, "a wake was lost");
            }
        }
    }
}

/// Nothing takes that long but what never comes.
const LOST: Duration = Duration::from_secs(60);

/// Two fields that only a torn read or a torn write would make differ.
#[derive(Debug, Default)]
struct Pair {
    left: u64,
    right: u64,
}

impl Pair {
    fn write(&mut self, pause: bool) {
        assert_eq!(self.left, self.right, "a writer sees a torn write");
        self.left += 1;
        if pause {
            thread::yield_now();
        }
        self.right += 1;
    }

    fn read(&self, pause: bool) -> u64 {
        let left = self.left;
        if pause {
            thread::yield_now();
        }
        assert_eq!(left, self.right, "a reader sees a torn write");
        left
    }
}

/// One thread of the storm.
struct Worker<'a, P: Platform> {
    lock: &'a RwLock<Pair, P>,
    writes: &'a AtomicU64,
    random: Random,
    unpark: Arc<Unpark>,
}

impl<P: Platform> Worker<'_, P> {
    fn pause(&mut self) -> bool {
        self.random.below(4) == 0
    }

    fn write(&mut self, mut guard: RwLockWriteGuard<'_, Pair, P>) {
        guard.write(self.pause());
        // Ordering: Relaxed, it is read after the threads have been joined.
        self.writes.fetch_add(1, Ordering::Relaxed);
        if self.random.below(3) == 0 {
            self.read(guard.downgrade());
        }
    }

    fn read(&mut self, guard: RwLockReadGuard<'_, Pair, P>) {
        guard.read(self.pause());
    }

    /// Polls once, lets the others go on, and gives up: before or after the grant.
    fn cancel<F: Future>(&mut self, future: F) -> Option<F::Output> {
        let mut future = Box::pin(future);
        if let Poll::Ready(output) = poll_once(&mut future, &Waker::from(Arc::clone(&self.unpark))) {
            return Some(output);
        }
        (0..self.random.below(4)).for_each(|_| thread::yield_now());
        None
    }

    fn step(&mut self) {
        let lock = self.lock;
        match self.random.below(12) {
            0 => self.read(lock.blocking_read()),
            1 => self.write(lock.blocking_write()),
            2..=4 => {
                let guard = self.unpark.block_on(Box::pin(lock.read()));
                self.read(guard);
            }
            5 | 6 => {
                let guard = self.unpark.block_on(Box::pin(lock.write()));
                self.write(guard);
            }
            7 | 8 => {
                if let Some(guard) = self.cancel(lock.read()) {
                    self.read(guard);
                }
            }
            9 => {
                if let Some(guard) = self.cancel(lock.write()) {
                    self.write(guard);
                }
            }
            10 => {
                if let Ok(guard) = lock.try_read() {
                    self.read(guard);
                }
            }
            _ => {
                if let Ok(guard) = lock.try_write() {
                    self.write(guard);
                }
            }
        }
    }
}

/// K6, K7: a read guard of data that must not leave its thread does leave it, is read there, and hands over to a writer here.
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

fn w8_storm_of_threads<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let (threads, steps) = if cfg!(miri) { (3, 20) } else { (4, 3000) };
    for max_readers in [2, RwLock::<(), P>::MAX_READERS] {
        let lock = RwLock::<_, P>::with_max_readers(Pair::default(), max_readers);
        let writes = AtomicU64::new(0);
        thread::scope(|scope| {
            for seed in 0..threads {
                let (lock, writes) = (&lock, &writes);
                scope.spawn(move || {
                    let random = Random::new(seed);
                    let mut worker = Worker { lock, writes, random, unpark: Unpark::of_this_thread() };
                    (0..steps).for_each(|_| worker.step());
                });
            }
        });
        assert_eq!(counts(&lock), (0, false, 0, 0), "nobody is left");
        let writes = writes.into_inner();
        assert!(writes > 0);
        assert_eq!(lock.into_inner().read(false), writes, "no write was lost");
    }
}

macro_rules! thread_rules {
    ($platform:ty) => {
        thread_rules! { $platform:
            w8_m11_blocking_on_a_free_lock_returns_at_once,
            w8_m11_blocking_writers_are_served_in_order_with_tasks,
            w8_m11_blocking_readers_enter_together,
            w8_m11_blocking_reader_queues_behind_a_waiting_writer,
            k7_a_read_guard_of_data_that_is_only_sync_is_released_on_another_thread,
            w8_storm_of_threads,
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

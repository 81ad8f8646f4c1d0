//! Tests that need threads: K7, M11, and no lost wake under random cancellation.
//!
//! The threads run freely, so their steps differ between runs; the assertions hold for all of them. No result depends
//! on speed: a time limit only turns a hang into a failure.

use core::future::Future;
use core::pin::pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use fifolock::tokio::Tokio;
use fifolock_conformance::tools::{Random, Task};
use fifolock_core::platform::{CriticalSection, Platform, Spin, Std};
use fifolock_core::{Mutex, RwLock};
use std::sync::{Arc, Barrier, mpsc};
use std::task::Wake;
use std::thread::{self, Thread};
use std::time::Instant;

/// Far longer than any wait of these tests.
const TOO_LONG: Duration = Duration::from_secs(60);

const THREADS: usize = if cfg!(miri) { 3 } else { 4 };
const ROUNDS: usize = if cfg!(miri) { 15 } else { 4_000 };

/// Waits until `happened` returns true.
#[track_caller]
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < TOO_LONG, "never: {what}");
        thread::yield_now();
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Drives a future on this thread with a waker of its own, and fails if the waker is not woken.
#[track_caller]
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    let start = Instant::now();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park_timeout(TOO_LONG);
        assert!(start.elapsed() < TOO_LONG, "a wake was lost");
    }
}

/// Polls once with a waker that does nothing.
fn poll_deaf<F: Future>(future: core::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Plain data. A write that the next owner misses, or two writes at once, make the two fields differ.
#[derive(Default)]
struct Plain {
    first: usize,
    second: Vec<usize>,
}

impl Plain {
    /// Writes as an owner. In the middle, other threads get their chance.
    fn write(&mut self, random: &mut Random) {
        assert_eq!(self.first, self.second.len());
        self.first += 1;
        if random.below(4) == 0 {
            thread::yield_now();
        }
        self.second.push(self.first);
    }

    fn read(&self) {
        assert_eq!((self.first, self.second.last().copied().unwrap_or(0)), (self.second.len(), self.first));
    }
}

/// Runs `body` on several threads at once, each with random numbers of its own; returns the sum of their results.
fn on_threads(seed: u64, body: impl Fn(&mut Random) -> usize + Sync) -> usize {
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS as u64)
            .map(|i| {
                let (barrier, body) = (&barrier, &body);
                scope.spawn(move || {
                    let mut random = Random::new(seed * 1_000 + i);
                    barrier.wait();
                    body(&mut random)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    })
}

/// Uses the mutex once, in a random way; returns the number of grants.
fn mutex_turn<P: Platform>(mutex: &Arc<Mutex<Plain, P>>, random: &mut Random) -> usize {
    match random.below(8) {
        0 | 1 => block_on(mutex.lock()).write(random),
        2 => block_on(Arc::clone(mutex).lock_owned()).write(random),
        3 => mutex.blocking_lock().write(random),
        4 => block_on(mutex.run_exclusive(async |data| data.write(random))),
        5 => match mutex.try_lock() {
            Ok(mut guard) => guard.write(random),
            Err(_) => return 0,
        },
        // Gives up: unpolled, queued or granted.
        _ => {
            let mut future = pin!(mutex.lock());
            for _ in 0..random.below(4) {
                if let Poll::Ready(mut guard) = poll_deaf(future.as_mut()) {
                    guard.write(random);
                    return 1;
                }
                thread::yield_now();
            }
            return 0;
        }
    }
    1
}

fn k7_threads_share_a_mutex<P: Platform>()
where
    P::Raw: Send + Sync,
{
    for seed in 0..3 {
        let mutex = Arc::new(Mutex::<_, P>::new(Plain::default()));
        let grants = on_threads(seed, |random| (0..ROUNDS / 3).map(|_| mutex_turn(&mutex, random)).sum());
        let state = mutex.state();
        assert_eq!((state.locked, state.queued, Arc::strong_count(&mutex)), (false, 0, 1));
        let data = mutex.try_lock().expect("free");
        data.read();
        assert_eq!(data.first, grants, "one write for each grant");
        assert!(grants > 0);
    }
}

/// Uses the lock once, in a random way; returns the number of write grants.
fn rwlock_turn<P: Platform>(lock: &Arc<RwLock<Plain, P>>, inside: &Inside, random: &mut Random) -> usize {
    match random.below(12) {
        0..=2 => {
            let guard = block_on(lock.read());
            inside.reader(|| guard.read());
            return 0;
        }
        3 if random.below(2) == 0 => {
            let guard = lock.blocking_read();
            inside.reader(|| guard.read());
            return 0;
        }
        3 => {
            let guard = block_on(Arc::clone(lock).read_owned());
            inside.reader(|| guard.read());
            return 0;
        }
        4 => {
            if let Ok(guard) = lock.try_read() {
                inside.reader(|| guard.read());
            }
            return 0;
        }
        5 => {
            // Gives up, perhaps as a member of a batch.
            let mut future = pin!(lock.read());
            for _ in 0..random.below(4) {
                if let Poll::Ready(guard) = poll_deaf(future.as_mut()) {
                    inside.reader(|| guard.read());
                    break;
                }
                thread::yield_now();
            }
            return 0;
        }
        6 => {
            let mut guard = block_on(lock.write());
            inside.writer(|| guard.write(random));
        }
        7 => {
            let mut guard = lock.blocking_write();
            inside.writer(|| guard.write(random));
        }
        8 => {
            let mut guard = block_on(Arc::clone(lock).write_owned());
            inside.writer(|| guard.write(random));
            let guard = guard.downgrade();
            inside.reader(|| guard.read());
        }
        9 => match lock.try_write() {
            Ok(mut guard) => inside.writer(|| guard.write(random)),
            Err(_) => return 0,
        },
        _ => {
            let mut future = pin!(lock.write());
            for _ in 0..random.below(4) {
                if let Poll::Ready(mut guard) = poll_deaf(future.as_mut()) {
                    inside.writer(|| guard.write(random));
                    return 1;
                }
                thread::yield_now();
            }
            return 0;
        }
    }
    1
}

/// The owners inside, as they count themselves.
#[derive(Default)]
struct Inside {
    readers: AtomicUsize,
    writers: AtomicUsize,
}

impl Inside {
    fn reader(&self, body: impl FnOnce()) {
        self.readers.fetch_add(1, Ordering::Relaxed);
        assert_eq!(self.writers.load(Ordering::Relaxed), 0, "a reader beside a writer");
        body();
        self.readers.fetch_sub(1, Ordering::Relaxed);
    }

    fn writer(&self, body: impl FnOnce()) {
        assert_eq!(self.writers.fetch_add(1, Ordering::Relaxed), 0, "a writer beside a writer");
        assert_eq!(self.readers.load(Ordering::Relaxed), 0, "a writer beside a reader");
        body();
        self.writers.fetch_sub(1, Ordering::Relaxed);
    }
}

fn k7_threads_share_a_rwlock<P: Platform>()
where
    P::Raw: Send + Sync,
{
    for seed in 0..3 {
        // The first lock has room for few readers, so that some of a batch must wait.
        let lock = Arc::new(RwLock::<_, P>::with_max_readers(Plain::default(), if seed == 0 { 2 } else { 100 }));
        let inside = Inside::default();
        let grants = on_threads(seed, |random| (0..ROUNDS / 3).map(|_| rwlock_turn(&lock, &inside, random)).sum());
        let state = lock.state();
        assert_eq!((state.readers, state.writer, state.waiting_readers, state.waiting_writers), (0, false, 0, 0));
        assert_eq!(Arc::strong_count(&lock), 1);
        let data = lock.try_write().expect("free");
        data.read();
        assert_eq!(data.first, grants, "one write for each grant");
        assert!(grants > 0);
    }
}

/// A guard is made on one thread and dropped on another. The next owner, on a third thread, sees what both wrote.
fn k7_a_guard_may_be_dropped_elsewhere<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let mutex = Arc::new(Mutex::<_, P>::new(Plain::default()));
    let lock = Arc::new(RwLock::<_, P>::new(Plain::default()));
    let rounds = ROUNDS / 4;
    thread::scope(|scope| {
        let (to_dropper, guards) = mpsc::channel();
        let (to_write_dropper, write_guards) = mpsc::channel();
        let (mutex, lock) = (&mutex, &lock);
        scope.spawn(move || {
            let mut random = Random::new(1);
            for _ in 0..rounds {
                let mut guard = block_on(Arc::clone(mutex).lock_owned());
                guard.write(&mut random);
                to_dropper.send(guard).expect("listens");
                let mut guard = block_on(lock.write());
                guard.write(&mut random);
                to_write_dropper.send(guard).expect("listens");
            }
        });
        scope.spawn(move || {
            let mut random = Random::new(2);
            for mut guard in guards {
                guard.write(&mut random);
            }
        });
        scope.spawn(move || {
            let mut random = Random::new(3);
            for mut guard in write_guards {
                guard.write(&mut random);
                let read = guard.downgrade();
                read.read();
            }
        });
        for _ in 0..rounds {
            block_on(mutex.lock()).read();
            block_on(lock.read()).read();
        }
    });
    assert_eq!(mutex.try_lock().expect("free").first, 2 * rounds);
    assert_eq!(lock.try_write().expect("free").first, 2 * rounds);
}

fn m11_threads_and_tasks_are_served_in_one_order<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let mutex = Arc::new(Mutex::<_, P>::new(Vec::new()));
    thread::scope(|scope| {
        let guard = mutex.try_lock().expect("free");
        // Each thread queues before the next one starts.
        let queued = |n: usize| until("it queues", || mutex.queued() == n);
        scope.spawn(|| mutex.blocking_lock().push(1));
        queued(1);
        let mut second = Task::queued(mutex.lock());
        scope.spawn(|| Arc::clone(&mutex).blocking_lock_owned().push(3));
        queued(3);
        let mut fourth = Task::queued(mutex.lock());
        let mut never = Task::queued(mutex.lock());
        scope.spawn(|| mutex.blocking_lock().push(5));
        queued(6);
        never.cancel();

        drop(guard);
        until("the first thread is served", || second.wakes() == 1);
        assert!(mutex.try_lock().is_err());
        second.ready().push(2);
        until("the second thread is served", || fourth.wakes() == 1);
        fourth.ready().push(4);
    });
    assert_eq!(*mutex.try_lock().expect("free"), [1, 2, 3, 4, 5]);
}

fn m11_a_parked_thread_is_not_served_by_a_stray_unpark<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let mutex = Mutex::<_, P>::new(Vec::new());
    thread::scope(|scope| {
        let mut guard = mutex.try_lock().expect("free");
        let parked = scope.spawn(|| mutex.blocking_lock().push("parked"));
        until("it queues", || mutex.queued() == 1);
        for _ in 0..100 {
            parked.thread().unpark();
            thread::yield_now();
        }
        assert_eq!(mutex.queued(), 1);
        guard.push("holder");
        drop(guard);
    });
    assert_eq!(*mutex.try_lock().expect("free"), ["holder", "parked"]);
}

/// The wait consumes the thread's unpark token, which was meant for something else.
fn m11_an_unpark_from_before_the_wait_is_given_back<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let mutex = Mutex::<_, P>::new(());
    thread::scope(|scope| {
        let guard = mutex.try_lock().expect("free");
        let waits = scope.spawn(|| {
            thread::current().unpark();
            drop(mutex.blocking_lock());
            let start = Instant::now();
            thread::park_timeout(TOO_LONG);
            start.elapsed() < TOO_LONG
        });
        until("it queues", || mutex.queued() == 1);
        drop(guard);
        assert!(waits.join().expect("no panic"), "the wait has kept the token");
    });
}

fn m11_readers_and_writers_may_be_threads<P: Platform>()
where
    P::Raw: Send + Sync,
{
    let lock = RwLock::<_, P>::new(Vec::new());
    thread::scope(|scope| {
        let guard = lock.try_read().expect("free");
        scope.spawn(|| lock.blocking_write().push(1));
        until("it queues", || lock.state().waiting_writers == 1);
        let reader = scope.spawn(|| lock.blocking_read().len());
        until("it queues", || lock.state().waiting_readers == 1);
        drop(guard);
        assert_eq!(reader.join().expect("no panic"), 1, "the writer was first");
    });
    assert!(lock.try_write().is_ok());
}

/// A platform that can't tell whether it runs async code lets the worker block. Tokio's platform panics.
#[test]
fn m11_blocking_inside_a_runtime_blocks_the_worker() {
    let mutex = Arc::new(fifolock::Mutex::new(0));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let guard = Arc::clone(&mutex).try_lock_owned().expect("free");
    let holder = thread::spawn({
        let mutex = Arc::clone(&mutex);
        move || {
            until("the worker queues", || mutex.queued() == 1);
            let mut guard = guard;
            *guard += 1;
        }
    });
    runtime.block_on(async {
        *mutex.blocking_lock() += 1;
        // The same on a free mutex.
        *Arc::clone(&mutex).blocking_lock_owned() += 1;
    });
    holder.join().expect("no panic");
    assert_eq!(*mutex.try_lock().expect("free"), 3);
}

/// Tasks on several workers, some of which are aborted while they wait, hold, or have just been granted.
#[test]
#[cfg_attr(miri, ignore = "tokio's workers wait for the operating system")]
fn k7_tasks_of_a_runtime_share_the_locks_and_are_aborted() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_time().build().expect("a runtime");
    let mutex = Arc::new(fifolock::tokio::Mutex::new(Plain::default()));
    let lock = Arc::new(fifolock::tokio::RwLock::new(Plain::default()));
    let grants = Arc::new(AtomicUsize::new(0));
    let write_grants = Arc::new(AtomicUsize::new(0));
    let mut random = Random::new(7);
    runtime.block_on(async {
        let mut tasks = Vec::new();
        for i in 0..200 {
            let (mutex, lock) = (Arc::clone(&mutex), Arc::clone(&lock));
            let (grants, write_grants) = (Arc::clone(&grants), Arc::clone(&write_grants));
            tasks.push(tokio::spawn(async move {
                let mut random = Random::new(i);
                for _ in 0..20 {
                    let mut guard = mutex.lock().await;
                    // There is no await between these lines, so an abort can't separate them.
                    guard.write(&mut random);
                    grants.fetch_add(1, Ordering::Relaxed);
                    if random.below(4) == 0 {
                        tokio::task::yield_now().await;
                    }
                    drop(guard);
                    if random.below(3) == 0 {
                        let mut guard = lock.write().await;
                        guard.write(&mut random);
                        write_grants.fetch_add(1, Ordering::Relaxed);
                        tokio::task::yield_now().await;
                        guard.downgrade().read();
                    } else {
                        let guard = lock.read().await;
                        guard.read();
                        tokio::task::yield_now().await;
                        guard.read();
                    }
                }
            }));
        }
        while tasks.len() > 50 {
            tokio::task::yield_now().await;
            tasks.swap_remove(random.below(tasks.len())).abort();
        }
        for task in tasks {
            let done = tokio::time::timeout(TOO_LONG, task).await;
            done.expect("a wake was lost").expect("not aborted, no panic");
        }
    });
    // Aborted tasks are gone when the runtime is dropped.
    drop(runtime);
    let state = mutex.state();
    assert_eq!((state.locked, state.queued), (false, 0));
    let state = lock.state();
    assert_eq!((state.readers, state.writer, state.waiting_readers, state.waiting_writers), (0, false, 0, 0));
    let data = mutex.try_lock().expect("free");
    data.read();
    assert_eq!(data.first, grants.load(Ordering::Relaxed));
    assert!(data.first >= 50 * 20);
    let data = lock.try_write().expect("free");
    data.read();
    assert_eq!(data.first, write_grants.load(Ordering::Relaxed));
}

macro_rules! rules_with_threads {
    ($($name:ident: $platform:ty,)+) => {
        $(
            mod $name {
                use super::*;

                rules_with_threads! {
                    @ $platform:
                    k7_threads_share_a_mutex,
                    k7_threads_share_a_rwlock,
                    k7_a_guard_may_be_dropped_elsewhere,
                    m11_threads_and_tasks_are_served_in_one_order,
                    m11_a_parked_thread_is_not_served_by_a_stray_unpark,
                    m11_an_unpark_from_before_the_wait_is_given_back,
                    m11_readers_and_writers_may_be_threads,
                }
            }
        )+
    };
    (@ $platform:ty: $($rule:ident,)+) => {
        $(
            #[test]
            fn $rule() {
                super::$rule::<$platform>();
            }
        )+
    };
}

rules_with_threads! {
    on_std: Std,
    on_critical_section: CriticalSection,
    on_spin: Spin,
    on_tokio: Tokio,
}

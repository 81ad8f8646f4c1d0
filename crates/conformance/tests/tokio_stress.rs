//! Many tasks on tokio's runtimes, with timeouts, deadlines and aborts at random: every task has one outcome, at most one
//! writer is ever inside, and the lock ends free (K08).
#![cfg(not(miri))]

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use fifolock::tokio::{Mutex, RwLock, TimeoutError};
use fifolock_conformance::tools::Random;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

const TASKS: usize = 1500;

fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(4).enable_time().build().expect("a runtime")
}

fn current_thread(paused: bool) -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(paused).build().expect("a runtime")
}

/// Who is inside, counted apart from the lock.
#[derive(Default)]
struct Inside {
    readers: AtomicUsize,
    writers: AtomicUsize,
}

/// Counts one in for as long as it lives: also when its task is aborted.
struct Entry<'a>(&'a AtomicUsize);

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Inside {
    fn write(&self) -> Entry<'_> {
        assert_eq!(self.writers.fetch_add(1, Ordering::Relaxed), 0, "two writers");
        assert_eq!(self.readers.load(Ordering::Relaxed), 0, "a writer beside readers");
        Entry(&self.writers)
    }

    fn read(&self) -> Entry<'_> {
        self.readers.fetch_add(1, Ordering::Relaxed);
        assert_eq!(self.writers.load(Ordering::Relaxed), 0, "a reader beside a writer");
        Entry(&self.readers)
    }
}

/// What a task does once it is inside.
async fn stay(yields: usize) {
    for _ in 0..yields {
        tokio::task::yield_now().await;
    }
}

/// Runs [`TASKS`] tasks, some of which are aborted, and adds their outcomes up.
///
/// Returns how many acquired, timed out, and were cancelled.
async fn run<F>(seed: u64, task: impl Fn(Random) -> F) -> [usize; 3]
where
    F: Future<Output = Result<(), TimeoutError>> + Send + 'static,
{
    let mut random = Random::new(seed);
    let mut tasks = JoinSet::new();
    let mut handles = Vec::new();
    for _ in 0..TASKS {
        let random_of_task = Random::new(random.number());
        handles.push(tasks.spawn(task(random_of_task)));
        if random.below(4) == 0 {
            handles[random.below(handles.len())].abort();
        }
        match random.below(16) {
            0 => sleep(Duration::from_micros(200)).await,
            1..=4 => tokio::task::yield_now().await,
            _ => {}
        }
    }
    let [mut acquired, mut timed_out, mut cancelled] = [0; 3];
    while let Some(outcome) = tasks.join_next().await {
        match outcome {
            Ok(Ok(())) => acquired += 1,
            Ok(Err(error)) => {
                assert!(error.is_elapsed());
                timed_out += 1;
            }
            Err(error) => {
                assert!(error.is_cancelled(), "{error:?}");
                cancelled += 1;
            }
        }
    }
    assert_eq!(acquired + timed_out + cancelled, TASKS);
    [acquired, timed_out, cancelled]
}

/// Each of the three must have happened, or the test has shown nothing.
fn assert_all_happened(outcomes: [usize; 3]) {
    assert!(outcomes.iter().all(|&count| count > 0), "acquired, timed out, cancelled: {outcomes:?}");
}

fn short(random: &mut Random) -> Duration {
    Duration::from_micros(1 + random.below(4000) as u64)
}

fn mutex(runtime: &Runtime, seed: u64) {
    let shared = Arc::new((Mutex::new(0_usize), Inside::default()));
    let started = {
        let shared = Arc::clone(&shared);
        move |mut random: Random| {
            let shared = Arc::clone(&shared);
            async move {
                let (mutex, inside) = &*shared;
                let yields = random.below(4);
                let mut guard = match random.below(8) {
                    0 => mutex.lock().await,
                    1..=5 => mutex.lock_timeout(short(&mut random)).await?,
                    _ => mutex.lock_deadline(Instant::now() + short(&mut random)).await?,
                };
                let _entry = inside.write();
                // Seen by the next, or the sum is wrong.
                let before = *guard;
                stay(yields).await;
                *guard = before + 1;
                Ok(())
            }
        }
    };
    // Held for a while, so that somebody runs out of time whatever the machine is doing.
    let outcomes = runtime.block_on(async {
        let held = shared.0.lock().await;
        let holder = async {
            sleep(Duration::from_millis(20)).await;
            drop(held);
        };
        tokio::join!(run(seed, started), holder).0
    });
    assert_all_happened(outcomes);
    let mutex = &shared.0;
    assert_eq!((mutex.is_locked(), mutex.queued()), (false, 0));
    // A task that was aborted while it was inside has not added anything.
    assert_eq!(*mutex.try_lock().expect("free"), outcomes[0]);
    assert_eq!(Arc::strong_count(&shared), 1);
}

fn rwlock(runtime: &Runtime, seed: u64) {
    let shared = Arc::new((Arc::new(RwLock::with_max_readers(0_usize, 5)), Inside::default()));
    let started = {
        let shared = Arc::clone(&shared);
        move |mut random: Random| {
            let shared = Arc::clone(&shared);
            async move {
                let (lock, inside) = &*shared;
                let yields = random.below(4);
                let limit = short(&mut random);
                match random.below(12) {
                    0..=3 => {
                        let guard = lock.read_timeout(limit).await?;
                        let _entry = inside.read();
                        let before = *guard;
                        stay(yields).await;
                        assert_eq!(*guard, before, "written while it is read");
                    }
                    4..=5 => {
                        let _guard = Arc::clone(lock).read_owned_deadline(Instant::now() + limit).await?;
                        let _entry = inside.read();
                        stay(yields).await;
                    }
                    6 => {
                        let _guard = lock.read().await;
                        let _entry = inside.read();
                        stay(yields).await;
                    }
                    7 => {
                        let guard = lock.write_timeout(limit).await?;
                        let entry = inside.write();
                        stay(yields).await;
                        // Readers may enter from here on.
                        drop(entry);
                        let _guard = guard.downgrade();
                        let _entry = inside.read();
                        stay(yields).await;
                    }
                    8 => {
                        let mut guard = lock.write_deadline(Instant::now() + limit).await?;
                        let _entry = inside.write();
                        stay(yields).await;
                        *guard += 1;
                    }
                    9 => {
                        let mut guard = Arc::clone(lock).write_owned_timeout(limit).await?;
                        let _entry = inside.write();
                        *guard += 1;
                        stay(yields).await;
                    }
                    _ => {
                        lock.run_exclusive_timeout(limit, async |value| {
                            let _entry = inside.write();
                            stay(yields).await;
                            *value += 1;
                        })
                        .await?
                    }
                }
                Ok(())
            }
        }
    };
    let outcomes = runtime.block_on(async {
        let held = shared.0.write().await;
        let holder = async {
            sleep(Duration::from_millis(20)).await;
            drop(held);
        };
        tokio::join!(run(seed, started), holder).0
    });
    assert_all_happened(outcomes);
    let state = shared.0.state();
    assert_eq!((state.readers, state.writer, state.waiting_readers, state.waiting_writers), (0, false, 0, 0));
    assert!(shared.0.try_write().is_ok());
    assert_eq!(Arc::strong_count(&shared.0), 1);
}

#[test]
fn t4_mutex_on_several_threads() {
    let runtime = multi_thread();
    for seed in 0..4 {
        mutex(&runtime, seed);
    }
}

#[test]
fn t4_mutex_on_one_thread() {
    mutex(&current_thread(false), 10);
}

#[test]
fn t4_mutex_on_a_paused_clock() {
    for seed in 20..24 {
        mutex(&current_thread(true), seed);
    }
}

#[test]
fn t4_rwlock_on_several_threads() {
    let runtime = multi_thread();
    for seed in 30..34 {
        rwlock(&runtime, seed);
    }
}

#[test]
fn t4_rwlock_on_one_thread() {
    rwlock(&current_thread(false), 40);
}

#[test]
fn t4_rwlock_on_a_paused_clock() {
    for seed in 50..54 {
        rwlock(&current_thread(true), seed);
    }
}

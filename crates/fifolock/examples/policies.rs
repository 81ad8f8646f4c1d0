//! How long each side of a read-write lock waits in a storm of the other, under each policy.
//!
//! The wait is counted in turns and not in time: the number of times that the others entered between a task's request
//! and its guard. So the table is the same on every machine. `cargo run -p fifolock --example policies --features
//! tokio`

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use fifolock::tokio::{RwLock, RwLockPolicy};
use std::sync::Arc;
use tokio::task::{JoinSet, LocalSet, yield_now};

/// The number of tasks in the storm. Each locks again as soon as it has released.
const STORM: usize = 8;
/// The number of turns of the storm.
const TURNS: usize = 4_000;
/// The number of requests of the other side.
const REQUESTS: usize = 100;

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Read,
    Write,
}

/// Holds the lock over a yield, and calls `entered` when it has the lock.
async fn hold(lock: &RwLock<()>, side: Side, entered: impl FnOnce()) {
    match side {
        Side::Read => {
            let _guard = lock.read().await;
            entered();
            yield_now().await;
        }
        Side::Write => {
            let _guard = lock.write().await;
            entered();
            yield_now().await;
        }
    }
}

/// The longest wait, in turns of the storm, and the number of requests that were served before the storm ended.
async fn longest_wait(policy: RwLockPolicy, storm: Side, asks: Side) -> (usize, usize) {
    let lock = Arc::new(RwLock::with_policy((), policy));
    let turns = Arc::new(AtomicUsize::new(0));
    let over = Arc::new(AtomicBool::new(false));
    let mut tasks = JoinSet::new();
    for _ in 0..STORM {
        let (lock, turns, over) = (Arc::clone(&lock), Arc::clone(&turns), Arc::clone(&over));
        tasks.spawn_local(async move {
            while !over.load(Ordering::Relaxed) {
                let turn = || over.store(turns.fetch_add(1, Ordering::Relaxed) + 1 >= TURNS, Ordering::Relaxed);
                hold(&lock, storm, turn).await;
            }
        });
    }
    let (mut longest, mut served) = (0, 0);
    for _ in 0..REQUESTS {
        // The storm has begun when the first request comes.
        yield_now().await;
        let asked = turns.load(Ordering::Relaxed);
        hold(&lock, asks, || longest = longest.max(turns.load(Ordering::Relaxed) - asked)).await;
        served += usize::from(!over.load(Ordering::Relaxed));
    }
    tasks.join_all().await;
    (longest, served)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!(
        "| policy | reader in a storm of {STORM} writers: longest wait, served | writer in a storm of {STORM} readers |"
    );
    println!("|---|--:|--:|");
    for policy in [RwLockPolicy::WriterPreferring, RwLockPolicy::TaskFair, RwLockPolicy::PhaseFair] {
        let tasks = LocalSet::new();
        let storm_of_writers = tasks.run_until(longest_wait(policy, Side::Write, Side::Read));
        let (read, reads) = storm_of_writers.await;
        let storm_of_readers = tasks.run_until(longest_wait(policy, Side::Read, Side::Write));
        let (write, writes) = storm_of_readers.await;
        println!("| `{policy:?}` | {read} turns, {reads} of {REQUESTS} | {write} turns, {writes} of {REQUESTS} |");
        // No later task passes a queued writer, unless it belongs to a batch that has begun.
        assert!(write <= STORM + 1, "a writer waits for those inside");
        match policy {
            RwLockPolicy::TaskFair => assert!(read <= STORM, "a reader waits for those before it"),
            RwLockPolicy::PhaseFair => assert!(read <= 2, "a reader waits for one writer"),
            _ => {}
        }
    }
}

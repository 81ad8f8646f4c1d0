//! Tasks that contend for one lock.

use core::time::Duration;
use std::sync::Arc;

use scenarios::lock::{Mutex, RwLock};

use crate::runtime::Runtime;

/// So many tasks take the mutex in turn; while they hold it they yield, or don't.
pub fn mutex<R: Runtime, M: Mutex>(runtime: &R, tasks: u64, yields: bool, turns: u64) -> (Duration, u64) {
    let mutex = Arc::new(M::new());
    let each = turns.div_ceil(tasks);
    let tasks: Vec<_> = (0..tasks)
        .map(|_| {
            let mutex = Arc::clone(&mutex);
            async move {
                for _ in 0..each {
                    let guard = mutex.lock().await;
                    if yields {
                        R::yield_now().await;
                    }
                    drop(guard);
                }
            }
        })
        .collect();
    let turns = each * tasks.len() as u64;
    (runtime.run(tasks), turns)
}

/// Two tasks: each takes the mutex, gives it up and lets the other run.
pub fn ping_pong<R: Runtime, M: Mutex>(runtime: &R, turns: u64) -> (Duration, u64) {
    let mutex = Arc::new(M::new());
    let each = turns.div_ceil(2);
    let tasks: Vec<_> = (0..2)
        .map(|_| {
            let mutex = Arc::clone(&mutex);
            async move {
                for _ in 0..each {
                    drop(mutex.lock().await);
                    R::yield_now().await;
                }
            }
        })
        .collect();
    (runtime.run(tasks), each * 2)
}

/// So many tasks read or write, holding over a yield. Of a hundred turns, `reads` are to read.
pub fn rwlock<R: Runtime, L: RwLock>(runtime: &R, tasks: u64, reads: u64, turns: u64) -> (Duration, u64) {
    let lock = Arc::new(L::new());
    let each = turns.div_ceil(tasks);
    let tasks: Vec<_> = (0..tasks)
        .map(|task| {
            let lock = Arc::clone(&lock);
            async move {
                for turn in 0..each {
                    // Spread evenly over tasks and turns, and the same in every run.
                    if (task * 37 + turn * 61) % 100 < reads {
                        let guard = lock.read().await;
                        R::yield_now().await;
                        drop(guard);
                    } else {
                        let guard = lock.write().await;
                        R::yield_now().await;
                        drop(guard);
                    }
                }
            }
        })
        .collect();
    let turns = each * tasks.len() as u64;
    (runtime.run(tasks), turns)
}

//! Tasks that contend for one lock.

use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::{Arc, OnceLock};

use scenarios::lock::{Mutex, RwLock};

use crate::runtime::Runtime;

/// The tasks take the mutex in turn. While a task holds the mutex it yields, or doesn't.
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

/// Two tasks, each of which takes the mutex, releases it and lets the other one run.
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

/// The tasks read or write, and hold the lock over a yield. Of a hundred turns, `reads` read.
pub fn rwlock<R: Runtime, L: RwLock>(runtime: &R, tasks: u64, reads: u64, turns: u64) -> (Duration, u64) {
    let lock = Arc::new(L::new());
    let each = turns.div_ceil(tasks);
    let tasks: Vec<_> = (0..tasks)
        .map(|task| {
            let lock = Arc::clone(&lock);
            async move {
                for turn in 0..each {
                    // The reads are spread evenly over tasks and turns, and are the same in every run.
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

/// The cost of the runtime alone for turns in order: a ring of tasks, each of which hands the turn to the next one by a
/// store and a wake. There is no lock and no queue, and no task can leave.
pub fn relay<R: Runtime>(runtime: &R, tasks: u64, yields: bool, turns: u64) -> (Duration, u64) {
    let relay = Arc::new(Relay::new(tasks));
    let each = turns.div_ceil(tasks);
    let tasks: Vec<_> = (0..relay.places.len())
        .map(|index| {
            let relay = Arc::clone(&relay);
            async move {
                for _ in 0..each {
                    poll_fn(|cx| relay.poll_turn(index, cx)).await;
                    if yields {
                        R::yield_now().await;
                    }
                    relay.hand_on(index);
                }
            }
        })
        .collect();
    let turns = each * tasks.len() as u64;
    (runtime.run(tasks), turns)
}

struct Relay {
    places: Vec<Place>,
    /// The number of tasks without a waker. The last task to come begins, so each task sees the next one's waker.
    missing: AtomicUsize,
}

#[derive(Default)]
struct Place {
    has_turn: AtomicBool,
    waker: OnceLock<Waker>,
}

impl Relay {
    fn new(tasks: u64) -> Self {
        let places: Vec<Place> = (0..tasks).map(|_| Place::default()).collect();
        Self { missing: AtomicUsize::new(places.len()), places }
    }

    fn poll_turn(&self, index: usize, cx: &mut Context<'_>) -> Poll<()> {
        let place = &self.places[index];
        if place.waker.get().is_none() {
            // On these runtimes the waker of a task stays the same.
            place.waker.get_or_init(|| cx.waker().clone());
            if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
                return Poll::Ready(());
            }
        }
        if !place.has_turn.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        place.has_turn.store(false, Ordering::Relaxed);
        Poll::Ready(())
    }

    fn hand_on(&self, index: usize) {
        let next = &self.places[if index + 1 == self.places.len() { 0 } else { index + 1 }];
        next.has_turn.store(true, Ordering::Release);
        if let Some(waker) = next.waker.get() {
            waker.wake_by_ref();
        }
    }
}

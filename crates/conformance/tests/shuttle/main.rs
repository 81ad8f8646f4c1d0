//! Programs that are too large for loom, under random schedules. Their tasks run on shuttle's executor, with locks over
//! shuttle's atomics and a clock that one task advances. The same programs run through the adapters whose clock a test
//! can set: tokio's and embassy's. The timers of smol and async-std belong to a thread that shuttle does not schedule.
//!
//! Shuttle finds hangs: a schedule in which every task waits fails. Shuttle does not model weak memory, which loom
//! does. A failing schedule is printed, and `shuttle::replay` runs it again.

#![cfg(fifolock_shuttle)]

mod clock;
mod programs;

use clock::World;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll};
use shuttle::rand::{Rng as _, thread_rng};
use std::env;

/// Runs a program under random schedules, and under those of a scheduler that prefers rare schedules.
fn explore<P: World>(program: fn()) {
    let iterations = env::var("FIFOLOCK_SHUTTLE_ITERATIONS").map_or(100, |number| number.parse().expect("a number"));
    P::with(|| {
        shuttle::check_random(program, iterations);
        shuttle::check_pct(program, iterations, 3);
    });
}

/// A number below `limit` that belongs to the schedule, so a replay repeats the number.
fn below(limit: u32) -> u32 {
    thread_rng().gen_range(0..limit)
}

/// The data behind a lock. Its atomics are not shuttle's, so they are no steps of the schedule.
#[derive(Debug, Default)]
struct Inside {
    readers: AtomicUsize,
    writers: AtomicUsize,
    turns: AtomicUsize,
}

impl Inside {
    /// Acts as a reader for a while.
    async fn read(&self) {
        self.readers.fetch_add(1, Ordering::Relaxed);
        assert_eq!(self.writers.load(Ordering::Relaxed), 0, "a reader beside a writer");
        pause().await;
        assert_eq!(self.writers.load(Ordering::Relaxed), 0, "a writer beside a reader");
        self.readers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Acts as the writer for a while.
    async fn write(&self) {
        assert_eq!(self.writers.fetch_add(1, Ordering::Relaxed), 0, "two writers");
        assert_eq!(self.readers.load(Ordering::Relaxed), 0, "a writer beside readers");
        pause().await;
        assert_eq!(self.readers.load(Ordering::Relaxed), 0, "readers beside a writer");
        self.turns.fetch_add(1, Ordering::Relaxed);
        self.writers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Lets other tasks run, or not.
async fn pause() {
    if below(2) == 0 {
        shuttle::future::yield_now().await;
    }
}

type Boxed<F> = Pin<Box<F>>;

/// Polls a future a few times, and drops it if it is not ready.
async fn give_up_after<F: Future>(polls: u32, future: F) -> Option<F::Output> {
    let mut future: Boxed<F> = Box::pin(future);
    let mut left = polls;
    poll_fn(move |cx: &mut Context<'_>| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}

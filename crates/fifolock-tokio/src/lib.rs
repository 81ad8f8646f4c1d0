//! fifolock's locks for tokio: with timeouts through tokio's timer, and with tokio's budget.
//!
//! This is `fifolock::tokio`, by the feature `tokio` of the crate `fifolock`, which most users want.
//!
//! The names are those of `tokio::sync`: `use tokio::sync::{Mutex, RwLock}` can become
//! `use fifolock::tokio::{Mutex, RwLock}`. There are also timed forms, such as `lock_timeout` and `lock_deadline`, with
//! tokio's [`Duration`] and [`Instant`]. They follow tokio's clock, also when it is paused.
//!
//! # Examples
//!
//! ```
//! # mod fifolock { pub use fifolock_tokio as tokio; }
//! use fifolock::tokio::{Mutex, TimeoutError};
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), TimeoutError> {
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn program() -> Result<(), TimeoutError> {
//! let connection = Arc::new(Mutex::new(Vec::new()));
//!
//! // A guard that a spawned task takes along is owned.
//! let mut guard = connection.clone().lock_owned().await;
//! let task = tokio::spawn(async move {
//!     tokio::time::sleep(Duration::from_millis(10)).await;
//!     guard.push("from the task");
//! });
//!
//! // Better an error than a request that hangs behind a slow one.
//! let error = connection.lock_timeout(Duration::from_millis(5)).await.unwrap_err();
//! assert_eq!(error.to_string(), "timed out waiting for mutex after 5ms");
//!
//! connection.lock_timeout(Duration::from_secs(1)).await?.push("from here");
//! # task.await.unwrap();
//! # Ok(())
//! # }
//! # program()
//! # }
//! ```
//!
//! # Differences from `tokio::sync`
//!
//! | | `tokio::sync` | here |
//! |---|---|---|
//! | order of a `RwLock` | arrival | a waiting writer goes before readers; [`drop_in`] and [`RwLockPolicy::TaskFair`] have tokio's order |
//! | `lock`, `read`, `write` | `async fn`s | functions that return named futures, such as [`Lock`] |
//! | [the budget](#budget) | each lock takes a unit | one lock in 128 takes four units |
//! | a first poll without a budget | queues | neither queues nor tries |
//! | a task that was granted the lock in a future it no longer polls | waits for itself | is [rescued](fifolock_core::mutex#rescue) |
//! | `OwnedMappedMutexGuard<T, U>` | `Sync` if `T` is, too | `Sync` if `U` is |
//! | a panic under a guard | releases the lock; nothing is poisoned | the same |
//!
//! The differences, line by line, are in
//! [the guide for those who come from tokio](https://github.com/fifolock/fifolock/blob/main/docs/MIGRATION.md#from-tokio).
//!
//! # Panics
//!
//! - `blocking_lock` and the other `blocking_…` methods panic in async code, where tokio's own do, with tokio's message
//!   and the place of the caller, even if the lock is free. In `spawn_blocking`, in `block_in_place` and outside of a
//!   runtime they block the thread.
//! - A timed operation that has to wait panics outside of a runtime whose time driver is enabled, as
//!   [`tokio::time::sleep`] does. The panic names the place of the `.await`. The lock stays usable.
//! - A lock future panics if it is polled after it was ready.
//!
//! # Budget
//!
//! A task that only takes free locks gives way to others, so that [`tokio::time::timeout`], `abort` and the other tasks
//! of a current-thread runtime work beside it. For that the locks take part in
//! [tokio's cooperative budget](tokio::task::coop), at another rate than tokio's own:
//!
//! - The first poll of a lock future asks for budget before it tries the lock. A future that waits or has been granted
//!   the lock never asks, and neither do the `try_…` and `blocking_…` methods.
//! - One in 128 first polls of a thread asks tokio, and takes 4 units of the task's budget of 128. If the task has
//!   fewer, the poll is pending and the task is woken. Until tokio says yes, every first poll asks.
//! - So a task takes at most 4,223 free locks in a turn: 4,096 for its budget, and up to 127 before the first question.
//!   With tokio's own locks it takes 128. On average the budget adds 4 instructions to an uncontended lock.
//! - A poll that is pending for want of budget has neither queued nor tried the lock. The place in the queue, and the
//!   time of a timeout, count from the next poll. A zero timeout is refused without a question.
//! - Outside of tokio, and inside of [`unconstrained`](tokio::task::coop::unconstrained), there is no budget, and no
//!   task gives way.
//!
//! # Versions
//!
//! This adapter works with tokio 1.47 and newer, and re-exports the one that it uses as
//! [`fifolock::tokio::tokio`](tokio).

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg = false))]
#![forbid(unsafe_code)]

extern crate std;

mod budget;
pub mod drop_in;

#[doc(no_inline)]
pub use tokio;

use core::task::{Context, Poll};
use core::time::Duration;
use fifolock_core::platform::{Platform, Std, Timer};
use tokio::runtime::Handle;
use tokio::time::{Instant, Sleep};

/// The platform of tokio programs.
#[derive(Debug)]
pub enum Tokio {}

impl Platform for Tokio {
    type Raw = <Std as Platform>::Raw;

    /// See [Budget](crate#budget).
    #[inline(always)]
    fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
        budget::poll_proceed(cx)
    }

    /// Panics in async code, as tokio's own blocking methods do.
    fn before_blocking() {
        // Without a runtime nothing has to be checked. On a thread that ends, tokio's check would panic.
        if Handle::try_current().is_ok() {
            // Only tokio's own locks can tell whether the thread may block, with the message that users know. The
            // temporary lock is free, so the call doesn't wait.
            drop(tokio::sync::Mutex::new(()).blocking_lock());
        }
    }
}

impl Timer for Tokio {
    type Duration = Duration;
    type Instant = Instant;
    type Sleep = Sleep;

    fn sleep(duration: Duration) -> Option<Sleep> {
        // `tokio::time::sleep` would turn a duration past the end of the clock into one of thirty years.
        let deadline = Instant::now().checked_add(duration)?;
        Self::sleep_until(deadline)
    }

    fn sleep_until(deadline: Instant) -> Option<Sleep> {
        // Tokio rounds up to a millisecond, and would panic if the result is past the end of the clock.
        deadline.checked_add(Duration::from_millis(1))?;
        // A panic outside of a runtime names the caller, so there is no closure here.
        Some(tokio::time::sleep_until(deadline))
    }

    fn now() -> Instant {
        Instant::now()
    }

    fn to_core(duration: Duration) -> Duration {
        duration
    }
}

fifolock_core::adapter!([] Tokio, Timer);

/// The example of the registry's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

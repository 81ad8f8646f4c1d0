//! fifolock's locks with timeouts through tokio's timer.
//!
//! The names are those of `tokio::sync`, so that `use tokio::sync::{Mutex, RwLock}` can become
//! `use fifolock_tokio::{Mutex, RwLock}`. On top come `lock_timeout`, `lock_deadline` and their like, in tokio's
//! [`Duration`] and [`Instant`]: they honour a paused clock.
//!
//! # Differences from `tokio::sync`
//!
//! - A free lock is taken at the first poll, always: these locks take no part in tokio's coop budget. A task that does
//!   nothing but lock free locks never yields.
//! - A `RwLock` prefers writers; tokio's serves in the order of arrival.
//! - An `OwnedMappedMutexGuard<T, U>` is `Sync` also where `T` is not.
//!
//! # Panics
//!
//! A timed operation that has to wait outside of a tokio runtime with its time driver enabled panics, as
//! [`tokio::time::sleep`] does. The lock stays usable.
//!
//! # Examples
//!
//! ```
//! use core::time::Duration;
//! use fifolock_tokio::Mutex;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let mutex = Mutex::new(1);
//! let guard = mutex.lock().await;
//! let error = mutex.lock_timeout(Duration::from_millis(50)).await.unwrap_err();
//! assert_eq!(error.to_string(), "timed out waiting for mutex after 50ms");
//! # drop(guard);
//! # }
//! ```

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

use core::time::Duration;
use fifolock_core::platform::{Platform, Std, Timer};
use tokio::time::{Instant, Sleep};

/// The platform of tokio programs.
#[derive(Debug)]
pub enum Tokio {}

impl Platform for Tokio {
    type Raw = <Std as Platform>::Raw;
}

impl Timer for Tokio {
    type Duration = Duration;
    type Instant = Instant;
    type Sleep = Sleep;

    fn sleep(duration: Duration) -> Option<Sleep> {
        // `tokio::time::sleep` would take a duration past the clock's end for one of thirty years.
        Instant::now().checked_add(duration).and_then(Self::sleep_until)
    }

    fn sleep_until(deadline: Instant) -> Option<Sleep> {
        // Tokio rounds up to a millisecond, and would panic where that is past the clock's end.
        deadline.checked_add(Duration::from_millis(1)).map(|_| tokio::time::sleep_until(deadline))
    }

    fn now() -> Instant {
        Instant::now()
    }

    fn to_core(duration: Duration) -> Duration {
        duration
    }
}

fifolock_core::adapter!([] Tokio, Timer);

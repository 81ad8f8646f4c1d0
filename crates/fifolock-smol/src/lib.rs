//! fifolock's locks with timeouts through smol's timer, which is async-io's.
//!
//! This is `fifolock::smol`, by the feature `smol` of the crate `fifolock`.
//!
//! Durations and instants are `std`'s. A wait for a duration past the end of the clock has no end. If no executor
//! drives async-io's timers, a thread of async-io does, so timed operations also work outside of an executor.
//!
//! A task that only takes free locks never gives way: smol's executors have no budget. `blocking_lock` and the other
//! `blocking_…` methods block any thread, even one that runs async code.
//!
//! A panic under a guard releases the lock and poisons nothing. A lock future panics if it is polled after it was ready.
//!
//! This adapter works with async-io 2.0 and newer, and re-exports the one that it uses as
//! [`fifolock::smol::async_io`](async_io).
//!
//! # Examples
//!
//! ```
//! # mod fifolock { pub use fifolock_smol as smol; }
//! use fifolock::smol::Mutex;
//! use std::time::Duration;
//!
//! # smol::block_on(async {
//! let mutex = Mutex::new(1);
//! let guard = mutex.lock().await;
//! let error = mutex.lock_timeout(Duration::from_millis(5)).await.unwrap_err();
//! assert_eq!(error.to_string(), "timed out waiting for mutex after 5ms");
//! # drop(guard);
//! # });
//! ```

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg = false))]
#![forbid(unsafe_code)]

extern crate std;

#[doc(no_inline)]
pub use async_io;

use async_io::Timer as Sleep;
use core::time::Duration;
use fifolock_core::platform::{Platform, Std, Timer};
use std::time::Instant;

/// The platform of smol programs.
#[derive(Debug)]
pub enum Smol {}

impl Platform for Smol {
    type Raw = <Std as Platform>::Raw;
}

impl Timer for Smol {
    type Duration = Duration;
    type Instant = Instant;
    type Sleep = Sleep;

    fn sleep(duration: Duration) -> Option<Sleep> {
        Instant::now().checked_add(duration).map(Sleep::at)
    }

    fn sleep_until(deadline: Instant) -> Option<Sleep> {
        Some(Sleep::at(deadline))
    }

    fn now() -> Instant {
        Instant::now()
    }

    fn to_core(duration: Duration) -> Duration {
        duration
    }
}

fifolock_core::adapter!([] Smol, Timer);

/// The example of the registry's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

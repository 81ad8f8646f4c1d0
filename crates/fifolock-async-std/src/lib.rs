//! fifolock's locks with timeouts, for programs that still run on async-std.
//!
//! This is `fifolock::async_std`, by the feature `async-std` of the crate `fifolock`.
//!
//! **Legacy:** async-std is discontinued (RUSTSEC-2025-0052); new programs use smol, and `fifolock-smol`. This crate
//! depends on async-io, which is async-std's own timer, and not on async-std, so that an audit stays clean.
//!
//! Durations and instants are `std`'s. A wait for a duration past the end of the clock has no end.
//!
//! A task that only takes free locks never gives way: async-std's executor has no budget. `blocking_lock` and the other
//! `blocking_…` methods block any thread, even one that runs async code.
//!
//! A panic under a guard releases the lock and poisons nothing. A lock future panics if it is polled after it was ready.
//!
//! This adapter works with async-io 2.0 and newer, and re-exports the one that it uses as
//! [`fifolock::async_std::async_io`](async_io).
//!
//! # Examples
//!
//! ```
//! # mod fifolock { pub use fifolock_async_std as async_std; }
//! use fifolock::async_std::Mutex;
//! use std::time::Duration;
//!
//! # async_std::task::block_on(async {
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

/// The platform of async-std programs.
#[derive(Debug)]
pub enum AsyncStd {}

impl Platform for AsyncStd {
    type Raw = <Std as Platform>::Raw;
}

impl Timer for AsyncStd {
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

fifolock_core::adapter!([] AsyncStd, Timer);

/// The example of the registry's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

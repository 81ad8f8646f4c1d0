//! The locks with the behaviour of `tokio::sync` throughout.
//!
//! `use tokio::sync::{Mutex, RwLock}` can become `use fifolock::tokio::drop_in::{Mutex, RwLock}`. A `RwLock` that is
//! made by `new`, `with_max_readers`, `default` or `from` serves readers and writers in the order of arrival
//! ([`TaskFair`](RwLockPolicy::TaskFair)). Otherwise these are the locks of [the crate](crate).
//!
//! A lock of one kind can be used as the other. The lock keeps the policy that it was made with:
//!
//! ```
//! # mod fifolock { pub use fifolock_tokio as tokio; }
//! use fifolock::tokio::{RwLock, RwLockPolicy, Tokio, drop_in};
//!
//! let lock = drop_in::RwLock::new(1);
//! let same: &RwLock<_> = lock.on::<Tokio>();
//! assert_eq!(same.policy(), RwLockPolicy::TaskFair);
//! ```

use crate::Tokio;
use core::task::{Context, Poll};
use core::time::Duration;
use fifolock_core::platform::{Platform, Timer};
use tokio::time::{Instant, Sleep};

/// The platform of tokio programs whose `RwLock`s serve in the order of arrival.
#[derive(Debug)]
pub enum DropIn {}

impl Platform for DropIn {
    type Raw = <Tokio as Platform>::Raw;
    const POLICY: RwLockPolicy = RwLockPolicy::TaskFair;

    /// See [Budget](crate#budget).
    #[inline(always)]
    fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
        Tokio::poll_proceed(cx)
    }

    /// Panics in async code, as tokio's own blocking methods do.
    fn before_blocking() {
        Tokio::before_blocking();
    }
}

impl Timer for DropIn {
    type Duration = Duration;
    type Instant = Instant;
    type Sleep = Sleep;

    fn sleep(duration: Duration) -> Option<Sleep> {
        Tokio::sleep(duration)
    }

    fn sleep_until(deadline: Instant) -> Option<Sleep> {
        Tokio::sleep_until(deadline)
    }

    fn now() -> Instant {
        Tokio::now()
    }

    fn to_core(duration: Duration) -> Duration {
        Tokio::to_core(duration)
    }
}

fifolock_core::adapter!([] DropIn, Timer);

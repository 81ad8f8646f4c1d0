//! fifolock's locks with timeouts through embassy-time, over embassy-sync's raw mutexes.
//!
//! `Mutex<M, T>` and `RwLock<M, T>` have embassy-sync's parameters and method names: a firmware changes one `use` line.
//! Durations and instants are embassy-time's. The final binary chooses the time driver and the implementation of critical
//! sections.
//!
//! | `M` | use it |
//! |---|---|
//! | `CriticalSectionRawMutex` | between executors of any priority, and from interrupt handlers |
//! | `ThreadModeRawMutex` | in thread mode of one core. Used from elsewhere it *aborts*, since the lock could not be left in order; dropped there it panics, as embassy-sync's |
//! | `NoopRawMutex` | inside one executor |
//!
//! A task that does nothing but take free locks never gives way, as with embassy-sync's: embassy's executors have no budget
//! to ask. The `blocking_…` methods are there on hosts alone, and block any thread.
//!
//! # Differences from embassy-sync
//!
//! - Waiters are served in the order in which they came, and a waiting writer stops new readers.
//! - A `RwLock` is `Sync` only if its data is `Sync`: readers share it.
//!
//! # Panics
//!
//! A timed operation that has to wait panics where embassy-time's own timer would: its integrated queue takes no wakers
//! but embassy's. A finished wait may leave its task one wake in the driver's queue, as every embassy timer does.
//!
//! A duration past the end of the clock waits for ever (`embassy_time::Timer::after` would panic).
//!
//! # Examples
//!
//! ```
//! use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
//! use fifolock_embassy::Mutex;
//!
//! static BUS: Mutex<CriticalSectionRawMutex, [u8; 4]> = Mutex::new([0; 4]);
//!
//! async fn transfer() -> Result<(), fifolock_embassy::TimeoutError> {
//!     let mut bus = BUS.lock_timeout(embassy_time::Duration::from_millis(5)).await?;
//!     bus[0] = 1;
//!     Ok(())
//! }
//! # let _ = transfer;
//! ```

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg = false))]
#![deny(unsafe_code)]

use core::marker::PhantomData;
use core::num::NonZeroU64;
use embassy_sync::blocking_mutex::raw::RawMutex;
use embassy_time::{Duration, Instant, TICK_HZ, Timer as Sleep};
use fifolock_core::error::Limit;
use fifolock_core::platform::{Platform, Timer};
use fifolock_core::raw::{CellLock, Exclusion};

/// The platform of embassy firmware, over embassy-sync's raw mutex `M`.
#[derive(Debug)]
pub struct Embassy<M>(PhantomData<M>);

impl<M: RawMutex> Platform for Embassy<M> {
    type Raw = CellLock<Excluding<M>>;
}

impl<M: RawMutex> Timer for Embassy<M> {
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

    fn is_zero(duration: Duration) -> bool {
        duration.as_ticks() == 0
    }

    fn to_core(duration: Duration) -> core::time::Duration {
        Self::limit(duration).to_core()
    }

    #[inline]
    fn limit(duration: Duration) -> Limit {
        const HZ: NonZeroU64 = NonZeroU64::new(TICK_HZ).expect("a clock ticks");
        Limit::from_ticks(duration.as_ticks(), HZ)
    }
}

/// embassy-sync's raw mutex `M`, as fifolock's locks need it: where `M` refuses to be locked, this aborts.
#[derive(Debug)]
pub struct Excluding<M>(M);

// SAFETY: 1: a `RawMutex` that returns has run its closure, once. 2: one that refuses panics before it runs the closure
// (thread mode's does); the panic ends in an abort. 3: `RawMutex` keeps other threads and interrupt levels out as far as
// its `Sync` lets it be shared. It may be entered again by the same one, which would not exclude; but no section runs
// foreign code, so none is.
#[allow(unsafe_code, reason = "the one impl over embassy-sync's raw mutexes")]
unsafe impl<M: RawMutex> Exclusion for Excluding<M> {
    const INIT: Self = Self(M::INIT);

    #[inline]
    fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        let refused = AbortOnDrop;
        let result = self.0.lock(f);
        core::mem::forget(refused);
        result
    }
}

/// Dropped by an unwinding, it panics a second time, which aborts.
struct AbortOnDrop;

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        panic!("a lock was used where its raw mutex must not be locked; it can't be left in order, so this aborts");
    }
}

fifolock_core::adapter!([M] Embassy<M>, Timer);

/// The example of the registry's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

//! fifolock's locks for embassy: over embassy-sync's raw mutexes, with timeouts through embassy-time.
//!
//! This is `fifolock::embassy`, by the feature `embassy` of the crate `fifolock`, which most users want. Firmware turns
//! off the default features, since they need `std`:
//!
//! ```toml
//! fifolock = { version = "0.1", default-features = false, features = ["embassy"] }
//! ```
//!
//! `Mutex<M, T>` has the parameters and method names of embassy-sync's, so a program that uses that one changes only
//! its `use` line. Durations and instants are embassy-time's. The final binary chooses the time driver and the
//! implementation of critical sections.
//!
//! # Examples
//!
//! ```
//! # mod fifolock { pub use fifolock_embassy as embassy; }
//! use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
//! use embassy_time::Duration;
//! use fifolock::embassy::{Mutex, RwLock, TimeoutError};
//!
//! static BUS: Mutex<CriticalSectionRawMutex, [u8; 4]> = Mutex::new([0; 4]);
//! static CALIBRATION: RwLock<CriticalSectionRawMutex, i32> = RwLock::new(0);
//!
//! async fn transfer() -> Result<u8, TimeoutError> {
//!     let offset = *CALIBRATION.read().await;
//!     // A sensor that holds the bus must not stop the task that feeds the watchdog.
//!     let mut bus = BUS.lock_timeout(Duration::from_millis(5)).await?;
//!     bus[0] = bus[0].saturating_add_signed(offset as i8);
//!     Ok(bus[0])
//! }
//! # let _ = transfer;
//! ```
//!
//! # Raw mutexes
//!
//! | `M` | use it |
//! |---|---|
//! | `CriticalSectionRawMutex` | between executors of any priority, and from interrupt handlers |
//! | `ThreadModeRawMutex` | in thread mode of one core; [other uses panic](#panics) |
//! | `NoopRawMutex` | inside one executor |
//! | a generic `M: RawMutex` | in a driver that leaves the choice to its user |
//!
//! # Differences from embassy-sync
//!
//! - Waiters are served in the order of their arrival, a release hands the lock over, and a waiting writer stops new
//!   readers. embassy-sync's `Mutex` wakes one waiter at most, and all others race.
//! - Any number of tasks may wait. embassy-sync's `Mutex` keeps one waker, so two waiting tasks wake each other in
//!   turn.
//! - There are also timed forms, owned guards (feature `alloc`), upgradable reads, `run_exclusive` and `diagnose`.
//! - `lock`, `read` and `write` are functions that return named futures, such as [`Lock`].
//! - A `RwLock` is `Sync` only if its data is `Sync`, since readers share the data.
//! - The types differ. A driver that needs embassy-sync's own `Mutex`, such as a shared bus of embassy-embedded-hal,
//!   doesn't accept one of these.
//! - As with embassy-sync's locks, a panic under a guard poisons nothing, and a task that only takes free locks never
//!   gives way: embassy's executors have no budget.
//!
//! The differences, line by line, are in
//! [the guide for those who come from embassy-sync](https://github.com/fifolock/fifolock/blob/main/docs/MIGRATION.md#from-embassy-sync).
//!
//! # Panics
//!
//! A timed operation that has to wait panics where embassy-time's own timer would: the timer queue that is integrated
//! with embassy's executor takes only wakers of that executor. A finished wait may leave its task one wake in the
//! driver's queue, as every embassy timer does.
//!
//! `ThreadModeRawMutex` can be locked only in thread mode, and so not in an interrupt handler. Elsewhere every use of
//! such a lock panics, and so does the drop of a guard, which leaves the lock locked. embassy-sync's locks do the same.
//! If a queued future is dropped elsewhere, the program *aborts*, since the memory of the future would stay in the
//! queue.
//!
//! A lock future panics if it is polled after it was ready. A wait for a duration past the end of the clock has no end,
//! where `embassy_time::Timer::after` would panic.
//!
//! # Tests on a host
//!
//! A test program needs a time driver: the feature `std` or `mock-driver` of embassy-time. If its futures run on
//! another executor than embassy's, it also needs a timer queue that takes any waker: embassy-time's feature
//! `generic-queue-8`. The critical sections need critical-section's feature `std`. The `blocking_…` methods need
//! fifolock's feature `std`, so they exist on hosts only, and block any thread.
//!
//! ```toml
//! [dev-dependencies]
//! critical-section = { version = "1.2", features = ["std"] }
//! embassy-time = { version = "0.5", features = ["std", "generic-queue-8"] }
//! ```
//!
//! # Versions
//!
//! This adapter works with embassy-sync 0.7 and 0.8, and with embassy-time 0.4 and 0.5. It re-exports the ones that it
//! uses as
//! [`fifolock::embassy::embassy_sync`](embassy_sync) and [`fifolock::embassy::embassy_time`](embassy_time).

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg = false))]
#![deny(unsafe_code)]

#[doc(no_inline)]
pub use {embassy_sync, embassy_time};

use core::marker::PhantomData;
use core::num::NonZeroU64;
use embassy_sync::blocking_mutex::raw::RawMutex;
use embassy_time::{Duration, Instant, TICK_HZ, Timer as Sleep};
use fifolock_core::error::Limit;
use fifolock_core::platform::{Platform, Timer};
use fifolock_core::raw::{CellLock, Exclusion, Refusal};

/// The platform of embassy firmware, over embassy-sync's raw mutex `M`.
#[derive(Debug)]
pub struct Embassy<M>(PhantomData<M>);

// The error for a wrong `M` then has the text of `Platform`. `RawMutex` alone doesn't say that `M` comes first.
#[diagnostic::do_not_recommend]
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

/// embassy-sync's raw mutex `M`, as fifolock's locks need it. A refusal of `M` is a panic, or an abort if a waiter
/// would be left in a queue.
/// left in a queue.
#[derive(Debug)]
pub struct Excluding<M>(M);

// SAFETY: the contract of the trait, by number. 1: a `RawMutex` that returns has run its closure once. 2: a `RawMutex`
// that refuses panics before it runs the closure, as thread mode's does. The panic becomes an abort, unless the caller
// asks for the panic. 3: `RawMutex` keeps out other threads and interrupt levels, as far as its `Sync` lets it be
// shared. The same thread or level may enter it again, which would not exclude. But no section runs foreign code, so
// none is entered again.
#[allow(unsafe_code, reason = "the one impl over embassy-sync's raw mutexes")]
unsafe impl<M: RawMutex> Exclusion for Excluding<M> {
    const INIT: Self = Self(M::INIT);

    #[inline]
    fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        self.run_with_refusal(Refusal::Aborts, f)
    }

    #[inline]
    fn run_with_refusal<R>(&self, refusal: Refusal, f: impl FnOnce() -> R) -> R {
        let refused = (refusal == Refusal::Aborts).then(|| AbortOnDrop);
        let result = self.0.lock(f);
        core::mem::forget(refused);
        result
    }
}

/// If an unwinding drops this value, the drop panics a second time, which aborts.
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

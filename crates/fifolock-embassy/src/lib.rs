//! fifolock's locks for embassy: over embassy-sync's raw mutexes, with timeouts through embassy-time.
//!
//! This is `fifolock::embassy`, by the feature `embassy` of the crate `fifolock`, which most users want. Firmware turns off the
//! default features, which need `std`:
//!
//! ```toml
//! fifolock = { version = "0.1", default-features = false, features = ["embassy"] }
//! ```
//!
//! `Mutex<M, T>` has embassy-sync's parameters and method names, so that its own locks change their `use` line. Durations and
//! instants are embassy-time's. The final binary chooses the time driver and the implementation of critical sections.
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
//! | `ThreadModeRawMutex` | in thread mode of one core. [Used from elsewhere it panics](#panics) |
//! | `NoopRawMutex` | inside one executor |
//! | a generic `M: RawMutex` | in a driver that leaves the choice to its user |
//!
//! # Differences from embassy-sync
//!
//! - Waiters are served in the order of their arrival, a release hands the lock over, and a waiting writer stops new readers.
//!   embassy-sync's `Mutex` wakes one waiter at most, and lets all others race.
//! - Any number of tasks may wait. embassy-sync's `Mutex` keeps the waker of one, and two tasks that wait wake each other in turn.
//! - Timed forms, owned guards (feature `alloc`), upgradable reads, `run_exclusive` and `diagnose` come on top.
//! - `lock`, `read` and `write` are functions that return named futures, such as [`Lock`].
//! - A `RwLock` is `Sync` only if its data is `Sync`: readers share it.
//! - The types are others. A driver that asks for embassy-sync's own `Mutex`, such as a shared bus of embassy-embedded-hal, can't
//!   be given one of these.
//! - As with embassy-sync's, a panic under a guard poisons nothing, and a task that does nothing but take free locks never gives
//!   way: embassy's executors have no budget to ask.
//!
//! Each line that differs stands in
//! [the guide for those who come from embassy-sync](https://github.com/fifolock/fifolock/blob/main/docs/MIGRATION.md#from-embassy-sync).
//!
//! # Panics
//!
//! A timed operation that has to wait panics where embassy-time's own timer would: its integrated queue takes no wakers
//! but embassy's. A finished wait may leave its task one wake in the driver's queue, as every embassy timer does.
//!
//! `ThreadModeRawMutex` refuses to be locked outside of thread mode, as in an interrupt handler. Every use of such a lock
//! panics there, and so does the drop of a guard, which leaves the lock locked: all as with embassy-sync's. A future that
//! stands in the queue and is dropped there *aborts* the program, since its memory would stay in the queue.
//!
//! A lock future panics if it is polled after it was ready. A duration past the end of the clock waits without an end
//! (`embassy_time::Timer::after` would panic).
//!
//! # Tests on a host
//!
//! A test program needs a time driver and, if its futures run on an executor other than embassy's, a timer queue that takes any
//! waker: embassy-time's features `std` (or `mock-driver`) and `generic-queue-8`, and critical-section's feature `std`. The
//! `blocking_…` methods are there on hosts alone, by fifolock's feature `std`, and block any thread.
//!
//! ```toml
//! [dev-dependencies]
//! critical-section = { version = "1.2", features = ["std"] }
//! embassy-time = { version = "0.5", features = ["std", "generic-queue-8"] }
//! ```
//!
//! # Versions
//!
//! embassy-sync 0.7 and 0.8, embassy-time 0.4 and 0.5. The crates that this adapter uses are
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

// A mistaken `M` is told by the words of `Platform`: `RawMutex` alone doesn't say that `M` comes first.
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

/// embassy-sync's raw mutex `M`, as fifolock's locks need it: a refusal of `M` is a panic, or an abort where a waiter would be
/// left in a queue.
#[derive(Debug)]
pub struct Excluding<M>(M);

// SAFETY: 1: a `RawMutex` that returns has run its closure, once. 2: one that refuses panics before it runs the closure
// (thread mode's does); the panic ends in an abort, unless the caller asks for the panic. 3: `RawMutex` keeps other threads
// and interrupt levels out as far as its `Sync` lets it be shared. It may be entered again by the same one, which would not
// exclude; but no section runs foreign code, so none is.
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

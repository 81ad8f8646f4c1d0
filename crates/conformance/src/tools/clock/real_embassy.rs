//! embassy-time on a driver whose clock is a real one: which, the program decides.

use super::{PATIENCE, TestTimer, sleep_to_be_woken};
use core::time;
use embassy_sync::blocking_mutex::raw::RawMutex;
use embassy_time::{Duration, Instant};
use fifolock::embassy::Embassy;

impl<M: RawMutex + 'static> TestTimer for Embassy<M> {
    const EXACT: bool = false;
    // embassy's timers can't be disarmed: the queue keeps the waker until the time comes.
    const FORGETS: bool = false;

    fn with(test: impl FnOnce()) {
        test();
    }

    fn advance(by: time::Duration) {
        sleep_to_be_woken::<Self>(by.min(PATIENCE));
        // The driver wakes all whose time has come in one pass, not in the order of time; its clock waits for the end of it.
        let _ = Instant::now();
    }

    fn armed() -> Option<usize> {
        None
    }

    fn span(of: time::Duration) -> Duration {
        of.try_into().unwrap_or(Duration::MAX)
    }

    fn instant_in(after: time::Duration) -> Instant {
        Instant::now().saturating_add(Self::span(after))
    }

    fn past_instant() -> Instant {
        // The clock begins with the program.
        Instant::now().checked_sub(Duration::from_ticks(1)).unwrap_or(Instant::MIN)
    }
}

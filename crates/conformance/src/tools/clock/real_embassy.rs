//! embassy-time on a driver with a real clock, which the test program chooses.

use super::{PATIENCE, TestTimer, sleep_to_be_woken};
use core::time;
use embassy_sync::blocking_mutex::raw::RawMutex;
use embassy_time::{Duration, Instant};
use fifolock::embassy::Embassy;

impl<M: RawMutex + 'static> TestTimer for Embassy<M> {
    const EXACT: bool = false;
    // Embassy's timers can't be disarmed: the timer queue keeps the waker until the time comes.
    const FORGETS: bool = false;

    fn with(test: impl FnOnce()) {
        test();
    }

    fn advance(by: time::Duration) {
        sleep_to_be_woken::<Self>(by.min(PATIENCE));
        // The driver wakes all tasks whose time has come in one pass, not in the order of time. Its `now` waits for the
        // end of the pass.
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
        // The clock starts with the program.
        Instant::now().checked_sub(Duration::from_ticks(1)).unwrap_or(Instant::MIN)
    }
}

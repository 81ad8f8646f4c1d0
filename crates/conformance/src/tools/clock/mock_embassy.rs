//! The mock driver of embassy-time. The program has one such clock, so tests that use it take turns.

use super::TestTimer;
use core::time;
use embassy_sync::blocking_mutex::raw::RawMutex;
use embassy_time::{Duration, Instant, MockDriver};
use fifolock::embassy::Embassy;
use std::sync::{Mutex, PoisonError};

static TURN: Mutex<()> = Mutex::new(());

/// The time at which a new clock starts: not zero, so that deadlines in the past exist.
const START: Duration = Duration::from_secs(1000);

impl<M: RawMutex + 'static> TestTimer for Embassy<M> {
    const EXACT: bool = true;
    // Embassy's timers can't be disarmed: the timer queue keeps the waker until the time comes.
    const FORGETS: bool = false;

    fn with(test: impl FnOnce()) {
        struct Over;
        impl Drop for Over {
            fn drop(&mut self) {
                MockDriver::get().reset();
            }
        }
        // A test that failed leaves the lock poisoned, and nothing else.
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let _over = Over;
        MockDriver::get().advance(START);
        test();
    }

    fn advance(by: time::Duration) {
        MockDriver::get().advance(Self::span(by));
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
        Instant::now() - Duration::from_ticks(1)
    }
}

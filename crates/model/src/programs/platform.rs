//! A platform without the rescue, for the second run of each comparison.

use core::marker::PhantomData;
use core::time::Duration;
use fifolock_conformance::tools::clock::{Manual, TestTimer};
use fifolock_core::platform::{Platform, Timer};
use fifolock_core::raw::RawLock;

/// The raw lock and the clock of [`Manual`], without the rescue (R11).
#[derive(Debug)]
pub struct Without<R>(PhantomData<R>);

type With<R> = Manual<R>;

impl<R: RawLock + 'static> Platform for Without<R> {
    type Raw = <With<R> as Platform>::Raw;

    const RESCUE: bool = false;
}

impl<R: RawLock + 'static> Timer for Without<R> {
    type Duration = Duration;
    type Instant = <With<R> as Timer>::Instant;
    type Sleep = <With<R> as Timer>::Sleep;

    fn sleep(duration: Duration) -> Option<Self::Sleep> {
        With::<R>::sleep(duration)
    }

    fn sleep_until(deadline: Self::Instant) -> Option<Self::Sleep> {
        With::<R>::sleep_until(deadline)
    }

    fn now() -> Self::Instant {
        With::<R>::now()
    }

    fn to_core(duration: Duration) -> Duration {
        duration
    }
}

impl<R: RawLock + 'static> TestTimer for Without<R> {
    const EXACT: bool = With::<R>::EXACT;
    const FORGETS: bool = With::<R>::FORGETS;

    fn with(test: impl FnOnce()) {
        With::<R>::with(test);
    }

    fn advance(by: Duration) {
        With::<R>::advance(by);
    }

    fn armed() -> Option<usize> {
        With::<R>::armed()
    }

    fn span(of: Duration) -> Duration {
        of
    }

    fn instant_in(after: Duration) -> Self::Instant {
        With::<R>::instant_in(after)
    }

    fn past_instant() -> Self::Instant {
        With::<R>::past_instant()
    }
}

//! Clocks that stand still until a test advances them: one made of shuttle's own parts, and those of tokio and embassy.

use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use embassy_sync::blocking_mutex::raw::RawMutex;
use fifolock::embassy::Embassy;
use fifolock::tokio::Tokio;
use fifolock_conformance::tools::clock::TestTimer;
use fifolock_core::platform::{Platform, Timer};
use fifolock_core::raw::RawLock;
use shuttle::sync::Mutex;
use std::collections::BTreeMap;

/// A platform that the programs run on.
pub(super) trait World:
    Platform<Raw: Send + Sync> + Timer<Duration: Send, Instant: Send, Sleep: Send> + 'static
{
    /// Runs the schedules with a clock.
    fn with(schedules: impl FnOnce()) {
        schedules();
    }

    /// Advances the clock by one tick.
    fn tick();

    /// A span of `number` ticks.
    fn ticks(number: u32) -> Self::Duration;

    /// Ends a schedule: no sleep is armed, or an armed one wakes no task of the next schedule.
    fn settle();
}

/// The length of a tick on the adapters' clocks.
const TICK: Duration = Duration::from_millis(10);

macro_rules! adapters {
    ($($platform:ty),+ $(,)?) => {
        $(
            impl World for $platform {
                fn with(schedules: impl FnOnce()) {
                    <Self as TestTimer>::with(schedules);
                }

                fn tick() {
                    <Self as TestTimer>::advance(TICK);
                }

                fn ticks(number: u32) -> Self::Duration {
                    <Self as TestTimer>::span(TICK * number)
                }

                fn settle() {
                    // Embassy's queue keeps the waker of a dropped sleep until its time has come.
                    <Self as TestTimer>::advance(TICK * 1000);
                }
            }
        )+
    };
}

adapters!(Tokio, OnEmbassy);

/// Embassy's platform over a raw mutex of shuttle. A critical section would exclude other threads, but shuttle runs all
/// of its own on one.
pub(super) type OnEmbassy = Embassy<Exclusive>;

/// A raw mutex that shuttle schedules.
pub(super) struct Exclusive(Mutex<()>);

// SAFETY: the mutex keeps shuttle's other threads out while the closure runs, and the closure runs once.
unsafe impl RawMutex for Exclusive {
    const INIT: Self = Self(Mutex::new(()));

    fn lock<R>(&self, f: impl FnOnce() -> R) -> R {
        let _held = self.0.lock().expect("no section panics");
        f()
    }
}

impl<R: RawLock + Send + Sync + 'static> World for Ticks<R> {
    fn tick() {
        let mut clock = CLOCK.lock().expect("no thread panics while it holds the clock");
        clock.now += 1;
        let now = clock.now;
        let due: Vec<Waker> =
            clock.armed.values().filter(|(until, _)| *until <= now).map(|(_, waker)| waker.clone()).collect();
        drop(clock);
        for waker in due {
            waker.wake();
        }
    }

    fn ticks(number: u32) -> u64 {
        number.into()
    }

    fn settle() {
        let clock = CLOCK.lock().expect("no thread panics while it holds the clock");
        assert_eq!(clock.armed.len(), 0, "a sleep is left");
    }
}

#[derive(Default)]
struct Clock {
    now: u64,
    sleeps: u64,
    armed: BTreeMap<u64, (u64, Waker)>,
}

shuttle::lazy_static! {
    // Each schedule has a clock of its own.
    static ref CLOCK: Mutex<Clock> = Mutex::new(Clock::default());
}

/// A platform on that clock.
#[derive(Debug)]
pub(super) struct Ticks<R>(PhantomData<R>);

impl<R: RawLock + 'static> Platform for Ticks<R> {
    type Raw = R;
}

#[derive(Debug)]
pub(super) struct Sleep {
    number: u64,
    until: u64,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut clock = CLOCK.lock().expect("no thread panics while it holds the clock");
        if clock.now >= self.until {
            return Poll::Ready(());
        }
        let old = clock.armed.insert(self.number, (self.until, cx.waker().clone()));
        drop(clock);
        drop(old);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let old = CLOCK.lock().expect("no thread panics while it holds the clock").armed.remove(&self.number);
        drop(old);
    }
}

impl<R: RawLock + 'static> Timer for Ticks<R> {
    type Duration = u64;
    type Instant = u64;
    type Sleep = Sleep;

    fn sleep(duration: u64) -> Option<Sleep> {
        Self::sleep_until(Self::now() + duration)
    }

    fn sleep_until(until: u64) -> Option<Sleep> {
        let mut clock = CLOCK.lock().expect("no thread panics while it holds the clock");
        clock.sleeps += 1;
        Some(Sleep { number: clock.sleeps, until })
    }

    fn now() -> u64 {
        CLOCK.lock().expect("no thread panics while it holds the clock").now
    }

    fn to_core(duration: u64) -> Duration {
        Duration::from_secs(duration)
    }
}

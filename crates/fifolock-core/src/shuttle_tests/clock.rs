//! A clock that stands until it is moved on, and sleeps over it.

use crate::platform::{Platform, Timer};
use crate::raw::RawLock;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use shuttle::sync::Mutex;
use std::collections::BTreeMap;

#[derive(Default)]
struct Clock {
    now: u64,
    sleeps: u64,
    armed: BTreeMap<u64, (u64, Waker)>,
}

shuttle::lazy_static! {
    // One for each schedule.
    static ref CLOCK: Mutex<Clock> = Mutex::new(Clock::default());
}

/// Lets one tick pass.
pub(super) fn tick() {
    let mut clock = CLOCK.lock().expect("nobody panics with the clock in its hands");
    clock.now += 1;
    let now = clock.now;
    let due: std::vec::Vec<Waker> =
        clock.armed.values().filter(|(until, _)| *until <= now).map(|(_, waker)| waker.clone()).collect();
    drop(clock);
    for waker in due {
        waker.wake();
    }
}

/// How many sleeps wait.
pub(super) fn armed() -> usize {
    CLOCK.lock().expect("nobody panics with the clock in its hands").armed.len()
}

/// A platform whose ticks are those of the clock.
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
        let mut clock = CLOCK.lock().expect("nobody panics with the clock in its hands");
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
        let old = CLOCK.lock().expect("nobody panics with the clock in its hands").armed.remove(&self.number);
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
        let mut clock = CLOCK.lock().expect("nobody panics with the clock in its hands");
        clock.sleeps += 1;
        Some(Sleep { number: clock.sleeps, until })
    }

    fn now() -> u64 {
        CLOCK.lock().expect("nobody panics with the clock in its hands").now
    }

    fn to_core(duration: u64) -> Duration {
        Duration::from_secs(duration)
    }
}

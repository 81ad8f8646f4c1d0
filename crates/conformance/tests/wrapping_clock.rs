//! F09: a tick clock that wraps, as small timers do. Its points in time compare by the shorter way round. The wrap must
//! not make a deadline fire at once, or never.

use core::cell::Cell;
use core::cmp::Ordering;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use fifolock_conformance::tools::Task;
use fifolock_core::platform::{Platform, Std, Timer};
use fifolock_core::{Mutex, RwLock};

std::thread_local! {
    static NOW: Cell<u8> = const { Cell::new(0) };
}

fn advance(by: u8) {
    NOW.set(NOW.get().wrapping_add(by));
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Tick(u8);

impl Tick {
    fn plus(self, ticks: u8) -> Self {
        Self(self.0.wrapping_add(ticks))
    }
}

impl PartialOrd for Tick {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.0.wrapping_sub(other.0).cast_signed().partial_cmp(&0)
    }
}

enum EightBits {}

impl Platform for EightBits {
    type Raw = <Std as Platform>::Raw;
}

impl Timer for EightBits {
    type Duration = u8;
    type Instant = Tick;
    type Sleep = Sleep;

    fn sleep(ticks: u8) -> Option<Sleep> {
        // A point that is farther away than half of the range is in the past.
        (ticks < 128).then(|| Sleep(Self::now().plus(ticks)))
    }

    fn sleep_until(deadline: Tick) -> Option<Sleep> {
        Some(Sleep(deadline))
    }

    fn now() -> Tick {
        Tick(NOW.get())
    }

    fn to_core(ticks: u8) -> Duration {
        Duration::from_millis(ticks.into())
    }
}

/// The sleep wakes no task: the tests poll.
struct Sleep(Tick);

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if EightBits::now() >= self.0 { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[test]
fn t2_a_deadline_beyond_the_wrap_is_neither_past_nor_never() {
    let mutex = Mutex::<u8, EightBits>::new(0);
    let lock = RwLock::<u8, EightBits>::new(0);
    for start in (0..=u8::MAX).step_by(if cfg!(miri) { 51 } else { 1 }) {
        NOW.set(start);
        let held = (mutex.try_lock().expect("free"), lock.try_write().expect("free"));
        let now = EightBits::now();
        for past in [now, now.plus(255), now.plus(200)] {
            assert!(
                Task::new(mutex.lock_deadline(past)).ready().expect_err("the lock is held").is_elapsed(),
                "{start}"
            );
            assert!(Task::new(lock.read_deadline(past)).ready().expect_err("the lock is held").is_elapsed(), "{start}");
        }
        for ticks in [1, 5, 127] {
            NOW.set(start);
            let mut locking = Task::queued(mutex.lock_deadline(now.plus(ticks)));
            let mut reading = Task::queued(lock.read_timeout(ticks));
            advance(ticks - 1);
            locking.pending();
            reading.pending();
            advance(1);
            assert!(locking.ready().expect_err("the lock is held").is_elapsed(), "{ticks} from {start}");
            assert!(reading.ready().expect_err("the lock is held").is_elapsed(), "{ticks} from {start}");
        }
        assert_eq!((mutex.queued(), lock.state().waiting_readers), (0, 0));
        drop(held);
    }
}

#[test]
fn t3_a_span_that_the_clock_cannot_tell_waits_for_ever() {
    let mutex = Mutex::<u8, EightBits>::new(0);
    let held = mutex.try_lock().expect("free");
    let mut waiting = Task::queued(mutex.lock_timeout(u8::MAX));
    for _ in 0..2 * 256 {
        advance(1);
        waiting.pending();
    }
    drop(held);
    assert!(waiting.ready().is_ok());
}

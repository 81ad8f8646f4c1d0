//! The rules on embassy's platforms, the rules of time on its mock driver, and the end of its clock.

use embassy_sync::blocking_mutex::raw::{CriticalSectionRawMutex, NoopRawMutex};
use embassy_time::{Duration, Instant, MockDriver};
use fifolock::embassy::{Embassy, Mutex, RwLock};
use fifolock_conformance::tools::Task;
use fifolock_conformance::tools::clock::TestTimer;

macro_rules! on {
    ($($module:ident: $mutex:ident),+ $(,)?) => {
        $(
            mod $module {
                use fifolock::embassy::Embassy;
                use fifolock_core::platform::Platform;

                type Locks = Embassy<super::$mutex>;
                type Raw = <Locks as Platform>::Raw;

                // Miri runs the flavours of `time`, `mutex` and `rwlock`, which have the same cell as a `RawMutex`.
                #[cfg(not(miri))]
                mod time {
                    use super::*;
                    fifolock_conformance::time_rules!(Locks);
                    fifolock_conformance::until_rules!(Locks);
                }

                mod locks {
                    use super::*;
                    #[cfg(not(miri))]
                    fifolock_conformance::mutex_rules!(Locks);
                    #[cfg(not(miri))]
                    fifolock_conformance::rwlock_rules!(Locks);
                    #[cfg(not(miri))]
                    fifolock_conformance::foreign_rules!(Locks);
                    fifolock_conformance::raw_rules!(Raw);
                }

                #[cfg(not(miri))]
                mod watched {
                    use super::*;
                    use fifolock_conformance::tools::Watched;
                    fifolock_conformance::mutex_rules!(Watched<Raw>);
                    fifolock_conformance::rwlock_rules!(Watched<Raw>);
                    fifolock_conformance::foreign_rules!(Watched<Raw>);
                }
            }
        )+
    };
}

on! {
    critical_section: CriticalSectionRawMutex,
    noop: NoopRawMutex,
}

type M = CriticalSectionRawMutex;

/// The number of ticks between the clock and its end.
const LEFT: u64 = 1000;

/// Runs a test with a clock that has few ticks left.
fn near_the_end(test: impl FnOnce()) {
    Embassy::<M>::with(|| {
        MockDriver::get().advance(Instant::MAX - Instant::now() - Duration::from_ticks(LEFT));
        test();
    });
}

#[test]
fn t3_a_duration_past_the_end_waits_for_ever() {
    near_the_end(|| {
        let mutex = Mutex::<M, _>::new(0);
        let lock = RwLock::<M, _>::new(0);
        for past in [LEFT + 1, LEFT + 2, u64::MAX / 2, u64::MAX - LEFT, u64::MAX].map(Duration::from_ticks) {
            drop(Task::new(mutex.lock_timeout(past)).ready().expect("the lock is free"));
            let held = (mutex.try_lock().expect("free"), lock.try_write().expect("free"));
            let mut waits = Task::queued(mutex.lock_timeout(past));
            let mut reads = Task::queued(lock.read_timeout(past));
            let mut writes = Task::queued(lock.write_timeout(past));
            MockDriver::get().advance(Duration::from_ticks(1));
            waits.pending();
            reads.pending();
            writes.pending();
            assert_eq!((waits.wakes(), reads.wakes(), writes.wakes()), (0, 0, 0));
            drop(held);
            drop(waits.ready().expect("granted"));
            drop(writes.ready().expect("granted"));
            drop(reads.ready().expect("granted"));
        }
    });
}

#[test]
fn t3_a_wait_past_the_end_outlasts_the_clock() {
    near_the_end(|| {
        let mutex = Mutex::<M, _>::new(0);
        let held = mutex.try_lock().expect("free");
        let mut first = Task::queued(mutex.lock_timeout(Duration::from_ticks(LEFT - 1)));
        let mut last = Task::queued(mutex.lock_timeout(Duration::from_ticks(LEFT)));
        let mut deadline = Task::queued(mutex.lock_deadline(Instant::MAX));
        let mut forever = Task::queued(mutex.lock_timeout(Duration::from_ticks(LEFT + 1)));
        MockDriver::get().advance(Duration::from_ticks(LEFT - 1));
        assert!(first.ready().expect_err("late").is_elapsed());
        last.pending();
        deadline.pending();
        MockDriver::get().advance(Duration::from_ticks(1));
        assert_eq!(Instant::now(), Instant::MAX);
        assert!(last.ready().expect_err("late").is_elapsed());
        assert!(deadline.ready().expect_err("late").is_elapsed());
        forever.pending();
        assert_eq!(mutex.queued(), 1);
        // At the end of the clock every duration is past it, and every deadline has passed.
        let mut one_tick = Task::queued(mutex.lock_timeout(Duration::from_ticks(1)));
        assert!(Task::new(mutex.lock_deadline(Instant::MAX)).ready().expect_err("late").is_elapsed());
        drop(held);
        drop(forever.ready().expect("granted"));
        drop(one_tick.ready().expect("granted"));
        assert!(!mutex.is_locked());
    });
}

#[test]
fn t3_a_deadline_at_the_end_of_the_clock_is_far() {
    Embassy::<M>::with(|| {
        let mutex = Mutex::<M, _>::new(0);
        let held = mutex.try_lock().expect("free");
        let mut waits = Task::queued(mutex.lock_deadline(Instant::MAX));
        MockDriver::get().advance(Duration::from_secs(1_000_000));
        waits.pending();
        assert_eq!(waits.wakes(), 0);
        drop(held);
        drop(waits.ready().expect("granted"));
    });
}

#[test]
fn t2_zero_is_no_tick_and_one_tick_is_not_zero() {
    Embassy::<M>::with(|| {
        let mutex = Mutex::<M, _>::new(0);
        assert!(Task::new(mutex.lock_timeout(Duration::from_ticks(0))).ready().expect_err("zero").is_invalid());
        let held = mutex.try_lock().expect("free");
        let mut waits = Task::queued(mutex.lock_timeout(Duration::from_ticks(1)));
        MockDriver::get().advance(Duration::from_ticks(1));
        let error = waits.ready().expect_err("the lock is held");
        assert_eq!(error.to_string(), "timed out waiting for mutex after 1µs");
        drop(held);
    });
}

/// A span whose nanoseconds overflow `core`'s duration, and the longest span of all.
#[test]
fn t3_an_error_tells_the_longest_duration() {
    use fifolock_core::platform::Timer;
    let longest = Embassy::<M>::to_core(Duration::MAX);
    assert_eq!(longest, core::time::Duration::from_micros(u64::MAX));
    assert_eq!(Embassy::<M>::to_core(Duration::from_ticks(1_500_001)), core::time::Duration::from_micros(1_500_001));
}

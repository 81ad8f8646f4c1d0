//! Zero, deadlines in the past, and spans past the end of the clock (T2, T3).

use super::fixture::{Fixture, State, assert_armed, assert_elapsed, ms};
use super::{CONTENDED, OWNED};
use crate::tools::Task;
use crate::tools::clock::TestTimer;
use core::task::Poll;
use core::time::Duration;
use fifolock_core::RwLock;

pub(super) fn t2_zero_is_refused_and_the_lock_untouched<P: TestTimer>() {
    Fixture::<P>::every_timeout(|f| {
        let refused = |state| {
            let mut zero = Task::new(f.with_timeout(Duration::ZERO));
            let error = zero.ready().expect_err("zero is refused");
            assert!(error.is_invalid() && !error.is_elapsed(), "{error:?}");
            assert_eq!(f.state(), state);
            assert_armed::<P>(0);
            assert_eq!(zero.wakers_kept(), 0);
        };
        refused(State { owners: 0, waiters: 0 });
        let held = f.hold();
        refused(OWNED);
        let mut next = Task::queued(f.plain());
        refused(CONTENDED);
        drop(held);
        refused(OWNED);
        assert_eq!(next.wakes(), 1);
        drop(next.ready());
    });
}

pub(super) fn t2_zero_is_refused_by_run<P: TestTimer>() {
    Fixture::<P>::every_timeout(|f| {
        let refused = || {
            let mut run = Task::new(f.run(Duration::ZERO, async || panic!("it runs")));
            assert!(run.ready().expect_err("zero is refused").is_invalid());
        };
        refused();
        let held = f.hold();
        refused();
        assert_eq!(f.state(), OWNED);
        drop(held);
    });
}

pub(super) fn t2_the_smallest_duration_is_not_zero<P: TestTimer>() {
    Fixture::<P>::every_timeout(|f| {
        // The smallest span of the platform. If the platform rounds a span to zero, the span counts as zero.
        let smallest = ms(1);
        drop(Task::new(f.with_timeout(smallest)).ready().expect("the lock is free"));
        let held = f.hold();
        let mut waiting = Task::new(f.with_timeout(smallest));
        if let Poll::Ready(outcome) = waiting.poll() {
            assert!(outcome.expect_err("the lock is held").is_elapsed());
        } else {
            P::advance(ms(2));
            assert_elapsed(&mut waiting);
        }
        drop(held);
    });
}

pub(super) fn t2_a_past_deadline_is_one_attempt<P: TestTimer>() {
    Fixture::<P>::every_deadline(|f| {
        for deadline in [P::past_instant(), P::instant_in(Duration::ZERO)] {
            let late = || Task::new(f.with_deadline(deadline));
            // The lock is free: the operation returns a guard.
            drop(late().ready().expect("the lock is free"));
            // The lock is held: the operation fails.
            let held = f.hold();
            assert_elapsed(&mut late());
            assert_eq!(f.state(), OWNED);
            // The lock is held and has a waiter: the operation fails and does not disturb the waiter.
            let mut next = Task::queued(f.plain());
            assert_elapsed(&mut late());
            assert_eq!(f.state(), CONTENDED);
            assert_eq!(next.wakes(), 0);
            // The waiter is granted and has not claimed: the operation fails.
            drop(held);
            assert_elapsed(&mut late());
            assert_eq!(f.state(), OWNED);
            let guard = next.ready();
            assert_elapsed(&mut late());
            drop(guard);
            // The lock is free again: the operation returns a guard.
            drop(late().ready().expect("the lock is free"));
            assert_armed::<P>(0);
            f.assert_free();
        }
    });
}

pub(super) fn t2_a_past_deadline_does_not_pass_readers_by_a_writer<P: TestTimer>() {
    P::with(|| {
        let lock = RwLock::<_, P>::new(0);
        let reader = lock.try_read().expect("free");
        // One more reader may enter while no writer waits.
        drop(Task::new(lock.read_deadline(P::past_instant())).ready().expect("there is room"));
        assert!(Task::new(lock.write_deadline(P::past_instant())).ready().is_err());
        // No reader may enter while a writer waits.
        let mut writer = Task::queued(lock.write());
        assert!(Task::new(lock.read_deadline(P::past_instant())).ready().is_err());
        assert_eq!(lock.state().waiting_readers, 0);
        drop(reader);
        drop(writer.ready());
    });
}

/// Spans that no clock can represent, and some that only some clocks can.
const LONGEST: [Duration; 4] = [
    Duration::MAX,
    Duration::from_secs(u64::MAX),
    Duration::from_millis(u64::MAX),
    // The last millisecond of a 64-bit count of nanoseconds.
    Duration::from_nanos(u64::MAX - 1_000_000),
];

pub(super) fn t3_a_duration_past_the_clocks_end_waits_for_ever<P: TestTimer>() {
    Fixture::<P>::every_timeout(|f| {
        for duration in LONGEST {
            let held = f.hold();
            let mut waiting = Task::queued(f.with_timeout(duration));
            for _ in 0..3 {
                P::advance(ms(1000));
                waiting.pending();
            }
            assert_eq!(waiting.wakes(), 0);
            drop(held);
            drop(waiting.ready().expect("it was granted"));
            // The same span on a free lock.
            drop(Task::new(f.with_timeout(duration)).ready().expect("the lock is free"));
            f.assert_free();
        }
    });
}

pub(super) fn t3_a_far_deadline_waits<P: TestTimer>() {
    Fixture::<P>::every_deadline(|f| {
        let far = P::instant_in(Duration::from_secs(20 * 365 * 24 * 3600));
        let held = f.hold();
        let mut waiting = Task::queued(f.with_deadline(far));
        P::advance(ms(1000));
        waiting.pending();
        drop(held);
        drop(waiting.ready().expect("it was granted"));
    });
}

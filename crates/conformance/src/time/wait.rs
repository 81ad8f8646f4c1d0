//! A limit ends the wait, and never the time that a guard is held (T1).

use super::fixture::{Fixture, State, advance_to_the_end, assert_armed, assert_elapsed, ms, queued};
use super::{CONTENDED, OWNED};
use crate::tools::Task;
use crate::tools::clock::TestTimer;
use core::cell::Cell;
use core::future::poll_fn;
use core::task::Poll;

pub(super) fn t1_a_free_lock_is_taken_by_the_first_poll<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let mut future = Task::new(f.timed(ms(10)));
        assert_eq!(f.state(), State { owners: 0, waiters: 0 }, "creating it has no effect");
        let guard = future.ready().expect("the lock is free");
        assert_eq!(f.state(), OWNED);
        assert_armed::<P>(0);
        drop(guard);
    });
}

pub(super) fn t1_the_time_runs_from_the_first_poll<P: TestTimer>() {
    Fixture::<P>::every_timeout(|f| {
        let _held = f.hold();
        let future = f.timed(ms(20));
        P::advance(ms(100));
        let mut waiting = Task::new(future);
        if P::EXACT {
            waiting.pending();
        } else if let Poll::Ready(outcome) = waiting.poll() {
            assert!(outcome.expect_err("the lock is held").is_elapsed());
            return;
        }
        advance_to_the_end::<P, _>(ms(20), &mut waiting);
        assert_elapsed(&mut waiting);
    });
    // A deadline does not depend on the time of the first poll.
    Fixture::<P>::every_deadline(|f| {
        let _held = f.hold();
        let future = f.timed(ms(20));
        P::advance(ms(100));
        assert_elapsed(&mut Task::new(future));
    });
}

pub(super) fn t1_later_polls_do_not_extend_the_time<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let _held = f.hold();
        let mut waiting = f.wait(ms(100));
        for _ in 0..9 {
            P::advance(ms(10));
            if P::EXACT {
                waiting.pending();
            }
            assert_armed::<P>(1);
        }
        advance_to_the_end::<P, _>(ms(10), &mut waiting);
        assert_elapsed(&mut waiting);
    });
}

pub(super) fn t1_the_holding_is_not_limited<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        // One guard comes at once, the other after a wait.
        let mut at_once = Task::new(f.timed(ms(10)));
        let guard = at_once.ready().expect("the lock is free");
        P::advance(ms(100));
        assert_eq!(f.state(), OWNED);
        drop(guard);

        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        drop(held);
        let guard = waiting.ready().expect("it was granted");
        let wakes = waiting.wakes();
        P::advance(ms(100));
        assert_eq!(f.state(), OWNED);
        if P::FORGETS {
            assert_eq!(waiting.wakes(), wakes, "the passed limit wakes the task");
        }
        drop(guard);
    });
}

pub(super) fn t1_run_limits_the_wait_not_the_run<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let go_on = Cell::new(false);
        let go_on = &go_on;
        let mut run = queued::<P, _, _>(|| {
            f.run(ms(10), async move || {
                poll_fn(|_| if go_on.get() { Poll::Ready(()) } else { Poll::Pending }).await;
            })
        });
        assert_armed::<P>(1);
        drop(held);
        run.pending();
        assert_eq!(f.state(), OWNED, "it runs");
        assert_armed::<P>(0);
        P::advance(ms(100));
        run.pending();
        assert_eq!(f.state(), OWNED, "the body still runs");
        go_on.set(true);
        assert_eq!(run.ready(), Ok(()));
    });
}

pub(super) fn t1_run_ends_without_running_when_the_time_is_over<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut run = queued::<P, _, _>(|| f.run(ms(20), async || panic!("it was not granted")));
        assert_eq!(f.state(), CONTENDED);
        advance_to_the_end::<P, _>(ms(20), &mut run);
        assert!(run.ready().expect_err("it was not granted").is_elapsed());
        assert_armed::<P>(0);
        assert_eq!(f.state(), OWNED);
        drop(held);
    });
}

pub(super) fn t1_the_sleep_is_gone_when_the_future_ends<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        // The future is claimed, and still exists.
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        assert_armed::<P>(1);
        drop(held);
        let guard = waiting.ready();
        assert_armed::<P>(0);
        drop(guard);

        // The future has timed out, and still exists.
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        P::advance(ms(10));
        assert_elapsed(&mut waiting);
        assert_armed::<P>(0);

        // The future is dropped while it waits.
        let mut waiting = f.wait(ms(10));
        assert_armed::<P>(1);
        waiting.cancel();
        assert_armed::<P>(0);

        // The future is dropped after it was granted.
        let mut waiting = f.wait(ms(10));
        drop(held);
        assert_armed::<P>(1);
        waiting.cancel();
        assert_armed::<P>(0);

        // The future is dropped after its time is over.
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        P::advance(ms(10));
        waiting.cancel();
        assert_armed::<P>(0);
        drop(held);
    });
}

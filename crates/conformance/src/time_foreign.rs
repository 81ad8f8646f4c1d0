//! The rules of time that need a clock which counts its uses, calls back, or panics: T1, T2, T4, K2, K10, the kind of
//! fault F13, and the scenario H06 (e).

use crate::rescue::fixture::{Actor, SUSPICIONS};
use crate::time::fixture::{self, Fixture, Guard, State, Waiting, assert_armed, assert_elapsed, ms};
use crate::tools::clock::{ManualTimer, Use, forbid_clock, on_next, uses};
use crate::tools::{Slot, Task, panics};
use core::cell::Cell;
use core::future::pending;
use core::task::Poll;
use core::time::Duration;

crate::rules! { ($) time_foreign_rules in time_foreign where ManualTimer:
    t1_a_lock_that_is_got_at_once_uses_no_clock,
    t1_a_wait_makes_one_sleep_and_asks_for_the_time_once,
    t1_a_granted_operation_does_not_poll_its_sleep,
    t2_zero_uses_no_clock,
    t2_a_late_deadline_makes_no_sleep,
    t2_the_clock_is_read_after_the_attempt_and_before_queueing,
    t2_a_lock_that_becomes_free_while_the_clock_is_read_is_taken,
    t4_a_grant_while_the_sleep_is_polled_wins,
    t4_a_grant_while_the_sleep_is_polled_comes_before_the_next,
    t4_a_grant_while_the_sleep_is_polled_is_claimed_for_good,
    t4_a_grant_while_a_pending_sleep_is_polled_is_kept,
    t4_a_grant_while_the_sleep_is_made_wins,
    k2_the_clock_may_use_the_lock,
    k10_a_waiter_leaves_before_its_sleep_is_dropped,
    k10_a_grant_is_passed_on_before_the_sleep_is_dropped,
    k10_a_claim_comes_before_the_sleep_is_dropped,
    k10_run_drops_what_runs_before_the_guard,
    f13_a_panicking_clock_leaves_nothing_behind,
    f13_a_panicking_timer_keeps_the_place,
    f13_a_panicking_sleep_keeps_the_place,
    f13_a_panicking_drop_of_the_sleep_loses_no_grant,
    h06_e_a_clock_that_panics_is_not_asked,
}

const FREE: State = State { owners: 0, waiters: 0 };
const OWNED: State = State { owners: 1, waiters: 0 };
const CONTENDED: State = State { owners: 1, waiters: 1 };

/// Makes the next use of the clock drop `held`, which releases the lock.
fn release_on_next(used: Use, held: Guard<'static>) {
    on_next(used, move || drop(held));
}

fn t1_a_lock_that_is_got_at_once_uses_no_clock<P: ManualTimer>() {
    Fixture::<P>::every(|f| {
        forbid_clock(|| {
            drop(Task::new(f.timed(ms(10))).ready().expect("the lock is free"));
            assert_eq!(Task::new(f.run(ms(10), async || ())).ready(), Ok(()));
        });
    });
}

fn t1_a_wait_makes_one_sleep_and_asks_for_the_time_once<P: ManualTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = Task::new(f.timed(ms(10)));
        assert_eq!((uses(Use::Sleep), uses(Use::Now)), (0, 0), "before the first poll");
        for _ in 0..5 {
            waiting.pending();
            assert_armed::<P>(1);
        }
        let looks = usize::from(f.limit == fixture::Limit::Deadline);
        assert_eq!((uses(Use::Sleep), uses(Use::Now)), (1, looks));
        P::advance(ms(10));
        assert_elapsed(&mut waiting);
        assert_eq!((uses(Use::Sleep), uses(Use::Now), uses(Use::Drop)), (1, looks, 1));
        drop(held);
    });
}

fn t1_a_granted_operation_does_not_poll_its_sleep<P: ManualTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        drop(held);
        P::advance(ms(10));
        let polls = uses(Use::Poll);
        drop(waiting.ready().expect("it was granted"));
        assert_eq!(uses(Use::Poll), polls);
    });
}

fn t2_zero_uses_no_clock<P: ManualTimer>() {
    Fixture::<P>::every_timeout(|f| {
        let refused = || {
            forbid_clock(|| assert!(Task::new(f.with_timeout(Duration::ZERO)).ready().is_err()));
        };
        refused();
        let _held = f.hold();
        refused();
    });
}

fn t2_a_late_deadline_makes_no_sleep<P: ManualTimer>() {
    Fixture::<P>::every_deadline(|f| {
        let _held = f.hold();
        for deadline in [P::past_instant(), P::instant_in(Duration::ZERO)] {
            assert_elapsed(&mut Task::new(f.with_deadline(deadline)));
        }
        assert_eq!((uses(Use::Sleep), uses(Use::Now)), (0, 2));
    });
}

fn t2_the_clock_is_read_after_the_attempt_and_before_queueing<P: ManualTimer>() {
    for after in [Duration::ZERO, ms(10)] {
        Fixture::<P>::every_deadline(|f| {
            let held = f.hold();
            let seen = Slot::new();
            on_next(Use::Now, {
                let (f, seen) = (f.clone(), seen.clone());
                move || seen.put(f.state())
            });
            let ended = Task::new(f.timed(after)).poll().is_ready();
            assert_eq!(ended, after.is_zero());
            assert_eq!(seen.take(), Some(OWNED), "while the clock is read");
            drop(held);
        });
    }
}

fn t2_a_lock_that_becomes_free_while_the_clock_is_read_is_taken<P: ManualTimer>() {
    Fixture::<P>::every_deadline(|f| {
        // In time: the lock is free when the operation would queue.
        release_on_next(Use::Now, f.hold());
        drop(Task::new(f.timed(ms(10))).ready().expect("the lock is free"));
        assert_eq!(uses(Use::Sleep), 0);
        // Too late: the one attempt came before the release.
        release_on_next(Use::Now, f.hold());
        assert_elapsed(&mut Task::new(f.with_deadline(P::past_instant())));
    });
}

fn t4_a_grant_while_the_sleep_is_polled_wins<P: ManualTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        P::advance(ms(10));
        release_on_next(Use::Poll, held);
        let guard = waiting.ready().expect("it was granted, if late");
        assert_eq!(f.state(), OWNED);
        assert_armed::<P>(0);
        drop(guard);
    });
}

fn t4_a_grant_while_the_sleep_is_polled_comes_before_the_next<P: ManualTimer>() {
    Fixture::<P>::every_exclusive(|f| {
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        let mut next = Task::queued(f.plain());
        P::advance(ms(10));
        release_on_next(Use::Poll, held);
        let guard = waiting.ready().expect("it was granted, if late");
        assert_eq!(next.wakes(), 0);
        next.pending();
        assert_eq!(f.state(), CONTENDED);
        drop(guard);
        assert_eq!(next.wakes(), 1);
        drop(next.ready());
    });
}

/// The lock must not take the owner for an unclaimed waiter, since another future of the task may wait for the lock.
fn t4_a_grant_while_the_sleep_is_polled_is_claimed_for_good<P: ManualTimer>() {
    Fixture::<P>::every_exclusive(|f| {
        let task = Actor::new();
        let held = f.hold();
        let mut waiting = f.timed(ms(10));
        task.pending(&mut waiting);
        P::advance(ms(10));
        release_on_next(Use::Poll, held);
        let guard = task.ready(&mut waiting).expect("it was granted, if late");
        let mut second = f.plain();
        for _ in 0..SUSPICIONS + 2 {
            task.pending(&mut second);
        }
        drop(guard);
        drop(task.ready(&mut second));
    });
}

fn t4_a_grant_while_a_pending_sleep_is_polled_is_kept<P: ManualTimer>() {
    for first_poll in [true, false] {
        Fixture::<P>::every(|f| {
            let held = f.hold();
            let mut waiting = if first_poll { Task::new(f.timed(ms(10))) } else { f.wait(ms(10)) };
            release_on_next(Use::Poll, held);
            guard_now_or_soon::<P>(f, &mut waiting);
        });
    }
}

/// The operation was granted during the poll. It returns its guard, or is woken and returns the guard at the next poll,
/// even past its limit.
#[track_caller]
fn guard_now_or_soon<P: ManualTimer>(f: &Fixture<P>, waiting: &mut Waiting<'_>) {
    let outcome = match waiting.poll() {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => {
            assert_eq!(waiting.wakes(), 1, "a grant must wake the task");
            P::advance(ms(1000));
            waiting.ready()
        }
    };
    let guard = outcome.expect("it was granted");
    assert_eq!(f.state(), OWNED);
    assert_armed::<P>(0);
    drop(guard);
    f.assert_free();
}

fn t4_a_grant_while_the_sleep_is_made_wins<P: ManualTimer>() {
    // The second limit ends past the end of the clock, so the clock makes no sleep.
    for limit in [ms(10), Duration::MAX] {
        Fixture::<P>::every(|f| {
            release_on_next(Use::Sleep, f.hold());
            guard_now_or_soon(f, &mut Task::new(f.timed(limit)));
        });
    }
    // The limit has passed when the sleep is polled.
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = Task::new(f.timed(ms(10)));
        on_next(Use::Sleep, move || drop(held));
        on_next(Use::Poll, || P::advance(ms(10)));
        let guard = waiting.ready().expect("it was granted in time");
        drop(guard);
    });
}

/// Everything that a clock may do with a held lock: inspect it, try it, wait for it once, and stop waiting.
fn use_the_lock<P: ManualTimer>(f: &Fixture<P>) {
    let before = f.state();
    assert!(f.try_hold().is_none());
    let mut passing = Task::queued(f.plain());
    assert_eq!(f.state(), State { waiters: before.waiters + 1, ..before });
    passing.cancel();
    assert_eq!(f.state(), before);
}

fn k2_the_clock_may_use_the_lock<P: ManualTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let hook = |used| {
            let f = f.clone();
            on_next(used, move || use_the_lock(&f));
        };
        hook(Use::Sleep);
        hook(Use::Poll);
        if f.limit == fixture::Limit::Deadline {
            hook(Use::Now);
        }
        let mut waiting = f.wait(ms(10));
        // The sleep is dropped on time-out, on claim, and with the future.
        P::advance(ms(10));
        hook(Use::Drop);
        assert_elapsed(&mut waiting);

        let mut waiting = f.wait(ms(10));
        hook(Use::Drop);
        waiting.cancel();

        let mut waiting = f.wait(ms(10));
        drop(held);
        hook(Use::Drop);
        drop(waiting.ready().expect("it was granted"));
    });
}

/// Records the state of the lock at the next drop of a sleep.
fn state_on_drop<P: ManualTimer>(f: &Fixture<P>) -> Slot<State> {
    let seen = Slot::new();
    on_next(Use::Drop, {
        let (f, seen) = (f.clone(), seen.clone());
        move || seen.put(f.state())
    });
    seen
}

fn k10_a_waiter_leaves_before_its_sleep_is_dropped<P: ManualTimer>() {
    Fixture::<P>::every(|f| {
        let _held = f.hold();
        let mut waiting = f.wait(ms(10));
        let seen = state_on_drop(f);
        waiting.cancel();
        assert_eq!(seen.take(), Some(OWNED), "the future was dropped");

        let mut waiting = f.wait(ms(10));
        let seen = state_on_drop(f);
        P::advance(ms(10));
        assert_elapsed(&mut waiting);
        assert_eq!(seen.take(), Some(OWNED), "its time was over");
    });
}

fn k10_a_grant_is_passed_on_before_the_sleep_is_dropped<P: ManualTimer>() {
    Fixture::<P>::every(|f| {
        // No waiter is next.
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        drop(held);
        let seen = state_on_drop(f);
        waiting.cancel();
        assert_eq!(seen.take(), Some(FREE));
        // Another waiter is next.
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        drop(held);
        let mut next = Task::queued(f.plain());
        assert_eq!(f.state(), CONTENDED);
        let seen = state_on_drop(f);
        waiting.cancel();
        assert_eq!(seen.take(), Some(OWNED));
        drop(next.ready());
    });
}

fn k10_a_claim_comes_before_the_sleep_is_dropped<P: ManualTimer>() {
    for late in [false, true] {
        Fixture::<P>::every(|f| {
            let held = f.hold();
            let mut waiting = f.wait(ms(10));
            let mut next = None;
            if late {
                // The claim comes after the poll of the sleep.
                P::advance(ms(10));
                release_on_next(Use::Poll, held);
            } else {
                drop(held);
                next = Some(Task::queued(f.plain()));
            }
            let seen = state_on_drop(f);
            let guard = waiting.ready().expect("it was granted");
            assert_eq!(seen.take(), Some(if late { OWNED } else { CONTENDED }));
            drop(guard);
            drop(next.as_mut().map(Task::ready));
            drop(next);
            f.assert_free();
        });
    }
}

fn k10_run_drops_what_runs_before_the_guard<P: ManualTimer>() {
    struct Look<'a, P: ManualTimer>(&'a Fixture<P>, &'a Cell<Option<State>>);
    impl<P: ManualTimer> Drop for Look<'_, P> {
        fn drop(&mut self) {
            self.1.set(Some(self.0.state()));
        }
    }
    Fixture::<P>::every(|f| {
        let seen = Cell::new(None);
        let look = Look(f, &seen);
        let mut run = Task::queued(f.run(ms(10), async move || {
            let _look = look;
            pending::<()>().await;
        }));
        assert_eq!((seen.get(), f.state()), (None, OWNED));
        run.cancel();
        assert_eq!(seen.get(), Some(OWNED));
    });
}

fn panic_on_next(used: Use) {
    on_next(used, || panic!("the clock strikes"));
}

/// The poll panics with the clock's panic.
#[track_caller]
fn assert_strikes<F: Future>(waiting: &mut Task<F>) {
    assert_eq!(panics(|| waiting.poll().is_ready()), "the clock strikes");
}

fn f13_a_panicking_clock_leaves_nothing_behind<P: ManualTimer>() {
    Fixture::<P>::every_deadline(|f| {
        let held = f.hold();
        panic_on_next(Use::Now);
        let mut waiting = Task::new(f.timed(ms(10)));
        assert_strikes(&mut waiting);
        assert_eq!(f.state(), OWNED);
        assert_eq!(waiting.wakers_kept(), 0);
        // The future has not begun to wait, so it can begin again.
        waiting.pending();
        assert_eq!(f.state(), CONTENDED);
        drop(held);
        drop(waiting.ready().expect("it was granted"));
    });
}

fn f13_a_panicking_timer_keeps_the_place<P: ManualTimer>() {
    strikes_and_keeps_its_place::<P>(Use::Sleep);
}

fn f13_a_panicking_sleep_keeps_the_place<P: ManualTimer>() {
    strikes_and_keeps_its_place::<P>(Use::Poll);
}

fn strikes_and_keeps_its_place<P: ManualTimer>(used: Use) {
    // A future that is polled again has its turn.
    Fixture::<P>::every(|f| {
        let held = f.hold();
        panic_on_next(used);
        let mut waiting = Task::new(f.timed(ms(10)));
        assert_strikes(&mut waiting);
        waiting.pending();
        drop(held);
        drop(waiting.ready().expect("it was granted"));
        assert_armed::<P>(0);
    });
    // The future is granted without another poll, and dropped. The next waiter has its turn.
    Fixture::<P>::every(|f| {
        let held = f.hold();
        panic_on_next(used);
        let mut waiting = Task::new(f.timed(ms(10)));
        assert_strikes(&mut waiting);
        drop(held);
        let mut next = Task::queued(f.plain());
        drop(waiting);
        assert_eq!(next.wakes(), 1);
        drop(next.ready());
        assert_armed::<P>(0);
    });
    // The future is dropped at once, and blocks no waiter.
    Fixture::<P>::every(|f| {
        let held = f.hold();
        panic_on_next(used);
        let mut waiting = Task::new(f.timed(ms(10)));
        assert_strikes(&mut waiting);
        drop(waiting);
        assert_eq!(f.state(), OWNED);
        drop(held);
    });
    // The clock grants the lock, and then panics.
    Fixture::<P>::every(|f| {
        let held = f.hold();
        on_next(used, move || {
            drop(held);
            panic!("the clock strikes");
        });
        let mut waiting = Task::new(f.timed(ms(10)));
        assert_strikes(&mut waiting);
        assert_eq!(f.state(), OWNED, "granted, not claimed");
        drop(waiting.ready().expect("it was granted"));
    });
}

fn f13_a_panicking_drop_of_the_sleep_loses_no_grant<P: ManualTimer>() {
    // The drop panics in the poll that would have returned the guard.
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        drop(held);
        let mut next = Task::queued(f.plain());
        panic_on_next(Use::Drop);
        assert_strikes(&mut waiting);
        assert_eq!(next.wakes(), 1);
        drop(next.ready());
    });
    // The same, after the poll of the sleep.
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        P::advance(ms(10));
        release_on_next(Use::Poll, held);
        panic_on_next(Use::Drop);
        assert_strikes(&mut waiting);
    });
    // The drop panics in the poll that times out.
    Fixture::<P>::every(|f| {
        let _held = f.hold();
        let mut waiting = f.wait(ms(10));
        P::advance(ms(10));
        panic_on_next(Use::Drop);
        assert_strikes(&mut waiting);
        assert_eq!(f.state(), OWNED);
    });
    // The drop panics when the granted future is dropped.
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        drop(held);
        let mut next = Task::queued(f.plain());
        panic_on_next(Use::Drop);
        panics(|| waiting.cancel());
        assert_eq!(next.wakes(), 1);
        drop(next.ready());
    });
}

fn h06_e_a_clock_that_panics_is_not_asked<P: ManualTimer>() {
    Fixture::<P>::every(|f| {
        for limit in [ms(10), Duration::from_secs(1_000_000)] {
            forbid_clock(|| drop(Task::new(f.timed(limit)).ready().expect("the lock is free")));
        }
    });
    Fixture::<P>::every_deadline(|f| {
        let late = P::past_instant();
        forbid_clock(|| drop(Task::new(f.with_deadline(late)).ready().expect("the lock is free")));
    });
}

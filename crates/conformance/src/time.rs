//! The rules of time: T1 to T5, on any clock that a test can move on, and the scenarios H02, H04 (c), H05 and H06.
//!
//! What only a manual clock can show (what is used when, and what a clock that calls back or panics may do) is in
//! [`time_foreign`](crate::time_foreign); what needs no clock is in [`until`](crate::until).

pub(crate) mod fixture;

use crate::tools::clock::TestTimer;
use crate::tools::{Hooks, Slot, Task, hook, panics};
use core::cell::Cell;
use core::future::{pending, poll_fn};
use core::task::Poll;
use core::time::Duration;
use fifolock_core::RwLock;
use fifolock_core::rwlock::ReadOwnedTimeout;
use fixture::{Fixture, Form, Op, State, Waiting, advance_to_the_end, assert_armed, assert_elapsed, ms, queued};
use std::rc::Rc;
use std::sync::Arc;

crate::rules! { ($) time_rules in time where TestTimer:
    t1_a_free_lock_is_taken_by_the_first_poll,
    t1_the_time_runs_from_the_first_poll,
    t1_later_polls_do_not_extend_the_time,
    t1_the_holding_is_not_limited,
    t1_run_limits_the_wait_not_the_run,
    t1_run_ends_without_running_when_the_time_is_over,
    t1_the_sleep_is_gone_when_the_future_ends,
    t2_zero_is_refused_and_the_lock_untouched,
    t2_zero_is_refused_by_run,
    t2_the_smallest_duration_is_not_zero,
    t2_a_past_deadline_is_one_attempt,
    t2_a_past_deadline_does_not_pass_readers_by_a_writer,
    t3_a_duration_past_the_clocks_end_waits_for_ever,
    t3_a_far_deadline_waits,
    t4_a_grant_in_time_wins_however_late_the_poll,
    t4_a_grant_after_the_deadline_but_before_the_poll_wins,
    t4_elapsed_is_out_of_the_queue,
    t4_elapsed_in_the_middle_keeps_the_order,
    t4_a_late_drop_passes_the_grant_on,
    t4_an_elapsed_writer_lets_the_readers_in,
    t4_an_elapsed_writer_lets_nobody_past_another_writer,
    t4_an_elapsed_writer_lets_nobody_past_a_holder,
    t4_an_elapsed_writer_lets_in_as_many_as_there_is_room_for,
    t4_a_reader_timing_out_while_its_batch_is_marked_has_one_outcome,
    t4_an_error_says_what_it_waited_for,
    t4_a_finished_future_panics_when_polled,
    t5_a_timed_out_waiter_is_never_granted_and_never_woken,
    k1_the_newest_waker_is_woken_by_lock_and_timer,
    h02_a_queued_writer_times_out_under_a_reader,
    h04_c_no_barging_by_a_late_deadline,
    h05_1_granted_then_late,
    h05_2_late_then_granted,
    h05_3_late_and_polled_then_granted,
    h06_a_zero_on_a_free_lock,
}

const OWNED: State = State { owners: 1, waiters: 0 };
const CONTENDED: State = State { owners: 1, waiters: 1 };

fn t1_a_free_lock_is_taken_by_the_first_poll<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let mut future = Task::new(f.timed(ms(10)));
        assert_eq!(f.state(), State { owners: 0, waiters: 0 }, "creating it has no effect");
        let guard = future.ready().expect("the lock is free");
        assert_eq!(f.state(), OWNED);
        assert_armed::<P>(0);
        drop(guard);
        f.assert_free();
    });
}

fn t1_the_time_runs_from_the_first_poll<P: TestTimer>() {
    Fixture::<P>::every_timeout(|f| {
        let _held = f.hold();
        let future = f.timed(ms(20));
        P::advance(ms(100));
        let mut waiting = Task::new(future);
        if P::EXACT {
            waiting.pending();
        } else if let Poll::Ready(outcome) = waiting.poll() {
            assert!(outcome.expect_err("it is held").is_elapsed());
            return;
        }
        advance_to_the_end::<P, _>(ms(20), &mut waiting);
        assert_elapsed(&mut waiting);
    });
    // A deadline is a deadline, whenever the future is polled first.
    Fixture::<P>::every_deadline(|f| {
        let _held = f.hold();
        let future = f.timed(ms(20));
        P::advance(ms(100));
        assert_elapsed(&mut Task::new(future));
    });
}

fn t1_later_polls_do_not_extend_the_time<P: TestTimer>() {
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

fn t1_the_holding_is_not_limited<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        // Got at once, and got after a wait.
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
            assert_eq!(waiting.wakes(), wakes, "woken for nothing");
        }
        drop(guard);
        f.assert_free();
    });
}

fn t1_run_limits_the_wait_not_the_run<P: TestTimer>() {
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
        assert_eq!(f.state(), OWNED, "it still runs");
        go_on.set(true);
        assert_eq!(run.ready(), Ok(()));
        f.assert_free();
    });
}

fn t1_run_ends_without_running_when_the_time_is_over<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut run = queued::<P, _, _>(|| f.run(ms(20), async || panic!("it was not granted")));
        assert_eq!(f.state(), CONTENDED);
        advance_to_the_end::<P, _>(ms(20), &mut run);
        assert!(run.ready().expect_err("it was not granted").is_elapsed());
        assert_armed::<P>(0);
        assert_eq!(f.state(), OWNED);
        drop(held);
        f.assert_free();
    });
}

fn t1_the_sleep_is_gone_when_the_future_ends<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        // Claimed: the future itself is still there.
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        assert_armed::<P>(1);
        drop(held);
        let guard = waiting.ready();
        assert_armed::<P>(0);
        drop(guard);

        // Out of time: the future itself is still there.
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        P::advance(ms(10));
        assert_elapsed(&mut waiting);
        assert_armed::<P>(0);

        // Dropped while it waits.
        let mut waiting = f.wait(ms(10));
        assert_armed::<P>(1);
        waiting.cancel();
        assert_armed::<P>(0);

        // Dropped when it was granted.
        let mut waiting = f.wait(ms(10));
        drop(held);
        assert_armed::<P>(1);
        waiting.cancel();
        assert_armed::<P>(0);

        // Dropped when its time was over.
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        P::advance(ms(10));
        waiting.cancel();
        assert_armed::<P>(0);
        drop(held);
        f.assert_free();
    });
}

fn t2_zero_is_refused_and_the_lock_untouched<P: TestTimer>() {
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
        f.assert_free();
    });
}

fn t2_zero_is_refused_by_run<P: TestTimer>() {
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
        f.assert_free();
    });
}

fn t2_the_smallest_duration_is_not_zero<P: TestTimer>() {
    Fixture::<P>::every_timeout(|f| {
        // Of the smallest span that the platform has: one that it rounds to zero is zero.
        let smallest = ms(1);
        drop(Task::new(f.with_timeout(smallest)).ready().expect("the lock is free"));
        let held = f.hold();
        let mut waiting = Task::new(f.with_timeout(smallest));
        if let Poll::Ready(outcome) = waiting.poll() {
            assert!(outcome.expect_err("it is held").is_elapsed());
        } else {
            P::advance(ms(2));
            assert_elapsed(&mut waiting);
        }
        drop(held);
        f.assert_free();
    });
}

fn t2_a_past_deadline_is_one_attempt<P: TestTimer>() {
    Fixture::<P>::every_deadline(|f| {
        for deadline in [P::past_instant(), P::instant_in(Duration::ZERO)] {
            let late = || Task::new(f.with_deadline(deadline));
            // Free: the guard.
            drop(late().ready().expect("the lock is free"));
            // Held: no.
            let held = f.hold();
            assert_elapsed(&mut late());
            assert_eq!(f.state(), OWNED);
            // Held, with a waiter: no, and the waiter is not touched.
            let mut next = Task::queued(f.plain());
            assert_elapsed(&mut late());
            assert_eq!(f.state(), CONTENDED);
            assert_eq!(next.wakes(), 0);
            // Granted and not claimed: no.
            drop(held);
            assert_elapsed(&mut late());
            assert_eq!(f.state(), OWNED);
            let guard = next.ready();
            assert_elapsed(&mut late());
            drop(guard);
            // Free again: the guard.
            drop(late().ready().expect("the lock is free"));
            assert_armed::<P>(0);
            f.assert_free();
        }
    });
}

fn t2_a_past_deadline_does_not_pass_readers_by_a_writer<P: TestTimer>() {
    P::with(|| {
        let lock = RwLock::<_, P>::new(0);
        let reader = lock.try_read().expect("free");
        // One more reader may enter while nobody waits to write …
        drop(Task::new(lock.read_deadline(P::past_instant())).ready().expect("there is room"));
        assert!(Task::new(lock.write_deadline(P::past_instant())).ready().is_err());
        // … and none while somebody does.
        let mut writer = Task::queued(lock.write());
        assert!(Task::new(lock.read_deadline(P::past_instant())).ready().is_err());
        assert_eq!(lock.state().waiting_readers, 0);
        drop(reader);
        drop(writer.ready());
    });
}

/// Durations that no clock has room for, and some that only some have.
const LONGEST: [Duration; 4] = [
    Duration::MAX,
    Duration::from_secs(u64::MAX),
    Duration::from_millis(u64::MAX),
    // The last millisecond of a count of nanoseconds in 64 bits.
    Duration::from_nanos(u64::MAX - 1_000_000),
];

fn t3_a_duration_past_the_clocks_end_waits_for_ever<P: TestTimer>() {
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
            // And on a free lock.
            drop(Task::new(f.with_timeout(duration)).ready().expect("the lock is free"));
            f.assert_free();
        }
    });
}

fn t3_a_far_deadline_waits<P: TestTimer>() {
    Fixture::<P>::every_deadline(|f| {
        let far = P::instant_in(Duration::from_secs(20 * 365 * 24 * 3600));
        let held = f.hold();
        let mut waiting = Task::queued(f.with_deadline(far));
        P::advance(ms(1000));
        waiting.pending();
        drop(held);
        drop(waiting.ready().expect("it was granted"));
        f.assert_free();
    });
}

fn t4_a_grant_in_time_wins_however_late_the_poll<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        drop(held);
        P::advance(ms(1000));
        assert_eq!(f.state(), OWNED, "granted, not claimed");
        let guard = waiting.ready().expect("it was granted in time");
        assert_eq!(f.state(), OWNED);
        drop(guard);
        f.assert_free();
    });
}

fn t4_a_grant_after_the_deadline_but_before_the_poll_wins<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        P::advance(ms(1000));
        drop(held);
        assert_eq!(f.state(), OWNED, "granted, not claimed");
        drop(waiting.ready().expect("nobody has seen the deadline"));
        f.assert_free();
    });
}

fn t4_elapsed_is_out_of_the_queue<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = f.wait(ms(20));
        assert_eq!(f.state(), CONTENDED);
        advance_to_the_end::<P, _>(ms(20), &mut waiting);
        assert_eq!(f.state(), CONTENDED, "nobody has seen the deadline");
        assert_elapsed(&mut waiting);
        // At once, though the future is still there.
        assert_eq!(f.state(), OWNED);
        assert_eq!(waiting.wakers_kept(), 0);
        drop(held);
        f.assert_free();
    });
}

fn t4_elapsed_in_the_middle_keeps_the_order<P: TestTimer>() {
    Fixture::<P>::every_exclusive(|f| {
        let held = f.hold();
        let mut first = Task::queued(f.plain());
        let mut second = f.wait(ms(10));
        let mut third = f.wait(ms(1000));
        let mut fourth = Task::queued(f.plain());
        P::advance(ms(10));
        assert_elapsed(&mut second);
        assert_eq!(f.state(), State { owners: 1, waiters: 3 });
        drop(held);
        assert_eq!((first.wakes(), third.wakes(), fourth.wakes()), (1, 0, 0));
        drop(first.ready());
        assert_eq!((first.wakes(), third.wakes(), fourth.wakes()), (1, 1, 0));
        drop(third.ready().expect("it was granted in time"));
        assert_eq!((first.wakes(), third.wakes(), fourth.wakes()), (1, 1, 1));
        drop(fourth.ready());
        f.assert_free();
    });
}

fn t4_a_late_drop_passes_the_grant_on<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        drop(held);
        let mut next = Task::queued(f.plain());
        P::advance(ms(10));
        assert_eq!(next.wakes(), 0);
        waiting.cancel();
        assert_eq!(next.wakes(), 1);
        assert_eq!(f.state(), OWNED);
        drop(next.ready());
        f.assert_free();
    });
}

/// `write_timeout` or `write_deadline` of 10 ms on the fixture's lock.
fn every_write<P: TestTimer>(rule: impl Fn(&Fixture<P>, &RwLock<u32, P>)) {
    Fixture::<P>::each(|op, _| op == Op::Write, |f| rule(f, &f.rwlock));
}

fn t4_an_elapsed_writer_lets_the_readers_in<P: TestTimer>() {
    every_write::<P>(|f, lock| {
        let reader = lock.try_read().expect("free");
        let mut writer = f.wait(ms(10));
        let mut blocked = [(); 3].map(|()| Task::queued(lock.read()));
        P::advance(ms(10));
        assert_eq!(blocked.each_ref().map(Task::wakes), [0; 3]);
        assert_elapsed(&mut writer);
        assert_eq!(blocked.each_ref().map(Task::wakes), [1; 3]);
        assert_eq!(f.state(), State { owners: 4, waiters: 0 });
        let readers = blocked.each_mut().map(Task::ready);
        drop((reader, readers));
        f.assert_free();
    });
}

fn t4_an_elapsed_writer_lets_nobody_past_another_writer<P: TestTimer>() {
    every_write::<P>(|f, lock| {
        let reader = lock.try_read().expect("free");
        let mut writer = f.wait(ms(10));
        let mut blocked = Task::queued(lock.read());
        let mut other = Task::queued(lock.write());
        P::advance(ms(10));
        assert_elapsed(&mut writer);
        assert_eq!((blocked.wakes(), other.wakes()), (0, 0));
        assert_eq!(f.state(), State { owners: 1, waiters: 2 });
        drop(reader);
        assert_eq!((blocked.wakes(), other.wakes()), (0, 1));
        drop(other.ready());
        drop(blocked.ready());
        f.assert_free();
    });
}

fn t4_an_elapsed_writer_lets_nobody_past_a_holder<P: TestTimer>() {
    every_write::<P>(|f, lock| {
        let held = f.hold();
        let mut writer = f.wait(ms(10));
        let mut blocked = Task::queued(lock.read());
        P::advance(ms(10));
        assert_elapsed(&mut writer);
        assert_eq!(blocked.wakes(), 0);
        assert_eq!(f.state(), CONTENDED);
        drop(held);
        assert_eq!(blocked.wakes(), 1);
        drop(blocked.ready());
        f.assert_free();
    });
}

fn t4_an_elapsed_writer_lets_in_as_many_as_there_is_room_for<P: TestTimer>() {
    P::with(|| {
        let lock = RwLock::<_, P>::with_max_readers(0, 3);
        let reader = lock.try_read().expect("free");
        let mut writer = queued::<P, _, _>(|| lock.write_timeout(P::span(ms(10))));
        let blocked = [(); 4].map(|()| Task::queued(lock.read()));
        P::advance(ms(10));
        assert!(writer.ready().is_err());
        assert_eq!(blocked.each_ref().map(Task::wakes), [1, 1, 0, 0]);
        drop(reader);
        assert_eq!(blocked.each_ref().map(Task::wakes), [1, 1, 1, 0]);
        drop(blocked);
        assert_eq!(lock.state(), RwLock::<_, P>::new(0).state());
    });
}

/// The reader's share is reserved, but it has not been marked: whether it counts as granted is open until its poll.
fn t4_a_reader_timing_out_while_its_batch_is_marked_has_one_outcome<P: TestTimer>() {
    for late in [1, 2, 40, 70, 99] {
        P::with(|| {
            let f = Rc::new(Fixture::<P>::new(Op::Read, Form::Owned, fixture::Limit::Timeout));
            let lock = Arc::clone(&f.rwlock);
            let writer = lock.try_write().expect("free");
            let outcome = Slot::new();
            // What the first member's wake does: the clock is past the late one's end already.
            let target = Slot::new();
            let on_wake = hook({
                let (outcome, target) = (outcome.clone(), target.clone());
                move || {
                    let mut late: Task<ReadOwnedTimeout<u32, P>> = target.take().expect("woken once");
                    outcome.put(late.poll().map(|result| result.is_ok()));
                    target.put(late);
                }
            });
            let mut first = Task::with_hooks(lock.read(), Hooks { on_wake, ..Hooks::default() });
            first.pending();
            let mut others: Vec<_> = (1..late).map(|_| Task::queued(lock.read())).collect();
            target.put(queued::<P, _, _>(|| Arc::clone(&lock).read_owned_timeout(P::span(ms(10)))));
            others.extend((late..100).map(|_| Task::queued(lock.read())));

            P::advance(ms(10));
            drop(writer);
            let got_it = match outcome.take().expect("the first was woken") {
                Poll::Ready(got_it) => got_it,
                Poll::Pending => panic!("late, and neither granted nor out"),
            };
            // A guard was dropped again by the hook, so its share is back in either case.
            let inside = lock.state();
            assert_eq!((inside.readers, inside.waiting_readers), (100, 0), "granted: {got_it}");
            drop(first.ready());
            for other in &mut others {
                assert_eq!(other.wakes(), 1);
                drop(other.ready());
            }
            drop((first, others, target.take()));
            f.assert_free();
        });
    }
}

fn t4_an_error_says_what_it_waited_for<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let _held = f.hold();
        let limit = if P::EXACT { ms(50) } else { ms(20) };
        let mut waiting = f.wait(limit);
        P::advance(limit);
        let error = waiting.ready().expect_err("it was not granted");
        let noun = f.op.noun();
        let text = match f.limit {
            fixture::Limit::Timeout => format!("timed out waiting for {noun} after {limit:?}"),
            fixture::Limit::Deadline => format!("deadline passed while waiting for {noun}"),
        };
        assert_eq!(error.to_string(), text);
        assert!(error.is_elapsed() && !error.is_invalid());
    });
    Fixture::<P>::every_deadline(|f| {
        let _held = f.hold();
        let error = Task::new(f.with_deadline(P::past_instant())).ready().expect_err("it is held");
        assert_eq!(error.to_string(), format!("deadline passed while waiting for {}", f.op.noun()));
    });
    Fixture::<P>::every_timeout(|f| {
        let _held = f.hold();
        let limit = if P::EXACT { ms(1500) } else { ms(15) };
        let mut run = queued::<P, _, _>(|| f.run(limit, pending));
        P::advance(limit);
        let error = run.ready().expect_err("it was not granted");
        assert_eq!(error.to_string(), format!("timed out waiting for {} after {limit:?}", f.op.noun()));
    });
}

fn t4_a_finished_future_panics_when_polled<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let mut at_once = Task::new(f.timed(ms(10)));
        let guard = at_once.ready();
        panics(|| at_once.poll().is_ready());
        drop(guard);

        let held = f.hold();
        let mut elapsed = f.wait(ms(10));
        P::advance(ms(10));
        assert_elapsed(&mut elapsed);
        panics(|| elapsed.poll().is_ready());

        let mut granted = f.wait(ms(10));
        drop(held);
        let guard = granted.ready();
        panics(|| granted.poll().is_ready());
        drop(guard);
        f.assert_free();
        // Free: it must not enter either.
        panics(|| elapsed.poll().is_ready());
        f.assert_free();
    });
    Fixture::<P>::every_timeout(|f| {
        let mut refused = Task::new(f.with_timeout(Duration::ZERO));
        assert!(refused.ready().is_err());
        panics(|| refused.poll().is_ready());
        f.assert_free();
    });
    Fixture::<P>::every_deadline(|f| {
        let held = f.hold();
        let mut late = Task::new(f.with_deadline(P::past_instant()));
        assert!(late.ready().is_err());
        drop(held);
        panics(|| late.poll().is_ready());
        f.assert_free();
    });
}

fn t5_a_timed_out_waiter_is_never_granted_and_never_woken<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut late = f.wait(ms(10));
        P::advance(ms(10));
        assert_elapsed(&mut late);
        // By the timer, before the poll that saw the deadline.
        let wakes = late.wakes();
        assert!(wakes <= 1, "woken {wakes} times");
        assert_eq!(late.wakers_kept(), 0);
        let mut next = Task::queued(f.plain());
        P::advance(ms(1000));
        drop(held);
        assert_eq!(next.wakes(), 1, "the grant goes past the one that is out");
        drop(next.ready());
        f.assert_free();
        drop(f.hold());
        P::advance(ms(1000));
        assert_eq!(late.wakes(), wakes);
        drop(late);
        f.assert_free();
    });
}

fn k1_the_newest_waker_is_woken_by_lock_and_timer<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let (mine, theirs) = (crate::tools::counting_waker(), crate::tools::counting_waker());
        for by_timer in [true, false] {
            let held = f.hold();
            let limit = if by_timer { ms(10) } else { ms(1000) };
            let mut waiting = Task::new(f.timed(limit));
            while !(waiting.poll_with(&mine.0).is_pending() && waiting.poll_with(&theirs.0).is_pending()) {
                assert!(!P::EXACT, "it is held");
                waiting = Task::new(f.timed(limit));
            }
            if P::FORGETS {
                assert_eq!(mine.1.alive(), 1, "the old waker is kept");
            }
            let before = theirs.1.wakes();
            if by_timer {
                P::advance(limit);
            } else {
                drop(held);
            }
            assert!(theirs.1.wakes() > before);
            if P::FORGETS {
                assert_eq!((mine.1.wakes(), theirs.1.wakes()), (0, before + 1));
                drop(waiting);
                assert_eq!(theirs.1.alive(), 1);
            }
        }
        f.assert_free();
    });
}

fn h02_a_queued_writer_times_out_under_a_reader<P: TestTimer>() {
    every_write::<P>(|f, lock| {
        let r1 = lock.try_read().expect("free");
        let mut w = f.wait(ms(10));
        let mut r2 = Task::queued(lock.read());
        P::advance(ms(10));
        assert_elapsed(&mut w);
        assert_eq!(r2.wakes(), 1);
        let r2 = r2.ready();
        assert!(lock.try_write().is_err());
        drop(r1);
        assert!(lock.try_write().is_err());
        drop(r2);
        assert!(lock.try_write().is_ok());
    });
}

fn h04_c_no_barging_by_a_late_deadline<P: TestTimer>() {
    Fixture::<P>::every_deadline(|f| {
        let held = f.hold();
        let mut b = Task::queued(f.plain());
        drop(held);
        assert_elapsed(&mut Task::new(f.with_deadline(P::past_instant())));
        assert_eq!(b.wakes(), 1);
        drop(b.ready());
        f.assert_free();
    });
}

fn h05_1_granted_then_late<P: TestTimer>() {
    Fixture::<P>::every_exclusive(|f| {
        let held = f.hold();
        let (mut b, mut c) = (f.wait(ms(10)), Task::queued(f.plain()));
        drop(held);
        P::advance(ms(10));
        guard_then_next(f, &mut b, &mut c);
    });
}

fn h05_2_late_then_granted<P: TestTimer>() {
    Fixture::<P>::every_exclusive(|f| {
        let held = f.hold();
        let (mut b, mut c) = (f.wait(ms(10)), Task::queued(f.plain()));
        P::advance(ms(10));
        drop(held);
        guard_then_next(f, &mut b, &mut c);
    });
}

#[track_caller]
fn guard_then_next<P: TestTimer>(f: &Fixture<P>, b: &mut Waiting<'_>, c: &mut Task<fixture::Hidden<'static>>) {
    let guard = b.ready().expect("it was chosen");
    assert_armed::<P>(0);
    assert_eq!(c.wakes(), 0);
    c.pending();
    drop(guard);
    assert_eq!(c.wakes(), 1);
    drop(c.ready());
    f.assert_free();
}

fn h05_3_late_and_polled_then_granted<P: TestTimer>() {
    Fixture::<P>::every_exclusive(|f| {
        let held = f.hold();
        let (mut b, mut c) = (f.wait(ms(10)), Task::queued(f.plain()));
        P::advance(ms(10));
        assert_elapsed(&mut b);
        assert_armed::<P>(0);
        assert_eq!(f.state(), CONTENDED);
        drop(held);
        assert_eq!(c.wakes(), 1);
        drop(c.ready());
        f.assert_free();
    });
}

fn h06_a_zero_on_a_free_lock<P: TestTimer>() {
    Fixture::<P>::every_timeout(|f| {
        assert!(Task::new(f.with_timeout(Duration::ZERO)).ready().expect_err("refused").is_invalid());
        f.assert_free();
    });
}

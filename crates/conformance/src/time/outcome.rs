//! Each operation has one outcome (T4, T5), and the lock wakes the right waker (K1).

use super::fixture;
use super::fixture::{Fixture, Form, Op, State, advance_to_the_end, assert_elapsed, ms, queued};
use super::{CONTENDED, OWNED, every_write};
use crate::tools::clock::TestTimer;
use crate::tools::subject::Subject;
use crate::tools::{Hooks, Slot, Task, hook, panics};
use core::future::pending;
use core::task::Poll;
use core::time::Duration;
use fifolock_core::RwLock;
use fifolock_core::rwlock::ReadOwnedTimeout;
use fifolock_core::rwlock::RwLockPolicy::TaskFair;
use std::rc::Rc;
use std::sync::Arc;

pub(super) fn t4_a_grant_in_time_wins_however_late_the_poll<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        drop(held);
        P::advance(ms(1000));
        assert_eq!(f.state(), OWNED, "granted, not claimed");
        let guard = waiting.ready().expect("it was granted in time");
        assert_eq!(f.state(), OWNED);
        drop(guard);
    });
}

pub(super) fn t4_a_grant_after_the_deadline_but_before_the_poll_wins<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = f.wait(ms(10));
        P::advance(ms(1000));
        drop(held);
        assert_eq!(f.state(), OWNED, "granted, not claimed");
        drop(waiting.ready().expect("no poll has seen the deadline"));
    });
}

pub(super) fn t4_elapsed_is_out_of_the_queue<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut waiting = f.wait(ms(20));
        assert_eq!(f.state(), CONTENDED);
        advance_to_the_end::<P, _>(ms(20), &mut waiting);
        assert_eq!(f.state(), CONTENDED, "no poll has seen the deadline");
        assert_elapsed(&mut waiting);
        // The waiter has left at once, although its future still exists.
        assert_eq!(f.state(), OWNED);
        assert_eq!(waiting.wakers_kept(), 0);
        drop(held);
    });
}

pub(super) fn t4_elapsed_in_the_middle_keeps_the_order<P: TestTimer>() {
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
    });
}

pub(super) fn t4_a_late_drop_passes_the_grant_on<P: TestTimer>() {
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
    });
}

pub(super) fn t4_an_elapsed_writer_lets_the_readers_in<P: TestTimer>() {
    every_write::<P>(|f, lock| {
        let _reader = lock.try_read().expect("free");
        let mut writer = f.wait(ms(10));
        let mut blocked = [(); 3].map(|()| Task::queued(lock.read()));
        P::advance(ms(10));
        assert_eq!(blocked.each_ref().map(Task::wakes), [0; 3]);
        assert_elapsed(&mut writer);
        assert_eq!(blocked.each_ref().map(Task::wakes), [1; 3]);
        assert_eq!(f.state(), State { owners: 4, waiters: 0 });
        drop(blocked.each_mut().map(Task::ready));
    });
}

pub(super) fn t4_an_elapsed_writer_lets_nobody_past_another_writer<P: TestTimer>() {
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
    });
}

pub(super) fn t4_an_elapsed_writer_lets_nobody_past_a_holder<P: TestTimer>() {
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
    });
}

pub(super) fn t4_an_elapsed_writer_lets_in_as_many_as_there_is_room_for<P: TestTimer>() {
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

/// Under the task-fair policy, an upgradable reader that waits for another one keeps out all waiters behind it (U4).
pub(super) fn t4_an_elapsed_upgradable_reader_lets_in_whom_it_kept_out<P: TestTimer>() {
    for (form, limit) in Fixture::<P>::WAYS {
        P::with(|| {
            let f = Fixture::of(Subject::<P>::new(TaskFair, 9, form), Op::Upgradable, limit);
            let first = f.subject().hold(Op::Upgradable);
            let mut second = f.wait(ms(10));
            let mut reader = Task::queued(f.rwlock.read());
            P::advance(ms(10));
            assert_elapsed(&mut second);
            assert_eq!(reader.wakes(), 1, "the reader is woken before the poll returns");
            drop((reader.ready(), first));
            f.assert_free();
        });
    }
}

/// The share of the reader is reserved, but the reader is not marked yet. Only its poll decides whether it counts as
/// granted.
pub(super) fn t4_a_reader_timing_out_while_its_batch_is_marked_has_one_outcome<P: TestTimer>() {
    for late in [1, 2, 40, 70, 99] {
        P::with(|| {
            let f = Rc::new(Fixture::<P>::new(Op::Read, Form::Owned, fixture::Limit::Timeout));
            let lock = Arc::clone(&f.rwlock);
            let writer = lock.try_write().expect("free");
            let outcome = Slot::new();
            // The first member's wake polls the late reader, whose deadline has passed.
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
                Poll::Pending => panic!("the late reader is neither granted nor timed out"),
            };
            // The hook has dropped the guard, if there was one. So the share is back in either case.
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

pub(super) fn t4_an_error_says_what_it_waited_for<P: TestTimer>() {
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

pub(super) fn t4_a_finished_future_panics_when_polled<P: TestTimer>() {
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
        // The lock is free. An operation that has ended must not enter.
        panics(|| elapsed.poll().is_ready());
    });
    Fixture::<P>::every_timeout(|f| {
        let mut refused = Task::new(f.with_timeout(Duration::ZERO));
        assert!(refused.ready().is_err());
        panics(|| refused.poll().is_ready());
    });
    Fixture::<P>::every_deadline(|f| {
        let held = f.hold();
        let mut late = Task::new(f.with_deadline(P::past_instant()));
        assert!(late.ready().is_err());
        drop(held);
        panics(|| late.poll().is_ready());
    });
}

pub(super) fn t5_a_timed_out_waiter_is_never_granted_and_never_woken<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let held = f.hold();
        let mut late = f.wait(ms(10));
        P::advance(ms(10));
        assert_elapsed(&mut late);
        // The timer wakes the task, before the poll that sees the deadline.
        let wakes = late.wakes();
        assert!(wakes <= 1, "woken {wakes} times");
        assert_eq!(late.wakers_kept(), 0);
        let mut next = Task::queued(f.plain());
        P::advance(ms(1000));
        drop(held);
        assert_eq!(next.wakes(), 1, "the grant passes by the waiter that timed out");
        drop(next.ready());
        f.assert_free();
        drop(f.hold());
        P::advance(ms(1000));
        assert_eq!(late.wakes(), wakes);
    });
}

pub(super) fn k1_the_newest_waker_is_woken_by_lock_and_timer<P: TestTimer>() {
    Fixture::<P>::every(|f| {
        let (mine, theirs) = (crate::tools::counting_waker(), crate::tools::counting_waker());
        for by_timer in [true, false] {
            let held = f.hold();
            let limit = if by_timer { ms(10) } else { ms(1000) };
            let mut waiting = Task::new(f.timed(limit));
            while !(waiting.poll_with(&mine.0).is_pending() && waiting.poll_with(&theirs.0).is_pending()) {
                assert!(!P::EXACT, "the lock is held");
                waiting = Task::new(f.timed(limit));
            }
            if P::FORGETS {
                assert_eq!(mine.1.alive(), 1, "the lock keeps the old waker");
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
    });
}

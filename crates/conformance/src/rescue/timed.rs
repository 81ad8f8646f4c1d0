//! The rescue of waiters with a limit (R9), on the manual clock.

use crate::rescue::fixture::{Actor, SUSPICIONS};
use crate::rules;
use crate::time::fixture::{Fixture, Guard, Hidden, Outcome, assert_armed, ms};
use crate::tools::clock::ManualTimer;
use crate::tools::subject::{Case, Op, POLICIES, Subject};
use core::future::poll_fn;
use core::time::Duration;
use fifolock_core::{Mutex, RwLock};

rules! { ($) rescue_timed_rules in rescue::timed where ManualTimer:
    r9_robbed_and_then_out_of_time,
    r9_robbed_after_its_deadline,
    r9_robbed_and_then_granted,
    r9_robbed_and_granted_again_before_the_deadline_is_seen,
    r9_dropped_after_it_was_robbed,
    r9_a_timed_robber_has_its_guard,
    r9_a_timed_robber_may_run_out_of_time_before_it_robs,
    r9_until_gives_up_after_it_was_robbed,
}

const LIMIT: Duration = ms(10);

type Timed<'a> = Hidden<'a, Outcome<'a>>;

/// Runs the rule for every operation, limit, form and policy, each with a clock of its own.
fn each<P: ManualTimer>(rule: impl Fn(&Fixture<P>)) {
    for op in Op::ALL {
        for (form, limit) in Fixture::<P>::WAYS {
            for policy in POLICIES {
                let _case = Case((op, form, limit, policy));
                P::with(|| {
                    let most = if op == Op::Read { 1 } else { 9 };
                    let f = Fixture::of(Subject::new(policy, most, form), op, limit);
                    rule(&f);
                    f.assert_over();
                    assert_armed::<P>(0);
                });
            }
        }
    }
}

/// The first future, a timed one, was granted and then robbed by the second, which holds the lock.
fn robbed<'a, P: ManualTimer>(f: &'a Fixture<P>, task: &Actor) -> (Timed<'a>, Hidden<'a>, Guard<'a>) {
    let held = f.subject().hold(f.op);
    let first = task.queue(f.timed(LIMIT));
    assert_armed::<P>(1);
    drop(held);
    task.woken();
    let mut second = f.subject().op(f.op);
    let guard = task.rescue(&mut second);
    assert_eq!(f.waiting(), 1);
    // The victim keeps its sleep until its claim.
    assert_armed::<P>(1);
    (first, second, guard)
}

#[track_caller]
fn elapsed(task: &Actor, future: &mut Timed<'_>) {
    let error = task.ready(future).expect_err("its time is over");
    assert!(error.is_elapsed(), "{error}");
}

fn r9_robbed_and_then_out_of_time<P: ManualTimer>() {
    each::<P>(|f| {
        let task = Actor::new();
        let (mut first, second, guard) = robbed(f, &task);
        task.pending(&mut first);
        P::advance(LIMIT);
        assert_eq!(task.woken(), 1);
        elapsed(&task, &mut first);
        assert_eq!((f.waiting(), P::armed()), (0, Some(0)));
        drop(guard);
        assert_eq!(task.woken(), 0, "a future that has ended is not woken");
        drop((first, second));
    });
}

fn r9_robbed_after_its_deadline<P: ManualTimer>() {
    each::<P>(|f| {
        let task = Actor::new();
        let held = f.subject().hold(f.op);
        let mut first = task.queue(f.timed(LIMIT));
        drop(held);
        task.woken();
        // The first future was granted in time, and would have had its guard.
        P::advance(2 * LIMIT);
        assert_eq!(task.woken(), 1);
        let mut second = f.subject().op(f.op);
        let guard = task.rescue(&mut second);
        elapsed(&task, &mut first);
        assert_eq!((f.waiting(), P::armed()), (0, Some(0)));
        drop(guard);
        drop((first, second));
    });
}

fn r9_robbed_and_then_granted<P: ManualTimer>() {
    each::<P>(|f| {
        let task = Actor::new();
        let (mut first, second, guard) = robbed(f, &task);
        task.pending(&mut first);
        drop(guard);
        assert_eq!(task.woken(), 1);
        let guard = task.ready(&mut first).expect("granted");
        assert_eq!((f.waiting(), P::armed()), (0, Some(0)));
        P::advance(2 * LIMIT);
        assert_eq!(task.woken(), 0);
        drop(guard);
        drop((first, second));
    });
}

fn r9_robbed_and_granted_again_before_the_deadline_is_seen<P: ManualTimer>() {
    each::<P>(|f| {
        let task = Actor::new();
        let (mut first, second, guard) = robbed(f, &task);
        P::advance(2 * LIMIT);
        drop(guard);
        // T4: a granted future returns its guard, however late it is polled.
        drop(task.ready(&mut first).expect("granted"));
        drop((first, second));
    });
}

fn r9_dropped_after_it_was_robbed<P: ManualTimer>() {
    each::<P>(|f| {
        let task = Actor::new();
        let (first, second, guard) = robbed(f, &task);
        drop(first);
        assert_eq!((f.waiting(), P::armed()), (0, Some(0)));
        drop(guard);
        drop(second);
        assert_eq!(task.kept(), 0);
    });
}

fn r9_a_timed_robber_has_its_guard<P: ManualTimer>() {
    each::<P>(|f| {
        let task = Actor::new();
        let held = f.subject().hold(f.op);
        let mut first = task.queue(f.subject().op(f.op));
        drop(held);
        task.woken();
        let mut second = f.timed(LIMIT);
        for _ in 0..SUSPICIONS {
            task.pending(&mut second);
            assert_eq!(task.woken(), 1);
        }
        // The theft comes before the look at the deadline.
        P::advance(2 * LIMIT);
        task.woken();
        let guard = task.ready(&mut second).expect("rescued");
        assert_eq!(P::armed(), Some(0));
        drop(guard);
        drop(task.ready(&mut first));
        drop((first, second));
    });
}

fn r9_a_timed_robber_may_run_out_of_time_before_it_robs<P: ManualTimer>() {
    each::<P>(|f| {
        let (task, other) = (Actor::new(), Actor::new());
        let held = f.subject().hold(f.op);
        let mut first = other.queue(f.subject().op(f.op));
        drop(held);
        // A grant of another task is never stolen, so the timed waiter ends in the error, as F24 promises.
        let mut second = task.queue(f.timed(LIMIT));
        P::advance(LIMIT);
        assert_eq!(task.woken(), 1);
        elapsed(&task, &mut second);
        drop(other.served(&mut first));
        drop((first, second));
    });
}

fn r9_until_gives_up_after_it_was_robbed<P: ManualTimer>() {
    for policy in POLICIES {
        let lock = RwLock::<u32, P>::with_policy(0, policy);
        let mutex = Mutex::<u32, P>::new(0);
        let over = core::cell::Cell::new(false);
        let ends = || poll_fn(|_| if over.get() { core::task::Poll::Ready(()) } else { core::task::Poll::Pending });
        let task = Actor::new();

        let held = mutex.try_lock().expect("free");
        let mut first = task.queue(Box::pin(mutex.lock_until(ends())));
        drop(held);
        task.woken();
        let mut second = Box::pin(mutex.lock());
        let guard = task.rescue(&mut second);
        task.pending(&mut first);
        over.set(true);
        assert!(task.ready(&mut first).is_err());
        drop(guard);
        assert!(mutex.try_lock().is_ok());
        drop(first);

        over.set(false);
        let held = lock.try_write().expect("free");
        let mut first = task.queue(Box::pin(lock.write_until(ends())));
        let mut share = task.queue(Box::pin(lock.upgradable_read_until(ends())));
        drop(held);
        task.woken();
        let guard = task.rescue(&mut share).expect("rescued");
        task.pending(&mut first);
        over.set(true);
        assert!(task.ready(&mut first).is_err());
        drop(guard);
        assert!(lock.try_write().is_ok());
        drop((first, share, second));
        assert_eq!(task.kept(), 0);
    }
}

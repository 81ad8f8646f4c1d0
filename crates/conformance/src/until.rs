//! The rules of `lock_until`, `read_until` and `write_until`, their owned forms and those of `run_…`: the parts of T4,
//! T5, K2, K10 and F13 that concern them.

use crate::time::fixture::{Fixture, Guard, Hidden, State, ms};
use crate::tools::clock::TestTimer;
use crate::tools::{Slot, Task, assert_outside, panics};
use core::cell::{Cell, RefCell};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::rc::Rc;

crate::rules! { ($) until_rules in until where TestTimer:
    t4_until_a_free_lock_drops_the_other_unpolled,
    t4_until_a_grant_at_the_start_of_a_poll_wins,
    t4_until_the_others_output_ends_the_wait,
    t4_until_an_other_that_is_ready_at_once_is_the_outcome,
    t4_until_a_grant_during_the_others_last_poll_is_passed_on,
    t4_until_a_grant_during_the_others_pending_poll_is_kept,
    t4_until_an_ended_writer_lets_the_readers_in,
    t4_until_a_dropped_operation_leaves,
    t4_until_a_dropped_operation_passes_its_grant_on,
    t4_until_a_finished_future_panics_when_polled,
    t4_until_the_platforms_sleep_is_a_timeout,
    t5_until_an_ended_wait_is_never_granted_and_never_woken,
    t4_until_run_runs_or_ends_with_the_other,
    k2_until_the_other_may_use_the_lock,
    k10_until_leaves_before_the_other_is_dropped,
    f13_until_an_other_that_panics_loses_nothing,
}

type Hook = Box<dyn FnOnce()>;

/// What the other future reports to the test, and does for it.
#[derive(Default)]
struct Probe {
    polls: Cell<usize>,
    ready: Cell<bool>,
    gone: Cell<bool>,
    on_poll: RefCell<Option<Hook>>,
    on_drop: RefCell<Option<Hook>>,
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("polls", &self.polls).finish_non_exhaustive()
    }
}

impl Probe {
    fn call(hook: &RefCell<Option<Hook>>) {
        assert_outside();
        let hook = hook.borrow_mut().take();
        if let Some(hook) = hook {
            hook();
        }
    }

    fn on_poll(&self, hook: impl FnOnce() + 'static) {
        *self.on_poll.borrow_mut() = Some(Box::new(hook));
    }

    fn on_drop(&self, hook: impl FnOnce() + 'static) {
        *self.on_drop.borrow_mut() = Some(Box::new(hook));
    }
}

/// The other future, which ends the wait.
struct Other(Rc<Probe>);

impl Future for Other {
    type Output = &'static str;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<&'static str> {
        self.0.polls.set(self.0.polls.get() + 1);
        Probe::call(&self.0.on_poll);
        if self.0.ready.get() { Poll::Ready("other") } else { Poll::Pending }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.0.gone.set(true);
        // A test that is failing has reported its failure.
        if !std::thread::panicking() {
            Probe::call(&self.0.on_drop);
        }
    }
}

type Until<'a> = Task<Hidden<'a, Result<Guard<'a>, &'static str>>>;

const FREE: State = State { owners: 0, waiters: 0 };
const OWNED: State = State { owners: 1, waiters: 0 };
const CONTENDED: State = State { owners: 1, waiters: 1 };

fn until<P: TestTimer>(f: &Fixture<P>) -> (Until<'_>, Rc<Probe>) {
    let probe = Rc::<Probe>::default();
    (Task::new(f.until(Other(Rc::clone(&probe)))), probe)
}

/// The operation, after one poll that was pending.
#[track_caller]
fn wait<P: TestTimer>(f: &Fixture<P>) -> (Until<'_>, Rc<Probe>) {
    let (mut task, probe) = until(f);
    task.pending();
    assert_eq!((probe.polls.get(), probe.gone.get()), (1, false));
    (task, probe)
}

#[track_caller]
fn assert_other(task: &mut Until<'_>) {
    assert_eq!(task.ready().expect_err("it was not granted"), "other");
}

fn t4_until_a_free_lock_drops_the_other_unpolled<P: TestTimer>() {
    Fixture::<P>::every_until(|f| {
        let (mut task, probe) = until(f);
        probe.ready.set(true);
        assert_eq!(f.state(), FREE, "creating it has no effect");
        let guard = task.ready().expect("the lock is free");
        assert_eq!((probe.polls.get(), probe.gone.get()), (0, true));
        assert_eq!(f.state(), OWNED);
        drop(guard);
    });
}

fn t4_until_a_grant_at_the_start_of_a_poll_wins<P: TestTimer>() {
    Fixture::<P>::every_until(|f| {
        let held = f.hold();
        let (mut task, probe) = wait(f);
        drop(held);
        probe.ready.set(true);
        let guard = task.ready().expect("it was granted");
        assert_eq!((probe.polls.get(), probe.gone.get()), (1, true));
        drop(guard);
    });
}

fn t4_until_the_others_output_ends_the_wait<P: TestTimer>() {
    Fixture::<P>::every_until(|f| {
        let held = f.hold();
        let (mut task, probe) = wait(f);
        task.pending();
        assert_eq!((probe.polls.get(), f.state()), (2, CONTENDED));
        probe.ready.set(true);
        assert_other(&mut task);
        // The wait ends at once, although the future still exists.
        assert_eq!((probe.polls.get(), probe.gone.get()), (3, true));
        assert_eq!(f.state(), OWNED);
        drop(held);
    });
}

fn t4_until_an_other_that_is_ready_at_once_is_the_outcome<P: TestTimer>() {
    Fixture::<P>::every_until(|f| {
        let held = f.hold();
        let (mut task, probe) = until(f);
        probe.ready.set(true);
        assert_other(&mut task);
        assert_eq!((probe.polls.get(), probe.gone.get()), (1, true));
        assert_eq!(f.state(), OWNED);
        drop(held);
    });
}

fn t4_until_a_grant_during_the_others_last_poll_is_passed_on<P: TestTimer>() {
    // No waiter is next.
    Fixture::<P>::every_until(|f| {
        let held = f.hold();
        let (mut task, probe) = wait(f);
        probe.ready.set(true);
        probe.on_poll(move || drop(held));
        assert_other(&mut task);
    });
    // A waiter is next. A reader that waits queues once the other has its share.
    Fixture::<P>::every_until(|f| {
        let held = f.hold();
        let (mut task, probe) = wait(f);
        let mut next = Task::new(f.plain());
        let exclusive = f.op.is_exclusive();
        if exclusive {
            next.pending();
        }
        let inside = Slot::new();
        probe.ready.set(true);
        probe.on_poll({
            let (f, inside) = (f.clone(), inside.clone());
            move || {
                drop(held);
                inside.put(f.state());
            }
        });
        assert_other(&mut task);
        let granted = if exclusive { CONTENDED } else { OWNED };
        assert_eq!(inside.take(), Some(granted), "the grant comes within the poll of the other future");
        assert_eq!(next.wakes(), usize::from(exclusive));
        drop(next.ready());
    });
}

fn t4_until_a_grant_during_the_others_pending_poll_is_kept<P: TestTimer>() {
    for first_poll in [true, false] {
        Fixture::<P>::every_until(|f| {
            let held = f.hold();
            let (mut task, probe) = until(f);
            if !first_poll {
                task.pending();
            }
            probe.on_poll(move || drop(held));
            let outcome = match task.poll() {
                Poll::Ready(outcome) => outcome,
                Poll::Pending => {
                    assert_eq!(task.wakes(), 1, "a grant must wake the task");
                    assert_eq!(f.state(), OWNED);
                    // The other future is ready too late: the next poll sees the grant first.
                    probe.ready.set(true);
                    task.ready()
                }
            };
            drop(outcome.expect("it was granted"));
            f.assert_free();
        });
    }
}

fn t4_until_an_ended_writer_lets_the_readers_in<P: TestTimer>() {
    use crate::time::fixture::{Limit, Op};
    Fixture::<P>::each(
        |op, limit| (op, limit) == (Op::Write, Limit::Timeout),
        |f| {
            for dropped in [false, true] {
                let reader = f.rwlock.try_read().expect("free");
                let (mut writer, probe) = wait(f);
                let mut blocked = Task::queued(f.rwlock.read());
                if dropped {
                    writer.cancel();
                } else {
                    probe.ready.set(true);
                    assert_other(&mut writer);
                }
                assert_eq!(blocked.wakes(), 1);
                assert_eq!(f.state(), State { owners: 2, waiters: 0 });
                drop((reader, blocked.ready()));
                f.assert_free();
            }
        },
    );
}

fn t4_until_a_dropped_operation_leaves<P: TestTimer>() {
    Fixture::<P>::every_until(|f| {
        let held = f.hold();
        let (mut task, probe) = wait(f);
        task.cancel();
        assert!(probe.gone.get());
        assert_eq!((f.state(), task.wakers_kept()), (OWNED, 0));
        drop(held);
        assert_eq!(task.wakes(), 0);
    });
}

fn t4_until_a_dropped_operation_passes_its_grant_on<P: TestTimer>() {
    Fixture::<P>::every_until(|f| {
        let held = f.hold();
        let (mut task, _probe) = wait(f);
        drop(held);
        let mut next = Task::queued(f.plain());
        task.cancel();
        assert_eq!(next.wakes(), 1);
        drop(next.ready());
    });
}

fn t4_until_a_finished_future_panics_when_polled<P: TestTimer>() {
    Fixture::<P>::every_until(|f| {
        let (mut at_once, _probe) = until(f);
        let guard = at_once.ready();
        panics(|| at_once.poll().is_ready());
        drop(guard);

        let held = f.hold();
        let (mut ended, probe) = wait(f);
        probe.ready.set(true);
        assert_other(&mut ended);
        panics(|| ended.poll().is_ready());
        assert_eq!(f.state(), OWNED);
        drop(held);
        // The lock is free. An operation that has ended must not enter.
        panics(|| ended.poll().is_ready());
    });
}

fn t4_until_the_platforms_sleep_is_a_timeout<P: TestTimer>() {
    Fixture::<P>::every_until(|f| {
        let held = f.hold();
        let mut task = Task::queued(f.until(P::sleep(P::span(ms(20))).expect("within the clock")));
        if P::EXACT {
            P::advance(ms(19));
            task.pending();
        }
        P::advance(ms(20));
        assert!(task.ready().is_err(), "it was not granted");
        drop(held);
    });
}

fn t5_until_an_ended_wait_is_never_granted_and_never_woken<P: TestTimer>() {
    Fixture::<P>::every_until(|f| {
        let held = f.hold();
        let (mut task, probe) = wait(f);
        probe.ready.set(true);
        assert_other(&mut task);
        assert_eq!(task.wakers_kept(), 0);
        let mut next = Task::queued(f.plain());
        drop(held);
        assert_eq!((task.wakes(), next.wakes()), (0, 1));
        drop(next.ready());
        f.assert_free();
    });
}

fn t4_until_run_runs_or_ends_with_the_other<P: TestTimer>() {
    Fixture::<P>::every_until(|f| {
        let run = |probe: &Rc<Probe>, body: fn()| f.run_until(Other(Rc::clone(probe)), async move || body());
        // The lock is free: the other future is dropped unpolled, before the body runs.
        let probe = Rc::<Probe>::default();
        assert_eq!(Task::new(run(&probe, || ())).ready(), Ok(()));
        assert_eq!((probe.polls.get(), probe.gone.get()), (0, true));
        f.assert_free();
        // The run is granted before the other future is ready. The other future is dropped before the body runs.
        let held = f.hold();
        let probe = Rc::<Probe>::default();
        let seen = Rc::clone(&probe);
        let mut granted = Task::queued(f.run_until(Other(Rc::clone(&probe)), async move || assert!(seen.gone.get())));
        drop(held);
        assert_eq!((granted.ready(), probe.polls.get()), (Ok(()), 1));
        f.assert_free();
        // The other future is ready first: the body never runs.
        let held = f.hold();
        let probe = Rc::<Probe>::default();
        let mut ended = Task::queued(run(&probe, || panic!("it was not granted")));
        assert_eq!(f.state(), CONTENDED);
        probe.ready.set(true);
        assert_eq!((ended.ready(), f.state(), probe.gone.get()), (Err("other"), OWNED, true));
        drop(held);
    });
}

fn k2_until_the_other_may_use_the_lock<P: TestTimer>() {
    Fixture::<P>::every_until(|f| {
        let held = f.hold();
        let (mut task, probe) = until(f);
        let done = Rc::new(Cell::new(0));
        let hook = || {
            let (f, done) = (f.clone(), Rc::clone(&done));
            move || {
                assert!(f.try_hold().is_none());
                drop(Task::queued(f.plain()));
                done.set(done.get() + 1);
            }
        };
        probe.on_poll(hook());
        probe.on_drop(hook());
        task.pending();
        assert_eq!((done.get(), f.state()), (1, CONTENDED));
        probe.ready.set(true);
        assert_other(&mut task);
        assert_eq!((done.get(), f.state()), (2, OWNED));
        drop(held);
    });
}

fn k10_until_leaves_before_the_other_is_dropped<P: TestTimer>() {
    fn state_on_drop<P: TestTimer>(f: &Fixture<P>, probe: &Probe) -> Slot<State> {
        let seen = Slot::new();
        probe.on_drop({
            let (f, seen) = (f.clone(), seen.clone());
            move || seen.put(f.state())
        });
        seen
    }
    Fixture::<P>::every_until(|f| {
        let held = f.hold();
        // The operation is dropped while it waits.
        let (mut task, probe) = wait(f);
        let seen = state_on_drop(f, &probe);
        task.cancel();
        assert_eq!(seen.take(), Some(OWNED));
        // The other future ends the operation.
        let (mut task, probe) = wait(f);
        let seen = state_on_drop(f, &probe);
        probe.ready.set(true);
        assert_other(&mut task);
        assert_eq!(seen.take(), Some(OWNED));
        // The operation is dropped after it was granted.
        let (mut task, probe) = wait(f);
        let seen = state_on_drop(f, &probe);
        drop(held);
        task.cancel();
        assert_eq!(seen.take(), Some(FREE));
        // The operation is claimed.
        let held = f.hold();
        let (mut task, probe) = wait(f);
        let seen = state_on_drop(f, &probe);
        drop(held);
        let guard = task.ready();
        assert_eq!(seen.take(), Some(OWNED));
        drop(guard);
    });
}

fn f13_until_an_other_that_panics_loses_nothing<P: TestTimer>() {
    // The other future panics in its poll. The operation keeps its place until it is dropped.
    Fixture::<P>::every_until(|f| {
        let held = f.hold();
        let (mut task, probe) = until(f);
        probe.on_poll(|| panic!("other"));
        assert_eq!(panics(|| task.poll().is_ready()), "other");
        drop(held);
        assert_eq!(f.state(), OWNED, "granted, not claimed");
        let mut next = Task::queued(f.plain());
        drop(task);
        assert_eq!(next.wakes(), 1);
        drop(next.ready());
    });
    // The other future panics in its drop, in the poll that would have returned the guard.
    Fixture::<P>::every_until(|f| {
        let held = f.hold();
        let (mut task, probe) = wait(f);
        drop(held);
        probe.on_drop(|| panic!("other"));
        assert_eq!(panics(|| task.poll().is_ready()), "other");
    });
    // The other future panics in its drop, in the poll that would have returned its output.
    Fixture::<P>::every_until(|f| {
        let _held = f.hold();
        let (mut task, probe) = wait(f);
        probe.ready.set(true);
        probe.on_drop(|| panic!("other"));
        assert_eq!(panics(|| task.poll().is_ready()), "other");
        assert_eq!(f.state(), OWNED);
    });
    // The other future panics in its drop, on a free lock.
    Fixture::<P>::every_until(|f| {
        let (mut task, probe) = until(f);
        probe.on_drop(|| panic!("other"));
        assert_eq!(panics(|| task.poll().is_ready()), "other");
    });
}

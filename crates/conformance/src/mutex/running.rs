//! `run_exclusive` and `run_shared` release the lock in every case (M8, W8).

use crate::tools::subject::{Case, Form, Hidden, Op, Subject};
use crate::tools::{Platform, Task, panics};
use core::cell::Cell;
use core::future::{pending, poll_fn};
use core::task::Poll;
use fifolock_core::rwlock::RwLockPolicy::WriterPreferring;

/// Calls the rule for each operation that a run can have.
fn each_run<P: Platform>(rule: impl Fn(&Subject<P>, Op)) {
    for op in [Op::Lock, Op::Read, Op::Write] {
        let _case = Case(op);
        let subject = Subject::new(WriterPreferring, 9, Form::Borrowed);
        rule(&subject, op);
        subject.assert_over();
    }
}

/// An operation that the run excludes.
fn excluded(op: Op) -> Op {
    if op == Op::Lock { Op::Lock } else { Op::Write }
}

/// Queues a waiter behind the run.
#[track_caller]
fn queued<P: Platform>(subject: &Subject<P>, op: Op) -> Task<Hidden<'_>> {
    Task::queued(subject.op(excluded(op)))
}

async fn opened(gate: &Cell<bool>) {
    poll_fn(|_| if gate.get() { Poll::Ready(()) } else { Poll::Pending }).await;
}

pub(super) fn m8_run_exclusive_releases_when_it_returns<P: Platform>() {
    each_run::<P>(|subject, op| {
        let mut run = Task::new(subject.run(op, async || (subject.state(), subject.try_op(excluded(op)))));
        assert_eq!(run.ready(), ((1, 0), false));
        subject.assert_free();

        // The run holds the lock while its body is suspended.
        let gate = Cell::new(false);
        let mut run = Task::new(subject.run(op, async || opened(&gate).await));
        run.pending();
        let mut next = queued(subject, op);
        run.pending();
        assert_eq!((subject.state(), next.wakes()), ((1, 1), 0));
        gate.set(true);
        run.ready();
        assert_eq!(next.wakes(), 1);
        drop(next.ready());

        // The body has access to the data.
        let replace = async |value: &mut u32| core::mem::replace(value, 7);
        assert_eq!(Task::new(subject.mutex.run_exclusive(replace)).ready(), 0);
        assert_eq!(Task::new(subject.rwlock.run_exclusive(replace)).ready(), 0);
        assert_eq!(Task::new(subject.rwlock.run_shared(async |value| *value)).ready(), 7);
    });
}

pub(super) fn m8_run_exclusive_releases_on_an_error<P: Platform>() {
    each_run::<P>(|subject, op| {
        let mut run = Task::new(subject.run(op, async || {
            Err::<u32, _>("refused")?;
            Ok::<_, &str>(0)
        }));
        assert_eq!(run.ready(), Err("refused"));
        subject.assert_free();
    });
}

pub(super) fn m8_run_exclusive_releases_on_a_panic<P: Platform>() {
    each_run::<P>(|subject, op| {
        for is_suspended in [false, true] {
            let gate = Cell::new(!is_suspended);
            let mut run = Task::new(subject.run(op, async || -> () {
                opened(&gate).await;
                panic!("the body panics");
            }));
            let mut next = is_suspended.then(|| {
                run.pending();
                queued(subject, op)
            });
            gate.set(true);
            assert_eq!(panics(|| run.poll().is_ready()), "the body panics");
            if let Some(next) = &mut next {
                assert_eq!(next.wakes(), 1);
                drop(next.ready());
            }
            subject.assert_free();
        }
    });
}

pub(super) fn m8_run_exclusive_releases_when_it_is_dropped<P: Platform>() {
    each_run::<P>(|subject, op| {
        let begun = Cell::new(0);
        let run = || {
            Task::new(subject.run(op, async || {
                begun.set(begun.get() + 1);
                pending::<()>().await;
            }))
        };
        drop(run());
        subject.assert_free();

        // The future is dropped while its body runs.
        let mut runs = run();
        runs.pending();
        let mut next = queued(subject, op);
        runs.cancel();
        assert_eq!((next.wakes(), begun.get()), (1, 1));
        let guard = next.ready();

        // One future is dropped while it waits, another after it was granted.
        let (mut waiting, mut granted) = (run(), run());
        waiting.pending();
        granted.pending();
        waiting.cancel();
        assert_eq!(subject.state(), (1, 1));
        drop(guard);
        assert_eq!((waiting.wakes(), granted.wakes()), (0, 1));
        let mut last = queued(subject, op);
        granted.cancel();
        assert_eq!((last.wakes(), begun.get()), (1, 1));
        drop(last.ready());
    });
}

pub(super) fn m8_run_exclusive_waits_its_turn<P: Platform>() {
    each_run::<P>(|subject, op| {
        let guard = subject.hold(excluded(op));
        let ran = Cell::new(false);
        let mut first = queued(subject, op);
        let mut run = Task::queued(subject.run(op, async || ran.set(true)));
        drop(guard);
        run.pending();
        drop(first.ready());
        assert!(!ran.get());
        assert_eq!((first.wakes(), run.wakes()), (1, 1));
        run.ready();
        assert!(ran.get());
    });
}

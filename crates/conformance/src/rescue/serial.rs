//! Operations of which one at a time is inside: the mutex, and each operation of a read-write lock against its own kind
//! (R1, R2).

use super::fixture::{Actor, Guard, Hidden, Op, SUSPICIONS, Subject, each_serial, each_serial_left};
use crate::tools::Platform;
use crate::tools::{forget, poll_once};
use core::task::Waker;

/// The task has two futures. The first is granted and parked; the second has not been polled.
fn parked<'a, P: Platform>(subject: &'a Subject<P>, op: Op, task: &Actor) -> Hidden<'a> {
    let held = subject.hold(op);
    let first = task.queue(subject.op(op));
    drop(held);
    assert_eq!(task.woken(), 1, "granted");
    first
}

pub(super) fn r1_the_first_poll_notes_and_wakes_and_the_next_rescues<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let (task, other) = (Actor::new(), Actor::new());
        let first = parked(subject, op, &task);
        let mut bystander = other.queue(subject.op(op));
        let mut second = subject.op(op);
        task.suspect(&mut second);
        assert_eq!((subject.inside(), subject.waiting()), (1, 2));
        let guard = task.ready(&mut second);
        assert_eq!((task.woken(), other.woken()), (0, 0));
        assert_eq!((subject.inside(), subject.waiting()), (1, 2));
        assert!(!subject.try_op(op), "it is held");
        drop(guard);
        drop(other.served(&mut bystander));
        assert_eq!(task.woken(), 1, "the victim is granted");
        drop(first);
    });
}

pub(super) fn r1_a_new_grant_is_noted_anew<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let task = Actor::new();
        let held = subject.hold(op);
        let first = task.queue(subject.op(op));
        let mut next = task.queue(subject.op(op));
        let mut second = task.queue(subject.op(op));
        drop(held);
        assert_eq!(task.woken(), 1);
        task.suspect(&mut second);
        // Another future of the task is granted now, which the task may still poll.
        drop(first);
        assert_eq!(task.woken(), 1);
        drop(task.rescue(&mut second));
        // `next` stands in the place of `second`.
        drop(task.served(&mut next));
    });
}

pub(super) fn r1_a_grant_to_the_same_future_is_noted_anew<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let task = Actor::new();
        let first = parked(subject, op, &task);
        // `second` queues before `third`, which will see two grants.
        let mut second = subject.op(op);
        task.pending(&mut second);
        let mut third = subject.op(op);
        task.woken();
        task.suspect(&mut third);
        let guard = loop {
            // `second` has suspected the task at least once.
            if let core::task::Poll::Ready(guard) = task.poll(&mut second) {
                break guard;
            }
        };
        task.woken();
        task.pending(&mut third);
        assert_eq!(task.woken(), 0, "claimed");
        drop(guard);
        assert_eq!(task.woken(), 1, "the first future is granted again, in the place of the second");
        drop(task.rescue(&mut third));
        assert_eq!(task.woken(), 1, "and again");
        drop(first);
    });
}

pub(super) fn r1_a_claim_in_between_ends_it<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let task = Actor::new();
        let mut first = parked(subject, op, &task);
        let mut second = subject.op(op);
        task.suspect(&mut second);
        let guard = task.ready(&mut first);
        for _ in 0..3 {
            task.pending(&mut second);
        }
        assert_eq!(task.woken(), 0);
        drop(guard);
        drop(task.served(&mut second));
    });
}

pub(super) fn r1_without_another_poll_nothing_is_robbed<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let task = Actor::new();
        let mut first = parked(subject, op, &task);
        // Any number of waiters may suspect the task, each of them fewer times than a theft needs.
        let mut others: Vec<_> = (0..5).map(|_| subject.op(op)).collect();
        for other in &mut others {
            task.suspect(other);
        }
        drop(task.ready(&mut first));
        for other in &mut others {
            drop(task.served(other));
        }
    });
}

pub(super) fn r1_a_waiter_that_was_queued_before_the_grant_rescues<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let task = Actor::new();
        let held = subject.hold(op);
        let mut first = task.queue(subject.op(op));
        let mut second = task.queue(subject.op(op));
        for _ in 0..3 {
            task.pending(&mut second);
            assert_eq!(task.woken(), 0, "nobody is granted");
        }
        drop(held);
        assert_eq!(task.woken(), 1);
        let guard = task.rescue(&mut second);
        task.pending(&mut first);
        assert_eq!(task.woken(), 0);
        drop(guard);
        drop(task.served(&mut first));
    });
}

pub(super) fn r2_the_robbed_future_is_claimed_in_its_turn<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let (task, other) = (Actor::new(), Actor::new());
        let mut first = parked(subject, op, &task);
        let mut bystander = other.queue(subject.op(op));
        let mut second = subject.op(op);
        let guard = task.rescue(&mut second);
        task.pending(&mut first);
        other.pending(&mut bystander);
        drop(guard);
        assert_eq!(task.woken(), 0, "the bystander queued before the second future");
        task.pending(&mut first);
        let guard = other.served(&mut bystander);
        drop(guard);
        let guard = task.served(&mut first);
        assert_eq!((subject.inside(), subject.waiting()), (1, 0));
        drop(guard);
    });
}

pub(super) fn r2_the_robbed_future_is_dropped_while_it_waits<P: Platform>() {
    each_serial::<P>(|subject, op| {
        for behind in [false, true] {
            let (task, other) = (Actor::new(), Actor::new());
            let first = parked(subject, op, &task);
            let mut second = subject.op(op);
            let guard = task.rescue(&mut second);
            let mut bystander = behind.then(|| other.queue(subject.op(op)));
            drop(first);
            assert_eq!((subject.inside(), subject.waiting()), (1, usize::from(behind)));
            drop(guard);
            if let Some(bystander) = &mut bystander {
                drop(other.served(bystander));
            }
            assert_eq!(task.woken(), 0, "a future that was dropped is not woken");
            drop((second, bystander));
            subject.assert_over();
        }
    });
}

pub(super) fn r2_the_robbed_future_is_dropped_before<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let (task, other) = (Actor::new(), Actor::new());
        let first = parked(subject, op, &task);
        let mut bystander = other.queue(subject.op(op));
        let mut second = subject.op(op);
        task.suspect(&mut second);
        drop(first);
        // The grant of the dropped future goes to the next waiter, although `second` suspected its task.
        for _ in 0..3 {
            task.pending(&mut second);
        }
        assert_eq!(task.woken(), 0);
        drop(other.served(&mut bystander));
        drop(task.served(&mut second));
        drop((second, bystander));
        subject.assert_over();

        let first = parked(subject, op, &task);
        let mut second = subject.op(op);
        task.suspect(&mut second);
        drop(first);
        drop(task.served(&mut second));
    });
}

pub(super) fn r2_the_robbed_future_is_forgotten<P: Platform>() {
    each_serial_left::<P>(|subject, op| {
        let task = Actor::new();
        let first = parked(subject, op, &task);
        let mut second = subject.op(op);
        if op == Op::Lock {
            task.suspect(&mut second);
            forget(first);
        } else {
            forget(first);
            task.suspect(&mut second);
        }
        let guard = task.ready(&mut second);
        assert_eq!((subject.inside(), subject.waiting()), (1, 1));
        drop(guard);
        // The forgotten victim is granted and never claims. Its own task still gets the lock each time.
        assert_eq!(task.woken(), 1);
        for _ in 0..3 {
            drop(task.rescue(&mut subject.op(op)));
            assert_eq!(task.woken(), 1);
            assert_eq!((subject.inside(), subject.waiting()), (1, 0));
        }
    });
}

pub(super) fn r2_the_robber_is_dropped_after_its_note<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let task = Actor::new();
        let mut first = parked(subject, op, &task);
        let mut second = subject.op(op);
        task.suspect(&mut second);
        drop(second);
        assert_eq!((subject.inside(), subject.waiting()), (1, 0));
        drop(task.ready(&mut first));
    });
}

pub(super) fn r2_robbed_again_and_again<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let task = Actor::new();
        let mut first = parked(subject, op, &task);
        for _ in 0..10 {
            let mut thief = subject.op(op);
            let guard = task.rescue(&mut thief);
            assert_eq!((subject.inside(), subject.waiting()), (1, 1));
            drop(guard);
            assert_eq!(task.woken(), 1);
        }
        drop(task.ready(&mut first));
        drop(first);
        subject.assert_over();
        assert_eq!(task.kept(), 0);
    });
}

pub(super) fn r2_a_robbed_future_robs_back<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let task = Actor::new();
        let mut first = parked(subject, op, &task);
        let mut second = subject.op(op);
        let mut third = subject.op(op);
        task.pending(&mut third);
        task.woken();
        drop(task.rescue(&mut second));
        assert_eq!(task.woken(), 1, "the third future, which queued before the second");
        let guard = task.rescue(&mut first);
        drop(guard);
        drop(task.served(&mut third));
        drop((first, second, third));
        subject.assert_over();
        assert_eq!(task.kept(), 0);
    });
}

pub(super) fn r2_wakers_are_given_back<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let task = Actor::new();
        let first = parked(subject, op, &task);
        assert_eq!(task.kept(), 0, "the grant has taken the waker");
        let mut second = subject.op(op);
        task.suspect(&mut second);
        assert_eq!(task.kept(), 1);
        let guard: Guard<'_> = task.ready(&mut second);
        assert_eq!(task.kept(), 1, "the victim has the waker");
        drop(guard);
        assert_eq!((task.woken(), task.kept()), (1, 0));
        drop(first);
        assert_eq!(task.kept(), 0);

        // The victim is polled with another waker, and the lock drops the old one.
        let mut first = parked(subject, op, &task);
        let mut second = subject.op(op);
        let guard = task.rescue(&mut second);
        let newest = Actor::new();
        newest.pending(&mut first);
        assert_eq!((task.kept(), newest.kept()), (0, 1));
        drop(guard);
        assert_eq!((task.woken(), newest.woken(), newest.kept()), (0, 1, 0));
        drop(newest.ready(&mut first));

        // The victim is dropped.
        let first = parked(subject, op, &task);
        let mut second = subject.op(op);
        let guard = task.rescue(&mut second);
        assert_eq!(task.kept(), 1);
        drop(first);
        assert_eq!(task.kept(), 0);
        drop(guard);
        drop(second);

        // The waker is one that the test does not count. Wakers are compared by address.
        let held = subject.hold(op);
        let mut first = subject.op(op);
        assert!(poll_once(&mut first, Waker::noop()).is_pending());
        drop(held);
        let mut second = subject.op(op);
        let polls = (1..100).find(|_| poll_once(&mut second, Waker::noop()).is_ready());
        assert_eq!(polls, Some(SUSPICIONS + 1));
    });
}

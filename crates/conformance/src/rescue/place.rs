//! Places in the queue (R3), and the turns of other tasks (R7).

use super::fixture::{Actor, Form, Op, SUSPICIONS, Subject, each_policy_with, each_serial};
use crate::tools::Platform;
use core::task::Poll;
use fifolock_core::rwlock::RwLockPolicy;

/// The longest queue.
const WAITERS: usize = if cfg!(miri) { 3 } else { 5 };

/// The thief stands at each place of each queue, with or without a waiter that leaves later.
pub(super) fn r3_places_are_swapped_wherever_the_robber_stands<P: Platform>() {
    each_serial::<P>(|subject, op| {
        for waiters in 1..=WAITERS {
            for place in 0..waiters {
                for gone in [None].into_iter().chain((0..waiters).map(Some)) {
                    swap(subject, op, waiters, place, gone);
                }
            }
        }
    });
}

/// `gone` is the place of the waiter that leaves after the theft.
fn swap<P: Platform>(subject: &Subject<P>, op: Op, waiters: usize, place: usize, gone: Option<usize>) {
    let task = Actor::new();
    let others = Actor::many(waiters);
    let of = |n: usize| if n == place { &task } else { &others[n] };
    let held = subject.hold(op);
    let first = task.queue(subject.op(op));
    let mut queue: Vec<_> = (0..waiters).map(|n| Some(of(n).queue(subject.op(op)))).collect();
    drop(held);
    assert_eq!(task.woken(), 1);
    let mut thief = queue[place].replace(first).expect("queued");
    let guard = task.rescue(&mut thief);
    assert_eq!((subject.inside(), subject.waiting()), (1, waiters));
    if let Some(gone) = gone {
        queue[gone] = None;
        assert_eq!((subject.inside(), subject.waiting()), (1, waiters - 1));
    }
    drop(guard);
    for n in 0..waiters {
        let Some(mut turn) = queue[n].take() else { continue };
        for (later, waits) in queue.iter_mut().enumerate().skip(n + 1) {
            assert_eq!(of(later).woken(), 0, "out of turn: {later} at {n}");
            if let Some(waits) = waits {
                of(later).pending(waits);
            }
        }
        let guard = of(n).served(&mut turn);
        drop(guard);
    }
    drop((thief, queue));
    subject.assert_over();
    assert!(task.kept() == 0 && others.iter().all(|other| other.kept() == 0));
}

/// One member of a batch of three is parked. The thief stands at each place among the readers that have no room.
pub(super) fn r3_readers_of_a_batch_swap_with_one_that_waits_for_room<P: Platform>() {
    each_policy_with::<P>(3, |subject, _| {
        for parked in 0..3 {
            for waiters in 1..WAITERS {
                for place in 0..waiters {
                    let task = Actor::new();
                    let others = Actor::many(3 + waiters);
                    let of = |n: usize| if n == parked || n == 3 + place { &task } else { &others[n] };
                    let held = subject.hold(Op::Write);
                    let mut all: Vec<_> = (0..3 + waiters).map(|n| of(n).queue(subject.op(Op::Read))).collect();
                    drop(held);
                    let mut guards: Vec<_> = (0..3)
                        .map(|n| {
                            if n == parked {
                                assert_eq!(task.woken(), 1);
                                None
                            } else {
                                Some(of(n).served(&mut all[n]))
                            }
                        })
                        .collect();
                    assert_eq!((subject.inside(), subject.waiting()), (3, waiters));
                    guards[parked] = Some(task.rescue(&mut all[3 + place]));
                    assert_eq!((subject.inside(), subject.waiting()), (3, waiters));
                    all.swap(parked, 3 + place);
                    for (n, waits) in all.iter_mut().enumerate().skip(3) {
                        for later in 3..3 + waiters {
                            assert_eq!(of(later).woken(), 0, "out of turn");
                        }
                        drop(guards.pop());
                        guards.insert(0, Some(of(n).served(waits)));
                    }
                    drop((guards, all));
                    subject.assert_over();
                }
            }
        }
    });
}

/// A task parks every grant and locks again, in a loop. Another task queues now and then, and has its turn after the
/// waiters that queued before it.
pub(super) fn r7_a_bystander_has_its_turn<P: Platform>() {
    each_serial::<P>(|subject, op| {
        for parked_before in 1..4 {
            let (task, other) = (Actor::new(), Actor::new());
            let held = subject.hold(op);
            let mut parked: Vec<_> = (0..parked_before).map(|_| task.queue(subject.op(op))).collect();
            let mut bystander = other.queue(subject.op(op));
            drop(held);
            let mut turns = 0;
            // In each turn the task parks one grant, locks in another future, and releases.
            for _ in 0..parked_before {
                let mut again = subject.op(op);
                let mut polls = 0;
                let guard = loop {
                    polls += 1;
                    assert!(polls <= SUSPICIONS + 1, "the first poll that may steal does so");
                    if let Poll::Ready(guard) = task.poll(&mut again) {
                        break guard;
                    }
                };
                assert_eq!(other.woken(), 0, "waiters that queued earlier come first");
                drop(guard);
                turns += 1;
                parked.push(again);
            }
            assert_eq!(other.woken(), 1, "{turns} turns of waiters that queued earlier");
            drop(other.ready(&mut bystander));
            drop((parked, bystander));
            subject.assert_over();
        }
    });
    // The turns alternate without end: each of two tasks that do nothing else has every second turn.
    let subject = Subject::<P>::new(RwLockPolicy::WriterPreferring, 9, Form::Borrowed);
    let tasks = Actor::many(2);
    let held = subject.hold(Op::Lock);
    let mut thieves: Vec<_> = (0..2).map(|n| tasks[n].queue(subject.op(Op::Lock))).collect();
    let parked: Vec<_> = (0..2).map(|n| tasks[n].queue(subject.op(Op::Lock))).collect();
    drop(held);
    let mut turns = Vec::new();
    for _ in 0..100 {
        for n in 0..2 {
            if let Poll::Ready(guard) = tasks[n].poll(&mut thieves[n]) {
                turns.push(n);
                // The task queues its next future before this one ends.
                let mut next = subject.op(Op::Lock);
                tasks[n].pending(&mut next);
                thieves[n] = next;
                drop(guard);
            }
        }
    }
    assert!(turns.len() > 20);
    assert!(turns.windows(2).skip(2).all(|pair| pair[0] != pair[1]), "one task passes the other: {turns:?}");
    drop((thieves, parked));
    subject.assert_over();
}

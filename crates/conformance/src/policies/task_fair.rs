//! Task-fair (P2, P3), and the default policy (P1).

use super::{queue, serve, turns};
use crate::rescue::fixture::{Actor, Form, Op, Subject};
use crate::tools::{Hooks, Platform, Random, Slot, hook};
use fifolock_core::RwLock;
use fifolock_core::rwlock::RwLockPolicy::{self, PhaseFair, TaskFair, WriterPreferring};
use std::rc::Rc;

fn both<P: Platform>(policy: RwLockPolicy, rule: impl Fn(&Subject<P>)) {
    for form in [Form::Borrowed, Form::Owned] {
        rule(&Subject::new(policy, 1000, form));
    }
}

pub(super) fn p1_is_the_default<P: Platform>() {
    assert_eq!(RwLock::<u32, P>::new(0).policy(), WriterPreferring);
    assert_eq!(RwLock::<u32, P>::with_max_readers(0, 3).policy(), WriterPreferring);
    assert_eq!(RwLock::<u32, P>::default().policy(), RwLockPolicy::default());
    for policy in [WriterPreferring, TaskFair, PhaseFair] {
        assert_eq!(RwLock::<u32, P>::with_policy(0, policy).policy(), policy);
        assert_eq!(RwLock::<u32, P>::with_policy_and_max_readers(0, policy, 7).policy(), policy);
        // Under each policy the lock has room for `MAX_READERS`.
        let most = RwLock::<u32, P>::MAX_READERS;
        assert_eq!(RwLock::<u32, P>::with_policy_and_max_readers(0, policy, most).policy(), policy);
    }
}

pub(super) fn p1_a_waiting_writer_keeps_readers_out_and_writers_follow_each_other<P: Platform>() {
    both::<P>(WriterPreferring, |subject| {
        assert_eq!(turns(subject, Op::Write, "rwrwr"), "b d ace");
        assert_eq!(turns(subject, Op::Read, "wrwrr"), "a c bde");
        let _held = subject.hold(Op::Read);
        assert!(subject.try_op(Op::Read));
        let actors = Actor::many(1);
        let _waiting = queue(subject, &actors, "w");
        assert!(!subject.try_op(Op::Read) && !subject.try_op(Op::Upgradable));
    });
}

pub(super) fn p2_turns_come_in_order_of_arrival<P: Platform>() {
    both::<P>(TaskFair, |subject| {
        assert_eq!(turns(subject, Op::Write, "rwrwr"), "a b c d e");
        assert_eq!(turns(subject, Op::Write, "rrwwrrrw"), "ab c d efg h");
        assert_eq!(turns(subject, Op::Read, "wrrwr"), "a bc d e");
        assert_eq!(turns(subject, Op::Write, "wwrrw"), "a b cd e");
        // There is one upgradable reader at a time, and it enters with the readers next to it.
        assert_eq!(turns(subject, Op::Write, "ruruw"), "abc d e");
        assert_eq!(turns(subject, Op::Write, "urrw"), "abc d");
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let kinds: String = (0..20).map(|_| ['r', 'r', 'w'][random.below(3)]).collect();
            let served = turns(subject, [Op::Write, Op::Read][usize::from(kinds.starts_with('w'))], &kinds);
            let order: String = served.chars().filter(|name| *name != ' ').collect();
            assert_eq!(order, ('a'..='t').collect::<String>(), "{kinds}: {served}");
        }
    });
}

pub(super) fn p2_a_newcomer_enters_only_if_nobody_is_queued<P: Platform>() {
    both::<P>(TaskFair, |subject| {
        for first in ["w", "ww", "u"] {
            let (actors, late) = (Actor::many(2), Actor::many(3));
            // An upgradable reader waits for another one.
            let held = subject.hold(if first == "u" { Op::Upgradable } else { Op::Read });
            assert!(subject.try_op(Op::Read), "nobody is queued");
            let mut waiting = queue(subject, &actors, first);
            for op in [Op::Read, Op::Upgradable, Op::Write] {
                assert!(!subject.try_op(op), "{op:?} passes {first}");
            }
            let mut behind = queue(subject, &late, "ruw");
            drop(held);
            waiting.append(&mut behind);
            let served = serve(&mut waiting);
            assert!(waiting.is_empty());
            assert_eq!(
                served,
                match first {
                    "w" => "a ab c",
                    "ww" => "a b ab c",
                    // The upgradable reader enters with the reader behind it.
                    _ => "aa b c",
                }
            );
            subject.assert_over();
        }
        // The run stands behind a granted writer that has not claimed, or behind a reader for which there is no room.
        let subject = Subject::<P>::new(TaskFair, 1, Form::Owned);
        let held = subject.hold(Op::Read);
        let actors = Actor::many(1);
        let mut waiting = queue(&subject, &actors, "r");
        assert!(!subject.try_op(Op::Read) && !subject.try_op(Op::Write));
        drop(held);
        assert!(!subject.try_op(Op::Read) && !subject.try_op(Op::Write));
        assert_eq!(serve(&mut waiting), "a");
    });
}

/// Sizes around the bounds of chunks, and far past them.
const RUNS: &[usize] = if cfg!(miri) { &[1, 2, 33, 65] } else { &[1, 2, 31, 32, 33, 64, 65, 200] };

pub(super) fn p3_adjacent_readers_enter_together<P: Platform>() {
    both::<P>(TaskFair, |subject| {
        for &size in RUNS {
            let actors = Actor::many(2 * size);
            let [first, second, third] = [(); 3].map(|()| Actor::new());
            let held = subject.hold(Op::Read);
            let mut one = first.queue(subject.op(Op::Write));
            let mut run: Vec<_> = actors[..size].iter().map(|actor| actor.queue(subject.op(Op::Read))).collect();
            let mut two = second.queue(subject.op(Op::Write));
            let mut next: Vec<_> = actors[size..].iter().map(|actor| actor.queue(subject.op(Op::Read))).collect();
            let mut three = third.queue(subject.op(Op::Write));
            drop(held);
            drop(first.served(&mut one));
            for (mine, mut readers) in [(&actors[..size], &mut run), (&actors[size..], &mut next)]
                .into_iter()
                .map(|(actors, readers)| (actors, readers.iter_mut()))
            {
                // All are inside before the release returns.
                assert_eq!(subject.inside(), size);
                assert!(mine.iter().all(|actor| actor.woken() == 1), "{size} readers");
                let guards: Vec<_> = mine.iter().map(|actor| actor.ready(readers.next().expect("one each"))).collect();
                assert!(second.woken() == 0 && third.woken() == 0);
                drop(guards);
                if second.is_woken() {
                    assert!(actors[size..].iter().all(|actor| !actor.is_woken()), "readers behind a writer wait");
                    drop(second.served(&mut two));
                }
            }
            drop(third.served(&mut three));
            drop((run, next, one, two, three));
            subject.assert_over();
        }
    });
}

pub(super) fn p3_cancellations_bring_readers_together<P: Platform>() {
    both::<P>(TaskFair, |subject| {
        // Readers leave from the middle of the run.
        for size in [5, 70] {
            for gone in [0, size / 2, size - 1] {
                let actors = Actor::many(size);
                let writer = Actor::new();
                let held = subject.hold(Op::Write);
                let mut run: Vec<_> = actors.iter().map(|actor| Some(actor.queue(subject.op(Op::Read)))).collect();
                let mut last = writer.queue(subject.op(Op::Write));
                run[gone] = None;
                drop(held);
                assert_eq!(subject.inside(), size - 1);
                for (n, reader) in run.iter_mut().enumerate() {
                    assert_eq!(actors[n].woken(), usize::from(n != gone));
                    drop(reader.take());
                }
                drop(writer.served(&mut last));
                drop(last);
                subject.assert_over();
            }
        }
        // The writer between two runs leaves. Behind another writer the two runs become one; beside readers they enter.
        for size in [1, 40] {
            let actors = Actor::many(size);
            let [writer, last] = [(); 2].map(|()| Actor::new());
            let held = subject.hold(Op::Read);
            let between = writer.queue(subject.op(Op::Write));
            let mut run: Vec<_> = actors.iter().map(|actor| actor.queue(subject.op(Op::Read))).collect();
            let mut ending = last.queue(subject.op(Op::Write));
            let late = Actor::new();
            let mut behind = late.queue(subject.op(Op::Read));
            drop(between);
            assert!(actors.iter().all(|actor| actor.woken() == 1), "all are woken before the drop returns");
            assert_eq!((late.woken(), last.woken(), writer.woken()), (0, 0, 0));
            assert_eq!(subject.inside(), size + 1);
            drop(held);
            drop(run.drain(..));
            drop(last.served(&mut ending));
            drop(late.served(&mut behind));
            drop((behind, ending));
            subject.assert_over();
        }
    });
}

/// A waker polls a new reader between two chunks. The queue is not empty, so the reader must wait.
pub(super) fn p3_a_newcomer_between_two_chunks_queues<P: Platform>() {
    let subject = Rc::new(Subject::<P>::new(TaskFair, 1000, Form::Owned));
    let tried = Slot::new();
    let on_wake = {
        let (subject, tried) = (Rc::clone(&subject), tried.clone());
        hook(move || tried.put((subject.try_op(Op::Read), subject.try_op(Op::Write), subject.inside())))
    };
    let first = Actor::with_hooks(Hooks { on_wake, ..Hooks::default() });
    let actors = Actor::many(99);
    let held = subject.hold(Op::Write);
    let mut reading = first.queue(subject.op(Op::Read));
    let run: Vec<_> = actors.iter().map(|actor| actor.queue(subject.op(Op::Read))).collect();
    drop(held);
    assert_eq!(tried.take(), Some((false, false, 32)), "in chunks of 32");
    assert!(actors.iter().all(|actor| actor.woken() == 1));
    assert_eq!(subject.inside(), 100);
    drop((first.served(&mut reading), run));
    drop(reading);
    assert_eq!((subject.inside(), subject.waiting()), (0, 0));
}

//! Thefts between operations of different kinds (R4, R5), under each policy.

use super::fixture::{Actor, Case, Hidden, Op, SUSPICIONS, Subject, each_policy};
use crate::tools::Platform;
use fifolock_core::RwLock;
use fifolock_core::rwlock::RwLockPolicy::{PhaseFair, TaskFair, WriterPreferring};
use fifolock_core::rwlock::{RwLockUpgradableReadGuard, RwLockWriteGuard};

const SHARES: [Op; 2] = [Op::Read, Op::Upgradable];

/// Readers inside, writer inside; waiting readers, upgradable readers, writers.
type State = (usize, bool, usize, usize, usize);

fn state<P: Platform>(subject: &Subject<P>) -> State {
    let state = subject.rwlock.state();
    (state.readers, state.writer, state.waiting_readers, state.waiting_upgradable, state.waiting_writers)
}

pub(super) fn r4_a_share_that_robs_the_write_lock_has_it_at_once<P: Platform>() {
    each_policy::<P>(|subject, _| {
        for op in SHARES {
            let (task, reader) = (Actor::new(), Actor::new());
            let held = subject.hold(Op::Write);
            let mut writer = task.queue(subject.op(Op::Write));
            drop(held);
            assert_eq!(task.woken(), 1);
            let mut share = subject.op(op);
            let guard = task.rescue(&mut share);
            assert_eq!(state(subject), (1, false, 0, 0, 1), "never free, and never both");
            assert!(!subject.try_op(Op::Write) && !subject.try_op(Op::Read));
            let mut late = reader.queue(subject.op(Op::Read));
            task.pending(&mut writer);
            drop(guard);
            drop(task.served(&mut writer));
            drop(reader.served(&mut late));
            drop((share, writer, late));
            subject.assert_over();
            assert_eq!((task.kept(), reader.kept()), (0, 0));
        }
    });
}

pub(super) fn r4_a_robbed_writer_goes_to_the_tail<P: Platform>() {
    each_policy::<P>(|subject, policy| {
        for op in SHARES {
            let task = Actor::new();
            let [writer, reader, last] = [(); 3].map(|()| Actor::new());
            let held = subject.hold(Op::Read);
            let mut robbed = task.queue(subject.op(Op::Write));
            let mut writing = writer.queue(subject.op(Op::Write));
            let mut share = task.queue(subject.op(op));
            let mut reading = reader.queue(subject.op(Op::Read));
            let mut ending = last.queue(subject.op(Op::Write));
            drop(held);
            assert_eq!(task.woken(), 1);
            let guard = task.rescue(&mut share);
            // R7: the robbed write ends the writers' phase. Where readers have a queue of their own, the readers' phase
            // begins now.
            let waits = usize::from(policy == TaskFair);
            assert_eq!(state(subject), (2 - waits, false, waits, 0, 3));
            if policy != TaskFair {
                drop(reader.served(&mut reading));
            }
            drop(guard);
            let guard = writer.served(&mut writing);
            assert_eq!(state(subject), (0, true, waits, 0, 2));
            drop(guard);
            // The rest depends on the policy. The robbed writer is the last of the writers.
            if policy == TaskFair {
                drop(reader.served(&mut reading));
            }
            drop(last.served(&mut ending));
            assert_eq!(reader.woken(), 0, "one grant, one wake");
            drop(task.served(&mut robbed));
            drop((robbed, writing, share, reading, ending));
            subject.assert_over();
        }
    });
    // Readers that wait next to the thief enter with it: in one queue as its neighbours, in two queues by the readers'
    // phase.
    each_policy::<P>(|subject, _| {
        let (task, reader) = (Actor::new(), Actor::new());
        let held = subject.hold(Op::Read);
        let mut robbed = task.queue(subject.op(Op::Write));
        let mut share = task.queue(subject.op(Op::Read));
        let mut reading = reader.queue(subject.op(Op::Read));
        drop(held);
        task.woken();
        let guard = task.rescue(&mut share);
        assert_eq!(subject.waiting(), 1);
        drop(reader.served(&mut reading));
        drop(guard);
        drop(task.served(&mut robbed));
    });
}

/// A grant whose theft would not help does not count towards the theft of another grant.
pub(super) fn r1_a_grant_that_is_of_no_use_is_not_noted<P: Platform>() {
    each_policy::<P>(|subject, _| {
        let task = Actor::new();
        let held = subject.hold(Op::Write);
        let mut read = task.queue(subject.op(Op::Read));
        let mut first = task.queue(subject.op(Op::Upgradable));
        let mut second = task.queue(subject.op(Op::Upgradable));
        drop(held);
        // The task polls all its futures in this round, the last one first.
        task.pending(&mut second);
        task.woken();
        drop((task.ready(&mut first), task.ready(&mut read)));
        drop(task.served(&mut second));
        drop((read, first, second));
        subject.assert_over();
        assert_eq!(task.kept(), 0);
    });
}

pub(super) fn r4_shares_of_the_other_kind_rob_each_other<P: Platform>() {
    each_policy::<P>(|subject, _| {
        for (robbed, thief) in [(Op::Read, Op::Upgradable), (Op::Upgradable, Op::Read)] {
            let (task, writer) = (Actor::new(), Actor::new());
            let held = subject.hold(Op::Write);
            let mut first = task.queue(subject.op(robbed));
            drop(held);
            assert_eq!(task.woken(), 1);
            // This waiter keeps the other one out.
            let mut writing = writer.queue(subject.op(Op::Write));
            let mut second = subject.op(thief);
            let guard = task.rescue(&mut second);
            let waits = usize::from(robbed == Op::Upgradable);
            assert_eq!(state(subject), (1, false, 1 - waits, waits, 1));
            assert_eq!(subject.rwlock.state().upgradable, thief == Op::Upgradable);
            task.pending(&mut first);
            drop(guard);
            assert_eq!(task.woken(), 0, "the victim waits at the tail");
            drop(writer.served(&mut writing));
            drop(task.served(&mut first));
            drop((first, second, writing));
            subject.assert_over();
            assert_eq!(task.kept(), 0);
        }
    });
}

/// The task parks a granted share.
fn parked_share<'a, P: Platform>(subject: &'a Subject<P>, op: Op, task: &Actor) -> Hidden<'a> {
    let held = subject.hold(Op::Write);
    let share = task.queue(subject.op(op));
    drop(held);
    assert_eq!(task.woken(), 1);
    share
}

pub(super) fn r5_a_write_that_robs_a_share_gives_it_back<P: Platform>() {
    each_policy::<P>(|subject, _| {
        for op in SHARES {
            let task = Actor::new();
            let mut share = parked_share(subject, op, &task);
            let mut write = subject.op(Op::Write);
            task.suspect(&mut write);
            let guard = task.ready(&mut write);
            task.woken();
            let waits = usize::from(op == Op::Upgradable);
            assert_eq!(state(subject), (0, true, 1 - waits, waits, 0));
            task.pending(&mut share);
            drop(guard);
            drop(task.served(&mut share));
            drop((share, write));
            subject.assert_over();
            assert_eq!(task.kept(), 0);
        }
    });
}

pub(super) fn r5_a_write_that_robs_waits_for_other_readers<P: Platform>() {
    each_policy::<P>(|subject, _| {
        for op in SHARES {
            let (task, other) = (Actor::new(), Actor::new());
            let held = subject.hold(Op::Write);
            let mut share = task.queue(subject.op(op));
            let mut beside = other.queue(subject.op(Op::Read));
            drop(held);
            let inside = other.served(&mut beside);
            task.woken();
            let mut write = subject.op(Op::Write);
            let (polls, guard) = task.drive(&mut write);
            assert!(guard.is_none() && polls <= 2 * (SUSPICIONS + 1));
            let waits = usize::from(op == Op::Upgradable);
            assert_eq!(state(subject), (1, false, 1 - waits, waits, 1));
            for _ in 0..3 {
                task.pending(&mut write);
                task.pending(&mut share);
                assert_eq!(task.woken(), 0, "nothing is left to steal");
            }
            drop(inside);
            drop(task.served(&mut write));
            drop(task.served(&mut share));
            drop((share, write, beside));
            subject.assert_over();
            assert_eq!(task.kept(), 0);
        }
    });
}

pub(super) fn r5_the_policy_chooses_who_is_next<P: Platform>() {
    each_policy::<P>(|subject, policy| {
        let task = Actor::new();
        let [writer, reader] = [(); 2].map(|()| Actor::new());
        let mut share = parked_share(subject, Op::Read, &task);
        let mut earlier = writer.queue(subject.op(Op::Write));
        let mut reading = reader.queue(subject.op(Op::Read));
        let mut write = subject.op(Op::Write);
        let (_, guard) = task.drive(&mut write);
        assert!(guard.is_none(), "an earlier writer comes first");
        assert_eq!(state(subject), (0, true, 2, 0, 1));
        drop(writer.served(&mut earlier));
        match policy {
            // A writer is followed by the next writer.
            WriterPreferring => {
                drop(task.served(&mut write));
                drop(reader.served(&mut reading));
                drop(task.served(&mut share));
            }
            // The turns are in order of arrival: the robbed share is at the tail.
            TaskFair => {
                drop(reader.served(&mut reading));
                drop(task.served(&mut write));
                drop(task.served(&mut share));
            }
            // All waiting readers enter, then the next writer.
            PhaseFair => {
                assert_eq!(state(subject), (2, false, 0, 0, 1));
                drop(reader.served(&mut reading));
                drop(task.served(&mut share));
                drop(task.served(&mut write));
            }
            _ => unreachable!("there are three policies"),
        }
    });
}

pub(super) fn r5_a_write_robs_every_share_of_its_task<P: Platform>() {
    each_policy::<P>(|subject, _| {
        for shares in 2..5 {
            let task = Actor::new();
            let held = subject.hold(Op::Write);
            let mut parked: Vec<_> = (0..shares).map(|_| task.queue(subject.op(Op::Read))).collect();
            drop(held);
            let mut write = subject.op(Op::Write);
            let (_, guard) = task.drive(&mut write);
            assert!(guard.is_some(), "only its own task's shares keep it out: {:?}", state(subject));
            assert_eq!(state(subject), (0, true, shares, 0, 0));
            drop(guard);
            for share in &mut parked {
                drop(task.ready(share));
            }
            drop((parked, write));
            subject.assert_over();
            assert_eq!(task.kept(), 0);
        }
    });
}

pub(super) fn r5_an_upgrade_robs_a_share<P: Platform>() {
    each_policy::<P>(|subject, _| upgrade_robs(subject, 1));
}

pub(super) fn r5_an_upgrade_robs_every_share_of_its_task<P: Platform>() {
    each_policy::<P>(|subject, _| (2..4).for_each(|shares| upgrade_robs(subject, shares)));
}

fn upgrade_robs<P: Platform>(subject: &Subject<P>, shares: usize) {
    for writer_waits in [false, true] {
        let (task, other) = (Actor::new(), Actor::new());
        let lock: &RwLock<u32, P> = &subject.rwlock;
        let held = lock.try_write().expect("free");
        let mut parked: Vec<_> = (0..shares).map(|_| task.queue(subject.op(Op::Read))).collect();
        let upgradable = RwLockWriteGuard::downgrade_to_upgradable(held);
        assert_eq!(task.woken(), shares);
        let mut writing = writer_waits.then(|| other.queue(subject.op(Op::Write)));
        let mut upgrade = Box::pin(RwLockUpgradableReadGuard::upgrade(upgradable));
        let (_, guard) = task.drive(&mut upgrade);
        assert!(guard.is_some(), "only its own task's shares keep it out: {:?}", state(subject));
        assert_eq!(state(subject), (0, true, shares, 0, usize::from(writer_waits)));
        drop(guard);
        if subject.rwlock.policy() == PhaseFair {
            parked.iter_mut().for_each(|share| drop(task.ready(share)));
        }
        if let Some(writing) = &mut writing {
            drop(other.served(writing));
        }
        if subject.rwlock.policy() != PhaseFair {
            parked.iter_mut().for_each(|share| drop(task.ready(share)));
        }
        drop((parked, writing));
        drop(upgrade);
        subject.assert_over();
    }
}

/// Another task has the upgradable share. A theft would not help the thief, so the poll takes nothing, suspects nothing
/// and wakes nobody.
pub(super) fn r5_an_upgradable_read_that_waits_for_another_takes_nothing<P: Platform>() {
    each_policy::<P>(|subject, _| {
        for parked in 1..4 {
            for seen_before in [false, true] {
                let _case = Case((parked, seen_before));
                let (task, other) = (Actor::new(), Actor::new());
                let lock: &RwLock<u32, P> = &subject.rwlock;
                let held = lock.try_write().expect("free");
                let mut reads: Vec<_> = (0..parked).map(|_| task.queue(subject.op(Op::Read))).collect();
                let mut waits = seen_before.then(|| task.queue(subject.op(Op::Upgradable)));
                let upgradable = RwLockWriteGuard::downgrade_to_upgradable(held);
                assert_eq!(task.woken(), parked);
                let mut waits = waits.take().unwrap_or_else(|| subject.op(Op::Upgradable));
                for _ in 0..10 {
                    task.pending(&mut waits);
                    assert_eq!(task.woken(), 0);
                    assert_eq!(state(subject), (1 + parked, false, 0, 1, 0));
                }
                // This is the documented limit: an upgrade waits for these shares, so the task must claim or drop them.
                let mut upgrade = Box::pin(RwLockUpgradableReadGuard::upgrade(upgradable));
                other.pending(&mut upgrade);
                task.pending(&mut waits);
                reads.iter_mut().for_each(|read| drop(task.ready(read)));
                drop(other.served(&mut upgrade));
                drop(task.served(&mut waits));
                drop((reads, waits));
                drop(upgrade);
                subject.assert_over();
                assert_eq!(task.kept(), 0);
            }
        }
    });
}

/// The other upgradable reader has left. So the thief takes the share of a read over (R4).
pub(super) fn r5_an_upgradable_read_steals_once_the_other_one_has_left<P: Platform>() {
    each_policy::<P>(|subject, _| {
        let (task, other) = (Actor::new(), Actor::new());
        let lock: &RwLock<u32, P> = &subject.rwlock;
        let held = lock.try_write().expect("free");
        let mut parked = task.queue(subject.op(Op::Read));
        let upgradable = RwLockWriteGuard::downgrade_to_upgradable(held);
        task.woken();
        let mut waits = subject.op(Op::Upgradable);
        (0..3).for_each(|_| task.pending(&mut waits));
        // A waiting writer keeps the upgradable read out, by the policy or by its place in the queue. Without a writer
        // the read is granted at once.
        drop(upgradable);
        drop(task.served(&mut waits));
        drop(task.ready(&mut parked));
        let mut write = subject.op(Op::Write);
        drop(other.ready(&mut write));
    });
}

//! Operations of different kinds (R4, R5), under each policy.

use super::fixture::{Actor, Case, Fixture, Hidden, Op, each_policy};
use fifolock_core::RwLock;
use fifolock_core::platform::Platform;
use fifolock_core::rwlock::RwLockPolicy::{PhaseFair, TaskFair, WriterPreferring};
use fifolock_core::rwlock::{RwLockUpgradableReadGuard, RwLockWriteGuard};

const SHARES: [Op; 2] = [Op::Read, Op::Upgradable];

/// Readers, writer, and who waits: readers, upgradable readers, writers.
type State = (usize, bool, usize, usize, usize);

fn state<P: Platform>(fixture: &Fixture<P>) -> State {
    let state = fixture.rwlock.state();
    (state.readers, state.writer, state.waiting_readers, state.waiting_upgradable, state.waiting_writers)
}

pub(super) fn r4_a_share_that_robs_the_write_lock_has_it_at_once<P: Platform>() {
    each_policy::<P>(|fixture, _| {
        for op in SHARES {
            let (task, reader) = (Actor::new(), Actor::new());
            let held = fixture.hold(Op::Write);
            let mut writer = task.queue(fixture.op(Op::Write));
            drop(held);
            assert_eq!(task.woken(), 1);
            let mut share = fixture.op(op);
            let guard = task.rescue(&mut share);
            assert_eq!(state(fixture), (1, false, 0, 0, 1), "never free, and never both");
            assert!(!fixture.try_op(Op::Write) && !fixture.try_op(Op::Read));
            let mut late = reader.queue(fixture.op(Op::Read));
            task.pending(&mut writer);
            drop(guard);
            drop(task.served(&mut writer));
            drop(reader.served(&mut late));
            drop((share, writer, late));
            fixture.assert_free();
            assert_eq!((task.kept(), reader.kept()), (0, 0));
        }
    });
}

pub(super) fn r4_a_robbed_writer_goes_to_the_tail<P: Platform>() {
    each_policy::<P>(|fixture, policy| {
        for op in SHARES {
            let task = Actor::new();
            let [writer, reader, last] = [(); 3].map(|()| Actor::new());
            let held = fixture.hold(Op::Read);
            let mut robbed = task.queue(fixture.op(Op::Write));
            let mut writing = writer.queue(fixture.op(Op::Write));
            let mut share = task.queue(fixture.op(op));
            let mut reading = reader.queue(fixture.op(Op::Read));
            let mut ending = last.queue(fixture.op(Op::Write));
            drop(held);
            assert_eq!(task.woken(), 1);
            let guard = task.rescue(&mut share);
            // The robbed writer has had its turn: where they take turns it is the readers' now.
            let waits = usize::from(policy != PhaseFair);
            assert_eq!(state(fixture), (2 - waits, false, waits, 0, 3));
            if policy == PhaseFair {
                drop(reader.served(&mut reading));
            }
            drop(guard);
            let guard = writer.served(&mut writing);
            assert_eq!(state(fixture), (0, true, waits, 0, 2));
            drop(guard);
            // The rest by policy: the robbed writer is the last of the writers.
            if policy == TaskFair {
                drop(reader.served(&mut reading));
            }
            drop(last.served(&mut ending));
            assert_eq!(reader.woken(), 0, "one grant, one wake");
            drop(task.served(&mut robbed));
            if policy == WriterPreferring {
                drop(reader.served(&mut reading));
            }
            drop((robbed, writing, share, reading, ending));
            fixture.assert_free();
        }
    });
    // Readers next to the robber go with it, where they stand in one queue, or take turns with writers.
    each_policy::<P>(|fixture, policy| {
        let (task, reader) = (Actor::new(), Actor::new());
        let held = fixture.hold(Op::Read);
        let mut robbed = task.queue(fixture.op(Op::Write));
        let mut share = task.queue(fixture.op(Op::Read));
        let mut reading = reader.queue(fixture.op(Op::Read));
        drop(held);
        task.woken();
        let guard = task.rescue(&mut share);
        assert_eq!(reader.woken(), usize::from(policy != WriterPreferring));
        assert_eq!(fixture.waiting(), if policy == WriterPreferring { 2 } else { 1 });
        if policy != WriterPreferring {
            drop(reader.ready(&mut reading));
        }
        drop(guard);
        drop(task.served(&mut robbed));
        if policy == WriterPreferring {
            drop(reader.served(&mut reading));
        }
        drop((robbed, share, reading));
        fixture.assert_free();
    });
}

/// A grant that it would not help to rob says nothing of another one.
pub(super) fn r1_a_grant_that_is_of_no_use_is_not_noted<P: Platform>() {
    each_policy::<P>(|fixture, _| {
        let task = Actor::new();
        let held = fixture.hold(Op::Write);
        let mut read = task.queue(fixture.op(Op::Read));
        let mut first = task.queue(fixture.op(Op::Upgradable));
        let mut second = task.queue(fixture.op(Op::Upgradable));
        drop(held);
        // All are polled in this round, the last one first.
        task.pending(&mut second);
        task.woken();
        drop((task.ready(&mut first), task.ready(&mut read)));
        drop(task.served(&mut second));
        drop((read, first, second));
        fixture.assert_free();
        assert_eq!(task.kept(), 0);
    });
}

pub(super) fn r4_shares_of_the_other_kind_rob_each_other<P: Platform>() {
    each_policy::<P>(|fixture, _| {
        for (robbed, robber) in [(Op::Read, Op::Upgradable), (Op::Upgradable, Op::Read)] {
            let (task, writer) = (Actor::new(), Actor::new());
            let held = fixture.hold(Op::Write);
            let mut first = task.queue(fixture.op(robbed));
            drop(held);
            assert_eq!(task.woken(), 1);
            // It keeps the other one out.
            let mut writing = writer.queue(fixture.op(Op::Write));
            let mut second = fixture.op(robber);
            let guard = task.rescue(&mut second);
            let waits = usize::from(robbed == Op::Upgradable);
            assert_eq!(state(fixture), (1, false, 1 - waits, waits, 1));
            assert_eq!(fixture.rwlock.state().upgradable, robber == Op::Upgradable);
            task.pending(&mut first);
            drop(guard);
            assert_eq!(task.woken(), 0, "to the tail");
            drop(writer.served(&mut writing));
            drop(task.served(&mut first));
            drop((first, second, writing));
            fixture.assert_free();
            assert_eq!(task.kept(), 0);
        }
    });
}

/// A parks a share and waits for the upgradable one. B has that, and waits, to upgrade, for A's share.
pub(super) fn r4_an_upgradable_read_gives_way_to_the_upgrade_that_waits_for_its_task<P: Platform>() {
    each_policy::<P>(|fixture, _| {
        let (task, other) = (Actor::new(), Actor::new());
        let held = fixture.rwlock.try_write().expect("free");
        let mut parked = task.queue(fixture.op(Op::Read));
        let upgradable = RwLockWriteGuard::downgrade_to_upgradable(held);
        assert_eq!(task.woken(), 1);
        let mut upgrade = Box::pin(RwLockUpgradableReadGuard::upgrade(upgradable));
        other.pending(&mut upgrade);
        let mut second = fixture.op(Op::Upgradable);
        let (_, guard) = task.drive(&mut second);
        assert!(guard.is_none());
        assert_eq!(other.woken(), 1, "the share was given back: the upgrade has its turn");
        drop(other.ready(&mut upgrade));
        assert!(task.woken() > 0);
        drop(task.ready(&mut second));
        drop(task.ready(&mut parked));
        drop((second, parked));
        drop(upgrade);
        fixture.assert_free();
    });
}

/// The task has a share, granted and parked.
fn parked_share<'a, P: Platform>(fixture: &'a Fixture<P>, op: Op, task: &Actor) -> Hidden<'a> {
    let held = fixture.hold(Op::Write);
    let share = task.queue(fixture.op(op));
    drop(held);
    assert_eq!(task.woken(), 1);
    share
}

pub(super) fn r5_a_write_that_robs_a_share_gives_it_back<P: Platform>() {
    each_policy::<P>(|fixture, _| {
        for op in SHARES {
            let task = Actor::new();
            let mut share = parked_share(fixture, op, &task);
            let mut write = fixture.op(Op::Write);
            task.note(&mut write);
            let guard = task.ready(&mut write);
            task.woken();
            let waits = usize::from(op == Op::Upgradable);
            assert_eq!(state(fixture), (0, true, 1 - waits, waits, 0));
            task.pending(&mut share);
            drop(guard);
            drop(task.served(&mut share));
            drop((share, write));
            fixture.assert_free();
            assert_eq!(task.kept(), 0);
        }
    });
}

pub(super) fn r5_a_write_that_robs_waits_for_other_readers<P: Platform>() {
    each_policy::<P>(|fixture, _| {
        for op in SHARES {
            let (task, other) = (Actor::new(), Actor::new());
            let held = fixture.hold(Op::Write);
            let mut share = task.queue(fixture.op(op));
            let mut beside = other.queue(fixture.op(Op::Read));
            drop(held);
            let inside = other.served(&mut beside);
            task.woken();
            let mut write = fixture.op(Op::Write);
            let (polls, guard) = task.drive(&mut write);
            assert!(guard.is_none() && polls <= 2 * (super::fixture::NOTES + 1));
            let waits = usize::from(op == Op::Upgradable);
            assert_eq!(state(fixture), (1, false, 1 - waits, waits, 1));
            for _ in 0..3 {
                task.pending(&mut write);
                task.pending(&mut share);
                assert_eq!(task.woken(), 0, "nothing is left to rob");
            }
            drop(inside);
            drop(task.served(&mut write));
            drop(task.served(&mut share));
            drop((share, write, beside));
            fixture.assert_free();
            assert_eq!(task.kept(), 0);
        }
    });
}

pub(super) fn r5_the_policy_chooses_who_is_next<P: Platform>() {
    each_policy::<P>(|fixture, policy| {
        let task = Actor::new();
        let [writer, reader] = [(); 2].map(|()| Actor::new());
        let mut share = parked_share(fixture, Op::Read, &task);
        let mut earlier = writer.queue(fixture.op(Op::Write));
        let mut reading = reader.queue(fixture.op(Op::Read));
        let mut write = fixture.op(Op::Write);
        let (_, guard) = task.drive(&mut write);
        assert!(guard.is_none(), "an earlier writer comes first");
        assert_eq!(state(fixture), (0, true, 2, 0, 1));
        drop(writer.served(&mut earlier));
        match policy {
            // Writers follow each other.
            WriterPreferring => {
                drop(task.served(&mut write));
                drop(reader.served(&mut reading));
                drop(task.served(&mut share));
            }
            // In order: the robbed share is at the tail.
            TaskFair => {
                drop(reader.served(&mut reading));
                drop(task.served(&mut write));
                drop(task.served(&mut share));
            }
            // All readers that wait, then the next writer.
            PhaseFair => {
                assert_eq!(state(fixture), (2, false, 0, 0, 1));
                drop(reader.served(&mut reading));
                drop(task.served(&mut share));
                drop(task.served(&mut write));
            }
            _ => unreachable!("there are three"),
        }
        drop((share, earlier, reading, write));
        fixture.assert_free();
    });
}

pub(super) fn r5_a_write_robs_every_share_of_its_task<P: Platform>() {
    each_policy::<P>(|fixture, _| {
        for shares in 2..5 {
            let task = Actor::new();
            let held = fixture.hold(Op::Write);
            let mut parked: Vec<_> = (0..shares).map(|_| task.queue(fixture.op(Op::Read))).collect();
            drop(held);
            let mut write = fixture.op(Op::Write);
            let (_, guard) = task.drive(&mut write);
            assert!(guard.is_some(), "only its own task's shares keep it out: {:?}", state(fixture));
            assert_eq!(state(fixture), (0, true, shares, 0, 0));
            drop(guard);
            for share in &mut parked {
                drop(task.ready(share));
            }
            drop((parked, write));
            fixture.assert_free();
            assert_eq!(task.kept(), 0);
        }
    });
}

pub(super) fn r5_an_upgrade_robs_a_share<P: Platform>() {
    each_policy::<P>(|fixture, _| upgrade_robs(fixture, 1));
}

pub(super) fn r5_an_upgrade_robs_every_share_of_its_task<P: Platform>() {
    each_policy::<P>(|fixture, _| (2..4).for_each(|shares| upgrade_robs(fixture, shares)));
}

fn upgrade_robs<P: Platform>(fixture: &Fixture<P>, shares: usize) {
    for writer_waits in [false, true] {
        let (task, other) = (Actor::new(), Actor::new());
        let lock: &RwLock<u32, P> = &fixture.rwlock;
        let held = lock.try_write().expect("free");
        let mut parked: Vec<_> = (0..shares).map(|_| task.queue(fixture.op(Op::Read))).collect();
        let upgradable = RwLockWriteGuard::downgrade_to_upgradable(held);
        assert_eq!(task.woken(), shares);
        let mut writing = writer_waits.then(|| other.queue(fixture.op(Op::Write)));
        let mut upgrade = Box::pin(RwLockUpgradableReadGuard::upgrade(upgradable));
        let (_, guard) = task.drive(&mut upgrade);
        assert!(guard.is_some(), "only its own task's shares keep it out: {:?}", state(fixture));
        assert_eq!(state(fixture), (0, true, shares, 0, usize::from(writer_waits)));
        drop(guard);
        if fixture.rwlock.policy() == PhaseFair {
            parked.iter_mut().for_each(|share| drop(task.ready(share)));
        }
        if let Some(writing) = &mut writing {
            drop(other.served(writing));
        }
        if fixture.rwlock.policy() != PhaseFair {
            parked.iter_mut().for_each(|share| drop(task.ready(share)));
        }
        drop((parked, writing));
        drop(upgrade);
        fixture.assert_free();
    }
}

/// A task has parked reads and waits for the upgradable share, which another task has. Neither that one's release nor its
/// upgrade waits for a read that nobody polls.
pub(super) fn r5_a_parked_read_stands_behind_an_upgradable_read_of_its_task<P: Platform>() {
    each_policy::<P>(|fixture, _| {
        for (parked, ends) in [(1, End::Upgrade), (3, End::Upgrade), (1, End::Release), (2, End::Release)] {
            behind_another_upgradable_reader(fixture, parked, ends, Seen::Before);
            behind_another_upgradable_reader(fixture, parked, ends, Seen::After);
        }
    });
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Release,
    Upgrade,
}

/// Whether the task's upgradable read is queued before its reads are granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Before,
    After,
}

fn behind_another_upgradable_reader<P: Platform>(fixture: &Fixture<P>, parked: usize, ends: End, seen: Seen) {
    let _case = Case((parked, ends, seen));
    let (task, other, newcomer) = (Actor::new(), Actor::new(), Actor::new());
    let lock: &RwLock<u32, P> = &fixture.rwlock;
    let held = lock.try_write().expect("free");
    let mut reads: Vec<_> = (0..parked).map(|_| task.queue(fixture.op(Op::Read))).collect();
    let mut waits = (seen == Seen::Before).then(|| task.queue(fixture.op(Op::Upgradable)));
    let upgradable = RwLockWriteGuard::downgrade_to_upgradable(held);
    let mut waits = waits.take().unwrap_or_else(|| fixture.op(Op::Upgradable));
    let (polls, guard) = task.drive(&mut waits);
    assert!(guard.is_none() && polls <= 2 * (parked + 1), "{polls} polls");
    assert_eq!(state(fixture).0, 1, "the parked shares are given back: {:?}", state(fixture));
    assert_eq!(fixture.waiting(), parked + 1);
    if fixture.rwlock.policy() != TaskFair {
        drop(newcomer.ready(&mut fixture.op(Op::Read)));
    }
    // Nobody polls them, so they are granted nothing that they would leave again.
    assert_eq!(state(fixture).0, 1, "they wait behind the one that their task waits for");
    match ends {
        End::Release => drop(upgradable),
        End::Upgrade => {
            let mut upgrade = Box::pin(RwLockUpgradableReadGuard::upgrade(upgradable));
            drop(other.ready(&mut upgrade));
        }
    }
    assert_eq!(task.woken(), 1 + parked, "one grant, one wake");
    assert_eq!(state(fixture), (1 + parked, false, 0, 0, 0));
    drop(task.ready(&mut waits));
    reads.iter_mut().for_each(|share| drop(task.ready(share)));
    drop((reads, waits));
    fixture.assert_free();
    assert_eq!(task.kept(), 0);
}

/// Such a read that leaves, is passed by, or is robbed again, is taken out of the line that it stands in.
pub(super) fn r5_a_read_that_stands_in_line_may_leave_and_rob<P: Platform>() {
    each_policy::<P>(|fixture, policy| {
        for way in 0..4 {
            let _case = Case(way);
            let (task, other, writer) = (Actor::new(), Actor::new(), Actor::new());
            let held = fixture.hold(Op::Write);
            let mut parked = task.queue(fixture.op(Op::Read));
            let mut upgradable = other.queue(fixture.op(Op::Upgradable));
            drop(held);
            let guard = other.served(&mut upgradable);
            let mut waits = fixture.op(Op::Upgradable);
            assert!(task.drive(&mut waits).1.is_none());
            assert_eq!((state(fixture).0, fixture.waiting()), (1, 2));
            match way {
                // It leaves.
                0 => drop(parked),
                // Who it stands behind leaves: nothing keeps it out then, and it is granted before the drop returns.
                1 => {
                    drop(waits);
                    drop(task.served(&mut parked));
                    drop((guard, parked, upgradable));
                    fixture.assert_free();
                    continue;
                }
                // A writer comes after both, and has its turn after them.
                2 => {
                    let mut write = writer.queue(fixture.op(Op::Write));
                    drop(guard);
                    assert_eq!(task.woken(), 2);
                    drop(task.ready(&mut waits));
                    assert_eq!(writer.woken(), 0, "a share is still unclaimed");
                    drop(task.ready(&mut parked));
                    drop(writer.served(&mut write));
                    drop((parked, waits, upgradable, write));
                    fixture.assert_free();
                    continue;
                }
                // It is polled while another read of its task is unclaimed: it need not rob that.
                _ => {
                    if policy == TaskFair {
                        // There a newcomer waits its turn: nothing to rob.
                        drop((parked, waits, guard, upgradable));
                        fixture.assert_free();
                        continue;
                    }
                    let mut write = writer.queue(fixture.op(Op::Write));
                    let mut second = task.queue(fixture.op(Op::Read));
                    drop(write);
                    assert_eq!(task.woken(), 1, "{:?}", state(fixture));
                    drop(task.ready(&mut parked));
                    drop(task.ready(&mut second));
                    assert_eq!(task.woken(), 1, "its own poll has granted it");
                    drop(guard);
                    drop(task.served(&mut waits));
                    write = fixture.op(Op::Write);
                    drop(writer.ready(&mut write));
                    drop((parked, second, waits, upgradable, write));
                    fixture.assert_free();
                    continue;
                }
            }
            drop(guard);
            drop(task.served(&mut waits));
            drop((waits, upgradable));
            fixture.assert_free();
            assert_eq!(task.kept(), 0);
        }
    });
}

/// A parked read that its task's upgradable read has robbed, and that the task polls while it holds the upgradable guard. Plain
/// readers come and go beside that (U1): so must this one, whoever has queued for the upgradable share meanwhile.
pub(super) fn r5_a_read_in_line_enters_beside_the_guard_of_its_robber<P: Platform>() {
    each_policy::<P>(|fixture, policy| {
        if policy == TaskFair {
            // There a newcomer waits its turn too.
            return;
        }
        let (task, bystander, newcomer) = (Actor::new(), Actor::new(), Actor::new());
        let lock: &RwLock<u32, P> = &fixture.rwlock;
        let held = lock.try_write().expect("free");
        let mut parked = task.queue(fixture.op(Op::Read));
        let upgradable = RwLockWriteGuard::downgrade_to_upgradable(held);
        assert_eq!(task.woken(), 1, "granted");
        let mut waits = fixture.op(Op::Upgradable);
        task.note(&mut waits);
        let mut later = bystander.queue(fixture.op(Op::Upgradable));
        assert!(task.drive(&mut waits).1.is_none());
        drop(upgradable);
        let guard = task.ready(&mut waits);
        drop(newcomer.ready(&mut fixture.op(Op::Read)));
        let share = match task.poll(&mut parked) {
            core::task::Poll::Ready(share) => share,
            core::task::Poll::Pending => panic!(
                "it waits for a bystander, who waits for the guard of its own task; a newcomer enters: {:?}",
                fixture.rwlock.state()
            ),
        };
        drop((share, guard));
        drop(bystander.served(&mut later));
        drop((parked, waits, later));
        fixture.assert_free();
    });
}

/// One that is polled is abandoned no longer: it enters, or waits, as any other reader, and is woken as one.
pub(super) fn r5_a_read_in_line_that_is_polled_is_as_any_other<P: Platform>() {
    each_policy::<P>(|fixture, policy| {
        if policy == TaskFair {
            return;
        }
        for writer_waits in [false, true] {
            let _case = Case(writer_waits);
            let (task, bystander, writer) = (Actor::new(), Actor::new(), Actor::new());
            let lock: &RwLock<u32, P> = &fixture.rwlock;
            let held = lock.try_write().expect("free");
            let mut parked = task.queue(fixture.op(Op::Read));
            let upgradable = RwLockWriteGuard::downgrade_to_upgradable(held);
            let mut waits = fixture.op(Op::Upgradable);
            assert!(task.drive(&mut waits).1.is_none());
            let mut later = bystander.queue(fixture.op(Op::Upgradable));
            let share = if writer_waits {
                let writing = writer.queue(fixture.op(Op::Write));
                task.pending(&mut parked);
                task.woken();
                // Whom it waits for goes: nobody else keeps plain readers out.
                drop(writing);
                assert_eq!(task.woken(), 1, "it is granted with the other readers");
                task.ready(&mut parked)
            } else {
                let share = task.ready(&mut parked);
                assert_eq!(task.woken(), 1, "its own poll has granted it");
                share
            };
            assert_eq!(state(fixture), (2, false, 0, 2, 0));
            drop((share, upgradable));
            drop(task.served(&mut waits));
            drop(bystander.served(&mut later));
            drop((parked, waits, later));
            fixture.assert_free();
        }
    });
}

/// As way 1 of `r5_a_read_that_stands_in_line_may_leave_and_rob`, with another task's upgradable read before them.
pub(super) fn r5_a_read_in_line_enters_when_its_robber_has_left<P: Platform>() {
    each_policy::<P>(|fixture, policy| {
        if policy == TaskFair {
            return;
        }
        let (task, bystander, newcomer) = (Actor::new(), Actor::new(), Actor::new());
        let lock: &RwLock<u32, P> = &fixture.rwlock;
        let held = lock.try_write().expect("free");
        let mut parked = task.queue(fixture.op(Op::Read));
        let upgradable = RwLockWriteGuard::downgrade_to_upgradable(held);
        let mut earlier = bystander.queue(fixture.op(Op::Upgradable));
        let mut waits = fixture.op(Op::Upgradable);
        assert!(task.drive(&mut waits).1.is_none());
        drop(waits);
        drop(newcomer.ready(&mut fixture.op(Op::Read)));
        let share = match task.poll(&mut parked) {
            core::task::Poll::Ready(share) => share,
            core::task::Poll::Pending => {
                panic!("nobody whom it stands behind is of its task; a newcomer enters: {:?}", fixture.rwlock.state())
            }
        };
        drop((share, upgradable));
        drop(bystander.served(&mut earlier));
        drop((parked, earlier));
        fixture.assert_free();
    });
}

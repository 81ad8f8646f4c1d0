//! Rules that hold under each policy, with the answer of each policy (P6).

use super::{queue, serve, turns};
use crate::rescue::fixture::{Actor, Op, each_policy, each_policy_with};
use crate::tools::{Hooks, Platform, Slot, hook};
use fifolock_core::rwlock::RwLockPolicy::{TaskFair, WriterPreferring};

pub(super) fn p6_h01_chosen_then_dropped<P: Platform>() {
    each_policy::<P>(|subject, _| {
        for kinds in ["ww", "wr", "wu", "rw", "rr", "uu", "uw"] {
            let actors = Actor::many(2);
            let held = subject.hold(Op::Write);
            let mut waiting = queue(subject, &actors, kinds);
            drop(held);
            // The chosen waiter is dropped unpolled, until the other one has its turn.
            let chosen = (0..2).find(|n| actors[*n].is_woken()).expect("one of the two is chosen");
            drop(waiting.remove(chosen));
            let left = waiting[0].0;
            assert!(waiting[0].1.is_woken(), "{kinds}: the waiter is woken before the drop returns");
            assert_eq!(serve(&mut waiting), left.to_string());
            subject.assert_over();
        }
        for kind in ["w", "r", "u"] {
            let actors = Actor::many(1);
            let held = subject.hold(Op::Write);
            let waiting = queue(subject, &actors, kind);
            drop(held);
            drop(waiting);
            subject.assert_over();
        }
    });
}

/// W5 under each policy: waiters that only one waiter blocks are let in before the drop of that waiter returns.
pub(super) fn p6_h02_the_last_blocker_leaves<P: Platform>() {
    each_policy::<P>(|subject, policy| {
        for readers in [1, 40] {
            let actors = Actor::many(readers);
            let writer = Actor::new();
            let held = subject.hold(Op::Read);
            let blocker = writer.queue(subject.op(Op::Write));
            let blocked: Vec<_> = actors.iter().map(|actor| actor.queue(subject.op(Op::Read))).collect();
            drop(blocker);
            assert!(actors.iter().all(|actor| actor.woken() == 1), "all are woken before the drop returns");
            assert_eq!((subject.inside(), subject.waiting()), (readers + 1, 0));
            assert!(!subject.try_op(Op::Write));
            drop((held, blocked));
            subject.assert_over();
        }
        // There are two blockers. The first to leave lets in the waiters that stand before the second, if the policy
        // has such an order.
        let actors = Actor::many(4);
        let held = subject.hold(Op::Read);
        let mut waiting = queue(subject, &actors, "wrwr");
        drop(waiting.remove(0));
        assert_eq!(actors[1].is_woken(), policy == TaskFair);
        assert!(!actors[3].is_woken());
        drop(waiting.remove(1));
        assert!(actors[1].is_woken() && actors[3].is_woken());
        assert_eq!(serve(&mut waiting), "bd");
        drop(held);
        subject.assert_over();
        // An upgradable reader that waits for another one keeps plain readers out only if all kinds share one queue.
        let actors = Actor::many(1);
        let late = Actor::many(1);
        let held = subject.hold(Op::Upgradable);
        let blocker = queue(subject, &actors, "u");
        assert_eq!(subject.try_op(Op::Read), policy != TaskFair);
        if policy == TaskFair {
            let mut behind = queue(subject, &late, "r");
            drop(blocker);
            assert_eq!(serve(&mut behind), "a");
        } else {
            drop(blocker);
        }
        drop(held);
    });
}

pub(super) fn p6_h09_reader_batch<P: Platform>() {
    each_policy::<P>(|subject, _| {
        // The orders are these rotations, and their reverses.
        let rotations = (0..5).map(|start| [0, 1, 2, 3, 4].map(|n| (start + n) % 5));
        for order in rotations.flat_map(|order| [order, order.map(|n| 4 - n)]) {
            let actors = Actor::many(5);
            let held = subject.hold(Op::Write);
            let mut waiting = queue(subject, &actors, "rrrrr");
            drop(held);
            assert!(actors.iter().all(|actor| actor.woken() == 1));
            let writer = Actor::new();
            let mut writing = writer.queue(subject.op(Op::Write));
            let guards: Vec<_> = order.into_iter().map(|n| actors[n].ready(&mut waiting[n].2)).collect();
            for guard in guards {
                assert_eq!(writer.woken(), 0);
                drop(guard);
            }
            drop(writer.served(&mut writing));
            drop((waiting, writing));
            subject.assert_over();
        }
    });
}

pub(super) fn p6_h10_overlapping_readers_do_not_starve_a_writer<P: Platform>() {
    each_policy::<P>(|subject, _| {
        let held = subject.hold(Op::Read);
        let writer = Actor::new();
        let mut writing = writer.queue(subject.op(Op::Write));
        let actors = Actor::many(50);
        let mut late: Vec<_> = actors.iter().map(|actor| actor.queue(subject.op(Op::Read))).collect();
        assert!(!subject.try_op(Op::Read));
        drop(held);
        let guard = writer.served(&mut writing);
        assert!(actors.iter().all(|actor| actor.woken() == 0));
        drop(guard);
        for (actor, reading) in actors.iter().zip(&mut late) {
            drop(actor.served(reading));
        }
    });
}

pub(super) fn p6_h11_downgrade<P: Platform>() {
    each_policy::<P>(|subject, policy| {
        // Part (a).
        let actors = Actor::many(2);
        let held = subject.rwlock.try_write().expect("free");
        let mut waiting = queue(subject, &actors, "rr");
        let shared = held.downgrade();
        assert_eq!(subject.inside(), 3);
        let writer = Actor::new();
        let mut writing = writer.queue(subject.op(Op::Write));
        assert_eq!(serve(&mut waiting), "ab");
        assert_eq!(writer.woken(), 0);
        drop(shared);
        drop(writer.served(&mut writing));
        drop(writing);
        subject.assert_over();
        // Part (b).
        let actors = Actor::many(3);
        let held = subject.rwlock.try_write().expect("free");
        let mut waiting = queue(subject, &actors, "rrw");
        let shared = held.downgrade();
        assert!(!subject.try_op(Op::Read) && !subject.try_op(Op::Write));
        let inside = if policy == WriterPreferring { 1 } else { 3 };
        assert_eq!((subject.inside(), subject.waiting()), (inside, 4 - inside));
        drop(shared);
        assert_eq!(serve(&mut waiting), if policy == WriterPreferring { "c ab" } else { "ab c" });
    });
}

/// The lock is held whenever a waker is called.
pub(super) fn p6_no_gap_in_a_hand_off<P: Platform>() {
    use Op::{Read, Upgradable, Write};
    each_policy::<P>(|subject, _| {
        for (holder, kind) in
            [(Read, Write), (Upgradable, Upgradable), (Upgradable, Write), (Write, Read), (Write, Upgradable)]
        {
            let (within, seen) = (Slot::new(), Slot::new());
            within.put(subject.clone());
            let on_wake = hook({
                let seen = seen.clone();
                move || {
                    let subject = within.take().expect("there is one wake");
                    seen.put((subject.try_op(Write), subject.state()));
                }
            });
            let actor = Actor::with_hooks(Hooks { on_wake, ..Hooks::default() });
            let held = subject.hold(holder);
            let waits = actor.queue(subject.op(kind));
            drop(held);
            assert_eq!(seen.take(), Some((false, (1, 0))), "{kind:?} behind {holder:?}");
            drop(waits);
            subject.assert_free();
        }
    });
}

pub(super) fn p6_the_limit_of_readers<P: Platform>() {
    each_policy_with::<P>(3, |subject, policy| {
        let held: Vec<_> = [Op::Read, Op::Upgradable, Op::Read].map(|op| subject.hold(op)).into();
        assert!(!subject.try_op(Op::Read));
        let actors = Actor::many(2);
        let mut waiting = queue(subject, &actors, "rr");
        let mut held = held.into_iter();
        // No writer waits: a reader that leaves makes room for another one.
        drop(held.next());
        assert!(actors[0].is_woken() && !actors[1].is_woken());
        assert_eq!((subject.inside(), subject.waiting()), (3, 1));
        let mut first = waiting.remove(0);
        let inside = first.1.served(&mut first.2);
        // A second writer waits behind the first. Room alone lets no waiting reader in, unless the reader comes first.
        let writer = Actor::new();
        let mut writing = writer.queue(subject.op(Op::Write));
        drop(held.next());
        assert_eq!(actors[1].is_woken(), policy == TaskFair);
        drop((held, inside));
        if policy == TaskFair {
            assert_eq!(serve(&mut waiting), "b");
            drop(writer.served(&mut writing));
        } else {
            drop(writer.served(&mut writing));
            assert_eq!(serve(&mut waiting), "b");
        }
    });
    each_policy_with::<P>(2, |subject, policy| {
        let expected = match policy {
            WriterPreferring => "d ab ce",
            TaskFair => "ab c d e",
            _ => "ab d ce",
        };
        assert_eq!(turns(subject, Op::Write, "rrrwr"), expected);
    });
    each_policy_with::<P>(1, |subject, policy| {
        let expected = match policy {
            WriterPreferring => "c a b d",
            TaskFair => "a b c d",
            _ => "a c b d",
        };
        assert_eq!(turns(subject, Op::Write, "rrwr"), expected);
    });
}

/// Every pair of waiters of a queue leaves, before or after the release. The others keep their turns and their order.
pub(super) fn p6_cancelled_anywhere<P: Platform>() {
    each_policy::<P>(|subject, policy| {
        let kinds = "rwrrwur";
        for first in 0..kinds.len() {
            for second in 0..first {
                for late in [false, true] {
                    let actors = Actor::many(kinds.len());
                    let held = subject.hold(Op::Write);
                    let mut waiting = queue(subject, &actors, kinds);
                    let held = if late {
                        drop(held);
                        None
                    } else {
                        Some(held)
                    };
                    drop(waiting.remove(first));
                    drop(waiting.remove(second));
                    drop(held);
                    let served = serve(&mut waiting);
                    assert!(waiting.is_empty(), "waiters are left: {served}");
                    let order: Vec<_> = served.chars().filter(|name| *name != ' ').collect();
                    assert_eq!(order.len(), kinds.len() - 2);
                    if policy == TaskFair {
                        assert!(order.is_sorted(), "{served}");
                    }
                    subject.assert_over();
                }
            }
        }
    });
}

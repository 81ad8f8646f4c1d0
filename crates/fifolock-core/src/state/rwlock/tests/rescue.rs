//! A task has stopped polling a grant and waits for something else: which theft helps, and what it counts.

use super::model::{Inside, Name, Owner, Pair, Step, explore_all};
use super::*;
use std::vec;

/// What the victim has, inside or owner; what waits then.
fn scene(policy: RwLockPolicy, victim: Mode, waits: &[Mode]) -> Machine {
    let mut machine = match victim {
        Read => with_readers(policy, 1, 9),
        Upgradable => {
            let mut machine = Machine::new(policy, 9);
            assert!(machine.arrive(Upgradable));
            machine
        }
        _ => {
            let mut machine = with_readers(policy, 1, 9);
            if victim == Upgrade {
                assert!(machine.arrive(Upgradable));
            }
            queue(&mut machine, [victim]);
            assert_eq!(machine.release(Read), [victim]);
            machine
        }
    };
    queue(&mut machine, waits.iter().copied());
    machine
}

#[test]
fn r3_the_same_kind_trades() {
    for policy in POLICIES {
        let mut machine = scene(policy, Write, &[Write, Read]);
        let before = machine.state;
        assert_eq!(machine.steal(Write, 0, Write).0, Theft::Trade);
        assert_eq!(machine.state, RwState { granted: ptr::null_mut(), ..before });
        check(&machine);

        let mut machine = scene(policy, Read, &[Write, Read]);
        let before = machine.state;
        let n = if policy == TaskFair { 1 } else { 0 };
        assert_eq!(machine.steal(Read, n, Read).0, Theft::Trade);
        assert_eq!(machine.state, before);

        let mut machine = scene(policy, Upgradable, &[Write, Upgradable]);
        let before = machine.state;
        assert_eq!(machine.steal(Upgradable, 1, Upgradable).0, Theft::Trade);
        assert_eq!(machine.state, before);
    }
}

#[test]
fn r4_a_write_robbed_by_a_reader_goes_to_the_tail_of_the_writers() {
    for policy in POLICIES {
        for thief in [Read, Upgradable] {
            let mut machine = scene(policy, Write, &[Write, thief]);
            let n = usize::from(policy == TaskFair || thief == Upgradable);
            let (theft, granted) = machine.steal(thief, n, Write);
            assert_eq!(theft, Theft::TakeOver);
            assert_eq!(granted, []);
            assert_eq!((machine.state.readers, machine.state.upgradable), (1, thief == Upgradable));
            assert_eq!(machine.kinds(), [Write, Write]);
            assert!(machine.state.granted.is_null() && machine.readers.is_empty());
            check(&machine);
            assert_eq!(machine.release(thief), [Write]);
        }
    }
}

#[test]
fn r5_a_share_robbed_by_a_writer_is_given_back() {
    for policy in POLICIES {
        for victim in [Read, Upgradable] {
            let mut machine = scene(policy, victim, &[Write]);
            let (theft, granted) = machine.steal(Write, 0, victim);
            assert_eq!(theft, Theft::GiveBack);
            assert_eq!(granted, [Write]);
            assert!(machine.state.writer);
            check(&machine);
            machine.claim();
            assert_eq!(machine.release(Write), [victim]);

            // MoreWait are inside: it waits on.
            let mut machine = scene(policy, victim, &[]);
            assert!(machine.arrive(Read));
            queue(&mut machine, [Write]);
            assert_eq!(machine.steal(Write, 0, victim).1, []);
            assert_eq!(machine.state.readers, 1);
            check(&machine);
            assert_eq!(machine.release(Read), [Write]);
        }
    }
}

#[test]
fn r4_a_share_of_another_kind_is_taken_over() {
    for policy in POLICIES {
        // Behind a writer: it would wait for itself.
        let mut machine = scene(policy, Upgradable, &[Write, Read]);
        let n = usize::from(policy == TaskFair);
        assert_eq!(machine.steal(Read, n, Upgradable).0, Theft::TakeOver);
        assert_eq!((machine.state.readers, machine.state.upgradable), (1, false));
        assert_eq!(machine.first(), Some(Write));
        check(&machine);

        let mut machine = scene(policy, Read, &[Write, Upgradable]);
        assert_eq!(machine.steal(Upgradable, 1, Read).0, Theft::TakeOver);
        assert_eq!((machine.state.readers, machine.state.upgradable), (1, true));
        assert_eq!(machine.state.counts.waiting_readers, 1);
        check(&machine);
    }
}

#[test]
fn r4_an_upgrade_robbed_by_a_reader_waits_with_its_share() {
    for policy in POLICIES {
        let mut machine = scene(policy, Upgrade, &[Write, Read]);
        let n = usize::from(policy == TaskFair);
        assert_eq!(machine.steal(Read, n, Upgrade).0, Theft::TakeOver);
        assert_eq!((machine.state.readers, machine.state.upgradable, machine.state.writer), (2, true, false));
        assert_eq!(machine.first(), Some(Upgrade));
        check(&machine);
        assert_eq!(machine.release(Read), [Upgrade]);
    }
}

#[test]
fn r4_an_upgrade_is_not_robbed_where_its_share_is_in_the_way() {
    for policy in POLICIES {
        for thief in [Write, Upgradable] {
            let mut machine = scene(policy, Upgrade, &[thief]);
            assert_eq!(machine.steal(thief, 0, Upgrade).0, Theft::Nothing);
            check(&machine);
        }
        // Room for one.
        let mut machine = Machine::new(policy, 1);
        assert!(machine.arrive(Upgradable));
        assert!(machine.arrive(Upgrade));
        machine.state.granted = WAITER;
        queue(&mut machine, [Read]);
        assert_eq!(machine.steal(Read, 0, Upgrade).0, Theft::Nothing);
        check(&machine);
    }
}

#[test]
fn r5_an_upgrade_steals_a_share_of_its_task() {
    for policy in POLICIES {
        let mut machine = scene(policy, Read, &[]);
        assert!(machine.arrive(Upgradable));
        queue(&mut machine, [Write, Upgrade]);
        let (theft, granted) = machine.steal(Upgrade, 0, Read);
        assert_eq!(theft, Theft::GiveBack);
        assert_eq!(granted, [Upgrade]);
        check(&machine);
    }
}

#[test]
fn r4_a_thief_of_the_batch_leaves_its_promise() {
    // An upgradable share is unclaimed; a batch is being marked; a member of it steals.
    let mut machine = Machine::new(WriterPreferring, 9);
    assert!(machine.arrive(Upgradable));
    queue(&mut machine, [Write, Read, Read, Read]);
    assert_eq!(machine.leave(Write, 0), [Read]);
    assert_eq!(machine.summary(), (4, false, 0, 0, 2));
    let (theft, granted) = machine.steal(Read, 1, Upgradable);
    assert_eq!(theft, Theft::TakeOver);
    assert_eq!(granted, []);
    // The thief, one that is marked and one that is not: the upgradable one waits.
    assert_eq!(machine.summary(), (3, false, 0, 0, 1));
    check(&machine);
    assert_eq!(machine.go_on_to_the_end(), [Read, Upgradable]);
}

#[test]
fn r8_a_reader_whose_share_is_reserved_need_not_steal() {
    // As many shares as members, or less.
    for (max, reserved) in [(9, true), (3, false)] {
        let mut machine = held(max);
        queue(&mut machine, [Read, Read, Read, Read]);
        assert_eq!(machine.release(Write), [Read]);
        queue(&mut machine, [Write, Read]);
        let has = |n: usize| machine.state.has_share_reserved(machine.readers[n]);
        let members = [has(0), has(1), has(2)];
        assert_eq!(members, [reserved; 3]);
        assert!(!has(3), "it came behind the batch");
        machine.go_on_to_the_end();
        assert!(machine.readers.iter().all(|batch_id| !machine.state.has_share_reserved(*batch_id)));
    }
}

#[test]
fn r2_nothing_is_stolen_when_the_victim_cannot_be_counted() {
    for (victim, thief) in [(Read, Write), (Upgradable, Write), (Write, Read)] {
        let mut machine = scene(WriterPreferring, victim, &[thief]);
        *machine.state.waiting(victim) = u32::MAX;
        assert_eq!(machine.steal(thief, 0, victim).0, Theft::Nothing);
        *machine.state.waiting(victim) -= 1;
        assert_eq!(machine.state.theft(thief, victim), if thief == Read { Theft::TakeOver } else { Theft::GiveBack });
        let _ = machine.state.rob(victim);
        assert_eq!(*machine.state.waiting(victim), u32::MAX);
    }
    // Readers whose shares are reserved are counted with those that wait.
    let mut state = with_readers(WriterPreferring, 9, 9).state;
    (state.counts.reserved, state.counts.window) = (5, 5);
    state.counts.waiting_readers = u32::MAX - 5;
    assert_eq!(state.theft(Write, Read), Theft::Nothing);
    state.counts.waiting_readers -= 1;
    assert_eq!(state.theft(Write, Read), Theft::GiveBack);
    let _ = state.rob(Read);
    assert_eq!(state.counts.waiting_readers, u32::MAX - 5);
}

/// A bystander reads although a task lets each of its writes be stolen by its next read.
#[test]
fn r7_a_robbed_writer_has_had_its_turn() {
    for victim in [Write, Upgrade] {
        let mut machine = scene(PhaseFair, victim, &[Read, Read, Read]);
        let (theft, granted) = machine.steal(Read, 2, victim);
        assert_eq!(theft, Theft::TakeOver);
        let granted: Vec<_> = granted.into_iter().chain(machine.go_on_to_the_end()).collect();
        assert_eq!(granted, [Read, Read], "bystanders wait for a turn that is never used: {machine:?}");
        check(&machine);
    }
}

/// A task has left these unclaimed and waits for this; all others do their part, and the upgradable reader may upgrade
/// before. Whether the task gets on.
fn gets_on(pair: &Pair, thief: usize, victim: &[usize], upgrades: bool) -> bool {
    let mut pair = pair.clone();
    pair.model.line[thief].name = Name::Thief;
    match &mut pair.model.owner {
        Owner::Granted(_, name) => *name = Name::Victim,
        _ => victim.iter().for_each(|i| pair.model.inside[*i].name = Name::Victim),
    }
    let owns = |pair: &Pair| {
        matches!(pair.model.owner, Owner::Granted(_, Name::Thief) | Owner::Claimed(Name::Thief))
            || pair.model.inside.iter().any(|inside| inside.name == Name::Thief)
    };
    for _ in 0..20 {
        let victim = |grant: &Inside| grant.name == Name::Victim;
        // A look that has found one goes on to the next, until there is nothing more to take.
        loop {
            let before = pair.model.line.len();
            for grant in pair.grants().into_iter().filter(victim) {
                let at = pair.model.line.iter().position(|waiting| waiting.name == Name::Thief);
                pair.take(Step::Steal(at.expect("it waits"), grant.mode, grant.name));
                if owns(&pair) {
                    return true;
                }
                if pair.model.line.len() != before {
                    break;
                }
            }
            if pair.model.line.len() == before {
                break;
            }
        }
        if upgrades && pair.steps(0).contains(&Step::Arrive(Upgrade)) {
            pair.take(Step::Arrive(Upgrade));
        }
        pair.drain(Name::Victim);
        if owns(&pair) {
            return true;
        }
        if !pair.grants().iter().any(victim) {
            return false;
        }
    }
    false
}

/// Calls this with every state, waiter and pair of grants of its task.
fn every_rescue(policy: RwLockPolicy, mut f: impl FnMut(&Pair, usize, &[usize])) {
    explore_all(policy, 5, |pair| {
        let grants = pair.grants().len();
        for thief in 0..pair.model.line.len() {
            for first in 0..grants {
                f(pair, thief, &[first]);
                for second in (0..grants).filter(|second| *second != first) {
                    f(pair, thief, &[first, second]);
                }
            }
        }
    });
}

/// Those that wait for themselves whatever is done, as a task that keeps a guard. `upgrades`: the upgradable reader does.
fn is_hopeless(pair: &Pair, thief: Mode, victims: &[Mode], upgrades: bool) -> bool {
    // The share of the upgrade is in use.
    let waits = pair.model.line.iter().any(|waiting| waiting.mode == Upgrade);
    let max = pair.machine.state.config.max_readers();
    let in_use =
        (victims.contains(&Upgrade) && (thief != Read || max == 1)) || (victims.contains(&Upgradable) && waits);
    // R5: the thief takes nothing, and the other upgradable reader waits for the read.
    let crosswise =
        thief == Upgradable && pair.machine.state.upgradable && !victims.contains(&Upgradable) && (upgrades || waits);
    in_use || crosswise
}

fn everyone_gets_on(policy: RwLockPolicy) {
    let mut rescues = 0;
    every_rescue(policy, |pair, thief, grants| {
        let mode = pair.model.line[thief].mode;
        let kinds: Vec<_> = grants.iter().map(|i| pair.grants()[*i].mode).collect();
        for upgrades in [false, !kinds.contains(&Upgradable)] {
            if !is_hopeless(pair, mode, &kinds, upgrades) {
                assert!(gets_on(pair, thief, grants, upgrades), "{mode:?} {kinds:?} is stuck, {upgrades}: {pair:?}");
                rescues += 1;
            }
        }
    });
    assert!(rescues > if cfg!(miri) { 10 } else { 1000 }, "there were only {rescues}");
}

#[test]
fn r1_a_task_that_has_left_a_grant_gets_on_writer_preferring() {
    everyone_gets_on(WriterPreferring);
}

#[test]
fn r1_a_task_that_has_left_a_grant_gets_on_task_fair() {
    everyone_gets_on(TaskFair);
}

#[test]
fn r1_a_task_that_has_left_a_grant_gets_on_phase_fair() {
    everyone_gets_on(PhaseFair);
}

/// The thief would wait for the other upgradable reader as before.
#[test]
fn r5_an_upgradable_read_that_waits_for_another_takes_nothing() {
    for policy in POLICIES {
        let mut machine = scene(policy, Read, &[]);
        assert!(machine.arrive(Upgradable));
        queue(&mut machine, [Write, Upgradable]);
        assert_eq!(machine.steal(Upgradable, 1, Read), (Theft::Nothing, Vec::new()));
        check(&machine);
        // It is gone: now the theft helps, also before the writer.
        assert_eq!(machine.release(Upgradable), []);
        assert_eq!(machine.steal(Upgradable, 1, Read).0, Theft::TakeOver);
        check(&machine);
    }
}

/// Each pair of kinds, under each policy.
#[test]
fn r_the_table_of_thefts() {
    use Theft::{GiveBack, Nothing, TakeOver, Trade};
    for policy in POLICIES {
        // The victim's grant is a read, an upgradable read, a write, an upgrade.
        let table = [
            (Read, [Trade, TakeOver, TakeOver, TakeOver]),
            (Upgradable, [TakeOver, Trade, TakeOver, Nothing]),
            (Write, [GiveBack, GiveBack, Trade, Nothing]),
            (Upgrade, [GiveBack, Nothing, Nothing, Trade]),
        ];
        for (thief, thefts) in table {
            for (victim, theft) in [Read, Upgradable, Write, Upgrade].into_iter().zip(thefts) {
                let state = scene(policy, victim, &[]).state;
                assert_eq!(state.theft(thief, victim), theft, "{thief:?} from {victim:?}");
            }
        }
        // Another one has the upgradable share.
        let mut machine = scene(policy, Read, &[]);
        assert!(machine.arrive(Upgradable));
        let thefts = [Read, Upgradable, Write, Upgrade].map(|thief| machine.state.theft(thief, Read));
        assert_eq!(thefts, [Trade, Nothing, GiveBack, GiveBack]);
    }
}

#[test]
fn r7_readers_that_wait_enter_with_the_thief() {
    for policy in [WriterPreferring, PhaseFair] {
        for (thief, waits) in [(Read, 2), (Upgradable, 3)] {
            for chunk in [1, 2, usize::MAX] {
                let mut machine = scene(policy, Write, &[Write, Read, Read, Read]);
                machine.chunk = chunk;
                if thief == Upgradable {
                    queue(&mut machine, [Upgradable]);
                }
                let n = if thief == Read { 2 } else { 1 };
                let (theft, mut granted) = machine.steal(thief, n, Write);
                assert_eq!((theft, granted.len()), (Theft::TakeOver, waits.min(chunk)));
                check(&machine);
                granted.extend(machine.go_on_to_the_end());
                assert_eq!(granted, [Read].repeat(waits), "a reader was passed by: {machine:?}");
                assert_eq!(machine.kinds(), [Write, Write]);
                check(&machine);
            }
        }
    }
    // In order of arrival nobody goes with the thief.
    let mut machine = scene(TaskFair, Write, &[Write, Read, Read]).in_one_section();
    assert_eq!(machine.steal(Read, 1, Write), (Theft::TakeOver, Vec::new()));
    assert_eq!(machine.kinds(), [Write, Read, Write]);
    check(&machine);
}

/// A task steals its own write again and again: the readers of the others don't wait for ever.
#[test]
fn r7_before_a_robbed_writer_the_readers_have_a_turn() {
    let steal = |policy| {
        let mut machine = scene(policy, Write, &[Read, Write]).in_one_section();
        assert_eq!(machine.steal(Read, 0, Write).0, Theft::TakeOver);
        // The other writer is first, then the robbed one.
        queue(&mut machine, [Read]);
        assert_eq!(machine.release(Read), [Write]);
        check(&machine);
        machine
    };
    let mut machine = steal(WriterPreferring);
    assert_eq!(machine.release(Write), [Read], "the robbed writer is the head");
    check(&machine);
    queue(&mut machine, [Read]);
    // One turn is enough.
    assert_eq!(machine.release(Read), [Write]);
    assert_eq!(machine.release(Write), [Read]);

    // A robbed writer that is polled is a writer as any other.
    let mut machine = steal(WriterPreferring);
    machine.prove_alive(0);
    assert_eq!(machine.release(Write), [Write]);
    assert_eq!(machine.release(Write), [Read]);

    // Only the head counts.
    let mut machine = scene(WriterPreferring, Write, &[Read, Write, Write]).in_one_section();
    assert_eq!(machine.steal(Read, 0, Write).0, Theft::TakeOver);
    queue(&mut machine, [Read]);
    assert_eq!((machine.release(Read), machine.release(Write)), (vec![Write], vec![Write]));

    // A reader that leaves ends no writers' turn.
    let mut machine = scene(WriterPreferring, Write, &[Read]).in_one_section();
    assert_eq!(machine.steal(Read, 0, Write).0, Theft::TakeOver);
    queue(&mut machine, [Read]);
    assert_eq!(machine.release(Read), [Write]);

    // Who takes turns gives the readers one anyhow, and who keeps the order none.
    assert_eq!(steal(PhaseFair).release(Write), [Read]);
    assert_eq!(steal(TaskFair).release(Write), [Write]);
}

/// A downgrade ends the turn as a release does.
#[test]
fn r7_before_a_robbed_writer_a_downgrade_lets_readers_in() {
    for (policy, readers) in [(WriterPreferring, 1), (PhaseFair, 1), (TaskFair, 0)] {
        let mut machine = scene(policy, Write, &[Read, Write]).in_one_section();
        assert_eq!(machine.steal(Read, 0, Write).0, Theft::TakeOver);
        assert_eq!(machine.release(Read), [Write]);
        machine.claim();
        queue(&mut machine, [Read]);
        assert_eq!(machine.downgrade(Read), [Read].repeat(readers), "{policy:?}");
        check(&machine);
    }
}

/// A thief comes while others are on the way to mark the rest: they do it.
#[test]
fn r4_a_thief_leaves_the_batch_to_those_on_the_way() {
    for policy in POLICIES {
        let mut machine = held_under(policy, 9);
        queue(&mut machine, [Read, Read, Read]);
        assert_eq!(machine.release(Write), [Read]);
        queue(&mut machine, [Write, Upgradable]);
        let n = machine.queue.len() - 1;
        let (theft, granted) = machine.steal(Upgradable, n, Read);
        assert_eq!((theft, granted), (Theft::TakeOver, Vec::new()));
        check(&machine);
        assert_eq!(machine.go_on_to_the_end(), [Read, Read]);
        assert_eq!(machine.first(), Some(Write));
        check(&machine);
    }
}

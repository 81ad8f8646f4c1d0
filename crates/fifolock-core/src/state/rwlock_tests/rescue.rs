//! A task has stopped polling a grant and waits for something else: who gets what.

use super::model::{Inside, Name, Owner, Pair, Step, explore_all};
use super::*;

/// What is robbed, inside or owner; who waits then, and who of them robs.
fn scene(policy: RwLockPolicy, robbed: Kind, waits: &[Kind]) -> Machine {
    let mut machine = match robbed {
        Read => with_readers(policy, 1, 9),
        Upgradable => {
            let mut machine = Machine::new(policy, 9);
            assert!(machine.arrive(Upgradable));
            machine
        }
        _ => {
            let mut machine = with_readers(policy, 1, 9);
            if robbed == Upgrade {
                assert!(machine.arrive(Upgradable));
            }
            queue(&mut machine, [robbed]);
            assert_eq!(machine.release(Read), [robbed]);
            machine
        }
    };
    queue(&mut machine, waits.iter().copied());
    machine
}

#[test]
fn r_the_same_kind_trades() {
    for policy in POLICIES {
        let mut machine = scene(policy, Write, &[Write, Read]);
        let before = machine.state;
        assert_eq!(machine.rob(Write, 0, Write).0, Rob::Trade);
        assert_eq!(machine.state, RwState { granted: ptr::null_mut(), ..before });
        check(&machine);

        let mut machine = scene(policy, Read, &[Write, Read]);
        let before = machine.state;
        let n = if policy == TaskFair { 1 } else { 0 };
        assert_eq!(machine.rob(Read, n, Read).0, Rob::Trade);
        assert_eq!(machine.state, before);

        let mut machine = scene(policy, Upgradable, &[Write, Upgradable]);
        let before = machine.state;
        assert_eq!(machine.rob(Upgradable, 1, Upgradable).0, Rob::Trade);
        assert_eq!(machine.state, before);
    }
}

#[test]
fn r_a_write_robbed_by_a_reader_goes_to_the_tail_of_the_writers() {
    for policy in POLICIES {
        for robber in [Read, Upgradable] {
            let mut machine = scene(policy, Write, &[Write, robber]);
            let n = usize::from(policy == TaskFair || robber == Upgradable);
            let (rob, granted) = machine.rob(robber, n, Write);
            assert!(matches!(rob, Rob::TakeOver(_)));
            assert_eq!(granted, []);
            assert_eq!((machine.state.readers, machine.state.upgradable), (1, robber == Upgradable));
            assert_eq!(machine.queue.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [Write, Write]);
            assert!(machine.state.granted.is_null() && machine.readers.is_empty());
            check(&machine);
            assert_eq!(machine.release(robber), [Write]);
        }
    }
}

#[test]
fn r_a_share_robbed_by_a_writer_is_given_back() {
    for policy in POLICIES {
        for robbed in [Read, Upgradable] {
            let mut machine = scene(policy, robbed, &[Write]);
            let (rob, granted) = machine.rob(Write, 0, robbed);
            assert!(matches!(rob, Rob::GiveBack(..)));
            assert_eq!(granted, [Write]);
            assert!(machine.state.writer);
            check(&machine);
            machine.claim();
            assert_eq!(machine.release(Write), [robbed]);

            // Others are inside: it waits on.
            let mut machine = scene(policy, robbed, &[]);
            assert!(machine.arrive(Read));
            queue(&mut machine, [Write]);
            assert_eq!(machine.rob(Write, 0, robbed).1, []);
            assert_eq!(machine.state.readers, 1);
            check(&machine);
            assert_eq!(machine.release(Read), [Write]);
        }
    }
}

#[test]
fn r_a_share_of_another_kind_is_taken_over() {
    for policy in POLICIES {
        // Behind a writer: it would wait for itself.
        let mut machine = scene(policy, Upgradable, &[Write, Read]);
        let n = usize::from(policy == TaskFair);
        assert!(matches!(machine.rob(Read, n, Upgradable).0, Rob::TakeOver(_)));
        assert_eq!((machine.state.readers, machine.state.upgradable), (1, false));
        assert_eq!(machine.first(), Some(Write));
        check(&machine);

        let mut machine = scene(policy, Read, &[Write, Upgradable]);
        assert!(matches!(machine.rob(Upgradable, 1, Read).0, Rob::TakeOver(_)));
        assert_eq!((machine.state.readers, machine.state.upgradable), (1, true));
        assert_eq!(machine.state.counts.waiting_readers, 1);
        check(&machine);
    }
}

#[test]
fn r_an_upgrade_robbed_by_a_reader_waits_with_its_share() {
    for policy in POLICIES {
        let mut machine = scene(policy, Upgrade, &[Write, Read]);
        let n = usize::from(policy == TaskFair);
        assert!(matches!(machine.rob(Read, n, Upgrade).0, Rob::TakeOver(_)));
        assert_eq!((machine.state.readers, machine.state.upgradable, machine.state.writer), (2, true, false));
        assert_eq!(machine.first(), Some(Upgrade));
        check(&machine);
        assert_eq!(machine.release(Read), [Upgrade]);
    }
}

#[test]
fn r_an_upgrade_is_not_robbed_where_its_share_is_in_the_way() {
    for policy in POLICIES {
        for robber in [Write, Upgradable] {
            let mut machine = scene(policy, Upgrade, &[robber]);
            assert_eq!(machine.rob(robber, 0, Upgrade).0, Rob::Nothing);
            check(&machine);
        }
        // Room for one.
        let mut machine = Machine::new(policy, 1);
        assert!(machine.arrive(Upgradable));
        assert!(machine.arrive(Upgrade));
        machine.state.granted = WAITER;
        queue(&mut machine, [Read]);
        assert_eq!(machine.rob(Read, 0, Upgrade).0, Rob::Nothing);
        check(&machine);
    }
}

#[test]
fn r_an_upgrade_robs_a_share_of_its_task() {
    for policy in POLICIES {
        let mut machine = scene(policy, Read, &[]);
        assert!(machine.arrive(Upgradable));
        queue(&mut machine, [Write, Upgrade]);
        let (rob, granted) = machine.rob(Upgrade, 0, Read);
        assert!(matches!(rob, Rob::GiveBack(..)));
        assert_eq!(granted, [Upgrade]);
        check(&machine);
    }
}

#[test]
fn r_a_robber_of_the_batch_leaves_its_promise() {
    // An upgradable share is unclaimed; a batch is being marked; a member of it robs.
    let mut machine = Machine::new(WriterPreferring, 9);
    assert!(machine.arrive(Upgradable));
    queue(&mut machine, [Write, Read, Read, Read]);
    assert_eq!(machine.leave(Write, 0), [Read]);
    assert_eq!(machine.summary(), (4, false, 0, 0, 2));
    let (rob, granted) = machine.rob(Read, 1, Upgradable);
    assert!(matches!(rob, Rob::TakeOver(_)));
    assert_eq!(granted, []);
    // The robber, one that is marked and one that is not: the upgradable one waits.
    assert_eq!(machine.summary(), (3, false, 0, 0, 1));
    check(&machine);
    assert_eq!(machine.go_on_to_the_end(), [Read, Upgradable]);
}

#[test]
fn r_a_reader_whose_share_is_reserved_need_not_rob() {
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
        assert!(machine.readers.iter().all(|ticket| !machine.state.has_share_reserved(*ticket)));
    }
}

#[test]
fn r_nothing_is_robbed_when_the_robbed_one_cannot_be_counted() {
    for (robbed, robber) in [(Read, Write), (Upgradable, Write), (Write, Read)] {
        let mut machine = scene(WriterPreferring, robbed, &[robber]);
        *machine.state.waiting(robbed) = u32::MAX;
        assert_eq!(machine.rob(robber, 0, robbed).0, Rob::Nothing);
    }
}

/// A bystander reads although a task lets each of its writes be robbed by its next read.
#[test]
fn p_phase_fair_a_robbed_writer_has_had_its_turn() {
    for robbed in [Write, Upgrade] {
        let mut machine = scene(PhaseFair, robbed, &[Read, Read, Read]);
        let (rob, granted) = machine.rob(Read, 2, robbed);
        assert!(matches!(rob, Rob::TakeOver(_)));
        let granted: Vec<_> = granted.into_iter().chain(machine.go_on_to_the_end()).collect();
        assert_eq!(granted, [Read, Read], "bystanders wait for a turn that is never used: {machine:?}");
        check(&machine);
    }
}

/// A task has left these unclaimed and waits for this; all others do their part, and the upgradable reader may upgrade
/// before. Whether the task gets on.
fn gets_on(pair: &Pair, robber: usize, robbed: &[usize], upgrades: bool) -> bool {
    let mut pair = pair.clone();
    pair.model.line[robber].name = Name::Robber;
    match &mut pair.model.owner {
        Owner::Granted(_, name) => *name = Name::Robbed,
        _ => robbed.iter().for_each(|i| pair.model.inside[*i].name = Name::Robbed),
    }
    let owns = |pair: &Pair| {
        matches!(pair.model.owner, Owner::Granted(_, Name::Robber) | Owner::Claimed(Name::Robber))
            || pair.model.inside.iter().any(|inside| inside.name == Name::Robber)
    };
    for _ in 0..20 {
        let robbed = |grant: &Inside| grant.name == Name::Robbed;
        // A look that has found one goes on to the next, until there is nothing more to take.
        loop {
            let before = pair.model.line.len();
            for grant in pair.grants().into_iter().filter(robbed) {
                let at = pair.model.line.iter().position(|waiting| waiting.name == Name::Robber);
                pair.take(Step::Rob(at.expect("it waits"), grant.kind, grant.name));
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
        pair.drain(Name::Robbed);
        if owns(&pair) {
            return true;
        }
        if !pair.grants().iter().any(robbed) {
            return false;
        }
    }
    false
}

/// Calls this with every state, waiter and pair of grants of its task.
fn every_rescue(policy: RwLockPolicy, mut f: impl FnMut(&Pair, usize, &[usize])) {
    explore_all(policy, 5, |pair| {
        let grants = pair.grants().len();
        for robber in 0..pair.model.line.len() {
            for first in 0..grants {
                f(pair, robber, &[first]);
                for second in (0..grants).filter(|second| *second != first) {
                    f(pair, robber, &[first, second]);
                }
            }
        }
    });
}

/// Those that wait for themselves whatever is done, as who keeps a guard.
fn is_hopeless(pair: &Pair, robber: Kind, robbed: &[Kind]) -> bool {
    // The share of who upgrades is in use.
    let upgrades = pair.model.line.iter().any(|waiting| waiting.kind == Upgrade);
    let max = pair.machine.state.terms.max_readers();
    (robbed.contains(&Upgrade) && (robber != Read || max == 1)) || (robbed.contains(&Upgradable) && upgrades)
}

fn everyone_gets_on(policy: RwLockPolicy) {
    let mut rescues = 0;
    every_rescue(policy, |pair, robber, grants| {
        let kind = pair.model.line[robber].kind;
        let kinds: Vec<_> = grants.iter().map(|i| pair.grants()[*i].kind).collect();
        if is_hopeless(pair, kind, &kinds) {
            return;
        }
        for upgrades in [false, !kinds.contains(&Upgradable)] {
            assert!(gets_on(pair, robber, grants, upgrades), "{kind:?} {kinds:?} is stuck, {upgrades}: {pair:?}");
        }
        rescues += 1;
    });
    assert!(rescues > 50, "there were only {rescues}");
}

#[test]
fn r_whoever_has_left_a_grant_gets_on_writer_preferring() {
    everyone_gets_on(WriterPreferring);
}

#[test]
fn r_whoever_has_left_a_grant_gets_on_task_fair() {
    everyone_gets_on(TaskFair);
}

#[test]
fn r_whoever_has_left_a_grant_gets_on_phase_fair() {
    everyone_gets_on(PhaseFair);
}

/// A task has left a read unclaimed and waits for the upgradable share, which another task has. That one leaves; but a
/// writer is next, and waits for the read.
#[test]
fn r_a_read_is_given_back_for_an_upgradable_share_that_is_taken() {
    for policy in POLICIES {
        let mut machine = scene(policy, Read, &[]);
        assert!(machine.arrive(Upgradable));
        queue(&mut machine, [Write, Upgradable]);
        let (rob, granted) = machine.rob(Upgradable, 1, Read);
        assert!(matches!(rob, Rob::GiveBack(..)), "{rob:?}: the task waits for itself: {machine:?}");
        assert_eq!(granted, []);
        check(&machine);
        assert_eq!(machine.release(Upgradable), [Write]);
    }
}

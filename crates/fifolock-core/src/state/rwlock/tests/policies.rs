//! The policies besides the default one, and the upgradable readers under each.

use super::*;
use std::vec;

#[test]
fn p_task_fair_order_of_arrival() {
    let mut machine = held_under(TaskFair, 9).in_one_section();
    queue(&mut machine, [Read, Read, Write, Read, Upgradable, Write, Read]);
    assert_eq!(machine.release(Write), [Read, Read]);
    check(&machine);
    assert_eq!(machine.release(Read), []);
    assert_eq!(machine.release(Read), [Write]);
    assert_eq!(machine.release(Write), [Read, Upgradable]);
    check(&machine);
    assert_eq!(machine.release(Upgradable), []);
    assert_eq!(machine.release(Read), [Write]);
    assert_eq!(machine.release(Write), [Read]);
}

#[test]
fn p_task_fair_nobody_is_passed() {
    // before, who waits, who comes and could be let in beside those inside
    let table = [
        (with_readers(TaskFair, 1, 9), Write, Read),
        (with_readers(TaskFair, 1, 9), Write, Upgradable),
        (held_under(TaskFair, 9), Read, Read),
        (held_under(TaskFair, 9), Read, Write),
    ];
    for (mut machine, waits, newcomer) in table {
        queue(&mut machine, [waits, newcomer]);
    }
    // Also who waits for another upgradable reader is passed by nobody.
    let mut machine = Machine::new(TaskFair, 9);
    assert!(machine.arrive(Upgradable));
    queue(&mut machine, [Upgradable, Read, Read]);
    assert_eq!(machine.release(Upgradable), [Upgradable]);
    assert_eq!(machine.go_on_to_the_end(), [Read, Read]);
}

#[test]
fn p3_readers_next_to_each_other_enter_together() {
    for chunk in [1, 2, 32] {
        let mut machine = held_under(TaskFair, 99);
        machine.chunk = chunk;
        queue(&mut machine, [Read].repeat(70));
        queue(&mut machine, [Write, Read]);
        let mut granted = machine.release(Write);
        assert_eq!(granted.len(), chunk, "no more in one section");
        granted.extend(machine.go_on_to_the_end());
        assert_eq!(granted, [Read].repeat(70));
        assert_eq!(machine.summary(), (70, false, 1, 1, 0));
        check(&machine);
    }
}

/// P3: the run's next place is kept, so nobody gets between its readers; who is on the way goes on.
#[test]
fn p3_a_run_is_held_open_between_two_sections() {
    let mut machine = held_under(TaskFair, 9);
    queue(&mut machine, [Read, Read, Upgradable, Read]);
    assert_eq!(machine.release(Write), [Read]);
    assert_eq!(machine.summary(), (2, false, 2, 0, 1));
    // Who looks sees those that are inside, and those that wait.
    assert_eq!(machine.state.readers(), 1);
    check(&machine);
    // Newcomers queue; members that are done, and members that leave, let nobody else go on.
    queue(&mut machine, [Read]);
    assert_eq!(machine.release(Read), []);
    assert_eq!((machine.state.readers(), machine.state.readers), (0, 1));
    check(&machine);
    assert_eq!(machine.leave(Read, 0), []);
    check(&machine);
    assert_eq!(machine.go_on(), [Upgradable]);
    check(&machine);
    assert_eq!(machine.go_on_to_the_end(), [Read, Read]);
    assert_eq!(machine.summary(), (3, false, 0, 0, 0));
}

/// No room is left: nothing is held open.
#[test]
fn p3_a_run_ends_where_there_is_no_room() {
    let mut machine = held_under(TaskFair, 2);
    queue(&mut machine, [Read, Read, Read]);
    assert_eq!(machine.release(Write), [Read]);
    assert_eq!(machine.summary(), (2, false, 2, 0, 1));
    assert_eq!(machine.go_on(), [Read]);
    assert!(!machine.on_the_way);
    assert_eq!(machine.summary(), (2, false, 1, 0, 0));
    check(&machine);
    assert_eq!(machine.release(Read), [Read]);
    check(&machine);
}

/// All of the rest of the run leaves meanwhile: the next who waits has its turn.
#[test]
fn p3_a_run_that_is_gone_gives_its_place_back() {
    for (behind, granted) in [(None, vec![]), (Some(Write), vec![Write])] {
        let mut machine = held_under(TaskFair, 9);
        queue(&mut machine, [Read, Read]);
        queue(&mut machine, behind);
        assert_eq!(machine.release(Write), [Read]);
        assert_eq!(machine.release(Read), []);
        assert_eq!(machine.leave(Read, 0), []);
        assert_eq!((machine.state.readers, machine.state.readers()), (1, 0));
        check(&machine);
        // Even where nobody waits: only who is on the way may close it.
        assert!(!machine.try_enter(Read) && !machine.try_enter(Write));
        assert_eq!(machine.go_on_to_the_end(), granted);
        assert_eq!(machine.summary(), (0, behind.is_some(), 0, 0, 0));
        check(&machine);
    }
}

/// An upgrade that comes meanwhile goes to the head, and the rest of the run passes it.
#[test]
fn p3_an_upgrade_does_not_end_a_run() {
    for chunk in [1, 2] {
        let mut machine = held_under(TaskFair, 99);
        machine.chunk = chunk;
        queue(&mut machine, [Upgradable, Read, Read, Read, Read, Write, Read]);
        let mut granted = machine.release(Write);
        assert_eq!(granted[0], Upgradable);
        queue(&mut machine, [Upgrade]);
        assert_eq!(machine.first(), Some(Upgrade));
        granted.extend(machine.go_on_to_the_end());
        assert_eq!(granted, [Upgradable, Read, Read, Read, Read]);
        assert_eq!(machine.kinds(), [Upgrade, Write, Read]);
        for _ in 0..3 {
            assert_eq!(machine.release(Read), []);
        }
        assert_eq!(machine.release(Read), [Upgrade]);
        check(&machine);
    }
}

/// The rest of the run is gone: the upgrade, which is alone, has its turn in the section in which the run ends.
#[test]
fn p3_an_upgrade_at_the_head_of_a_run_that_is_gone() {
    let mut machine = held_under(TaskFair, 99);
    queue(&mut machine, [Upgradable, Read, Write]);
    assert_eq!(machine.release(Write), [Upgradable]);
    // The place of the run's next reader keeps the upgrade from entering.
    queue(&mut machine, [Upgrade]);
    assert_eq!(machine.leave(Read, 1), []);
    check(&machine);
    assert_eq!(machine.go_on(), [Upgrade]);
    assert!(!machine.on_the_way);
    assert_eq!(machine.summary(), (0, true, 0, 1, 0));
    check(&machine);
    // An upgrade that came and went changes nothing.
    let mut machine = held_under(TaskFair, 99);
    queue(&mut machine, [Upgradable, Read, Read]);
    assert_eq!(machine.release(Write), [Upgradable]);
    queue(&mut machine, [Upgrade]);
    assert_eq!(machine.leave(Upgrade, 0), []);
    assert_eq!(machine.go_on_to_the_end(), [Read, Read]);
    check(&machine);
}

#[test]
fn p_task_fair_a_writer_leaves() {
    let mut machine = with_readers(TaskFair, 1, 9).in_one_section();
    queue(&mut machine, [Write, Read, Read, Write, Read]);
    assert_eq!(machine.leave(Write, 0), [Read, Read]);
    check(&machine);
    // Of the others only the first counts.
    let mut machine = with_readers(TaskFair, 1, 9);
    queue(&mut machine, [Write, Write, Read]);
    assert_eq!(machine.leave(Write, 1), []);
    check(&machine);
}

#[test]
fn p_task_fair_downgrade() {
    let mut machine = held_under(TaskFair, 9).in_one_section();
    queue(&mut machine, [Read, Read, Write, Read]);
    assert_eq!(machine.downgrade(Read), [Read, Read]);
    assert_eq!(machine.summary(), (3, false, 1, 1, 0));
    check(&machine);
    // A writer is first: nobody joins.
    let mut machine = held_under(TaskFair, 9);
    queue(&mut machine, [Write, Read]);
    assert_eq!(machine.downgrade(Read), []);
    check(&machine);
}

#[test]
fn p_phase_fair_after_a_writer_all_waiting_readers_go() {
    for chunk in [1, 2, 32] {
        let mut machine = held_under(PhaseFair, 99);
        machine.chunk = chunk;
        queue(&mut machine, [Write, Read, Write]);
        queue(&mut machine, [Read].repeat(40));
        let mut granted = machine.release(Write);
        // Those that come now have missed it.
        queue(&mut machine, [Read, Read]);
        granted.extend(machine.go_on_to_the_end());
        assert_eq!(granted, [Read].repeat(41));
        assert_eq!(machine.summary(), (41, false, 2, 2, 0));
        for _ in 0..40 {
            assert_eq!(machine.release(Read), []);
        }
        assert_eq!(machine.release(Read), [Write]);
        assert_eq!(machine.release(Write)[0], Read);
        assert_eq!(machine.summary().0, 2);
    }
}

#[test]
fn p_phase_fair_writers_follow_each_other_if_no_reader_waits() {
    let mut machine = held_under(PhaseFair, 9);
    queue(&mut machine, [Write, Write]);
    assert_eq!(machine.release(Write), [Write]);
    queue(&mut machine, [Read]);
    assert_eq!(machine.release(Write), [Read]);
    assert_eq!(machine.release(Read), [Write]);
}

#[test]
fn p_phase_fair_a_reader_waits_for_one_writer_under_a_storm_of_writers() {
    // It comes while a writer holds, or while readers hold and a writer waits.
    for inside in [Write, Read] {
        let mut machine = Machine::new(PhaseFair, 9);
        assert!(machine.arrive(inside));
        queue(&mut machine, [Write].repeat(100));
        queue(&mut machine, [Read]);
        let mut holds = inside;
        let mut turns = 0;
        while !machine.readers.is_empty() {
            queue(&mut machine, [Write]);
            turns += usize::from(holds == Write);
            holds = machine.release(holds)[0];
        }
        assert_eq!(turns, 1);
    }
}

#[test]
fn p_phase_fair_a_writer_waits_for_one_batch_under_a_storm_of_readers() {
    let mut machine = with_readers(PhaseFair, 3, 99).in_one_section();
    queue(&mut machine, [Write, Write]);
    for earlier in [3, 5] {
        queue(&mut machine, [Read].repeat(5));
        for _ in 1..earlier {
            assert_eq!(machine.release(Read), []);
        }
        assert_eq!(machine.release(Read), [Write]);
        assert_eq!(machine.release(Write), [Read].repeat(5));
    }
}

#[test]
fn p_phase_fair_a_batch_has_as_many_as_there_is_room_for() {
    let mut machine = held_under(PhaseFair, 2).in_one_section();
    queue(&mut machine, [Read, Read, Read, Read, Read, Write, Write]);
    for left in [3, 1] {
        assert_eq!(machine.release(Write), [Read, Read]);
        assert_eq!(machine.summary(), (2, false, left, if left == 3 { 2 } else { 1 }, 0));
        check(&machine);
        assert_eq!(machine.release(Read), []);
        assert_eq!(machine.release(Read), [Write]);
    }
    assert_eq!(machine.release(Write), [Read]);
}

#[test]
fn p_phase_fair_a_downgrade_opens_a_phase_of_readers() {
    for to in [Read, Upgradable] {
        let mut machine = held_under(PhaseFair, 9).in_one_section();
        queue(&mut machine, [Write, Read, Read]);
        assert_eq!(machine.downgrade(to), [Read, Read]);
        assert_eq!(machine.summary(), (3, false, 0, 1, 0));
        check(&machine);
        // It is the writer's turn then.
        queue(&mut machine, [Read]);
        assert_eq!(machine.release(to), []);
        assert_eq!(machine.release(Read), []);
        assert_eq!(machine.release(Read), [Write]);
    }
}

#[test]
fn p_phase_fair_a_grant_that_is_dropped_was_a_turn() {
    let mut machine = held_under(PhaseFair, 9);
    queue(&mut machine, [Write, Write]);
    assert_eq!(machine.release(Write), [Write]);
    queue(&mut machine, [Read]);
    assert!(!machine.state.granted.is_null());
    assert_eq!(machine.release(Write), [Read]);
    check(&machine);
}

#[test]
fn p_phase_fair_a_writer_that_leaves_ungranted_had_no_turn() {
    let mut machine = with_readers(PhaseFair, 1, 9);
    queue(&mut machine, [Write, Write, Read]);
    assert_eq!(machine.leave(Write, 0), []);
    check(&machine);
    // The last one: W5.
    assert_eq!(machine.leave(Write, 0), [Read]);
    check(&machine);
}

#[test]
fn p_phase_fair_the_turn_is_over_with_its_section() {
    let mut machine = held_under(PhaseFair, 9);
    queue(&mut machine, [Write]);
    assert_eq!(machine.release(Write), [Write]);
    machine.claim();
    assert_eq!(machine.downgrade(Read), []);
    queue(&mut machine, [Write, Read]);
    assert_eq!(machine.release(Read), [Write]);
}

/// In every state: after a writer nobody waits who is a reader and for whom there is room, and no second writer is granted
/// before them.
#[test]
fn p_phase_fair_the_bound_holds_in_every_state() {
    use model::{Name, Owner, Step};
    let mut turns = 0;
    model::explore_all(PhaseFair, 6, |pair| {
        let readers = pair.machine.readers.len() as u32;
        for step in [Step::Release(Write, Name::Somebody), Step::Downgrade(Read), Step::Downgrade(Upgradable)] {
            let may = match pair.model.owner {
                Owner::Nobody => false,
                Owner::Granted(..) => matches!(step, Step::Release(..)),
                Owner::Claimed(_) => true,
            };
            if !may {
                continue;
            }
            let mut next = pair.clone();
            next.take(step);
            let room = pair.machine.state.terms.max_readers() - u32::from(!matches!(step, Step::Release(..)));
            let state = next.machine.state;
            assert_eq!(state.counts.waiting_readers, readers.saturating_sub(room), "{step:?} of {pair:?}");
            assert!(!(readers > 0 && room > 0 && state.writer), "{step:?} of {pair:?}");
            turns += 1;
        }
    });
    assert!(turns > if cfg!(miri) { 20 } else { 100 }, "there were only {turns}");
}

#[test]
fn u_one_at_a_time() {
    for policy in POLICIES {
        let mut machine = Machine::new(policy, 9);
        assert!(machine.arrive(Upgradable));
        check(&machine);
        // Plain readers come and go.
        assert!(machine.arrive(Read));
        assert_eq!(machine.release(Read), []);
        queue(&mut machine, [Upgradable, Upgradable]);
        assert_eq!(machine.release(Upgradable), [Upgradable]);
        check(&machine);
        // It becomes a plain one: that is enough.
        assert_eq!(machine.downgrade_upgradable(), [Upgradable]);
        assert_eq!((machine.state.readers, machine.state.upgradable), (2, true));
        check(&machine);
    }
}

#[test]
fn u_readers_pass_it_if_they_queue_apart() {
    for policy in POLICIES {
        let mut machine = Machine::new(policy, 9);
        assert!(machine.arrive(Upgradable));
        queue(&mut machine, [Upgradable]);
        assert_eq!(machine.try_enter(Read), policy != TaskFair);
    }
}

#[test]
fn u_it_queues_behind_writers_and_they_behind_it() {
    for policy in POLICIES {
        let mut machine = held_under(policy, 9);
        queue(&mut machine, [Write, Upgradable, Write]);
        assert_eq!(machine.release(Write), [Write]);
        assert_eq!(machine.release(Write), [Upgradable]);
        check(&machine);
        assert!(!machine.try_enter(Upgradable) && !machine.try_enter(Read));
        assert_eq!(machine.release(Upgradable), [Write]);
    }
}

#[test]
fn u_it_needs_room() {
    for policy in POLICIES {
        let mut machine = with_readers(policy, 2, 2);
        queue(&mut machine, [Upgradable, Read]);
        assert_eq!(machine.release(Read), [Upgradable]);
        check(&machine);
        assert_eq!(machine.release(Read), [Read]);
    }
}

#[test]
fn u_an_upgrade_enters_if_it_is_alone() {
    for policy in POLICIES {
        for max in [1, 2, 9] {
            // Whoever waits.
            for waits in [vec![], vec![Write], vec![Upgradable], vec![Write, Upgradable, Read]] {
                let mut machine = Machine::new(policy, max);
                assert!(machine.arrive(Upgradable));
                queue(&mut machine, waits.iter().copied());
                assert!(machine.arrive(Upgrade));
                assert_eq!((machine.state.writer, machine.state.readers, machine.state.upgradable), (true, 0, false));
                assert!(machine.state.granted.is_null());
                check(&machine);
            }
        }
    }
}

#[test]
fn u_an_upgrade_waits_for_readers_and_goes_before_writers() {
    for policy in POLICIES {
        let mut machine = with_readers(policy, 2, 9);
        assert!(machine.arrive(Upgradable));
        queue(&mut machine, [Write, Write, Upgradable, Upgrade]);
        assert_eq!(machine.first(), Some(Upgrade));
        assert_eq!(machine.release(Read), []);
        assert_eq!(machine.release(Read), [Upgrade]);
        assert_eq!((machine.state.writer, machine.state.readers, machine.state.upgradable), (true, 0, false));
        assert_eq!(machine.state.granted, WAITER);
        check(&machine);
        machine.claim();
        // It is a writer like any other.
        assert_eq!(machine.release(Write), [Write]);
    }
}

#[test]
fn u_a_waiting_upgrade_keeps_new_readers_out() {
    for policy in POLICIES {
        let mut machine = with_readers(policy, 1, 9);
        assert!(machine.arrive(Upgradable));
        queue(&mut machine, [Upgrade]);
        for kind in [Read, Upgradable, Write] {
            assert!(!machine.try_enter(kind), "{kind:?} under {policy:?}");
        }
        queue(&mut machine, [Read]);
        assert_eq!(machine.release(Read), [Upgrade]);
        // Dropped unclaimed, it is released like a writer.
        assert_eq!(machine.release(Write), [Read]);
        assert_eq!(machine.summary(), (1, false, 0, 0, 0));
        assert!(!machine.state.upgradable);
        check(&machine);
    }
}

#[test]
fn u_an_upgrade_that_leaves_gives_its_share_back_and_lets_in_whom_it_kept_out() {
    for policy in POLICIES {
        // readers that wait, and others; the first who enters
        let table = [
            (vec![Read, Read], vec![Read, Read]),
            (vec![Upgradable], vec![Upgradable]),
            // Another reader is inside.
            (vec![Write], vec![]),
            (vec![], vec![]),
        ];
        for (waits, granted) in table {
            let mut machine = with_readers(policy, 1, 9).in_one_section();
            assert!(machine.arrive(Upgradable));
            queue(&mut machine, [Upgrade]);
            queue(&mut machine, waits.iter().copied());
            assert_eq!(machine.leave(Upgrade, 0), granted, "{waits:?} under {policy:?}");
            assert_eq!(machine.state.readers as usize, 1 + granted.len());
            assert_eq!(machine.state.upgradable, granted.contains(&Upgradable));
            check(&machine);
            if waits == [Write] {
                assert_eq!(machine.release(Read), [Write]);
            }
        }
    }
}

#[test]
fn u_downgrade_to_upgradable() {
    for policy in POLICIES {
        let mut machine = held_under(policy, 9).in_one_section();
        queue(&mut machine, [Read, Upgradable]);
        assert_eq!(machine.downgrade(Upgradable), [Read]);
        assert_eq!((machine.state.readers, machine.state.upgradable), (2, true));
        check(&machine);
        // And back again.
        assert_eq!(machine.release(Read), []);
        assert!(machine.arrive(Upgrade));
        check(&machine);
        assert_eq!(machine.downgrade(Upgradable), []);
        assert_eq!(machine.release(Upgradable), [Upgradable]);
    }
}

#[test]
fn u_a_released_plain_share_leaves_the_upgradable_one() {
    for policy in POLICIES {
        let mut machine = with_readers(policy, 1, 9);
        assert!(machine.arrive(Upgradable));
        assert_eq!(machine.release(Read), []);
        assert_eq!((machine.state.readers, machine.state.upgradable), (1, true));
        let mut machine = with_readers(policy, 1, 9);
        assert!(machine.arrive(Upgradable));
        assert_eq!(machine.release(Upgradable), []);
        assert_eq!((machine.state.readers, machine.state.upgradable), (1, false));
        check(&machine);
    }
}

#[test]
fn u_with_room_for_one() {
    for policy in POLICIES {
        let mut machine = Machine::new(policy, 1);
        assert!(machine.arrive(Upgradable));
        queue(&mut machine, [Read, Upgradable]);
        // Nobody joins, though it is a plain one now.
        assert_eq!(machine.downgrade_upgradable(), []);
        check(&machine);
        let first = if policy == TaskFair { Read } else { Upgradable };
        assert_eq!(machine.release(Read), [first]);
        check(&machine);

        let mut machine = held_under(policy, 1);
        queue(&mut machine, [Read, Write]);
        assert_eq!(machine.downgrade(Upgradable), []);
        check(&machine);
        assert!(machine.arrive(Upgrade));
        let next = if policy == WriterPreferring { Write } else { Read };
        assert_eq!(machine.release(Write), [next]);
    }
}

#[test]
fn u_beside_a_batch_of_readers() {
    // It came before the batch was granted: after a writer who serves readers in phases, they are first.
    for policy in [WriterPreferring, PhaseFair] {
        let mut machine = held_under(policy, 9).in_one_section();
        queue(&mut machine, [Read, Upgradable, Read, Write]);
        let granted = if policy == PhaseFair { vec![Read, Read, Upgradable] } else { vec![Upgradable] };
        assert_eq!(machine.release(Write), granted);
        check(&machine);
    }
    // No writer waits: all of them.
    for policy in [WriterPreferring, PhaseFair] {
        let mut machine = held_under(policy, 9).in_one_section();
        queue(&mut machine, [Read, Upgradable, Read]);
        assert_eq!(machine.release(Write).len(), 3);
        check(&machine);
    }
}

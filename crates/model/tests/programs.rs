//! Programs of tasks, with the rescue and without it: random ones, and all small ones.

use core::ops::Range;
use fifolock_conformance::tools::Random;
use fifolock_core::raw::{CriticalSectionLock, LocalLock, SpinLock, StdLock};
use fifolock_core::rwlock::RwLockPolicy;
use fifolock_model::program::{self, POLICIES};
use fifolock_model::programs::make::{self, Each, Scope};
use fifolock_model::programs::rules::{self, Rule};
use fifolock_model::programs::scenes::{self, Look, Parking};
use fifolock_model::programs::{Child, Executor, Lock, Order, Program, Raw, Shape, Side, Task, run};
use fifolock_model::reference::Kind;
use std::env;

/// The seeds of the random programs, more of them in a long run.
fn seeds() -> Range<u64> {
    let is_long = env::var_os("FIFOLOCK_MODEL_LONG").is_some();
    0..if cfg!(miri) {
        2
    } else if is_long {
        30_000
    } else {
        800
    }
}

fn each_random(scope: Scope, rule: Rule) {
    seeds().for_each(|seed| rules::check(&make::random(seed, scope), rule));
}

fn polls(counts: &[u32]) -> Vec<Shape> {
    counts.iter().copied().map(Shape::Polls).collect()
}

/// Runs a rule over all small programs of a set.
fn each_small(rule: Rule, make: impl FnOnce(Each<'_>)) {
    let mut programs = 0;
    make(&mut |program| {
        programs += 1;
        rules::check(program, rule);
    });
    assert!(programs > 50, "{programs} programs");
    println!("{programs} programs");
}

#[test]
fn r0_nobody_starves_in_random_programs() {
    each_random(Scope::EachRound, rules::no_harm);
}

#[test]
fn r0_nobody_that_gives_up_starves_in_small_programs() {
    let shapes = [Shape::Polls(1), Shape::Polls(3), Shape::Polls(6), Shape::Timed(2), Shape::Timed(5)];
    each_small(rules::no_harm_to_the_impatient, |each| make::small_on_mutex(&shapes, each));
}

#[test]
fn r0_nobody_starves_in_small_programs_of_a_mutex() {
    each_small(rules::no_harm, |each| make::small_on_mutex(&polls(&[1, 2, 3, 6]), each));
}

fn nobody_starves_in_small_programs(policy: RwLockPolicy) {
    each_small(rules::no_harm, |each| make::small_on_rwlock(policy, &polls(&[1, 2, 3]), each));
}

#[test]
fn r0_nobody_starves_in_small_programs_writer_preferring() {
    nobody_starves_in_small_programs(RwLockPolicy::WriterPreferring);
}

#[test]
fn r0_nobody_starves_in_small_programs_task_fair() {
    nobody_starves_in_small_programs(RwLockPolicy::TaskFair);
}

#[test]
fn r0_nobody_starves_in_small_programs_phase_fair() {
    nobody_starves_in_small_programs(RwLockPolicy::PhaseFair);
}

#[test]
fn r0_one_poll_a_round_rescues_nobody_in_random_programs() {
    each_random(Scope::Once, rules::nothing_is_rescued);
}

#[test]
fn r0_one_poll_a_round_rescues_nobody_in_small_programs() {
    let shapes = [Shape::Polls(1), Shape::Timed(3)];
    each_small(rules::nothing_is_rescued, |each| make::small_on_mutex(&shapes, each));
    for policy in POLICIES {
        each_small(rules::nothing_is_rescued, |each| make::small_on_rwlock(policy, &shapes, each));
    }
}

#[test]
fn r1_random_programs_that_wait_for_themselves_end() {
    each_random(Scope::Parking, rules::ends);
    let hang = seeds().filter(|seed| rules::hangs_without(&make::random(*seed, Scope::Parking))).count();
    println!("{hang} programs of {} hang without the rescue", seeds().end);
    assert!(hang as u64 * 4 > seeds().end, "{hang} programs of {}", seeds().end);
}

#[test]
fn r1_small_programs_that_wait_for_themselves_end() {
    each_small(rules::ends, |each| make::small_and_parking(Lock::Mutex, each));
    for policy in POLICIES {
        each_small(rules::ends, |each| make::small_and_parking(Lock::RwLock(policy, 1000), each));
    }
}

fn task(children: &[(Kind, Shape)]) -> Task {
    let one = |(kind, shape)| Child { shape, ..child(kind, 1, 1) };
    Task { start: 0, order: Order::Biased, children: children.iter().copied().map(one).collect() }
}

const KINDS_AND_UPGRADE: [Kind; 4] = [Kind::Read, Kind::Upgradable, Kind::Upgrade, Kind::Write];

/// The rounds of programs that must do better than [`rules::no_harm`] demands.
const ROUNDS: u32 = if cfg!(miri) { 60 } else { 300 };

/// A task with these two children, which may poll and hold differently, beside other tasks.
fn beside(lock: Lock, [a, b]: [Child; 2], order: Order, others: &[Task], rounds: u32) -> Program {
    let join = Task { start: 0, order, children: vec![a, b] };
    let tasks = [&[join], others].concat();
    Program { lock, raw: Raw::Local, executor: Executor::EachRound, rounds, turns: None, tasks }
}

fn child(kind: Kind, polls: u32, hold: u32) -> Child {
    Child { kind, shape: Shape::Polls(polls), hold, rest: 0, own_waker: false }
}

/// The locks, each with the kinds that exclude themselves.
fn serial() -> impl Iterator<Item = (Lock, Kind)> {
    let of_policy = |policy| [Kind::Write, Kind::Upgradable, Kind::Upgrade].map(|kind| (Lock::RwLock(policy, 9), kind));
    POLICIES.into_iter().flat_map(of_policy).chain([(Lock::Mutex, Kind::Write)])
}

/// Two children that ask for the same kind and exclude each other have the same number of turns, apart from the last
/// ones.
#[test]
fn r0_children_of_a_join_that_ask_for_the_same_are_served_equally() {
    for (lock, kind) in serial() {
        for order in [Order::Biased, Order::Rotating, Order::Shuffled(7)] {
            for hold in 1..4 {
                let program = beside(lock, [child(kind, 1, hold); 2], order, &[], ROUNDS);
                let turns = run(&program, Side::With).turns;
                assert!(turns[0].abs_diff(turns[1]) <= 1, "{turns:?} turns in {program}");
                assert!(turns[0] + turns[1] >= ROUNDS / (2 * hold + 4), "{turns:?} turns in {program}");
            }
        }
    }
}

/// Each child has at least half of the turns that it has without the rescue, whichever kinds the children and the other
/// task ask for.
#[test]
fn r0_children_of_a_join_and_another_task_keep_their_turns() {
    let mut programs: Vec<_> = [0, 20].map(|start| (Lock::Mutex, [Kind::Write; 3], start)).into();
    for policy in POLICIES {
        for (a, b) in KINDS_AND_UPGRADE.iter().flat_map(|a| KINDS_AND_UPGRADE.map(|b| (*a, b))) {
            let by = if cfg!(miri) { &[Kind::Write][..] } else { &KINDS_AND_UPGRADE };
            programs.extend(by.iter().map(|by| (Lock::RwLock(policy, 9), [a, b, *by], 20)));
        }
    }
    for (lock, [a, b, by], start) in programs {
        for order in [Order::Biased, Order::Rotating] {
            for holds in if cfg!(miri) { &[[1, 1]][..] } else { &[[1, 1], [1, 2], [2, 1], [2, 3]] } {
                let other = Task { start, order: Order::Biased, children: vec![child(by, 1, 1)] };
                let program = beside(lock, [child(a, 1, holds[0]), child(b, 1, holds[1])], order, &[other], ROUNDS);
                let (with, without) = (run(&program, Side::With).turns, run(&program, Side::Without).turns);
                let is_half = with.iter().zip(&without).all(|(with, without)| with * 2 >= *without);
                assert!(is_half, "{with:?} turns, and {without:?} without the rescue, in {program}");
            }
        }
    }
}

/// A child repeatedly polls its future more often than its sibling does. The sibling has at least an eighth of the
/// turns.
#[test]
fn r0_a_select_loop_leaves_its_sibling_an_eighth_of_the_turns() {
    for (lock, kind) in serial().filter(|(_, kind)| *kind != Kind::Upgrade) {
        for polls in if cfg!(miri) { &[2, 6][..] } else { &[1, 2, 3, 6, 20, 100] } {
            for order in [Order::Biased, Order::Rotating] {
                for polls in [[*polls, 1], [1, *polls]] {
                    let children = polls.map(|polls| child(kind, polls, 1));
                    let program = beside(lock, children, order, &[], 4 * ROUNDS);
                    let turns = run(&program, Side::With).turns;
                    let least = turns.iter().sum::<u32>() / 8;
                    assert!(least > 0 && turns.iter().all(|turns| *turns >= least), "{turns:?} turns in {program}");
                }
            }
        }
    }
}

/// The upgrading child robs each of two reads of its task once in each of their waits, and so enters before the write
/// of the other task. A number of polls that is forgotten with the victim's wait would never grow, and the write would
/// starve.
#[test]
fn r0_a_child_that_robs_its_siblings_by_turns_passes_nobody_for_ever() {
    let once = Shape::Polls(1);
    for polls in [2, 3, 6, 20, 100] {
        for policy in POLICIES {
            let reads = [(Kind::Read, once), (Kind::Read, once), (Kind::Upgrade, Shape::Polls(polls))];
            let tasks = vec![task(&[(Kind::Write, once)]), task(&reads)];
            let (lock, raw, executor) = (Lock::RwLock(policy, 1000), Raw::Local, Executor::EachRound);
            rules::check(&Program { lock, raw, executor, rounds: 800, turns: None, tasks }, rules::no_harm);
        }
    }
}

/// The reads take turns, and the busy one robs both of its siblings in each of their waits.
#[test]
fn r0_a_busy_child_leaves_a_tenth_to_each_of_two_siblings() {
    for policy in POLICIES {
        for polls in [6, 20, 48, 100] {
            let mut busy = task(&[(Kind::Write, Shape::Polls(1)), (Kind::Read, Shape::Polls(polls))]);
            busy.children[1].hold = 2;
            busy.children.extend(task(&[(Kind::Read, Shape::Polls(1))]).children);
            let (lock, raw, executor) = (Lock::RwLock(policy, 1), Raw::Local, Executor::EachRound);
            rules::check(&Program { lock, raw, executor, rounds: 800, turns: None, tasks: vec![busy] }, rules::no_harm);
        }
    }
}

/// R5, a limit of the rescue: an upgradable read takes nothing while another task has the upgradable share, even if
/// that task waits indirectly for the parked read.
#[test]
fn r5_a_parked_read_may_wait_for_its_own_task_through_others() {
    let (goes_on, parked) = (Shape::Polls(1), (Kind::Read, Shape::ForEver));
    for policy in POLICIES {
        // The upgrade waits for the parked share, and the task of that share waits for the upgrade.
        let upgrades = vec![task(&[(Kind::Upgrade, goes_on)]), task(&[(Kind::Upgrade, goes_on), parked])];
        // The write waits for the parked share. The task of that share waits for its turn after the write, and is not
        // woken when the other upgradable reader leaves.
        let a_write = vec![
            task(&[(Kind::Upgradable, goes_on)]),
            task(&[(Kind::Write, goes_on)]),
            task(&[(Kind::Upgradable, goes_on), parked]),
        ];
        for (tasks, executor, ends) in [
            (&upgrades, Executor::Woken, false),
            (&upgrades, Executor::EachRound, false),
            (&a_write, Executor::Woken, false),
            (&a_write, Executor::EachRound, true),
        ] {
            let (lock, raw, rounds, turns) = (Lock::RwLock(policy, 1000), Raw::Local, 20_000, Some(2));
            let program = Program { lock, raw, executor, rounds, turns, tasks: tasks.clone() };
            let outcome = run(&program, Side::With);
            assert_eq!((outcome.ended, &outcome.fault), (ends, &None), "{program}");
        }
    }
}

/// Tasks that park, drop and poll several futures each. For a mutex the test predicts each poll and each wake (R1 to
/// R3).
fn random_tasks(is_mutex: bool) {
    for seed in seeds() {
        let mut random = Random::new(seed);
        let length = 20 + random.below(200);
        let mut bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        bytes[1] = u8::from(!is_mutex);
        println!("{bytes:?}");
        program::shared(&bytes);
    }
}

#[test]
fn r2_random_tasks_of_a_mutex() {
    random_tasks(true);
}

#[test]
fn r2_random_tasks_of_a_read_write_lock() {
    random_tasks(false);
}

#[test]
fn r3_the_order_between_tasks_stays() {
    each_random(Scope::Any, rules::order_between_tasks);
}

#[test]
fn r11_without_the_rescue_is_as_with_a_waker_for_each_child() {
    each_random(Scope::Any, rules::apart_is_without);
}

const KINDS: [Kind; 3] = [Kind::Read, Kind::Upgradable, Kind::Write];

/// The largest number of turns of the loop, for each parked future, that pass the bystander.
const TURNS_MAX: usize = 3;

fn each_parking(parked: &[Kind], bystanders: &[Kind]) {
    let mut faults = Vec::new();
    for raw in Raw::ALL {
        for policy in POLICIES {
            for parked in parked.iter().copied() {
                for looped in KINDS {
                    for bystander in bystanders.iter().copied() {
                        for parked_count in 1..=3 {
                            // The other reads enter at once beside the parked share, which only its own task could
                            // claim. So no waiter exists.
                            if (parked, looped, bystander) == (Kind::Upgradable, Kind::Read, Kind::Upgradable) {
                                continue;
                            }
                            let scene = Parking { policy, parked, parked_count, looped, bystander };
                            match scenes::turns_before(raw, scene) {
                                Ok(turns) if turns <= TURNS_MAX * parked_count => {}
                                Ok(turns) => faults.push(format!("{scene:?} on {raw:?}: {turns} turns")),
                                Err(fault) => faults.push(format!("{scene:?} on {raw:?}: {fault}")),
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn r7_a_parked_write_and_a_loop_let_a_reader_in() {
    each_parking(&[Kind::Write], &[Kind::Read]);
}

#[test]
fn r7_a_parked_future_and_a_loop_let_a_bystander_in() {
    each_parking(&KINDS, &KINDS);
}

/// The places of a share among the readers: the ends, the bounds of sections, and some between.
fn places(readers: usize) -> impl Iterator<Item = usize> {
    let step = (readers / 12).max(1);
    let some = (0..readers).step_by(step);
    some.chain([1, 31, 32, 33, 1023, 1024, 1025, readers - 1]).filter(move |at| *at < readers)
}

/// A thief polls three times. It may poll once more after it has given a share back.
fn check_look(look: Look, own: [bool; 2], text: &str) {
    assert!(look.served, "a task waits for itself: {text}, {look:?}");
    for (polls, own) in look.polls.iter().zip(own) {
        assert!(*polls <= if own { 4 } else { 1 }, "{text}, {look:?}");
    }
}

const READERS: &[usize] = if cfg!(miri) { &[40] } else { &[2, 33, 100, 1500, 3000] };

#[test]
fn r8_two_tasks_look_in_turn_and_one_has_a_share() {
    for readers in READERS.iter().copied() {
        for at in places(readers) {
            let look = scenes::two_looks::<LocalLock>(readers, [Some(at), None]);
            check_look(look, [true, false], &format!("{readers} readers, the first task's at {at}"));
            let look = scenes::two_looks::<LocalLock>(readers, [None, Some(at)]);
            check_look(look, [false, true], &format!("{readers} readers, the second task's at {at}"));
        }
    }
}

#[test]
fn r8_two_tasks_look_in_turn_and_both_have_shares() {
    for readers in READERS.iter().copied() {
        for at in places(readers) {
            let other = (at + readers / 2 + 1) % readers;
            if other != at {
                let look = scenes::two_looks::<StdLock>(readers, [Some(at), Some(other)]);
                check_look(look, [true, true], &format!("{readers} readers, shares at {at} and {other}"));
            }
        }
    }
}

const CROWDS: &[(usize, usize)] =
    if cfg!(miri) { &[(10, 5), (40, 5)] } else { &[(10, 500), (1_000, 500), (2_000, 500), (100_000, 100)] };

#[test]
fn r8_a_guard_takes_two_polls_beside_unclaimed_readers() {
    for (readers, waiting) in CROWDS.iter().copied() {
        for (cost, raw) in [
            (scenes::queue_beside::<LocalLock>(readers, waiting), Raw::Local),
            (scenes::queue_beside::<StdLock>(readers, waiting), Raw::Std),
        ] {
            assert_eq!(cost.guards, waiting, "{readers} unclaimed, {raw:?}: {cost:?}");
            assert!(cost.polls <= 2 * waiting, "{readers} unclaimed, {raw:?}: {cost:?}");
        }
    }
}

/// The largest number of sections of a poll that scans nothing.
const SECTIONS_MAX: usize = 3;

#[test]
fn r8_each_unclaimed_grant_is_visited_once() {
    for (readers, _) in CROWDS.iter().copied() {
        for (polls, raw) in [
            (scenes::polled_again::<LocalLock>(readers, 6), Raw::Local),
            (scenes::polled_again::<StdLock>(readers, 6), Raw::Std),
            (scenes::polled_again::<SpinLock>(readers, 6), Raw::Spin),
            (scenes::polled_again::<CriticalSectionLock>(readers, 6), Raw::CriticalSection),
        ] {
            assert_eq!(polls.wakes, 0, "{readers} unclaimed, {raw:?}: {polls:?}");
            let (first, later) = polls.sections.split_first().expect("polled");
            assert!(later.iter().all(|sections| *sections <= SECTIONS_MAX), "{readers}, {raw:?}: {polls:?}");
            // Each section is bounded, so a longer scan has more of them.
            assert!(*first >= readers / 64, "{readers} unclaimed, {raw:?}: {polls:?}");
        }
    }
}

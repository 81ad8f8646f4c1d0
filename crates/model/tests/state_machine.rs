//! Random sequences on every raw lock and under every policy, shrunk when they fail.
//!
//! `PROPTEST_CASES` and `PROPTEST_RNG_SEED` choose how many sequences, and which.

use core::marker::PhantomData;
use fifolock_conformance::tools::clock::{Manual, TestTimer};
use fifolock_core::raw::{CriticalSectionLock, LocalLock, SpinLock, StdLock};
use fifolock_core::{Mutex, RwLock};
use fifolock_model::alphabet::{CROWD_MAX, Form, Limit, Mapping, Moment, Op, Want, With};
use fifolock_model::driver::Driver;
use fifolock_model::program::POLICIES;
use fifolock_model::real::{Real, Setup};
use fifolock_model::reference::World;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

/// The alphabet. A letter that should be frequent is listed more than once.
fn kinds() -> Vec<Op> {
    let mut kinds = vec![
        Op::Poll(0, With::Same),
        Op::Poll(0, With::Same),
        Op::Poll(0, With::Same),
        Op::Poll(0, With::Other),
        Op::Drop(Moment::Unpolled, 0),
        Op::Drop(Moment::Queued, 0),
        Op::Drop(Moment::Granted, 0),
        Op::Release(0),
        Op::Release(0),
        Op::Downgrade(0),
        Op::DowngradeToUpgradable(0),
        Op::Upgrade(0),
        Op::TryUpgrade(0),
        Op::Map(Mapping::Map, 0),
        Op::Map(Mapping::Found, 0),
        Op::Map(Mapping::Refused, 0),
        Op::Pass(1),
        Op::Pass(2),
        Op::Look,
    ];
    for want in Want::ALL {
        for form in Form::ALL {
            kinds.push(Op::Try(want, form));
            kinds.extend([Limit::None; 4].map(|limit| Op::Create(want, form, limit)));
            kinds.extend(Limit::ALL.map(|limit| Op::Create(want, form, limit)));
        }
    }
    kinds
}

/// Places enough for a batch of several chunks.
const CROWDED: usize = 100;

/// The lock's parameters, and the reference.
#[derive(Clone, Debug)]
struct Case<R> {
    setup: Setup,
    places: usize,
    world: World<R>,
}

#[derive(Debug)]
struct Machine<L, const POLICY: usize>(PhantomData<L>);

impl<L: Real, const POLICY: usize> ReferenceStateMachine for Machine<L, POLICY> {
    type State = Case<L::Reference>;
    type Transition = Op;

    fn init_state() -> BoxedStrategy<Case<L::Reference>> {
        let small = (select(vec![1, 2, 3, 1000]), select(vec![3, 5, 8]));
        let crowded = (select(vec![35, 40, 1000]), Just(CROWDED));
        let sizes = prop_oneof![7 => small, 1 => crowded];
        let case = |(max_readers, places)| {
            let setup = Setup { policy: POLICIES[POLICY], max_readers };
            Case { setup, places, world: World::new(L::new(setup).1, places) }
        };
        sizes.prop_map(case).boxed()
    }

    fn transitions(case: &Case<L::Reference>) -> BoxedStrategy<Op> {
        let mut kinds: Vec<Op> = kinds();
        kinds.retain(|kind| !case.world.candidates(*kind).is_empty());
        let any_letter = (select(kinds), any::<u8>()).prop_map(|(kind, who)| kind.to(who));
        // A forgotten guard makes a lock useless, so the letter is rare.
        let forget = any::<u8>().prop_map(Op::Forget);
        let crowd = (select(Want::ALL.to_vec()), 1..=CROWD_MAX).prop_map(|(want, count)| Op::Crowd(want, count));
        let crowds = if case.places == CROWDED { 6 } else { 0 };
        prop_oneof![120 => any_letter, 1 => forget, crowds => crowd].boxed()
    }

    fn preconditions(case: &Case<L::Reference>, op: &Op) -> bool {
        !case.world.plan(*op).is_empty()
    }

    fn apply(mut case: Case<L::Reference>, op: &Op) -> Case<L::Reference> {
        for (op, at) in case.world.plan(*op) {
            let _ = case.world.apply(op, at);
        }
        case
    }
}

#[derive(Debug)]
struct Test<L, const POLICY: usize>(PhantomData<L>);

impl<L: Real, const POLICY: usize> StateMachineTest for Test<L, POLICY> {
    type SystemUnderTest = Driver<L>;
    type Reference = Machine<L, POLICY>;

    fn init_test(case: &Case<L::Reference>) -> Driver<L> {
        // Each sequence has a new clock, since a failed one may have left sleeps behind.
        L::Platform::with(|| {});
        Driver::new(case.setup, case.places)
    }

    fn apply(mut driver: Driver<L>, case: &Case<L::Reference>, op: Op) -> Driver<L> {
        assert!(driver.apply(op), "{op:?} applies to nothing");
        assert_eq!(*driver.world(), case.world);
        driver
    }

    fn teardown(driver: Driver<L>, _: Case<L::Reference>) {
        driver.finish();
    }
}

fn config() -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    // The fuzzers look for new sequences. Here every run is the same, unless the environment says otherwise.
    let rng_seed = if config.rng_seed == RngSeed::Random { RngSeed::Fixed(1) } else { config.rng_seed };
    ProptestConfig { rng_seed, ..config }
}

type MutexOn<R> = Test<Mutex<u64, Manual<R>>, 0>;
type RwLockOn<R, const POLICY: usize> = Test<RwLock<u64, Manual<R>>, POLICY>;

prop_state_machine! {
    #![proptest_config(config())]

    #[test]
    fn mutex_on_std(sequential 1..80 => MutexOn<StdLock>);
    #[test]
    fn mutex_on_local(sequential 1..80 => MutexOn<LocalLock>);
    #[test]
    fn mutex_on_spin(sequential 1..80 => MutexOn<SpinLock>);
    #[test]
    fn mutex_on_critical_section(sequential 1..80 => MutexOn<CriticalSectionLock>);

    #[test]
    fn writer_preferring_on_std(sequential 1..80 => RwLockOn<StdLock, 0>);
    #[test]
    fn writer_preferring_on_local(sequential 1..80 => RwLockOn<LocalLock, 0>);
    #[test]
    fn writer_preferring_on_spin(sequential 1..80 => RwLockOn<SpinLock, 0>);
    #[test]
    fn writer_preferring_on_critical_section(sequential 1..80 => RwLockOn<CriticalSectionLock, 0>);

    #[test]
    fn task_fair_on_std(sequential 1..80 => RwLockOn<StdLock, 1>);
    #[test]
    fn task_fair_on_local(sequential 1..80 => RwLockOn<LocalLock, 1>);
    #[test]
    fn task_fair_on_spin(sequential 1..80 => RwLockOn<SpinLock, 1>);
    #[test]
    fn task_fair_on_critical_section(sequential 1..80 => RwLockOn<CriticalSectionLock, 1>);

    #[test]
    fn phase_fair_on_std(sequential 1..80 => RwLockOn<StdLock, 2>);
    #[test]
    fn phase_fair_on_local(sequential 1..80 => RwLockOn<LocalLock, 2>);
    #[test]
    fn phase_fair_on_spin(sequential 1..80 => RwLockOn<SpinLock, 2>);
    #[test]
    fn phase_fair_on_critical_section(sequential 1..80 => RwLockOn<CriticalSectionLock, 2>);
}

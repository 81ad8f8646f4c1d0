//! Every short sequence, and every letter in every state that short sequences reach.
//!
//! `FIFOLOCK_MODEL_LONG=1 cargo test --release -p fifolock-model --test exhaustive -- --nocapture` goes deeper.

use fifolock_conformance::tools::clock::Manual;
use fifolock_core::raw::{LocalLock, StdLock};
use fifolock_core::rwlock::RwLockPolicy::{self, PhaseFair, TaskFair, WriterPreferring};
use fifolock_core::{Mutex, RwLock};
use fifolock_model::alphabet::{Form, Limit, Mapping, Moment, Op, Want, With};
use fifolock_model::explore::{Plan, Row};
use fifolock_model::real::{Real, Setup};
use std::env;

const MUTEX: &[Op] = &[
    Op::Create(Want::Write, Form::Borrowed, Limit::None),
    Op::Create(Want::Write, Form::Owned, Limit::Timeout(1)),
    Op::Create(Want::Write, Form::Borrowed, Limit::Deadline(0)),
    Op::Create(Want::Write, Form::Owned, Limit::Timeout(0)),
    Op::Poll(0, With::Same),
    Op::Poll(0, With::Other),
    Op::Drop(Moment::Unpolled, 0),
    Op::Drop(Moment::Queued, 0),
    Op::Drop(Moment::Granted, 0),
    Op::Release(0),
    Op::Try(Want::Write, Form::Owned),
    Op::Map(Mapping::Map, 0),
    Op::Map(Mapping::Refused, 0),
    Op::Forget(0),
    Op::Pass(1),
    Op::Look,
];

const RWLOCK: &[Op] = &[
    Op::Create(Want::Read, Form::Borrowed, Limit::None),
    Op::Create(Want::Upgradable, Form::Owned, Limit::None),
    Op::Create(Want::Write, Form::Borrowed, Limit::None),
    Op::Create(Want::Write, Form::Owned, Limit::Timeout(1)),
    Op::Create(Want::Read, Form::Borrowed, Limit::Deadline(0)),
    Op::Poll(0, With::Same),
    Op::Poll(0, With::Other),
    Op::Drop(Moment::Unpolled, 0),
    Op::Drop(Moment::Queued, 0),
    Op::Drop(Moment::Granted, 0),
    Op::Release(0),
    Op::Try(Want::Read, Form::Owned),
    Op::Try(Want::Upgradable, Form::Borrowed),
    Op::Try(Want::Write, Form::Owned),
    Op::Downgrade(0),
    Op::DowngradeToUpgradable(0),
    Op::Upgrade(0),
    Op::TryUpgrade(0),
    Op::Map(Mapping::Found, 0),
    Op::Forget(0),
    Op::Pass(1),
    Op::Look,
];

/// The limit of readers in the sequences, so low that some readers queue for room.
const MAX_READERS: u32 = 2;

fn is_long() -> bool {
    env::var_os("FIFOLOCK_MODEL_LONG").is_some()
}

fn plan(letters: &[Op], policy: RwLockPolicy, places: usize) -> Plan<'_> {
    Plan { setup: Setup { policy, max_readers: MAX_READERS }, places, letters, unpolled_max: 1, forgotten_max: 1 }
}

fn show(what: &str, rows: &[Row]) {
    for row in rows {
        println!("{what}: {row}");
    }
    let (sequences, states) = rows.iter().fold((0, 1), |(a, b), row| (a + row.sequences, b + row.states));
    println!("{what}: {sequences} sequences, {states} states in all");
}

/// The depths of an ordinary run, and of a long one.
struct Depths {
    sequences: [usize; 2],
    states: [usize; 2],
}

fn explore<L: Real>(what: &str, letters: &[Op], policy: RwLockPolicy, places: usize, depths: &Depths) {
    let long = usize::from(is_long());
    let plan = plan(letters, policy, places);
    let rows = plan.every_sequence::<L>(depths.sequences[long]);
    show(&format!("{what}, every sequence"), &rows);
    let rows = plan.every_state::<L>(depths.states[long], long);
    show(&format!("{what}, every letter in every state"), &rows);
}

/// The mutex has fewer letters, so its sequences are longer.
const MUTEX_DEPTHS: Depths = Depths { sequences: [6, 7], states: [12, 14] };
const RWLOCK_DEPTHS: Depths = Depths { sequences: [5, 6], states: [9, 11] };

fn mutex<L: Real>(what: &str) {
    explore::<L>(&format!("mutex on {what}"), MUTEX, WriterPreferring, 4, &MUTEX_DEPTHS);
}

fn rwlock<L: Real>(what: &str, policy: RwLockPolicy) {
    explore::<L>(&format!("{policy:?} on {what}"), RWLOCK, policy, 4, &RWLOCK_DEPTHS);
}

macro_rules! tests {
    ($($name:ident: $run:ident::<$lock:ident<$raw:ident>>($($argument:expr),+);)+) => {
        $(
            #[test]
            fn $name() {
                $run::<$lock<u64, Manual<$raw>>>($($argument),+);
            }
        )+
    };
}

tests! {
    mutex_on_std: mutex::<Mutex<StdLock>>("std");
    mutex_on_local: mutex::<Mutex<LocalLock>>("local");
    writer_preferring_on_std: rwlock::<RwLock<StdLock>>("std", WriterPreferring);
    writer_preferring_on_local: rwlock::<RwLock<LocalLock>>("local", WriterPreferring);
    task_fair_on_std: rwlock::<RwLock<StdLock>>("std", TaskFair);
    task_fair_on_local: rwlock::<RwLock<LocalLock>>("local", TaskFair);
    phase_fair_on_std: rwlock::<RwLock<StdLock>>("std", PhaseFair);
    phase_fair_on_local: rwlock::<RwLock<LocalLock>>("local", PhaseFair);
}

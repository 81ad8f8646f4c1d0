//! Sequences from bytes, for the fuzzers and for the test that runs their corpus.

use crate::alphabet::Op;
use crate::driver::Driver;
use crate::real::{Real, Setup};
use crate::shared::Tasks;
use arbitrary::{Arbitrary, Unstructured};
use fifolock_conformance::tools::clock::{Manual, TestTimer};
pub use fifolock_conformance::tools::subject::POLICIES;
use fifolock_core::raw::{CriticalSectionLock, LocalLock, SpinLock, StdLock};
use fifolock_core::{Mutex, RwLock};

/// The choices of the first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice {
    flavour: u8,
    setup: Setup,
    places: usize,
    tasks: usize,
}

impl Choice {
    fn new(byte: u8) -> Self {
        let policy = POLICIES[usize::from(byte >> 2 & 3) % POLICIES.len()];
        let max_readers = [1, 2, 40, 1000][usize::from(byte >> 4 & 3)];
        let places = [3, 6, 12, 100][usize::from(byte >> 6)];
        let tasks = [2, 3, 4, 2][usize::from(byte >> 6)];
        Self { flavour: byte & 3, setup: Setup { policy, max_readers }, places, tasks }
    }
}

fn letters(data: &[u8]) -> (Choice, Vec<Op>) {
    let Some((first, rest)) = data.split_first() else { return (Choice::new(0), Vec::new()) };
    let mut bytes = Unstructured::new(rest);
    let mut ops = Vec::new();
    while !bytes.is_empty() {
        ops.extend(Op::arbitrary(&mut bytes));
    }
    (Choice::new(*first), ops)
}

fn alone<L: Real>(choice: Choice, ops: &[Op]) {
    L::Platform::with(|| {
        let mut driver = Driver::<L>::new(choice.setup, choice.places);
        for op in ops {
            driver.apply(*op);
        }
        driver.finish();
    });
}

fn together<L: Real>(choice: Choice, ops: &[Op]) {
    L::Platform::with(|| {
        let mut tasks = Tasks::<L>::new(choice.setup, choice.places, choice.tasks);
        for op in ops {
            tasks.apply(*op);
        }
        tasks.finish();
    });
}

type MutexOn<R> = Mutex<u64, Manual<R>>;
type RwLockOn<R> = RwLock<u64, Manual<R>>;

macro_rules! on_flavour {
    ($choice:expr, $run:ident::<$lock:ident>($ops:expr)) => {
        match $choice.flavour {
            0 => $run::<$lock<StdLock>>($choice, $ops),
            1 => $run::<$lock<LocalLock>>($choice, $ops),
            2 => $run::<$lock<SpinLock>>($choice, $ops),
            _ => $run::<$lock<CriticalSectionLock>>($choice, $ops),
        }
    };
}

/// Runs a mutex and its reference. The first byte chooses the raw lock.
pub fn mutex(data: &[u8]) {
    let (choice, ops) = letters(data);
    on_flavour!(choice, alone::<MutexOn>(&ops));
}

/// Runs a read-write lock and its reference. The first byte chooses the raw lock, the policy and the limit of readers.
pub fn rwlock(data: &[u8]) {
    let (choice, ops) = letters(data);
    on_flavour!(choice, alone::<RwLockOn>(&ops));
}

/// Runs tasks with several futures each. The second byte chooses a mutex or a read-write lock.
pub fn shared(data: &[u8]) {
    let (is_mutex, rest) = match data {
        [first, second, rest @ ..] => (second % 3 == 0, [&[*first], rest].concat()),
        short => (true, short.to_vec()),
    };
    let (choice, ops) = letters(&rest);
    if is_mutex {
        on_flavour!(choice, together::<MutexOn>(&ops));
    } else {
        on_flavour!(choice, together::<RwLockOn>(&ops));
    }
}

/// The name of a fuzz target, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// The fuzz targets. A corpus is a folder of the same name.
pub const TARGETS: [Target; 3] = [("mutex", mutex), ("rwlock", rwlock), ("shared", shared)];

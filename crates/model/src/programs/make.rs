//! Random programs, and all small ones.

use super::{Between, Child, Executor, Lock, Order, Program, Raw, Shape, Task};
use crate::program::POLICIES;
use crate::reference::Kind;
use fifolock_conformance::tools::Random;
use fifolock_core::rwlock::RwLockPolicy;

/// The programs that a rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Each waiting future is polled exactly once in each round.
    Once,
    /// Each waiting future is polled at least once in each round.
    EachRound,
    /// Each task ends. At least one of its children goes on until then, and the others may be parked without end.
    Parking,
    /// All programs.
    Any,
}

fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len())]
}

const POLLS: [u32; 9] = [1, 1, 2, 3, 4, 5, 6, 20, 100];

fn shape(random: &mut Random, scope: Scope) -> Shape {
    let once = [Shape::Polls(1), Shape::Polls(1), Shape::Timed(pick(random, &[1, 3, 10])), {
        Shape::Drops(pick(random, &[1, 2, 5, 20]), Between::Polled)
    }];
    let many = Shape::Polls(pick(random, &POLLS));
    let limited = [Shape::Timed(pick(random, &[60, 100])), Shape::Drops(pick(random, &[60, 100]), Between::Polled)];
    let parked = [
        Shape::Parks(pick(random, &[1, 2, 3, 5, 20])),
        Shape::Drops(pick(random, &[1, 2, 5, 20]), Between::Parked),
        Shape::ForEver,
    ];
    match (scope, random.below(4)) {
        (Scope::EachRound, 0) => pick(random, &limited),
        (Scope::Once, _) | (_, 0) => pick(random, &once),
        (Scope::EachRound, _) | (_, 1) => many,
        (Scope::Parking | Scope::Any, _) => pick(random, &parked),
    }
}

const KINDS: [Kind; 4] = [Kind::Read, Kind::Upgradable, Kind::Upgrade, Kind::Write];

fn child(random: &mut Random, scope: Scope, kind: Kind) -> Child {
    let mut shape = shape(random, scope);
    // The future of an upgrade holds a share, as a guard does. If the task never polls the future, the share stays.
    if kind == Kind::Upgrade && !shape.polls_each_round() {
        shape = Shape::Polls(1);
    }
    let own_waker = scope != Scope::Parking && random.below(8) == 0;
    let rest = if random.below(3) == 0 { random.below(4) as u32 } else { 0 };
    Child { kind, shape, hold: 1 + random.below(3) as u32, rest, own_waker }
}

fn order(random: &mut Random) -> Order {
    let seed = random.number();
    pick(random, &[Order::Biased, Order::Rotating, Order::Rotating, Order::Zigzag, Order::Shuffled(seed)])
}

/// A random program.
#[must_use]
pub fn random(seed: u64, scope: Scope) -> Program {
    let random = &mut Random::new(seed);
    let policy = pick(random, &POLICIES);
    let lock = if random.below(4) == 0 { Lock::Mutex } else { Lock::RwLock(policy, pick(random, &[1, 2, 3, 1000])) };
    // In programs of one kind the test can tell the order between tasks most exactly.
    let only = if random.below(3) == 0 { Some(pick(random, &KINDS)) } else { None };
    let most = if matches!(scope, Scope::EachRound) { 3 } else { 4 };
    let tasks = (0..1 + random.below(most)).map(|_| {
        let children = (0..1 + random.below(3)).map(|_| {
            let kind = if lock == Lock::Mutex { Kind::Write } else { only.unwrap_or(pick(random, &KINDS)) };
            child(random, scope, kind)
        });
        let mut children: Vec<Child> = children.collect();
        if scope == Scope::Parking && !children.iter().any(|child| child.shape.goes_on()) {
            children[0].shape = Shape::Polls(1);
        }
        Task { start: if random.below(2) == 0 { 0 } else { random.below(60) as u32 }, order: order(random), children }
    });
    let tasks = tasks.collect();
    let executor = pick(random, &[Executor::Woken, Executor::Woken, Executor::EachRound]);
    let turns = (scope == Scope::Parking).then(|| 1 + random.below(20) as u32);
    let rounds = if scope == Scope::Parking { ROUNDS_TO_END } else { ROUNDS };
    Program { lock, raw: pick(random, &Raw::ALL), executor, rounds, turns, tasks }
}

/// The length of a run that does not end by itself.
pub const ROUNDS: u32 = 800;

/// More rounds than any program that ends needs.
pub const ROUNDS_TO_END: u32 = 20_000;

fn plain(kind: Kind, shape: Shape, hold: u32) -> Child {
    Child { kind, shape, hold, rest: 0, own_waker: false }
}

/// All children of these kinds and shapes, with holds up to `hold`.
fn all_children(kinds: &[Kind], shapes: &[Shape], hold: u32) -> Vec<Child> {
    let of_kind =
        |kind: Kind| shapes.iter().flat_map(move |shape| (1..=hold).map(move |hold| plain(kind, *shape, hold)));
    kinds.iter().flat_map(|kind| of_kind(*kind)).collect()
}

/// All programs of a task with two of the children `pairs`, and another task with one of the children `others` or none,
/// in each order.
///
/// The order of the two children matters only in programs that poll the first child first in each round.
fn two_tasks(base: &Program, pairs: &[Child], others: &[Option<Child>], each: &mut dyn FnMut(&Program)) {
    for order in [Order::Biased, Order::Rotating, Order::Zigzag] {
        for (at, first) in pairs.iter().enumerate() {
            let seconds = if order == Order::Biased { pairs } else { &pairs[at..] };
            for second in seconds {
                for other in others {
                    let mut tasks = vec![Task { start: 0, order, children: vec![*first, *second] }];
                    tasks.extend(other.map(|child| Task { start: 1, order: Order::Biased, children: vec![child] }));
                    each(&Program { tasks, ..base.clone() });
                }
            }
        }
    }
}

fn base(lock: Lock) -> Program {
    let (raw, executor) = (Raw::Local, Executor::Woken);
    Program { lock, raw, executor, rounds: ROUNDS_SMALL, turns: None, tasks: Vec::new() }
}

/// The length of a run of a small program.
const ROUNDS_SMALL: u32 = 240;

/// The callback for each program of a set.
pub type Each<'a> = &'a mut dyn FnMut(&Program);

/// All small programs of a mutex, with holds up to three rounds and these shapes.
pub fn small_on_mutex(shapes: &[Shape], each: Each<'_>) {
    let children = all_children(&[Kind::Write], shapes, 3);
    let mut others: Vec<Option<Child>> = children.iter().copied().map(Some).collect();
    others.push(None);
    two_tasks(&base(Lock::Mutex), &children, &others, each);
}

fn one_of_each_kind() -> Vec<Option<Child>> {
    KINDS.iter().map(|kind| Some(plain(*kind, Shape::Polls(1), 1))).collect()
}

/// All small programs of a read-write lock, with each kind, holds up to two rounds and these shapes.
pub fn small_on_rwlock(policy: RwLockPolicy, shapes: &[Shape], each: Each<'_>) {
    let children = all_children(&KINDS, shapes, 2);
    let mut others = one_of_each_kind();
    others.push(None);
    two_tasks(&base(Lock::RwLock(policy, 1000)), &children, &others, each);
}

/// All small programs whose tasks end, and may park a future for some rounds or without end.
pub fn small_and_parking(lock: Lock, each: Each<'_>) {
    let shapes = [Shape::Polls(1), Shape::Polls(3), Shape::Parks(2), Shape::ForEver, Shape::Drops(2, Between::Parked)];
    let (kinds, others): (&[Kind], _) = match lock {
        Lock::Mutex => (&[Kind::Write], vec![Some(plain(Kind::Write, Shape::Polls(1), 1)), None]),
        Lock::RwLock(..) => (&KINDS, one_of_each_kind()),
    };
    let children: Vec<Child> = all_children(kinds, &shapes, 1)
        .into_iter()
        .filter(|child| child.kind != Kind::Upgrade || child.shape.polls_each_round())
        .collect();
    let base = Program { rounds: ROUNDS_TO_END, turns: Some(3), ..base(lock) };
    two_tasks(&base, &children, &others, &mut |program| {
        if program.tasks[0].children.iter().any(|child| child.shape.goes_on()) {
            each(program);
        }
    });
}

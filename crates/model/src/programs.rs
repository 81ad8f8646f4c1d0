//! Programs of tasks, with the rescue and without it.
//!
//! A program is a lock and some tasks. A task has a waker and children, and polls its children as a join does. A child
//! asks for the lock again and again, keeps each guard for some rounds, and polls its lock future as its shape says.
//! An executor without threads and without real time runs the program. The same program runs on a platform without the
//! rescue, and [`rules`] compares the two runs.

mod ledger;
pub mod make;
mod platform;
pub mod rules;
mod run;
pub mod scenes;
mod shrink;

pub use platform::Without;
pub use run::{Event, Outcome, Side, run};

use crate::reference::Kind;
use core::fmt;
use fifolock_core::rwlock::RwLockPolicy;

/// The lock of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Each child writes.
    Mutex,
    /// Each child uses its kind, under this policy and limit of readers.
    RwLock(RwLockPolicy, u32),
}

/// The raw lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raw {
    /// `StdLock`.
    Std,
    /// `CriticalSectionLock`.
    CriticalSection,
    /// `LocalLock`.
    Local,
    /// `SpinLock`.
    Spin,
}

impl Raw {
    /// All raw locks.
    pub const ALL: [Self; 4] = [Self::Std, Self::CriticalSection, Self::Local, Self::Spin];
}

/// How a child treats a lock future that is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The child polls the future this many times in each round. One is a plain `.await`. More are a `select!` in a
    /// loop with other work: such a child is busy, so the executor polls its task in each round.
    /// that has something else to do, and so the child is busy: the executor polls the task in each round.
    Polls(u32),
    /// The child is busy. It polls the future once, and then parks the future for this many rounds; again and again.
    Parks(u32),
    /// The child polls the future once and never again.
    ForEver,
    /// The child drops the future after this many rounds. Until then it polls the future in each round, or only in the
    /// first.
    Drops(u32, Between),
    /// The future has a timeout of this many rounds.
    Timed(u32),
}

/// How a child treats a future until the child drops that future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// One poll in each round.
    Polled,
    /// No poll.
    Parked,
}

impl Shape {
    /// Whether a waiting future of this shape is polled at least once in each round of its task: the premise of R0.
    #[must_use]
    pub fn polls_each_round(self) -> bool {
        match self {
            Self::Polls(_) | Self::Timed(_) | Self::Drops(_, Between::Polled) => true,
            Self::Parks(_) | Self::ForEver | Self::Drops(_, Between::Parked) => false,
        }
    }

    /// Whether a child of this shape waits until it has its guard, and polls as that needs.
    #[must_use]
    pub fn goes_on(self) -> bool {
        matches!(self, Self::Polls(_) | Self::Parks(_))
    }
}

/// One child of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// The kind of its guard. A child that upgrades asks for the upgradable share first, and keeps the share for a
    /// round.
    pub kind: Kind,
    /// The way in which the child polls.
    pub shape: Shape,
    /// The number of rounds for which the child keeps its guard.
    pub hold: u32,
    /// The number of rounds for which the child then asks for nothing.
    pub rest: u32,
    /// Whether the child has a waker of its own, and is polled only after a wake, as in `FuturesUnordered`.
    pub own_waker: bool,
}

/// The order in which a task polls its children in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Always the same order: `futures::join!`, `tokio::join!(biased; …)`.
    Biased,
    /// Each round begins with the next child: `tokio::join!`.
    Rotating,
    /// Each round has the reverse order of the round before.
    Zigzag,
    /// Each round has a random order, from this seed.
    Shuffled(u64),
}

/// One task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The round of its first poll.
    pub start: u32,
    /// The order of its polls.
    pub order: Order,
    /// Its children.
    pub children: Vec<Child>,
}

/// The times at which the executor polls a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// After a wake, in the order of the wakes.
    Woken,
    /// In each round.
    EachRound,
}

/// A lock, and the tasks that use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The lock.
    pub lock: Lock,
    /// The raw lock.
    pub raw: Raw,
    /// The executor.
    pub executor: Executor,
    /// The run ends after this many rounds.
    pub rounds: u32,
    /// A child ends after this many guards. A task ends when all its children that wait until they have their guards
    /// have ended, and drops the other children. With `None` nothing ends before the run does.
    /// ended, and drops the others. Without a number nothing ends before the run does.
    pub turns: Option<u32>,
    /// The tasks.
    pub tasks: Vec<Task>,
}

impl Program {
    /// All children, in the order of their numbers.
    pub fn children(&self) -> impl Iterator<Item = &Child> {
        self.tasks.iter().flat_map(|task| &task.children)
    }

    /// The one kind of all its children, if that kind excludes itself, so that guards follow each other.
    #[must_use]
    pub fn serial_kind(&self) -> Option<Kind> {
        if self.lock == Lock::Mutex {
            return Some(Kind::Write);
        }
        let kind = self.children().next()?.kind;
        let is_serial = matches!(kind, Kind::Write | Kind::Upgradable);
        (is_serial && self.children().all(|child| child.kind == kind)).then_some(kind)
    }
}

impl fmt::Display for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, shape, hold, rest, own_waker } = self;
        write!(f, "{kind:?} {shape:?} hold {hold}")?;
        if *rest > 0 {
            write!(f, " rest {rest}")?;
        }
        if *own_waker { f.write_str(" own waker") } else { Ok(()) }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lock, raw, executor, rounds, turns, tasks } = self;
        writeln!(f, "{lock:?} on {raw:?}, executor {executor:?}, {rounds} rounds, turns {turns:?}")?;
        let mut number = 0;
        for (n, task) in tasks.iter().enumerate() {
            writeln!(f, "  task {n}, {:?}, from round {}", task.order, task.start)?;
            for child in &task.children {
                writeln!(f, "    child {number}: {child}")?;
                number += 1;
            }
        }
        Ok(())
    }
}

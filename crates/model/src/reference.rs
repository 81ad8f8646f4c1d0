//! The locks as the rules describe them: plain lists and counters.

mod mutex;
mod rwlock;
mod world;

pub use mutex::Mutex;
pub use rwlock::RwLock;
pub use world::{Outcome, Person, Sleep, Stage, Step, World};

use crate::alphabet::Want;
use core::fmt::Debug;
use core::hash::Hash;

/// The access that a future waits for, or that a guard has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A share.
    Read,
    /// The upgradable share.
    Upgradable,
    /// The whole lock.
    Write,
    /// The whole lock, in exchange for the upgradable share.
    Upgrade,
}

impl From<Want> for Kind {
    fn from(want: Want) -> Self {
        match want {
            Want::Read => Self::Read,
            Want::Upgradable => Self::Upgradable,
            Want::Write => Self::Write,
        }
    }
}

/// The counts that a lock reports. A mutex counts as one writer, with waiting writers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counts {
    /// The number of shares.
    pub readers: usize,
    /// Whether one of the shares is upgradable.
    pub upgradable: bool,
    /// Whether a writer is inside.
    pub writer: bool,
    /// The number of futures that wait for a share.
    pub waiting_readers: usize,
    /// The number of futures that wait for the upgradable share.
    pub waiting_upgradable: usize,
    /// The number of futures that wait for the whole lock.
    pub waiting_writers: usize,
}

/// A lock by the rules. Each waiter is a number. A method that grants the lock returns the granted waiters, in order.
pub trait Reference: Clone + Debug + Eq + Hash {
    /// Whether the lock is a mutex.
    const IS_MUTEX: bool;

    /// A newcomer makes one attempt.
    fn enter(&mut self, kind: Kind) -> bool;
    /// A newcomer that could not enter queues.
    fn wait(&mut self, who: usize, kind: Kind);
    /// A waiter leaves the queue.
    fn leave(&mut self, who: usize) -> Vec<usize>;
    /// An owner of this kind releases.
    fn release(&mut self, had: Kind) -> Vec<usize>;
    /// An owner keeps less: `keeps` instead of `had`.
    fn downgrade(&mut self, had: Kind, keeps: Kind) -> Vec<usize>;
    /// The waiters, in order of arrival.
    fn line(&self) -> Vec<usize>;
    /// Gives each waiter the number `new` of its old one.
    fn rename(&mut self, new: impl Fn(usize) -> usize);
    /// The counts.
    fn counts(&self) -> Counts;
    /// Whether `Debug` prints the data.
    fn is_readable(&self) -> bool {
        self.clone().enter(if Self::IS_MUTEX { Kind::Write } else { Kind::Read })
    }
}

//! The locks as the rules describe them: lists and counters, nothing clever.

mod mutex;
mod rwlock;
mod world;

pub use mutex::Mutex;
pub use rwlock::RwLock;
pub use world::{Outcome, Person, Sleep, Stage, Step, World};

use crate::alphabet::Want;
use core::fmt::Debug;
use core::hash::Hash;

/// What somebody waits for, or has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A share.
    Read,
    /// The share that can become the lock.
    Upgradable,
    /// The lock.
    Write,
    /// The lock, in exchange for the upgradable share.
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

/// What a lock tells about itself. A mutex has one writer, and writers that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counts {
    /// Shares.
    pub readers: usize,
    /// Whether one of the shares can become the lock.
    pub upgradable: bool,
    /// Whether somebody has the lock for itself.
    pub writer: bool,
    /// Who waits for a share.
    pub waiting_readers: usize,
    /// Who waits for the upgradable share.
    pub waiting_upgradable: usize,
    /// Who waits for the lock.
    pub waiting_writers: usize,
}

/// A lock by the rules. Who waits is a number; who is granted the lock is returned, in order.
pub trait Reference: Clone + Debug + Eq + Hash {
    /// Whether it is a mutex.
    const IS_MUTEX: bool;

    /// One attempt of somebody who has not queued.
    fn enter(&mut self, kind: Kind) -> bool;
    /// One that could not enter waits.
    fn wait(&mut self, who: usize, kind: Kind);
    /// One that waits gives up.
    fn leave(&mut self, who: usize) -> Vec<usize>;
    /// One that was granted this gives it back.
    fn release(&mut self, had: Kind) -> Vec<usize>;
    /// One that has the lock, or the upgradable share, keeps less.
    fn downgrade(&mut self, had: Kind, keeps: Kind) -> Vec<usize>;
    /// Who waits, in order of arrival.
    fn line(&self) -> Vec<usize>;
    /// Those who wait go by other numbers.
    fn rename(&mut self, new: impl Fn(usize) -> usize);
    /// What can be seen of it.
    fn counts(&self) -> Counts;
    /// Whether `Debug` prints the data.
    fn is_readable(&self) -> bool {
        self.clone().enter(if Self::IS_MUTEX { Kind::Write } else { Kind::Read })
    }
}

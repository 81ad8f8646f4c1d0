//! What can be done to a lock, as letters of one alphabet: the fuzzers, the random sequences and the exhaustive ones use
//! the same.

use arbitrary::{Arbitrary, Result, Unstructured};
pub use fifolock_conformance::tools::subject::Form;

/// What is asked of a lock. A mutex is always asked to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Want {
    /// A share.
    Read,
    /// The share that can become the lock.
    Upgradable,
    /// The lock.
    Write,
}

/// How long a future waits, in ticks of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// Without a timer.
    None,
    /// From its first poll; 0 is refused.
    Timeout(u8),
    /// From now; 0 is one attempt.
    Deadline(u8),
    /// The longest timeout there is, past the clock's end.
    Endless,
}

/// The waker of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum With {
    /// That of the poll before.
    Same,
    /// Another one.
    Other,
}

/// When a future is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    /// Never polled.
    Unpolled,
    /// It waits.
    Queued,
    /// It was granted the lock, and has not been polled since.
    Granted,
}

/// How a guard is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mapping {
    /// `map`.
    Map,
    /// `try_map` whose closure finds its part.
    Found,
    /// `try_map` whose closure does not: the guard comes back.
    Refused,
}

/// One letter. `who` counts those to whom it can be done; of them it means the one at `who`, modulo their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// A new future, in the first free place.
    Create(Want, Form, Limit),
    /// A poll of any future: its first, a spurious one, or the claim.
    Poll(u8, With),
    /// A future is dropped.
    Drop(Moment, u8),
    /// A guard is dropped.
    Release(u8),
    /// One attempt, without a future.
    Try(Want, Form),
    /// A write guard, or an upgradable one, becomes a read guard.
    Downgrade(u8),
    /// A write guard becomes an upgradable one.
    DowngradeToUpgradable(u8),
    /// A future out of an upgradable guard.
    Upgrade(u8),
    /// One attempt to make a write guard out of an upgradable one.
    TryUpgrade(u8),
    /// A guard for a part of the data.
    Map(Mapping, u8),
    /// A guard or a future is forgotten.
    Forget(u8),
    /// Time passes.
    Pass(u8),
    /// A look that changes nothing: `Debug`.
    Look,
    /// So many futures at once, each polled once: enough for a batch of several chunks.
    Crowd(Want, u8),
}

impl Op {
    /// The same letter for another.
    #[must_use]
    pub fn to(self, who: u8) -> Self {
        match self {
            Self::Poll(_, with) => Self::Poll(who, with),
            Self::Drop(moment, _) => Self::Drop(moment, who),
            Self::Release(_) => Self::Release(who),
            Self::Downgrade(_) => Self::Downgrade(who),
            Self::DowngradeToUpgradable(_) => Self::DowngradeToUpgradable(who),
            Self::Upgrade(_) => Self::Upgrade(who),
            Self::TryUpgrade(_) => Self::TryUpgrade(who),
            Self::Map(mapping, _) => Self::Map(mapping, who),
            Self::Forget(_) => Self::Forget(who),
            Self::Create(..) | Self::Try(..) | Self::Pass(_) | Self::Look | Self::Crowd(..) => self,
        }
    }

    /// Whom it is for.
    #[must_use]
    pub fn who(self) -> u8 {
        match self {
            Self::Poll(who, _) | Self::Drop(_, who) | Self::Map(_, who) => who,
            Self::Release(who) | Self::Downgrade(who) | Self::DowngradeToUpgradable(who) => who,
            Self::Upgrade(who) | Self::TryUpgrade(who) | Self::Forget(who) => who,
            Self::Create(..) | Self::Try(..) | Self::Pass(_) | Self::Look | Self::Crowd(..) => 0,
        }
    }
}

impl Want {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Upgradable, Self::Write];
}

impl Limit {
    /// What of a short clock makes a difference.
    pub const ALL: [Self; 8] = [
        Self::None,
        Self::None,
        Self::Timeout(0),
        Self::Timeout(1),
        Self::Timeout(3),
        Self::Deadline(0),
        Self::Deadline(2),
        Self::Endless,
    ];
}

/// Written by hand: a letter is a byte, and one more for what it says, so that a fuzzer which changes a byte changes one
/// thing.
impl<'a> Arbitrary<'a> for Op {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let letter: u8 = u.arbitrary()?;
        // The high bits say who, where that fits.
        let who = letter >> 5;
        let with = if who & 1 == 0 { With::Same } else { With::Other };
        Ok(match letter & 31 {
            0..=3 => Self::Create(*u.choose(&Want::ALL)?, *u.choose(&Form::ALL)?, *u.choose(&Limit::ALL)?),
            4..=6 => Self::Poll(who, With::Same),
            7 => Self::Poll(u.arbitrary()?, with),
            8 => Self::Drop(Moment::Unpolled, who),
            9 | 10 => Self::Drop(Moment::Queued, who),
            11 | 12 => Self::Drop(Moment::Granted, who),
            13..=16 => Self::Release(who),
            17 => Self::Release(u.arbitrary()?),
            18 => Self::Try(*u.choose(&Want::ALL)?, *u.choose(&Form::ALL)?),
            19 => Self::Downgrade(who),
            20 => Self::DowngradeToUpgradable(who),
            21 | 22 => Self::Upgrade(who),
            23 => Self::TryUpgrade(who),
            24 => Self::Map(Mapping::Map, who),
            25 => Self::Map(Mapping::Found, who),
            26 => Self::Map(Mapping::Refused, who),
            27 => Self::Forget(who),
            28 => Self::Pass(who),
            29 => Self::Look,
            30 => Self::Crowd(*u.choose(&Want::ALL)?, u.int_in_range(1..=CROWD_MAX)?),
            _ => Self::Drop(Moment::Queued, u.arbitrary()?),
        })
    }
}

/// The largest crowd: two chunks of a batch, and more.
pub const CROWD_MAX: u8 = 70;

//! The steps of a test of a lock, as the letters of one alphabet. The fuzzers, the random sequences and the exhaustive
//! ones share the alphabet.

use arbitrary::{Arbitrary, Result, Unstructured};
pub use fifolock_conformance::tools::subject::Form;

/// The kind of access that a step asks for. A mutex always gives write access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Want {
    /// A share.
    Read,
    /// The upgradable share.
    Upgradable,
    /// The whole lock.
    Write,
}

/// The limit of a wait, in ticks of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// No limit.
    None,
    /// A timeout, from the first poll. 0 is refused.
    Timeout(u8),
    /// A deadline, from the creation. 0 is one attempt.
    Deadline(u8),
    /// The longest timeout, past the end of the clock.
    Endless,
}

/// The waker that a poll uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum With {
    /// The waker of the last poll.
    Same,
    /// Another waker.
    Other,
}

/// The stage in which a future is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    /// The future was never polled.
    Unpolled,
    /// The future waits.
    Queued,
    /// The future was granted, and has not been polled since.
    Granted,
}

/// The way in which a guard is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mapping {
    /// `map`.
    Map,
    /// `try_map` with a closure that finds its part.
    Found,
    /// `try_map` with a closure that finds none, so the guard comes back.
    Refused,
}

/// One letter. The number `who` chooses among the futures and guards that the letter applies to, modulo their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Creates a future in the first free place.
    Create(Want, Form, Limit),
    /// Polls any future: for the first time, without a wake, or to claim.
    Poll(u8, With),
    /// Drops a future.
    Drop(Moment, u8),
    /// Drops a guard.
    Release(u8),
    /// Makes one attempt, without a future.
    Try(Want, Form),
    /// Downgrades a write guard or an upgradable guard to a read guard.
    Downgrade(u8),
    /// Downgrades a write guard to an upgradable guard.
    DowngradeToUpgradable(u8),
    /// Makes an upgrade future of an upgradable guard.
    Upgrade(u8),
    /// Tries once to upgrade an upgradable guard.
    TryUpgrade(u8),
    /// Maps a guard to a part of the data.
    Map(Mapping, u8),
    /// Forgets a guard or a future.
    Forget(u8),
    /// Lets time pass.
    Pass(u8),
    /// Formats the lock with `Debug`, which changes nothing.
    Look,
    /// Creates this many futures and polls each once: enough for a batch of several chunks.
    Crowd(Want, u8),
}

impl Op {
    /// The same letter with another `who`.
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

    /// The `who` of the letter.
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
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Read, Self::Upgradable, Self::Write];
}

impl Limit {
    /// The limits that differ in effect on a short clock.
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

/// A letter is one byte, with another byte for its arguments. The derived form would use more, so a fuzzer that changes
/// one byte would change more than one thing.
impl<'a> Arbitrary<'a> for Op {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let letter: u8 = u.arbitrary()?;
        // The high bits are `who`, where they fit.
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

/// The largest crowd: more than two chunks of a batch.
pub const CROWD_MAX: u8 = 70;

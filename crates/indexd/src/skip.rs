//! What was left out, and why.

use core::fmt;
use std::collections::BTreeMap;
use std::path::Path;

use crate::text::Escaped;

/// Why something is not in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Skip {
    /// A folder that could not be listed, or not to its end.
    UnreadableFolder,
    /// A file that could not be read.
    UnreadableFile,
    /// A file of more than [`MAX_FILE_BYTES`](crate::MAX_FILE_BYTES).
    TooLarge,
    /// A file with a NUL byte near its start.
    Binary,
    /// A file that is not valid UTF-8.
    NotUtf8,
    /// A symbolic link: what it points to is indexed where it is, if it is inside the directory.
    Symlink,
    /// A device, pipe or socket.
    Special,
}

impl Skip {
    /// Whether this is a failure, not just something that isn't text.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::UnreadableFolder | Self::UnreadableFile)
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::UnreadableFolder => "unreadable folders",
            Self::UnreadableFile => "unreadable files",
            Self::TooLarge => "too large",
            Self::Binary => "binary",
            Self::NotUtf8 => "not UTF-8",
            Self::Symlink => "symbolic links",
            Self::Special => "special files",
        })
    }
}

/// A count, and a description of the first few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// How many there were.
    pub count: u64,
    /// What is known of the first [`Tally::KEPT`] of them, as `path: reason`.
    pub first: Vec<String>,
}

impl Tally {
    /// How many are described.
    pub const KEPT: usize = 3;

    /// Counts one more.
    pub fn add(&mut self, path: &Path, reason: impl fmt::Display) {
        self.count += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(format!("{}: {reason}", Escaped(path)));
        }
    }

    /// Adds what another has counted.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(Self::KEPT);
    }
}

/// All that was left out, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    tallies: BTreeMap<Skip, Tally>,
}

impl Skipped {
    /// Counts one more.
    pub fn add(&mut self, skip: Skip, path: &Path, reason: impl fmt::Display) {
        self.tallies.entry(skip).or_default().add(path, reason);
    }

    /// Adds what another has counted.
    pub fn merge(&mut self, other: Self) {
        for (skip, tally) in other.tallies {
            self.tallies.entry(skip).or_default().merge(tally);
        }
    }

    /// How many were left out for this reason.
    #[must_use]
    pub fn count(&self, skip: Skip) -> u64 {
        self.tallies.get(&skip).map_or(0, |tally| tally.count)
    }

    /// How many were left out.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.tallies.values().map(|tally| tally.count).sum()
    }

    /// The reasons that occurred.
    pub fn iter(&self) -> impl Iterator<Item = (Skip, &Tally)> {
        self.tallies.iter().map(|(&skip, tally)| (skip, tally))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_counted_and_the_first_few_are_described() {
        let mut skipped = Skipped::default();
        for name in ["a", "b"] {
            skipped.add(Skip::Binary, Path::new(name), "nul");
        }
        let mut more = Skipped::default();
        for name in ["c", "d"] {
            more.add(Skip::Binary, Path::new(name), "nul");
        }
        more.add(Skip::Symlink, Path::new("l"), "link");
        skipped.merge(more);

        assert_eq!(skipped.total(), 5);
        assert_eq!(skipped.count(Skip::Binary), 4);
        assert_eq!(skipped.count(Skip::TooLarge), 0);
        let first: Vec<_> = skipped.iter().map(|(_, tally)| tally.first.join(", ")).collect();
        assert_eq!(first, ["a: nul, b: nul, c: nul", "l: link"]);
    }
}

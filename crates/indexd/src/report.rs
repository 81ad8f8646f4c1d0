//! What a run has found and measured.

use core::fmt;
use core::time::Duration;
use std::path::PathBuf;

use fifolock::tokio::{MutexState, RwLockState};

use crate::index::Term;
use crate::measure::{Entries, SharedEntries};
use crate::shared::Queries;
use crate::text::Escaped;
use crate::work::Done;

mod table;

/// What a run has found and measured. Its `Display` is what the program prints.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The directory, as a canonical path.
    pub directory: PathBuf,
    /// The output file, as a canonical path.
    pub output: PathBuf,
    /// How long the run took.
    pub elapsed: Duration,
    /// How many files there were.
    pub found: usize,
    /// What became of them.
    pub done: Done,
    /// How many different words they have.
    pub distinct: usize,
    /// Calls of the backend.
    pub backend: Held<Entries, MutexState>,
    /// Lines appended to the output.
    pub journal: Held<Entries, MutexState>,
    /// Changes to the index, and looks at it.
    pub index: Held<SharedEntries, RwLockState>,
    /// How queries fared.
    pub queries: Queries,
    /// How long each waited at most.
    pub query_timeout: Duration,
    /// The most frequent words.
    pub top: Vec<TopTerm>,
}

/// What was measured at a lock, and its state when all tasks had ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Held<E, S> {
    /// Who was inside.
    pub entries: E,
    /// The lock, when all tasks had ended.
    pub state: S,
}

impl<E, S> Held<E, S> {
    pub(crate) fn new(entries: E, state: S) -> Self {
        Self { entries, state }
    }
}

/// A word, and how often it occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopTerm {
    /// The word.
    pub word: String,
    /// How often it occurs.
    pub occurrences: u64,
    /// How many files hold it.
    pub files: usize,
}

impl From<&Term> for TopTerm {
    fn from(term: &Term) -> Self {
        Self { word: term.word().to_owned(), occurrences: term.occurrences(), files: term.files() }
    }
}

/// The run came to its end, but not to a result that can be relied on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Incomplete {
    /// Lines are missing in the output.
    #[non_exhaustive]
    Output {
        /// How many.
        lines: u64,
        /// The output file.
        path: PathBuf,
    },
    /// Nothing was indexed, and some of it only because it could not be read.
    Nothing,
}

impl Report {
    /// Whether the result can be relied on. Single files that could not be read are no hindrance.
    ///
    /// # Errors
    ///
    /// [`Incomplete`], if it can't.
    pub fn verdict(&self) -> Result<(), Incomplete> {
        let Done { indexed, skipped, unwritten, .. } = &self.done;
        if unwritten.count > 0 {
            return Err(Incomplete::Output { lines: unwritten.count, path: self.output.clone() });
        }
        let failed = skipped.iter().any(|(skip, _)| skip.is_failure());
        if *indexed == 0 && failed {
            return Err(Incomplete::Nothing);
        }
        Ok(())
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output { lines, path } => {
                let path = Escaped(path);
                write!(f, "the output '{path}' is incomplete: lines that could not be written: {lines}")
            }
            Self::Nothing => f.write_str("nothing was indexed, since nothing could be read"),
        }
    }
}

impl core::error::Error for Incomplete {}

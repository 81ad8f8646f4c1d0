//! Indexing files, with many tasks that share one list.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use crate::backend::ReadError;
use crate::join::joined;
use crate::journal::Line;
use crate::locks::Locks;
use crate::progress::Progress;
use crate::skip::{Skip, Skipped, Tally};
use crate::words::{Counts, NotText, decode};

/// Texts of more bytes are counted on a thread of their own: on a worker, other tasks would feel it.
const LARGE: usize = 256 * 1024;

/// What became of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Done {
    /// Files that are in the index.
    pub indexed: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their words, repeated ones included.
    pub words: u64,
    /// What is not in the index.
    pub skipped: Skipped,
    /// Files that are in the index, but whose line could not be written to the output.
    pub unwritten: Tally,
}

impl Done {
    pub(crate) fn merge(&mut self, other: Self) {
        self.indexed += other.indexed;
        self.bytes += other.bytes;
        self.words += other.words;
        self.skipped.merge(other.skipped);
        self.unwritten.merge(other.unwritten);
    }
}

/// The files that are still to be indexed.
#[derive(Debug)]
pub(crate) struct Work {
    files: Vec<PathBuf>,
    next: AtomicUsize,
}

impl Work {
    pub(crate) fn new(files: Vec<PathBuf>) -> Self {
        Self { files, next: AtomicUsize::new(0) }
    }

    fn next(&self) -> Option<&Path> {
        // Ordering: Relaxed, only the number matters; the list never changes.
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        self.files.get(next).map(PathBuf::as_path)
    }

    /// Takes files from the list and indexes them, until there are none left.
    pub(crate) async fn take_part(&self, locks: &Locks, progress: &dyn Progress) -> Done {
        let mut done = Done::default();
        while let Some(path) = self.next() {
            done.index(path, locks).await;
            progress.done();
        }
        done
    }
}

impl Done {
    /// One file: through the backend, into the index, into the journal. No lock is held beside another.
    async fn index(&mut self, path: &Path, locks: &Locks) {
        let bytes = match locks.backend.read(path).await {
            Ok(bytes) => bytes,
            Err(error) => {
                let skip = match error {
                    ReadError::Io(_) => Skip::UnreadableFile,
                    ReadError::TooLarge => Skip::TooLarge,
                    ReadError::Special => Skip::Special,
                };
                return self.skipped.add(skip, path, error);
            }
        };
        let size = bytes.len();
        let counts = match count(bytes).await {
            Ok(counts) => counts,
            Err(error) => {
                let skip = match error {
                    NotText::Binary => Skip::Binary,
                    NotText::NotUtf8 { .. } => Skip::NotUtf8,
                };
                return self.skipped.add(skip, path, error);
            }
        };
        let line = Line { path, bytes: size, words: counts.total(), distinct: counts.distinct() };
        locks.index.add(path.to_owned(), counts).await;
        self.indexed += 1;
        self.bytes += size as u64;
        self.words += line.words;
        if let Err(error) = locks.journal.append(&line).await {
            self.unwritten.add(path, error);
        }
    }
}

async fn count(bytes: Vec<u8>) -> Result<Counts, NotText> {
    let large = bytes.len() > LARGE;
    let count = move || decode(&bytes).map(Counts::of);
    if large { joined(spawn_blocking(count).await) } else { count() }
}

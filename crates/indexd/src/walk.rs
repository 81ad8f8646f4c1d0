//! Finding the files.

use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::skip::{Skip, Skipped};

/// What a directory holds.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The regular files, sorted within each folder.
    pub(crate) files: Vec<PathBuf>,
    /// What can't be indexed.
    pub(crate) skipped: Skipped,
}

/// Lists the files below `directory`, except `output`. Blocks.
///
/// Both paths must be canonical. Symbolic links are not followed, so there are no loops.
pub(crate) fn walk(directory: &Path, output: &Path) -> Found {
    let mut found = Found::default();
    for entry in WalkDir::new(directory).sort_by_file_name() {
        match entry {
            Ok(entry) => found.add(entry, output),
            Err(error) => {
                let path = error.path().unwrap_or(directory).to_owned();
                let reason = match error.io_error() {
                    Some(error) => error.to_string(),
                    None => error.to_string(),
                };
                found.skipped.add(Skip::UnreadableFolder, &path, reason);
            }
        }
    }
    found
}

impl Found {
    fn add(&mut self, entry: DirEntry, output: &Path) {
        let kind = entry.file_type();
        if kind.is_dir() || entry.path() == output {
            return;
        }
        if kind.is_file() {
            self.files.push(entry.into_path());
        } else if kind.is_symlink() {
            self.skipped.add(Skip::Symlink, entry.path(), "not followed");
        } else {
            self.skipped.add(Skip::Special, entry.path(), "not a regular file");
        }
    }
}

//! The locks of the program, together.

use crate::backend::Backend;
use crate::journal::Journal;
use crate::shared::SharedIndex;

/// What tasks share, each part behind its own lock. No task holds two of these locks at once.
#[derive(Debug)]
#[non_exhaustive]
pub struct Locks {
    /// Where files are read from.
    pub backend: Backend,
    /// The words.
    pub index: SharedIndex,
    /// The output file.
    pub journal: Journal,
}

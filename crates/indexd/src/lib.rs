//! Indexes the text files of a directory, with many tasks at once.
//!
//! The program `indexd` is a thin shell around this library. It shows the locks of `fifolock` at work on
//! real input, and measures whether they keep their word:
//!
//! - The [`Backend`] reads files and takes one call at a time: each runs inside `Mutex::run_exclusive`.
//! - The [`SharedIndex`] is the one word index, behind a `RwLock`: tasks add files to it while queries read
//!   it. A query that waits longer than its timeout gets the lock's error and is counted.
//! - The [`Journal`] is the output file, behind a `Mutex`: every task appends to it.
//!
//! [`measure`] tells how holders are counted and what order means; [`words`] tells what a text and what a
//! word is. The [`Report`] has it all.
//!
//! ```
//! # async fn example() -> Result<(), indexd::Error> {
//! use std::sync::Arc;
//!
//! let mut config = indexd::Config::new("src");
//! config.tasks = 16;
//! let report = indexd::run(config, Arc::new(())).await?;
//! assert_eq!(report.backend.entries.most_at_once, 1);
//! # Ok(())
//! # }
//! ```

mod backend;
mod config;
mod error;
mod index;
mod indexer;
mod join;
mod journal;
mod locks;
pub mod measure;
mod progress;
mod query;
mod report;
mod shared;
mod skip;
mod text;
mod walk;
pub mod words;
mod work;

pub use backend::{Backend, MAX_FILE_BYTES, ReadError, read_file};
pub use config::{Config, ConfigError};
pub use error::Error;
pub use index::{Index, Term};
pub use indexer::{Indexer, run};
pub use journal::{Journal, Line};
pub use locks::Locks;
pub use progress::Progress;
pub use report::{Held, Incomplete, Report, TopTerm};
pub use shared::{Queries, SharedIndex};
pub use skip::{Skip, Skipped, Tally};
pub use text::Escaped;
pub use words::Counts;
pub use work::Done;

//! What a run is asked to do.

use core::fmt;
use core::time::Duration;
use std::path::PathBuf;

/// What is to be indexed, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The directory whose files are indexed.
    pub directory: PathBuf,
    /// The output file; if it exists, it is overwritten. Without one, a new file in the system's temporary
    /// folder.
    pub output: Option<PathBuf>,
    /// How many tasks read and index files, 1 to [`Config::MAX_TASKS`].
    pub tasks: usize,
    /// How many tasks query the index meanwhile, up to [`Config::MAX_TASKS`].
    pub queries: usize,
    /// How long a query waits for the index at most. Not zero.
    pub query_timeout: Duration,
    /// How many of the most frequent words are reported.
    pub top: usize,
}

impl Config {
    /// The most tasks of each sort.
    pub const MAX_TASKS: usize = 65_536;

    /// The defaults, for the given directory.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            output: None,
            tasks: 64,
            queries: 8,
            query_timeout: Duration::from_millis(100),
            top: 10,
        }
    }

    /// Whether a run can be tried.
    ///
    /// # Errors
    ///
    /// The first value that is out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(1..=Self::MAX_TASKS).contains(&self.tasks) {
            return Err(ConfigError::Tasks(self.tasks));
        }
        if self.queries > Self::MAX_TASKS {
            return Err(ConfigError::Queries(self.queries));
        }
        if self.query_timeout.is_zero() {
            return Err(ConfigError::QueryTimeout);
        }
        Ok(())
    }
}

/// A value of a [`Config`] that is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// No task, or too many.
    Tasks(usize),
    /// Too many tasks that query.
    Queries(usize),
    /// A timeout of zero.
    QueryTimeout,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let max = Config::MAX_TASKS;
        match self {
            Self::Tasks(tasks) => write!(f, "the number of tasks must be 1 to {max}, not {tasks}"),
            Self::Queries(queries) => {
                write!(f, "the number of querying tasks must be 0 to {max}, not {queries}")
            }
            Self::QueryTimeout => f.write_str("the query timeout must be longer than zero"),
        }
    }
}

impl core::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused() {
        let good = Config::new(".");
        assert_eq!(good.check(), Ok(()));
        let bad = |change: fn(&mut Config)| {
            let mut config = good.clone();
            change(&mut config);
            config.check()
        };
        assert_eq!(bad(|config| config.tasks = 0), Err(ConfigError::Tasks(0)));
        assert_eq!(bad(|config| config.tasks = 65_537), Err(ConfigError::Tasks(65_537)));
        assert_eq!(bad(|config| config.tasks = 65_536), Ok(()));
        assert_eq!(bad(|config| config.queries = 0), Ok(()));
        assert_eq!(bad(|config| config.queries = 65_537), Err(ConfigError::Queries(65_537)));
        assert_eq!(bad(|config| config.query_timeout = Duration::ZERO), Err(ConfigError::QueryTimeout));
    }
}

//! Why a run can't begin.

use core::fmt;
use std::io;
use std::path::PathBuf;

use crate::config::ConfigError;
use crate::text::Escaped;

/// Why nothing was indexed. What goes wrong with single files is in the report instead.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The configuration makes no sense.
    Config(ConfigError),
    /// The directory can't be listed: there is none, say.
    #[non_exhaustive]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The output file can't be written.
    #[non_exhaustive]
    Output {
        /// The output file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Directory { path, source } => {
                write!(f, "can't list the directory '{}': {source}", Escaped(path))
            }
            Self::Output { path, source } => {
                write!(f, "can't write the output file '{}': {source}", Escaped(path))
            }
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            // Its text is this error's own.
            Self::Config(_) => None,
            Self::Directory { source, .. } | Self::Output { source, .. } => Some(source),
        }
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

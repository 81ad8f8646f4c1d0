//! An error, and its remedy.

use core::fmt;

pub(crate) type Result<T> = core::result::Result<T, Failure>;

#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(what: &str, remedy: &str) -> Self {
        Self(format!("{what}\n  What to do: {remedy}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Adds a remedy to an error that only says what happened.
pub(crate) trait OrTell<T> {
    fn or_tell(self, remedy: &str) -> Result<T>;
}

impl<T, E: fmt::Display> OrTell<T> for core::result::Result<T, E> {
    fn or_tell(self, remedy: &str) -> Result<T> {
        self.map_err(|error| Failure::new(&error.to_string(), remedy))
    }
}

//! Errors.

use core::error::Error;
use core::fmt;
use core::time::Duration;

/// What a lock operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockKind {
    /// A mutex.
    Mutex,
    /// A read-write lock, to read.
    Read,
    /// A read-write lock, to read and perhaps to write later.
    UpgradableRead,
    /// A read-write lock, to write.
    Write,
    /// A read-write lock, to write after having read.
    Upgrade,
}

impl fmt::Display for LockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mutex => "mutex",
            Self::Read => "read lock",
            Self::UpgradableRead => "upgradable read lock",
            Self::Write => "write lock",
            Self::Upgrade => "upgrade to write lock",
        })
    }
}

/// A timed lock operation ended without the lock.
///
/// Nothing is held, and the operation waits no longer: try again, or report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutError {
    /// The time was over before the lock was granted.
    #[non_exhaustive]
    Elapsed {
        /// How long the operation was allowed to wait; `None` if it had a deadline.
        timeout: Option<Duration>,
        /// What it waited for.
        lock: LockKind,
    },
    /// The timeout was zero. It would not have waited at all; use the `try_…` method for that.
    InvalidTimeout,
}

impl TimeoutError {
    pub(crate) fn elapsed(lock: LockKind, timeout: Option<Duration>) -> Self {
        Self::Elapsed { timeout, lock }
    }

    /// Whether the time was over before the lock was granted.
    #[must_use]
    pub const fn is_elapsed(&self) -> bool {
        matches!(self, Self::Elapsed { .. })
    }

    /// Whether the timeout was refused because it is zero.
    #[must_use]
    pub const fn is_invalid(&self) -> bool {
        matches!(self, Self::InvalidTimeout)
    }
}

impl fmt::Display for TimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elapsed { timeout: Some(timeout), lock } => {
                write!(f, "timed out waiting for {lock} after {timeout:?}")
            }
            Self::Elapsed { timeout: None, lock } => {
                write!(f, "deadline passed while waiting for {lock}")
            }
            Self::InvalidTimeout => {
                f.write_str("timeout must be longer than zero; to take the lock only if it is free, use a try method")
            }
        }
    }
}

impl Error for TimeoutError {}

/// The lock can't be taken at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TryLockError(pub(crate) ());

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}

impl Error for TryLockError {}

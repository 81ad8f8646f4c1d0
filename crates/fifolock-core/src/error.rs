//! Errors.

#[cfg(feature = "std")]
extern crate std;

use core::error::Error;
use core::fmt;
use core::num::{NonZeroU32, NonZeroU64};
use core::time::Duration;

const NANOS: u64 = 1_000_000_000;

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

/// How long a timed operation was allowed to wait, as its clock counts.
///
/// It is kept as it was given: chips without a divider need a kilobyte of code to make a [`Duration`] of ticks, which
/// only those programs that look at it should carry.
#[derive(Clone, Copy)]
pub struct Limit(pub(crate) Units);

#[derive(Clone, Copy)]
pub(crate) enum Units {
    Seconds { whole: u64, nanos: u32 },
    Ticks { count: u64, hz: NonZeroU32 },
}

impl Limit {
    /// So many ticks of a clock that ticks `hz` times in a second.
    ///
    /// # Examples
    ///
    /// ```
    /// use fifolock_core::error::Limit;
    /// use core::{num::NonZeroU64, time::Duration};
    ///
    /// // An adapter whose clock ticks at 32,768 Hz.
    /// let limit = Limit::from_ticks(16_384, NonZeroU64::new(32_768).unwrap());
    /// assert_eq!(limit.to_core(), Duration::from_millis(500));
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn from_ticks(count: u64, hz: NonZeroU64) -> Self {
        match NonZeroU32::try_from(hz) {
            Ok(hz) => Self(Units::Ticks { count, hz }),
            // The clock of no small chip, and its rate is a constant: elsewhere nothing of this is left.
            Err(_) => {
                let nanos = u128::from(count % hz) * u128::from(NANOS) / u128::from(hz.get());
                Self(Units::Seconds { whole: count / hz, nanos: nanos as u32 })
            }
        }
    }

    /// The same as `core`'s duration, rounded down to nanoseconds.
    ///
    /// # Examples
    ///
    /// ```
    /// use fifolock_core::error::Limit;
    /// use core::time::Duration;
    ///
    /// assert_eq!(Limit::from(Duration::from_millis(5)).to_core(), Duration::from_millis(5));
    /// ```
    #[must_use]
    pub const fn to_core(self) -> Duration {
        match self.0 {
            Units::Seconds { whole, nanos } => Duration::new(whole, nanos),
            Units::Ticks { count, hz } => {
                let hz = hz.get() as u64;
                // Less than a second of ticks, so less than 2³² of them: no overflow, and less than 10⁹ nanoseconds.
                Duration::new(count / hz, (count % hz * NANOS / hz) as u32)
            }
        }
    }
}

impl From<Duration> for Limit {
    #[inline(always)]
    fn from(duration: Duration) -> Self {
        Self(Units::Seconds { whole: duration.as_secs(), nanos: duration.subsec_nanos() })
    }
}

/// Equal if they are as `core`'s durations.
impl PartialEq for Limit {
    fn eq(&self, other: &Self) -> bool {
        self.to_core() == other.to_core()
    }
}

impl Eq for Limit {}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_core().fmt(f)
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
        timeout: Option<Limit>,
        /// What it waited for.
        lock: LockKind,
    },
    /// The timeout was zero. It would not have waited at all; use the `try_…` method for that.
    InvalidTimeout,
}

impl TimeoutError {
    #[inline(always)]
    pub(crate) fn elapsed(lock: LockKind, timeout: Option<Limit>) -> Self {
        Self::Elapsed { timeout, lock }
    }

    /// How long the operation was allowed to wait; `None` if it had a deadline, or did not wait.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::Mutex;
    /// use tokio::time::Duration;
    ///
    /// # futures_lite::future::block_on(async {
    /// let mutex = Mutex::new(0);
    /// let held = mutex.lock().await;
    /// let error = mutex.lock_timeout(Duration::from_millis(50)).await.unwrap_err();
    /// assert_eq!(error.timeout(), Some(Duration::from_millis(50)));
    /// # drop(held);
    /// # });
    /// ```
    #[must_use]
    pub const fn timeout(&self) -> Option<Duration> {
        match self {
            Self::Elapsed { timeout: Some(limit), .. } => Some(limit.to_core()),
            Self::Elapsed { timeout: None, .. } | Self::InvalidTimeout => None,
        }
    }

    /// Whether the time was over before the lock was granted.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::Mutex;
    /// use tokio::time::Duration;
    ///
    /// # futures_lite::future::block_on(async {
    /// let mutex = Mutex::new(0);
    /// let held = mutex.lock().await;
    /// let error = mutex.lock_timeout(Duration::from_millis(50)).await.unwrap_err();
    /// assert!(error.is_elapsed(), "try again later");
    /// # drop(held);
    /// # });
    /// ```
    #[must_use]
    pub const fn is_elapsed(&self) -> bool {
        matches!(self, Self::Elapsed { .. })
    }

    /// Whether the timeout was refused because it is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::Mutex;
    /// use tokio::time::Duration;
    ///
    /// # futures_lite::future::block_on(async {
    /// let mutex = Mutex::new(0);
    /// let error = mutex.lock_timeout(Duration::ZERO).await.unwrap_err();
    /// assert!(error.is_invalid(), "the program is at fault, not the load");
    /// # });
    /// ```
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

/// So that `?` works in functions that return an [`io::Result`](std::io::Result): the kind is
/// [`TimedOut`](std::io::ErrorKind::TimedOut), and [`InvalidInput`](std::io::ErrorKind::InvalidInput) for a timeout of zero.
///
/// # Examples
///
/// ```
/// # fifolock_core::__facade!();
/// use fifolock::Mutex;
/// use std::{io, time::Duration};
///
/// fn append(log: &Mutex<String>, line: &str) -> io::Result<()> {
///     log.blocking_lock_timeout(Duration::from_millis(5))?.push_str(line);
///     Ok(())
/// }
///
/// let log = Mutex::new(String::new());
/// append(&log, "first")?;
/// let held = log.blocking_lock();
/// assert_eq!(append(&log, "second").unwrap_err().kind(), io::ErrorKind::TimedOut);
/// # Ok::<(), io::Error>(())
/// ```
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
impl From<TimeoutError> for std::io::Error {
    fn from(error: TimeoutError) -> Self {
        let kind = match error {
            TimeoutError::Elapsed { .. } => std::io::ErrorKind::TimedOut,
            TimeoutError::InvalidTimeout => std::io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}

/// An upgrade ended without the lock: the upgradable guard, which still has its share, and why.
///
/// `?` drops the guard: as a [`TimeoutError`] or an I/O error this is only the reason.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "std")] {
/// # fifolock_core::__facade!();
/// use fifolock::{RwLock, RwLockUpgradableReadGuard, TimeoutError};
/// use std::time::Duration;
///
/// fn refresh(cache: &RwLock<u32>) -> Result<(), TimeoutError> {
///     let guard = cache.blocking_upgradable_read();
///     *RwLockUpgradableReadGuard::blocking_upgrade_timeout(guard, Duration::from_millis(5))? += 1;
///     Ok(())
/// }
///
/// let cache = RwLock::new(1);
/// let reader = cache.blocking_read();
/// assert!(refresh(&cache).unwrap_err().is_elapsed());
/// assert!(cache.try_upgradable_read().is_ok(), "the guard was dropped with the error");
/// # drop(reader);
/// # }
/// ```
pub struct UpgradeError<G, E> {
    /// The guard that was to be upgraded. It has held its share all the time: what was read through it is still so.
    pub guard: G,
    /// Why it was not upgraded.
    pub error: E,
}

/// Prints the reason; the data is not looked at.
impl<G, E: fmt::Debug> fmt::Debug for UpgradeError<G, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpgradeError").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<G, E: fmt::Display> fmt::Display for UpgradeError<G, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<G, E: Error> Error for UpgradeError<G, E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// The guard is dropped.
impl<G> From<UpgradeError<G, Self>> for TimeoutError {
    fn from(failed: UpgradeError<G, Self>) -> Self {
        failed.error
    }
}

/// The guard is dropped. The kind is that of the [`TimeoutError`].
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
impl<G> From<UpgradeError<G, TimeoutError>> for std::io::Error {
    fn from(failed: UpgradeError<G, TimeoutError>) -> Self {
        failed.error.into()
    }
}

/// The lock can't be taken at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TryLockError(pub(crate) ());

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}

impl Error for TryLockError {}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::string::ToString;

    fn ticks(count: u64, hz: u64) -> Limit {
        Limit::from_ticks(count, NonZeroU64::new(hz).expect("it ticks"))
    }

    #[test]
    fn t3_ticks_are_as_long_as_they_were() {
        for (count, hz, nanos) in [
            (0, 1, 0),
            (1, 1, 1_000_000_000),
            (1, 32_768, 30_517),
            (32_769, 32_768, 1_000_030_517),
            (u64::MAX, 1_000_000, u128::from(u64::MAX) * 1000),
            (u64::MAX, u64::from(u32::MAX), u128::from(u64::MAX) * 1_000_000_000 / u128::from(u32::MAX)),
            (5_242_880_001, 5_242_880_000, 1_000_000_000),
            (u64::MAX - 1, u64::MAX, 999_999_999),
        ] {
            assert_eq!(ticks(count, hz).to_core().as_nanos(), nanos, "{count} at {hz} Hz");
        }
        assert_eq!(ticks(u64::MAX, 1).to_core(), Duration::from_secs(u64::MAX));
    }

    #[test]
    fn a_limit_is_the_same_in_other_units() {
        let error = |limit: Limit| TimeoutError::elapsed(LockKind::Mutex, Some(limit));
        let (ticked, plain) = (error(ticks(50, 1000)), error(Duration::from_millis(50).into()));
        assert_eq!(ticked, plain);
        assert_ne!(ticked, error(ticks(51, 1000)));
        for error in [ticked, plain] {
            assert_eq!(error.timeout(), Some(Duration::from_millis(50)));
            assert_eq!(error.to_string(), "timed out waiting for mutex after 50ms");
        }
        assert_eq!(TimeoutError::elapsed(LockKind::Read, None).timeout(), None);
    }
}

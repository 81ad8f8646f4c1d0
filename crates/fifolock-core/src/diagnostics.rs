//! Who holds a lock, and who waits for it: the places in the source where they asked.
//!
//! A task that waits for ever waits for somebody. [`Mutex::diagnose`](crate::Mutex::diagnose) and
//! [`RwLock::diagnose`](crate::RwLock::diagnose) say for whom: their [`LockReport`] names the calls that hold the lock,
//! those that were granted it and have not been polled since, and those that wait, each by file, line and column.
//!
//! # Cost
//!
//! With the feature, locks, futures and guards are larger (a read-write lock keeps a table), and every lock and release
//! is a section of the raw lock, where without it an exchange may do. Nothing else changes. Without the feature no
//! place is kept anywhere.
//!
//! # Limits
//!
//! A place is that of the call. A lock that is taken by its own `Debug`, or through a function pointer, has a place in
//! this library. A guard that is mapped or downgraded keeps the place of the call that made the first one.
//!
//! # Examples
//!
//! ```
//! # #[cfg(feature = "diagnostics")] {
//! # fifolock_core::__facade!();
//! use fifolock::local::Mutex;
//!
//! let mutex = Mutex::new(0);
//! let guard = mutex.try_lock()?;
//! let report = mutex.diagnose();
//! assert_eq!(report.holders()[0].location.file(), file!());
//! println!("{report}");
//! drop(guard);
//! assert!(mutex.diagnose().holders().is_empty());
//! # }
//! # Ok::<(), fifolock_core::TryLockError>(())
//! ```

#[cfg(not(feature = "diagnostics"))]
#[path = "diagnostics/off.rs"]
mod imp;
#[cfg(feature = "diagnostics")]
#[path = "diagnostics/on.rs"]
mod imp;
#[cfg(feature = "diagnostics")]
mod report;

pub(crate) use imp::{Holders, HoldersMut, Leaving, OwnerSite, OwnerSiteMut, Recorded};
#[cfg(feature = "diagnostics")]
pub use report::{Holder, LockReport, Waiting};

/// How many call sites of readers a lock tells apart. Shares of more are counted as held elsewhere.
#[cfg(feature = "diagnostics")]
pub const CALL_SITES: usize = 8;

/// How many entries a report has of a kind: granted readers, waiting writers, waiting readers. More are counted.
#[cfg(feature = "diagnostics")]
pub const LISTED: usize = 8;

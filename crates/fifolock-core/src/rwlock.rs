//! A fair async read-write lock with direct hand-off; by default it prefers writers.
//!
//! Many readers or one writer. A waiting writer stops new readers, so readers that overlap without end can't starve it;
//! and as in the [mutex](crate::mutex), who is next owns the lock before it is woken.
//!
//! - A reader enters at once if no writer holds or waits (`w1_…`), a writer if nobody holds (`w2_…`).
//! - The last reader hands over to the first waiting writer (`w3_…`). A writer hands over to the next writer, or, if
//!   none waits, to all waiting readers together (`w4_…`).
//! - A writer that gives up lets in the readers that it kept out, before its drop or poll returns (`w5_…`).
//! - A downgrade never leaves a moment with two owners or none (`w6_…`).
//! - No count wraps: a reader beyond the limit queues (`w7_…`).
//! - Other [policies](RwLockPolicy) than the writers' are chosen when the lock is made (`p1_…`).
//! - A read can be [upgradable](RwLock::upgradable_read): it becomes the write lock before any other writer (`u3_…`).
//! - A task that has stopped polling the future that was granted the lock, and waits for it in another, gets it there
//!   (`r1_…`).
//! - No allocation, no section whose length depends on the number of waiters (`k4_…`), no foreign code inside (`k2_…`).
//!
//! ## State
//!
//! | word | meaning |
//! |---|---|
//! | 0 | free |
//! | n readers | n shares are held; come and go by one exchange |
//! | n readers, upgradable | the same, and one of them may become the writer |
//! | n readers, queued | the same, and somebody waits, or shares are reserved for readers still in the queue |
//! | held | owned by a write guard |
//! | held, queued | the same, and somebody waits |
//! | held, *waiter*, maybe queued | owned by that writer, which has been woken and not yet polled |
//!
//! ## Queue
//!
//! ```text
//!   queue    ── w1 ── u1 ── w2       writers and upgradable readers, served first, one by one; an upgrade goes to the head
//!   readers  ── r1 ── r2 ── r3       served together, when no writer waits
//!   granted  ── r0                   readers that have a share and were not polled since
//! ```
//!
//! Under the task-fair policy everybody stands in `queue`.
//!
//! ## Invariants
//!
//! R1 to R5 of the state's module: *exclusive*, *room*, *settled*, *batch*, *one upgradable*; and I1 to I7 of the queue's.
//!
//! ## Hand-off
//!
//! To a writer as in the mutex. To a batch of readers in steps, none of which depends on their number:
//!
//! ```text
//!   ┌ section ───────────────────────────────────────────────┐
//!   │ readers += all that wait (as many as there is room for) │   from here no writer can enter before all have left
//!   │ take out the first 32, mark them, take their wakers     │
//!   └─────────────────────────────────────────────────────────┘
//!   wake them
//!   ┌ section ┐
//!   │ the next 32 …                                                until all are marked
//! ```
//!
//! A reader that is polled before its mark stays pending: the mark wakes it. One that leaves before its mark gives its
//! share back at once.
//!
//! ## Rescue
//!
//! As in the [mutex](crate::mutex#rescue), between waiters of one task:
//!
//! | thief | victim's grant | after |
//! |---|---|---|
//! | read, upgradable read, write | the same | the two have changed places |
//! | a share | the write lock, or the other share | the thief has its share; the victim is last in its queue |
//! | read | an upgrade, if there is room for two readers | the thief has its share; the victim keeps its own, and its place |
//! | write, upgrade | a share | the share is given back; the victim is last in its queue; the policy chooses |
//!
//! An upgradable read that waits for another upgradable reader steals nothing. A robbed write ends the turn of the writers,
//! where readers have a queue of their own: the readers that wait at that moment enter with the thief (`r7_…`).
//!
//! A poll scans the granted readers from the newest to the newest one that an earlier poll of the same waiter has visited.
//! The scan visits each of them once, in sections of 32, and goes on in the same poll until the scan is complete (`r8_…`).
//!
//! ## Cancellation
//!
//! - *never polled:* nothing happened yet.
//! - *queued:* it is taken out. If it was the last waiting writer and readers hold the lock, the waiting readers enter.
//! - *granted-unclaimed:* a writer passes the lock on, a reader gives its share back; the last one admits the writer.
//!
//! An upgrade has its share from the beginning, and gives it back in each of the three. One with a limit that ends by itself keeps
//! it.
//!
//! ## Memory ordering
//!
//! As in the mutex: every way in acquires the word, every way out releases it. Readers come and go by
//! read-modify-writes, which continue each other's release sequences, so a writer sees what every reader before it saw.
//!
//! ## Limits
//!
//! [`RwLock::MAX_READERS`] shares at once, or what [`RwLock::with_max_readers`] was given. At most `u32::MAX` waiters of
//! each kind; one more panics in its poll, before anything has changed.
//!
//! ## Disadvantages
//!
//! Under the default policy writers that arrive without a pause keep readers waiting without bound: it is for data that is
//! written now and then; [`PhaseFair`](RwLockPolicy::PhaseFair) has a bound for both. A task that holds a read guard and reads again waits for itself if a writer waits in between.

// First, so that the pages begin with these methods: rustdoc lists an `impl` by the place of its module.
mod methods;

mod guard;
mod handle;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
mod owned;
#[allow(
    unnameable_types,
    unreachable_pub,
    missing_debug_implementations,
    reason = "its types stand behind a sealed trait"
)]
mod raw;
mod read_guard;
mod request;
#[cfg(test)]
mod tests;
mod upgradable;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
mod upgradable_owned;

pub use crate::state::rwlock::RwLockPolicy;
pub use guard::{RwLockMappedWriteGuard, RwLockWriteGuard};
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[cfg_attr(docsrs, doc(cfg(feature = "alloc")))]
pub use owned::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, ReadOwned, ReadOwnedDeadline,
    ReadOwnedTimeout, ReadOwnedUntil, WriteOwned, WriteOwnedDeadline, WriteOwnedTimeout, WriteOwnedUntil,
};
pub use read_guard::RwLockReadGuard;
pub use request::{Reading, ReadingUpgradable, Upgrading, Writing};
pub use upgradable::{
    RwLockUpgradableReadGuard, UpgradableRead, UpgradableReadDeadline, UpgradableReadTimeout, UpgradableReadUntil,
    Upgrade, UpgradeDeadline, UpgradeTimeout, UpgradeUntil,
};
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[cfg_attr(docsrs, doc(cfg(feature = "alloc")))]
pub use upgradable_owned::{
    OwnedRwLockUpgradableReadGuard, UpgradableReadOwned, UpgradableReadOwnedDeadline, UpgradableReadOwnedTimeout,
    UpgradableReadOwnedUntil, UpgradeOwned, UpgradeOwnedDeadline, UpgradeOwnedTimeout, UpgradeOwnedUntil,
};

use crate::acquire::Acquire;
use crate::acquire::try_now;
#[cfg(feature = "diagnostics")]
use crate::diagnostics::LockReport;
use crate::error::{TimeoutError, TryLockError};
use crate::platform::{Platform, Timer};
use crate::run::{Wait, run};
use crate::sync_shim::const_fn;
use crate::timeout::{Deadline, Timeout};
use crate::until::Until;
use core::cell::UnsafeCell;
use core::fmt;
use core::future::Future;
use core::ptr;
use raw::RawRwLock;

/// The future of [`RwLock::read`].
pub type Read<'a, T, P> = Acquire<Reading<&'a RwLock<T, P>>>;
/// The future of [`RwLock::read_timeout`].
pub type ReadTimeout<'a, T, P> = Timeout<Reading<&'a RwLock<T, P>>>;
/// The future of [`RwLock::read_deadline`].
pub type ReadDeadline<'a, T, P> = Deadline<Reading<&'a RwLock<T, P>>>;
/// The future of [`RwLock::read_until`].
pub type ReadUntil<'a, T, P, F> = Until<Reading<&'a RwLock<T, P>>, F>;
/// The future of [`RwLock::write`].
pub type Write<'a, T, P> = Acquire<Writing<&'a RwLock<T, P>>>;
/// The future of [`RwLock::write_timeout`].
pub type WriteTimeout<'a, T, P> = Timeout<Writing<&'a RwLock<T, P>>>;
/// The future of [`RwLock::write_deadline`].
pub type WriteDeadline<'a, T, P> = Deadline<Writing<&'a RwLock<T, P>>>;
/// The future of [`RwLock::write_until`].
pub type WriteUntil<'a, T, P, F> = Until<Writing<&'a RwLock<T, P>>, F>;

/// An async read-write lock: FIFO among writers, with direct hand-off; writer-preferring, unless the
/// [platform](Platform::POLICY) or a constructor chooses another [policy](RwLockPolicy).
///
/// `P` is the platform; the runtimes' crates have an alias for each. See the [module](self) for how it works.
///
/// # Examples
///
/// ```
/// # futures_lite::future::block_on(async {
/// # fifolock_core::__facade!();
/// use fifolock::local::RwLock;
///
/// let lock = RwLock::new(1);
/// {
///     let (first, second) = (lock.read().await, lock.read().await);
///     assert_eq!(*first + *second, 2);
/// }
/// *lock.write().await = 2;
/// assert_eq!(lock.into_inner(), 2);
/// # });
/// ```
#[repr(transparent)]
pub struct RwLock<T: ?Sized, P: Platform> {
    inner: Inner<P::Raw, T>,
}

struct Inner<R, T: ?Sized> {
    raw: RawRwLock<R>,
    data: UnsafeCell<T>,
}

// SAFETY: the raw lock gives the data to many readers or one writer at a time, and to each after the last one
// (contract K7).
// - T: Send: required, since any thread may become the writer, and take the value.
// - T: Sync: required, since readers of several threads share it.
// - Raw: Sync: required, since it does the excluding.
unsafe impl<T: ?Sized + Send + Sync, P: Platform> Sync for RwLock<T, P> where P::Raw: Sync {}

/// Runs `f` with the share that the wait ends with.
fn shared<'a, T: ?Sized + 'a, P: Platform + 'a, W, F, O>(wait: W, f: F) -> impl Future<Output = W::Ran<O>>
where
    W: Wait<Guard = RwLockReadGuard<'a, T, P>>,
    F: AsyncFnOnce(&T) -> O,
{
    run(wait, |guard: &mut RwLockReadGuard<'a, T, P>| {
        // SAFETY: `run` keeps the guard, unused, until the future that `f` makes is dropped. Neither `f` nor its output can
        // keep the reference: they take one of any lifetime.
        f(unsafe { guard.data_beyond() })
    })
}

/// Runs `f` with the lock that the wait ends with.
fn exclusively<'a, T: ?Sized + 'a, P: Platform + 'a, W, F, O>(wait: W, f: F) -> impl Future<Output = W::Ran<O>>
where
    W: Wait<Guard = RwLockWriteGuard<'a, T, P>>,
    F: AsyncFnOnce(&mut T) -> O,
{
    run(wait, |guard: &mut RwLockWriteGuard<'a, T, P>| {
        // SAFETY: `run` keeps the guard, unused, until the future that `f` makes is dropped. Neither `f` nor its output can
        // keep the reference: they take one of any lifetime.
        f(unsafe { guard.data_beyond() })
    })
}

impl<T, P: Platform> From<T> for RwLock<T, P> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default, P: Platform> Default for RwLock<T, P> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// Prints the data if it can be read at once; while it prints, it holds a read lock. Never waits.
impl<T: ?Sized + fmt::Debug, P: Platform> fmt::Debug for RwLock<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(guard) => d.field("data", &&*guard),
            Err(_) => d.field("data", &format_args!("<locked>")),
        };
        d.finish()
    }
}

/// What [`RwLock::state`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RwLockState {
    /// Readers that hold a share, those included that have been granted one and have not been polled since.
    pub readers: usize,
    /// Whether one of these readers may become the writer: it holds an upgradable guard, or upgrades.
    pub upgradable: bool,
    /// Whether a writer holds the lock, or has been granted it and has not been polled since.
    pub writer: bool,
    /// Readers that wait.
    pub waiting_readers: usize,
    /// Readers that wait for an upgradable guard.
    pub waiting_upgradable: usize,
    /// Writers that wait, and the reader that waits for its upgrade.
    pub waiting_writers: usize,
}

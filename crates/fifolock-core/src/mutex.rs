//! A strictly FIFO async mutex with direct hand-off.
//!
//! An async lock that wakes a waiter and lets it race for the lock has no order, and loses wakes or lets waiters starve
//! in the gap. This one has no gap: a release makes the first waiter the owner, then wakes it.
//!
//! - Served in the order of first polls (`m2_…`), never passed by a newcomer (`m4_…`).
//! - One release, one wake (`m3_…`), beside those of a [rescue](#rescue). Nobody is woken to find the lock taken.
//! - A waiter that goes, goes at once, and what it had been granted is passed on (`m5_…`, `m6_…`).
//! - No allocation, no spinning in `poll`, O(1) from anywhere in the queue (`k4_…`).
//! - No foreign code runs inside (`k2_…`): a waker may lock the same mutex.
//! - A task that has stopped polling the future that was granted the mutex, and waits for it in another, gets it there
//!   (`r1_…`).
//!
//! ## State
//!
//! | word | queue | meaning |
//! |---|---|---|
//! | 0 | empty | free |
//! | held | empty | owned by a guard; released by one exchange |
//! | held, queued | some | owned by a guard; the release is a section |
//! | held, *waiter* | empty | owned by that waiter, which has been woken and not yet polled |
//! | held, queued, *waiter* | some | the same, and more wait |
//!
//! ## Queue
//!
//! ```text
//!   word ─ held, queued, w1          w1 was granted: it is in no queue, the word names it
//!   queue ── w2 ── w3 ── w4          the first is the next owner; a newcomer goes last
//! ```
//!
//! ## Invariants
//!
//! - **M-free:** a free mutex has no waiters.
//! - **M-one:** at most one waiter is granted, and it is the one whose address the word holds.
//! - The queue's own are listed in its module (I1 to I7).
//!
//! ## Hand-off
//!
//! ```text
//!   owner drops its guard                     w1's next poll
//!   ┌ section ───────────────────────┐        word: (held, w1) → held, in one exchange
//!   │ take w1 out, take its waker    │        the guard
//!   │ word: held → (held, w1)        │
//!   └────────────────────────────────┘
//!   wake w1 ──────────────────────────────▶
//! ```
//!
//! From the end of the section the releaser touches nothing of w1. The claim is an exchange on the word, so that it
//! excludes anyone else who would take the grant; a section excludes it, by the busy word.
//!
//! ## Rescue
//!
//! A fair lock may grant itself to a future that its task no longer polls, while the task waits for the same lock in
//! another future: it would wait for itself, for ever. The queue keeps the address of each waiter's waker, so a waiter
//! that is polled can tell that the granted one is of its own task.
//!
//! ```text
//!   word ─ held, a                   a was granted; its task polls b instead
//!   queue ── x ── b ── y
//!   b's first two polls              b suspects its task, wakes the task once more, and stays pending
//!   b's third poll                   a has not claimed: b, the thief, owns; a, the victim, stands in its place
//!   queue ── x ── a ── y
//! ```
//!
//! A task that polls each of its futures once a round claims `a` before the third poll of `b`, so its order doesn't change.
//! If the task polls `b` more often, the first theft is wrong. The next poll of the victim proves that the task is alive, and
//! the next theft from this victim takes twice as many polls: 3, 6, 12 and so on, up to 384. A mutex also remembers in how
//! many waits a theft was wrong; every fourth such wait doubles the polls of each later theft (`r0_…`, `r1_…`).
//!
//! Since the two change places, the order in which *tasks* are served is the order in which they queued. Claim, drop and
//! theft are sections, or an exchange on the word, so one of them comes first, and the others see it (`r2_…`).
//!
//! The rescue takes back a grant, never a guard: a parked future that holds its guard keeps the mutex. A mutex can't see
//! futures whose wakers are wrapped (`FuturesUnordered`), a grant that is parked in another task, or a loop of `try_lock`.
//! Tasks that share one waker look like one task: among them the order may change. So a test that polls the futures of
//! several tasks must give each task its own waker, and must expect the extra wakes of that task.
//!
//! A platform with [`RESCUE`](Platform::RESCUE) `= false` has locks without the rescue (`r11_…`).
//!
//! ## Cancellation
//!
//! A lock future can be dropped in three moments:
//!
//! - *never polled:* nothing happened yet.
//! - *queued:* it is taken out; nobody is woken.
//! - *granted-unclaimed:* it passes the mutex on, as its guard would have.
//!
//! ## Memory ordering
//!
//! Everything goes through the word. A release is a Release exchange, or the Release store that ends its section; a
//! successful try, first poll or claim is an Acquire exchange on the same word, or a section, which begins with one. So
//! what was written under the mutex is seen by the next owner, on every path.
//!
//! ## Limits
//!
//! At most `u32::MAX` waiters; one more panics in its poll, before anything has changed.
//!
//! ## Disadvantages
//!
//! Under contention each turn costs a task switch (a *lock convoy*): a lock that lets newcomers in has more throughput
//! where critical sections are very short and never await. It is not re-entrant: a task that locks twice waits for
//! itself. A task that stops polling a queued lock future but keeps it alive will be granted the mutex and hold up the
//! rest, unless it locks again itself and is rescued; dropping the future is the remedy.

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
#[cfg(test)]
mod tests;

pub use guard::{MappedMutexGuard, MutexGuard};
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[cfg_attr(docsrs, doc(cfg(feature = "alloc")))]
pub use owned::{
    LockOwned, LockOwnedDeadline, LockOwnedTimeout, LockOwnedUntil, OwnedMappedMutexGuard, OwnedMutexGuard,
};

use crate::acquire::Acquire;
use crate::acquire::sealed::{Ends, Operations, keeps_nothing};
#[cfg(feature = "diagnostics")]
use crate::diagnostics::LockReport;
use crate::diagnostics::Place;
use crate::error::{LockKind, TimeoutError, TryLockError};
use crate::permit::{Permit, Release};
use crate::platform::{Platform, Timer};
use crate::raw::RawLock;
use crate::run::{Wait, run};
use crate::sync_shim::const_fn;
use crate::timeout::{Deadline, Timeout};
use crate::until::Until;
use crate::wait::Acquisition;
use core::cell::UnsafeCell;
use core::fmt;
use core::future::Future;
use core::ptr;

use handle::MutexHandle;
use raw::RawMutex;

/// The future of [`Mutex::lock`].
#[doc(alias = "MutexLockFuture")]
pub type Lock<'a, T, P> = Acquire<Locking<&'a Mutex<T, P>>>;
/// The future of [`Mutex::lock_timeout`].
pub type LockTimeout<'a, T, P> = Timeout<Locking<&'a Mutex<T, P>>>;
/// The future of [`Mutex::lock_deadline`].
pub type LockDeadline<'a, T, P> = Deadline<Locking<&'a Mutex<T, P>>>;
/// The future of [`Mutex::lock_until`].
pub type LockUntil<'a, T, P, F> = Until<Locking<&'a Mutex<T, P>>, F>;

/// An async mutex: strictly FIFO, with direct hand-off.
///
/// `P` is the platform; the runtimes' crates have an alias for each. See the [module](self) for how it works.
///
/// # Examples
///
/// ```
/// # futures_lite::future::block_on(async {
/// # fifolock_core::__facade!();
/// use fifolock::local::Mutex;
///
/// let mutex = Mutex::new(vec![1]);
/// mutex.lock().await.push(2);
/// assert_eq!(*mutex.lock().await, [1, 2]);
/// # });
/// ```
#[repr(transparent)]
pub struct Mutex<T: ?Sized, P: Platform> {
    inner: Inner<P::Raw, T>,
}

struct Inner<R, T: ?Sized> {
    raw: RawMutex<R>,
    data: UnsafeCell<T>,
}

// SAFETY: the raw mutex gives the data to one owner at a time, and from each to the next (contract K7).
// - T: Send: required, since any thread may become the owner, and take the value.
// - T: Sync: not required, since there is one owner.
// - Raw: Sync: required, since it does the excluding.
unsafe impl<T: ?Sized + Send, P: Platform> Sync for Mutex<T, P> where P::Raw: Sync {}

impl<T, P: Platform> Mutex<T, P> {
    const_fn! {
        /// A free mutex.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "std")] {
        /// # fifolock_core::__facade!();
        /// use fifolock::Mutex;
        ///
        /// static COUNT: Mutex<u32> = Mutex::new(0);
        /// assert_eq!(*COUNT.try_lock().unwrap(), 0);
        /// # }
        /// ```
        #[must_use]
        pub const fn new(value: T) -> Self {
            Self { inner: Inner { raw: RawMutex::new(), data: UnsafeCell::new(value) } }
        }
    }

    const_fn! {
        /// As [`new`](Self::new): tokio's name for it.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "std")] {
        /// # fifolock_core::__facade!();
        /// use fifolock::Mutex;
        ///
        /// static COUNT: Mutex<u32> = Mutex::const_new(0);
        /// assert_eq!(*COUNT.try_lock().unwrap(), 0);
        /// # }
        /// ```
        #[must_use]
        pub const fn const_new(value: T) -> Self {
            Self::new(value)
        }
    }

    /// The value, without the mutex. Nobody can hold it: this has it by value.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// # futures_lite::future::block_on(async {
    /// let results = Mutex::new(vec![1]);
    /// results.lock().await.push(2);
    /// // All tasks are done: the lock has no more to do.
    /// assert_eq!(results.into_inner(), [1, 2]);
    /// # });
    /// ```
    pub fn into_inner(self) -> T {
        self.inner.data.into_inner()
    }
}

impl<T: ?Sized, P: Platform> Mutex<T, P> {
    #[inline(always)]
    fn raw(&self) -> &RawMutex<P::Raw> {
        &self.inner.raw
    }

    /// The data, without locking: the borrow is the proof that nobody holds the mutex.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// let mut settings = Mutex::new(1);
    /// // Before the tasks start there is nobody to wait for.
    /// *settings.get_mut() = 2;
    /// assert_eq!(settings.into_inner(), 2);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.data.get_mut()
    }

    /// Locks the mutex: waits until every earlier waiter has had its turn.
    ///
    /// # Fairness
    ///
    /// First come, first served, in the order of first polls. Nobody gets past a waiter.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up its place; if it had been granted the mutex, that goes to the next. Calling `lock`
    /// again goes to the end of the queue.
    ///
    /// # Panics
    ///
    /// The future panics when polled after it was ready. A task that holds the mutex and locks it again does not panic:
    /// it waits for itself, for ever. [`try_lock`](Self::try_lock) would say so.
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// let mutex = Mutex::new(1);
    /// let mut guard = mutex.lock().await;
    /// *guard += 1;
    /// drop(guard);
    /// assert_eq!(mutex.into_inner(), 2);
    /// # });
    /// ```
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn lock(&self) -> Lock<'_, T, P> {
        Acquire::new(Locking(self))
    }

    /// Locks the mutex if it is free.
    ///
    /// # Errors
    ///
    /// If somebody holds it, or has been granted it and has not been polled since. Nothing has changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// let mutex = Mutex::new(1);
    /// let guard = mutex.try_lock()?;
    /// assert!(mutex.try_lock().is_err());
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T, P>, TryLockError> {
        crate::acquire::try_now(Locking(self))
    }

    /// Locks the mutex, unless the other future is ready first.
    ///
    /// If the mutex is free the other future is dropped without having been polled. A grant that is there when a poll
    /// begins wins.
    ///
    /// # Fairness
    ///
    /// As [`lock`](Self::lock).
    ///
    /// # Cancel safety
    ///
    /// As [`lock`](Self::lock).
    ///
    /// # Errors
    ///
    /// The other future's output. The wait is over then: a grant that came meanwhile was passed on.
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// let mutex = Mutex::new(1);
    /// let guard = mutex.lock().await;
    /// let shutdown = async { "shutting down" };
    /// assert_eq!(mutex.lock_until(shutdown).await.err(), Some("shutting down"));
    /// # drop(guard);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn lock_until<F: Future>(&self, other: F) -> LockUntil<'_, T, P, F> {
        Until::new(Locking(self), other)
    }

    /// Locks the mutex, waiting no longer than `timeout`.
    ///
    /// The timeout limits the wait, from the first poll; never the holding. A free mutex costs no timer.
    ///
    /// # Fairness
    ///
    /// As [`lock`](Self::lock). A timed waiter that is granted in time gets the mutex, however late it is polled.
    ///
    /// # Cancel safety
    ///
    /// As [`lock`](Self::lock). The sleep goes with the future.
    ///
    /// # Errors
    ///
    /// [`TimeoutError::Elapsed`] if it was not granted in time; it is out of the queue then.
    /// [`TimeoutError::InvalidTimeout`] if the timeout is zero, whether the mutex is free or not.
    ///
    /// # Panics
    ///
    /// Where the runtime's timer does: tokio's, outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::{Mutex, TimeoutError};
    /// use tokio::time::Duration;
    ///
    /// # futures_lite::future::block_on(async {
    /// let backend = Mutex::new(0);
    /// // A request gives up before its client does.
    /// async fn call(backend: &Mutex<u32>) -> Result<u32, TimeoutError> {
    ///     let mut calls = backend.lock_timeout(Duration::from_millis(50)).await?;
    ///     *calls += 1;
    ///     Ok(*calls)
    /// }
    /// assert_eq!(call(&backend).await, Ok(1));
    /// let held = backend.lock().await;
    /// assert!(call(&backend).await.unwrap_err().is_elapsed());
    /// # drop(held);
    /// # });
    /// ```
    #[doc(alias("try_lock_for", "with_timeout"))]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn lock_timeout(&self, timeout: P::Duration) -> LockTimeout<'_, T, P>
    where
        P: Timer,
    {
        Timeout::new(Locking(self), timeout)
    }

    /// Locks the mutex, waiting no longer than until `deadline`.
    ///
    /// A deadline that has passed is one attempt. A free mutex costs no look at the clock.
    ///
    /// # Fairness
    ///
    /// As [`lock_timeout`](Self::lock_timeout).
    ///
    /// # Cancel safety
    ///
    /// As [`lock`](Self::lock). The sleep goes with the future.
    ///
    /// # Errors
    ///
    /// [`TimeoutError::Elapsed`] if it was not granted by then; it is out of the queue then.
    ///
    /// # Panics
    ///
    /// Where the runtime's timer does: tokio's, outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::{Mutex, TimeoutError};
    /// use tokio::time::{Duration, Instant};
    ///
    /// # futures_lite::future::block_on(async {
    /// // One budget for both waits.
    /// async fn sum(a: &Mutex<u32>, b: &Mutex<u32>, deadline: Instant) -> Result<u32, TimeoutError> {
    ///     let a = a.lock_deadline(deadline).await?;
    ///     let b = b.lock_deadline(deadline).await?;
    ///     Ok(*a + *b)
    /// }
    /// let (a, b) = (Mutex::new(1), Mutex::new(2));
    /// assert_eq!(sum(&a, &b, Instant::now() + Duration::from_millis(50)).await, Ok(3));
    /// # });
    /// ```
    #[doc(alias("try_lock_until", "with_deadline"))]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn lock_deadline(&self, deadline: P::Instant) -> LockDeadline<'_, T, P>
    where
        P: Timer,
    {
        Deadline::new(Locking(self), deadline)
    }

    /// Runs `f` with the mutex locked, and releases it when `f`'s future is ready, fails, panics or is dropped.
    ///
    /// # Fairness
    ///
    /// As [`lock`](Self::lock).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future while it waits has no effect on the data. Dropping it while `f` runs drops `f`'s future, then
    /// releases the mutex: the data stays as far as `f` had got.
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// let mutex = Mutex::new(1);
    /// let before = mutex.run_exclusive(async |value| core::mem::replace(value, 2)).await;
    /// assert_eq!((before, mutex.into_inner()), (1, 2));
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn run_exclusive<F, O>(&self, f: F) -> impl Future<Output = O>
    where
        F: AsyncFnOnce(&mut T) -> O,
    {
        exclusively(Acquire::new(Locking(self)), f)
    }

    /// As [`run_exclusive`](Self::run_exclusive), waiting no longer than `timeout` for the mutex. How long `f` runs is
    /// not limited.
    ///
    /// # Cancel safety
    ///
    /// As [`run_exclusive`](Self::run_exclusive).
    ///
    /// # Errors
    ///
    /// As [`lock_timeout`](Self::lock_timeout). `f` has not run then.
    ///
    /// # Panics
    ///
    /// As [`lock_timeout`](Self::lock_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::Mutex;
    /// use tokio::time::Duration;
    ///
    /// # futures_lite::future::block_on(async {
    /// let connection = Mutex::new(Vec::new());
    /// // The wait is limited; what is sent is sent whole.
    /// let sent = connection.run_exclusive_timeout(Duration::from_millis(50), async |bytes| bytes.extend([1, 2])).await;
    /// assert!(sent.is_ok());
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn run_exclusive_timeout<F, O>(
        &self,
        timeout: P::Duration,
        f: F,
    ) -> impl Future<Output = Result<O, TimeoutError>>
    where
        P: Timer,
        F: AsyncFnOnce(&mut T) -> O,
    {
        exclusively(Timeout::new(Locking(self), timeout), f)
    }

    /// As [`run_exclusive`](Self::run_exclusive), waiting no longer than until `deadline` for the mutex. How long `f` runs is not
    /// limited. With one deadline several steps share a budget.
    ///
    /// # Cancel safety
    ///
    /// As [`run_exclusive`](Self::run_exclusive).
    ///
    /// # Errors
    ///
    /// As [`lock_deadline`](Self::lock_deadline). `f` has not run then.
    ///
    /// # Panics
    ///
    /// As [`lock_deadline`](Self::lock_deadline).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::{Mutex, TimeoutError};
    /// use tokio::time::Instant;
    /// async fn both(first: &Mutex<u32>, second: &Mutex<u32>, by: Instant) -> Result<u32, TimeoutError> {
    ///     let read = first.run_exclusive_deadline(by, async |value| *value).await?;
    ///     second.run_exclusive_deadline(by, async |value| *value + read).await
    /// }
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn run_exclusive_deadline<F, O>(
        &self,
        deadline: P::Instant,
        f: F,
    ) -> impl Future<Output = Result<O, TimeoutError>>
    where
        P: Timer,
        F: AsyncFnOnce(&mut T) -> O,
    {
        exclusively(Deadline::new(Locking(self), deadline), f)
    }

    /// As [`run_exclusive`](Self::run_exclusive), unless the other future is ready before the mutex is granted. It is not polled any more while
    /// `f` runs.
    ///
    /// # Cancel safety
    ///
    /// As [`run_exclusive`](Self::run_exclusive).
    ///
    /// # Errors
    ///
    /// As [`lock_until`](Self::lock_until): the other future's output. `f` has not run then.
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// let lock = Mutex::new(1);
    /// let held = lock.lock().await;
    /// let shutdown = async { "shutting down" };
    /// assert_eq!(lock.run_exclusive_until(shutdown, async |value| *value).await, Err("shutting down"));
    /// # drop(held);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn run_exclusive_until<U, F, O>(&self, other: U, f: F) -> impl Future<Output = Result<O, U::Output>>
    where
        U: Future,
        F: AsyncFnOnce(&mut T) -> O,
    {
        exclusively(Until::new(Locking(self), other), f)
    }

    /// Locks the mutex, parking the thread until it is this thread's turn, in the same queue.
    ///
    /// Inside an async runtime this would block a worker: if the holder needs that worker to go on, it never does. The
    /// platform of tokio panics there; where a platform can't tell, nothing detects it. Use [`lock`](Self::lock) there.
    ///
    /// # Fairness
    ///
    /// As [`lock`](Self::lock): threads and tasks are served in one order.
    ///
    /// # Panics
    ///
    /// If the platform says that this thread must not be blocked: [`Platform::before_blocking`].
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::Mutex;
    /// use std::{sync::Arc, thread};
    ///
    /// let log = Arc::new(Mutex::new(Vec::new()));
    /// let thread = thread::spawn({
    ///     let log = Arc::clone(&log);
    ///     move || log.blocking_lock().push("from a thread")
    /// });
    /// thread.join().unwrap();
    /// assert_eq!(log.blocking_lock().len(), 1);
    /// ```
    #[doc(alias = "lock_blocking")]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T, P> {
        crate::blocking::acquire(Locking(self))
    }

    /// As [`blocking_lock`](Self::blocking_lock), parking the thread no longer than `timeout`, a span of the operating system's monotonic clock.
    ///
    /// The timeout limits the wait, never the holding. It needs no runtime, and a mutex that can be had at once costs no look at the
    /// clock.
    ///
    /// # Fairness
    ///
    /// As [`blocking_lock`](Self::blocking_lock). A thread that is granted in time gets the mutex, however late it wakes up.
    ///
    /// # Errors
    ///
    /// [`TimeoutError::Elapsed`] if it was not granted in time; it is out of the queue then.
    /// [`TimeoutError::InvalidTimeout`] if the timeout is zero, whether the mutex is free or not: where the rest of some budget may be
    /// zero, use [`try_lock`](Self::try_lock) then.
    ///
    /// # Examples
    ///
    /// A thread that reports a stuck mutex instead of hanging with it:
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// # fifolock_core::__facade!();
    /// use fifolock::Mutex;
    /// use std::time::Duration;
    ///
    /// let mutex = Mutex::new(1);
    /// let held = mutex.blocking_lock();
    /// let error = mutex.blocking_lock_timeout(Duration::from_millis(5)).unwrap_err();
    /// assert_eq!(error.to_string(), "timed out waiting for mutex after 5ms");
    /// # drop(held);
    /// # }
    /// ```
    #[doc(alias("try_lock_for", "try_lock_until"))]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_lock_timeout(&self, timeout: core::time::Duration) -> Result<MutexGuard<'_, T, P>, TimeoutError> {
        crate::timeout::block_on(Locking(self), timeout)
    }

    /// Whether somebody holds the mutex, or has been granted it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// let mutex = Mutex::new(0);
    /// let guard = mutex.try_lock()?;
    /// // For a log or a test. To take the lock if it is free, call `try_lock`.
    /// assert!(mutex.is_locked());
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn is_locked(&self) -> bool {
        self.raw().is_locked()
    }

    /// How many wait. One that has been granted the mutex does not; one that timed out or was dropped neither.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    /// use core::pin::pin;
    ///
    /// # futures_lite::future::block_on(async {
    /// let mutex = Mutex::new(0);
    /// let guard = mutex.lock().await;
    /// let mut waits = pin!(mutex.lock());
    /// # assert!(futures_lite::future::poll_once(&mut waits).await.is_none());
    /// // Too long a queue is a reason to refuse more work.
    /// assert_eq!(mutex.queued(), 1);
    /// # drop(guard);
    /// # });
    /// ```
    pub fn queued(&self) -> usize {
        self.state().queued
    }

    /// A consistent snapshot. Taking it changes nothing and wakes nobody.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// let mutex = Mutex::new(0);
    /// let guard = mutex.try_lock()?;
    /// let state = mutex.state();
    /// println!("locked: {}, waiting: {}", state.locked, state.queued);
    /// assert!(state.locked);
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn state(&self) -> MutexState {
        let (locked, queued) = self.raw().state();
        MutexState { locked, queued: queued as usize }
    }

    /// Who holds the mutex, who was granted it and has not been polled since, and who waits for it, each by the place in the
    /// source that asked. A consistent snapshot; taking it changes nothing and wakes nobody.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// let lock = Mutex::new(1);
    /// let guard = lock.try_lock()?;
    /// let report = lock.diagnose();
    /// assert_eq!(report.holders()[0].location.line() + 1, line!() - 1);
    /// println!("{report}");
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    #[cfg(feature = "diagnostics")]
    #[cfg_attr(docsrs, doc(cfg(feature = "diagnostics")))]
    pub fn diagnose(&self) -> LockReport {
        self.raw().diagnose()
    }

    /// The same mutex as one of another platform with the same raw lock: a library's lock, timed by its user's runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// # fifolock_core::__facade!();
    /// use fifolock::{Mutex, tokio::Tokio};
    ///
    /// // A library's lock belongs to no runtime. Its user runs on tokio, and limits the wait.
    /// let library_lock = Mutex::new(0);
    /// let timed: &fifolock::tokio::Mutex<_> = library_lock.on::<Tokio>();
    /// # let _ = timed;
    /// # }
    /// ```
    ///
    /// The owned forms take an `Arc`, and a reference does not lead to one: use `on_arc` for them. Both can't
    /// have one name: a type has one method of a name, and its receiver is a reference or an `Arc`.
    pub const fn on<Q>(&self) -> &Mutex<T, Q>
    where
        Q: Platform<Raw = P::Raw>,
    {
        let this = ptr::from_ref(self) as *const Mutex<T, Q>;
        // SAFETY: both are `repr(transparent)` over the same `Inner<P::Raw, T>`, and neither platform adds anything.
        unsafe { &*this }
    }
}

/// Runs `f` with the mutex that the wait ends with.
fn exclusively<'a, T: ?Sized + 'a, P: Platform + 'a, W, F, O>(wait: W, f: F) -> impl Future<Output = W::Ran<O>>
where
    W: Wait<Guard = MutexGuard<'a, T, P>>,
    F: AsyncFnOnce(&mut T) -> O,
{
    run(wait, |guard: &mut MutexGuard<'a, T, P>| {
        // SAFETY: `run` keeps the guard, unused, until the future that `f` makes is dropped. Neither `f` nor its output can
        // keep the reference: they take one of any lifetime.
        f(unsafe { guard.data_beyond() })
    })
}

impl<T, P: Platform> From<T> for Mutex<T, P> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default, P: Platform> Default for Mutex<T, P> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// Prints the data if the mutex is free; while it prints, it holds the mutex. Never waits.
impl<T: ?Sized + fmt::Debug, P: Platform> fmt::Debug for Mutex<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(guard) => d.field("data", &&*guard),
            Err(_) => d.field("data", &format_args!("<locked>")),
        };
        d.finish()
    }
}

/// What [`Mutex::state`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MutexState {
    /// Whether somebody holds the mutex, or has been granted it and has not been polled since.
    pub locked: bool,
    /// How many wait.
    pub queued: usize,
}

/// The request to lock a mutex, in a future's type. `L` is `&Mutex` or `Arc<Mutex>`.
#[derive(Debug)]
pub struct Locking<L>(pub(crate) L);

impl<L: MutexHandle> Release for Locking<L> {
    #[inline(always)]
    fn release(&self, place: Place) {
        self.0.raw().release(place);
    }
}

impl<L: MutexHandle> Operations for Locking<L> {
    type Guard = L::Guard;
    type Platform = L::Platform;
    const KIND: LockKind = LockKind::Mutex;

    keeps_nothing!();

    type Lock<'a>
        = &'a RawMutex<<L::Platform as Platform>::Raw>
    where
        L: 'a;

    #[inline(always)]
    fn lock(&self) -> Self::Lock<'_> {
        self.0.raw()
    }

    #[inline(always)]
    unsafe fn into_guard(self, place: Place) -> L::Guard {
        // SAFETY: the caller owns it and has no other guard.
        L::guard(unsafe { Permit::new(self, place) })
    }
}

impl<R: RawLock> Ends for &RawMutex<R> {}

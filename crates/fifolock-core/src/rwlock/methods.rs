//! The methods of a read-write lock, but for the owned and the upgradable forms.

use super::*;

impl<T, P: Platform> RwLock<T, P> {
    const_fn! {
        /// A free lock for at most [`MAX_READERS`](Self::MAX_READERS) readers at once, under the policy of the platform.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "std")] {
        /// # fifolock_core::__facade!();
        /// use fifolock::RwLock;
        ///
        /// static CONFIG: RwLock<u32> = RwLock::new(0);
        /// assert_eq!(*CONFIG.try_read().unwrap(), 0);
        /// # }
        /// ```
        #[must_use]
        pub const fn new(value: T) -> Self {
            Self::with_policy(value, P::POLICY)
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
        /// use fifolock::RwLock;
        ///
        /// static CONFIG: RwLock<u32> = RwLock::const_new(0);
        /// assert_eq!(*CONFIG.try_read().unwrap(), 0);
        /// # }
        /// ```
        #[must_use]
        pub const fn const_new(value: T) -> Self {
            Self::new(value)
        }
    }

    const_fn! {
        /// A free lock for at most `max_readers` readers at once, under the policy of the platform. One more waits, until
        /// a reader leaves and no writer waits.
        ///
        /// # Panics
        ///
        /// If `max_readers` is 0, or more than [`MAX_READERS`](Self::MAX_READERS).
        ///
        /// # Examples
        ///
        /// ```
        /// # fifolock_core::__facade!();
        /// use fifolock::local::RwLock;
        ///
        /// // As many readers as there are connections to serve them.
        /// let pool = RwLock::with_max_readers((), 2);
        /// let readers = (pool.try_read()?, pool.try_read()?);
        /// assert!(pool.try_read().is_err());
        /// # drop(readers);
        /// # Ok::<(), fifolock::local::TryLockError>(())
        /// ```
        #[must_use]
        #[track_caller]
        pub const fn with_max_readers(value: T, max_readers: u32) -> Self {
            Self::with_policy_and_max_readers(value, P::POLICY, max_readers)
        }
    }

    const_fn! {
        /// A free lock for at most [`MAX_READERS`](Self::MAX_READERS) readers at once, under a policy.
        ///
        /// # Examples
        ///
        /// ```
        /// # fifolock_core::__facade!();
        /// use fifolock::local::{RwLock, RwLockPolicy};
        ///
        /// let lock = RwLock::with_policy(1, RwLockPolicy::PhaseFair);
        /// assert_eq!(lock.policy(), RwLockPolicy::PhaseFair);
        /// ```
        #[must_use]
        pub const fn with_policy(value: T, policy: RwLockPolicy) -> Self {
            Self::with_policy_and_max_readers(value, policy, Self::MAX_READERS)
        }
    }

    const_fn! {
        /// A free lock under a policy, for at most `max_readers` readers at once.
        ///
        /// # Panics
        ///
        /// As [`with_max_readers`](Self::with_max_readers).
        ///
        /// # Examples
        ///
        /// ```
        /// # fifolock_core::__facade!();
        /// use fifolock::local::{RwLock, RwLockPolicy};
        ///
        /// let pool = RwLock::with_policy_and_max_readers((), RwLockPolicy::PhaseFair, 8);
        /// assert_eq!(pool.policy(), RwLockPolicy::PhaseFair);
        /// ```
        #[must_use]
        #[track_caller]
        pub const fn with_policy_and_max_readers(value: T, policy: RwLockPolicy, max_readers: u32) -> Self {
            assert!(max_readers > 0, "a RwLock may not be created with 0 readers");
            assert!(
                max_readers <= Self::MAX_READERS,
                "a RwLock may not be created with more than RwLock::MAX_READERS readers"
            );
            Self { inner: Inner { raw: RawRwLock::new(max_readers, policy), data: UnsafeCell::new(value) } }
        }
    }

    const_fn! {
        /// As [`with_max_readers`](Self::with_max_readers): tokio's name for it.
        ///
        /// # Panics
        ///
        /// As [`with_max_readers`](Self::with_max_readers).
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "std")] {
        /// # fifolock_core::__facade!();
        /// use fifolock::RwLock;
        ///
        /// static POOL: RwLock<u32> = RwLock::const_with_max_readers(0, 8);
        /// assert_eq!(*POOL.try_read().unwrap(), 0);
        /// # }
        /// ```
        #[must_use]
        #[track_caller]
        pub const fn const_with_max_readers(value: T, max_readers: u32) -> Self {
            Self::with_max_readers(value, max_readers)
        }
    }

    /// The value, without the lock. Nobody can hold it: this has it by value.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// # futures_lite::future::block_on(async {
    /// let config = RwLock::new(1);
    /// *config.write().await = 2;
    /// assert_eq!(config.into_inner(), 2);
    /// # });
    /// ```
    pub fn into_inner(self) -> T {
        self.inner.data.into_inner()
    }
}

impl<T: ?Sized, P: Platform> RwLock<T, P> {
    /// The most readers that a lock can be made for: 536,870,911, and 134,217,727 where pointers have 32 bits.
    pub const MAX_READERS: u32 = crate::state::MAX_READERS;

    #[inline(always)]
    pub(super) fn raw(&self) -> &RawRwLock<P::Raw> {
        &self.inner.raw
    }

    /// The data, without locking: the borrow is the proof that nobody holds the lock.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let mut config = RwLock::new(1);
    /// // Before the tasks start there is nobody to wait for.
    /// *config.get_mut() = 2;
    /// assert_eq!(config.into_inner(), 2);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.data.get_mut()
    }

    /// Locks for reading: waits while a writer holds the lock or waits for it.
    ///
    /// # Fairness
    ///
    /// By default writers go first: a waiting reader enters when no writer holds or waits, together with all other waiting
    /// readers, and writers that arrive without a pause keep it waiting without bound. [`RwLockPolicy`] has others.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up its place; a share that it had been granted is given back.
    ///
    /// # Panics
    ///
    /// The future panics when polled after it was ready. A task that holds the lock and locks it again does not panic:
    /// it may wait for itself, for ever.
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let lock = RwLock::new(1);
    /// let guard = lock.read().await;
    /// assert_eq!(*guard, 1);
    /// # });
    /// ```
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn read(&self) -> Read<'_, T, P> {
        Acquire::new(Reading(self))
    }

    /// Locks for writing: waits until nobody else holds the lock and every earlier writer has had its turn.
    ///
    /// # Fairness
    ///
    /// First come, first served among writers, in the order of first polls; and before readers that wait.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up its place, and lets in the readers that only it kept out. If it had been granted the
    /// lock, that goes to the next.
    ///
    /// # Panics
    ///
    /// As [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let lock = RwLock::new(1);
    /// *lock.write().await += 1;
    /// assert_eq!(lock.into_inner(), 2);
    /// # });
    /// ```
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn write(&self) -> Write<'_, T, P> {
        Acquire::new(Writing(self))
    }

    /// Locks for reading if no writer holds the lock or waits for it, and there is room.
    ///
    /// # Errors
    ///
    /// If that is not so. Nothing has changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let config = RwLock::new(1);
    /// // An old value is better than a wait.
    /// let shown = config.try_read().map_or(0, |value| *value);
    /// assert_eq!(shown, 1);
    /// ```
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T, P>, TryLockError> {
        try_now(Reading(self))
    }

    /// Locks for writing if nobody holds the lock.
    ///
    /// # Errors
    ///
    /// If somebody holds it, or has been granted it and has not been polled since. Nothing has changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let cache = RwLock::new(vec![1]);
    /// // Tidied up when nobody needs it, and not at all otherwise.
    /// if let Ok(mut cache) = cache.try_write() {
    ///     cache.clear();
    /// }
    /// assert!(cache.into_inner().is_empty());
    /// ```
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T, P>, TryLockError> {
        try_now(Writing(self))
    }

    /// Locks for reading, unless the other future is ready first.
    ///
    /// If the lock can be read at once the other future is dropped without having been polled. A grant that is there
    /// when a poll begins wins.
    ///
    /// # Fairness
    ///
    /// As [`read`](Self::read).
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read).
    ///
    /// # Errors
    ///
    /// The other future's output. The wait is over then: a share that was granted meanwhile was given back.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// # futures_lite::future::block_on(async {
    /// let config = RwLock::new(1);
    /// let writer = config.write().await;
    /// let shutdown = async { "shutting down" };
    /// assert_eq!(config.read_until(shutdown).await.err(), Some("shutting down"));
    /// # drop(writer);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn read_until<F: Future>(&self, other: F) -> ReadUntil<'_, T, P, F> {
        Until::new(Reading(self), other)
    }

    /// Locks for writing, unless the other future is ready first.
    ///
    /// If the lock is free the other future is dropped without having been polled. A grant that is there when a poll
    /// begins wins.
    ///
    /// # Fairness
    ///
    /// As [`write`](Self::write).
    ///
    /// # Cancel safety
    ///
    /// As [`write`](Self::write).
    ///
    /// # Errors
    ///
    /// The other future's output. The wait is over then: a grant that came meanwhile was passed on.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// # futures_lite::future::block_on(async {
    /// let config = RwLock::new(1);
    /// let reader = config.read().await;
    /// let shutdown = async { "shutting down" };
    /// assert_eq!(config.write_until(shutdown).await.err(), Some("shutting down"));
    /// # drop(reader);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn write_until<F: Future>(&self, other: F) -> WriteUntil<'_, T, P, F> {
        Until::new(Writing(self), other)
    }

    /// Locks for reading, waiting no longer than `timeout`.
    ///
    /// The timeout limits the wait, from the first poll; never the holding. A lock that can be read at once costs no
    /// timer.
    ///
    /// # Fairness
    ///
    /// As [`read`](Self::read). A timed waiter that is granted in time gets the lock, however late it is polled.
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read). The sleep goes with the future.
    ///
    /// # Errors
    ///
    /// [`TimeoutError::Elapsed`] if it was not granted in time; it is out of the queue then.
    /// [`TimeoutError::InvalidTimeout`] if the timeout is zero, whether the lock is free or not.
    ///
    /// # Panics
    ///
    /// Where the runtime's timer does: tokio's, outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::RwLock;
    /// use tokio::time::Duration;
    ///
    /// # futures_lite::future::block_on(async {
    /// let config = RwLock::new(1);
    /// let value = config.read_timeout(Duration::from_millis(50)).await?;
    /// assert_eq!(*value, 1);
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[doc(alias("try_read_for", "with_timeout"))]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn read_timeout(&self, timeout: P::Duration) -> ReadTimeout<'_, T, P>
    where
        P: Timer,
    {
        Timeout::new(Reading(self), timeout)
    }

    /// Locks for reading, waiting no longer than until `deadline`.
    ///
    /// A deadline that has passed is one attempt. A lock that can be read at once costs no look at the clock.
    ///
    /// # Fairness
    ///
    /// As [`read_timeout`](Self::read_timeout).
    ///
    /// # Cancel safety
    ///
    /// As [`read`](Self::read). The sleep goes with the future.
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
    /// use fifolock::tokio::RwLock;
    /// use tokio::time::{Duration, Instant};
    ///
    /// # futures_lite::future::block_on(async {
    /// let config = RwLock::new(1);
    /// let deadline = Instant::now() + Duration::from_millis(50);
    /// let value = config.read_deadline(deadline).await?;
    /// assert_eq!(*value, 1);
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[doc(alias("try_read_until", "with_deadline"))]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn read_deadline(&self, deadline: P::Instant) -> ReadDeadline<'_, T, P>
    where
        P: Timer,
    {
        Deadline::new(Reading(self), deadline)
    }

    /// Locks for writing, waiting no longer than `timeout`. If it gives up, the readers that only it kept out are let in
    /// before its poll returns.
    ///
    /// The timeout limits the wait, from the first poll; never the holding. A free lock costs no timer.
    ///
    /// # Fairness
    ///
    /// As [`write`](Self::write). A timed waiter that is granted in time gets the lock, however late it is polled.
    ///
    /// # Cancel safety
    ///
    /// As [`write`](Self::write). The sleep goes with the future.
    ///
    /// # Errors
    ///
    /// As [`read_timeout`](Self::read_timeout).
    ///
    /// # Panics
    ///
    /// As [`read_timeout`](Self::read_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::RwLock;
    /// use tokio::time::Duration;
    ///
    /// # futures_lite::future::block_on(async {
    /// let config = RwLock::new(1);
    /// let mut value = config.write_timeout(Duration::from_millis(50)).await?;
    /// *value = 2;
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[doc(alias("try_write_for", "with_timeout"))]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn write_timeout(&self, timeout: P::Duration) -> WriteTimeout<'_, T, P>
    where
        P: Timer,
    {
        Timeout::new(Writing(self), timeout)
    }

    /// Locks for writing, waiting no longer than until `deadline`. If it gives up, the readers that only it kept out are
    /// let in before its poll returns.
    ///
    /// A deadline that has passed is one attempt. A free lock costs no look at the clock.
    ///
    /// # Fairness
    ///
    /// As [`write_timeout`](Self::write_timeout).
    ///
    /// # Cancel safety
    ///
    /// As [`write`](Self::write). The sleep goes with the future.
    ///
    /// # Errors
    ///
    /// As [`read_deadline`](Self::read_deadline).
    ///
    /// # Panics
    ///
    /// As [`read_deadline`](Self::read_deadline).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::RwLock;
    /// use tokio::time::{Duration, Instant};
    ///
    /// # futures_lite::future::block_on(async {
    /// let config = RwLock::new(1);
    /// let deadline = Instant::now() + Duration::from_millis(50);
    /// let mut value = config.write_deadline(deadline).await?;
    /// *value = 2;
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[doc(alias("try_write_until", "with_deadline"))]
    #[inline]
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn write_deadline(&self, deadline: P::Instant) -> WriteDeadline<'_, T, P>
    where
        P: Timer,
    {
        Deadline::new(Writing(self), deadline)
    }

    /// Runs `f` with a read lock, and releases it when `f`'s future is ready, fails, panics or is dropped.
    ///
    /// # Fairness
    ///
    /// As [`read`](Self::read).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops `f`'s, then releases the lock.
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let lock = RwLock::new(vec![1, 2]);
    /// assert_eq!(lock.run_shared(async |value| value.len()).await, 2);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn run_shared<F, O>(&self, f: F) -> impl Future<Output = O>
    where
        F: AsyncFnOnce(&T) -> O,
    {
        shared(Acquire::new(Reading(self)), f)
    }

    /// As [`run_shared`](Self::run_shared), waiting no longer than `timeout` for the lock. How long `f` runs is not
    /// limited.
    ///
    /// # Cancel safety
    ///
    /// As [`run_shared`](Self::run_shared).
    ///
    /// # Errors
    ///
    /// As [`read_timeout`](Self::read_timeout). `f` has not run then.
    ///
    /// # Panics
    ///
    /// As [`read_timeout`](Self::read_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::RwLock;
    /// use tokio::time::Duration;
    ///
    /// # futures_lite::future::block_on(async {
    /// let table = RwLock::new(vec![1, 2]);
    /// let length = table.run_shared_timeout(Duration::from_millis(50), async |table| table.len()).await?;
    /// assert_eq!(length, 2);
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn run_shared_timeout<F, O>(&self, timeout: P::Duration, f: F) -> impl Future<Output = Result<O, TimeoutError>>
    where
        P: Timer,
        F: AsyncFnOnce(&T) -> O,
    {
        shared(Timeout::new(Reading(self), timeout), f)
    }

    /// As [`run_shared`](Self::run_shared), waiting no longer than until `deadline` for the lock. How long `f` runs is not
    /// limited. With one deadline several steps share a budget.
    ///
    /// # Cancel safety
    ///
    /// As [`run_shared`](Self::run_shared).
    ///
    /// # Errors
    ///
    /// As [`read_deadline`](Self::read_deadline). `f` has not run then.
    ///
    /// # Panics
    ///
    /// As [`read_deadline`](Self::read_deadline).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::{RwLock, TimeoutError};
    /// use tokio::time::Instant;
    /// async fn both(first: &RwLock<u32>, second: &RwLock<u32>, by: Instant) -> Result<u32, TimeoutError> {
    ///     let read = first.run_shared_deadline(by, async |value| *value).await?;
    ///     second.run_shared_deadline(by, async |value| *value + read).await
    /// }
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn run_shared_deadline<F, O>(&self, deadline: P::Instant, f: F) -> impl Future<Output = Result<O, TimeoutError>>
    where
        P: Timer,
        F: AsyncFnOnce(&T) -> O,
    {
        shared(Deadline::new(Reading(self), deadline), f)
    }

    /// As [`run_shared`](Self::run_shared), unless the other future is ready before the lock is granted. It is not polled any more while
    /// `f` runs.
    ///
    /// # Cancel safety
    ///
    /// As [`run_shared`](Self::run_shared).
    ///
    /// # Errors
    ///
    /// As [`read_until`](Self::read_until): the other future's output. `f` has not run then.
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let lock = RwLock::new(1);
    /// let held = lock.write().await;
    /// let shutdown = async { "shutting down" };
    /// assert_eq!(lock.run_shared_until(shutdown, async |value| *value).await, Err("shutting down"));
    /// # drop(held);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn run_shared_until<U, F, O>(&self, other: U, f: F) -> impl Future<Output = Result<O, U::Output>>
    where
        U: Future,
        F: AsyncFnOnce(&T) -> O,
    {
        shared(Until::new(Reading(self), other), f)
    }

    /// Runs `f` with the write lock, and releases it when `f`'s future is ready, fails, panics or is dropped.
    ///
    /// # Fairness
    ///
    /// As [`write`](Self::write).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future while it waits has no effect on the data. Dropping it while `f` runs drops `f`'s future, then
    /// releases the lock: the data stays as far as `f` had got.
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let lock = RwLock::new(1);
    /// lock.run_exclusive(async |value| *value += 1).await;
    /// assert_eq!(lock.into_inner(), 2);
    /// # });
    /// ```
    #[cfg_attr(feature = "diagnostics", track_caller)]
    pub fn run_exclusive<F, O>(&self, f: F) -> impl Future<Output = O>
    where
        F: AsyncFnOnce(&mut T) -> O,
    {
        exclusively(Acquire::new(Writing(self)), f)
    }

    /// As [`run_exclusive`](Self::run_exclusive), waiting no longer than `timeout` for the lock. How long `f` runs is not
    /// limited.
    ///
    /// # Cancel safety
    ///
    /// As [`run_exclusive`](Self::run_exclusive).
    ///
    /// # Errors
    ///
    /// As [`write_timeout`](Self::write_timeout). `f` has not run then.
    ///
    /// # Panics
    ///
    /// As [`write_timeout`](Self::write_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::RwLock;
    /// use tokio::time::Duration;
    ///
    /// # futures_lite::future::block_on(async {
    /// let table = RwLock::new(vec![1]);
    /// table.run_exclusive_timeout(Duration::from_millis(50), async |table| table.push(2)).await?;
    /// assert_eq!(table.into_inner(), [1, 2]);
    /// # Ok::<(), fifolock::tokio::TimeoutError>(())
    /// # }).unwrap();
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
        exclusively(Timeout::new(Writing(self), timeout), f)
    }

    /// As [`run_exclusive`](Self::run_exclusive), waiting no longer than until `deadline` for the lock. How long `f` runs is not
    /// limited. With one deadline several steps share a budget.
    ///
    /// # Cancel safety
    ///
    /// As [`run_exclusive`](Self::run_exclusive).
    ///
    /// # Errors
    ///
    /// As [`write_deadline`](Self::write_deadline). `f` has not run then.
    ///
    /// # Panics
    ///
    /// As [`write_deadline`](Self::write_deadline).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::tokio::{RwLock, TimeoutError};
    /// use tokio::time::Instant;
    /// async fn both(first: &RwLock<u32>, second: &RwLock<u32>, by: Instant) -> Result<u32, TimeoutError> {
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
        exclusively(Deadline::new(Writing(self), deadline), f)
    }

    /// As [`run_exclusive`](Self::run_exclusive), unless the other future is ready before the lock is granted. It is not polled any more while
    /// `f` runs.
    ///
    /// # Cancel safety
    ///
    /// As [`run_exclusive`](Self::run_exclusive).
    ///
    /// # Errors
    ///
    /// As [`write_until`](Self::write_until): the other future's output. `f` has not run then.
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let lock = RwLock::new(1);
    /// let held = lock.write().await;
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
        exclusively(Until::new(Writing(self), other), f)
    }

    /// Locks for reading, parking the thread until it may enter, in the same queue.
    ///
    /// Inside an async runtime this would block a worker: if the holder needs that worker to go on, it never does. The
    /// platform of tokio panics there; where a platform can't tell, nothing detects it. Use [`read`](Self::read) there.
    ///
    /// # Fairness
    ///
    /// As [`read`](Self::read): threads and tasks are served alike.
    ///
    /// # Panics
    ///
    /// If the platform says that this thread must not be blocked: [`Platform::before_blocking`].
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::RwLock;
    /// use std::{sync::Arc, thread};
    ///
    /// let config = Arc::new(RwLock::new(1));
    /// let thread = thread::spawn({
    ///     let config = Arc::clone(&config);
    ///     move || *config.blocking_read()
    /// });
    /// assert_eq!(thread.join().unwrap(), 1);
    /// ```
    #[doc(alias = "read_blocking")]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T, P> {
        crate::blocking::acquire(Reading(self))
    }

    /// Locks for writing, parking the thread until it is this thread's turn, in the same queue.
    ///
    /// Inside an async runtime this would block a worker: if the holder needs that worker to go on, it never does. The
    /// platform of tokio panics there; where a platform can't tell, nothing detects it. Use [`write`](Self::write) there.
    ///
    /// # Fairness
    ///
    /// As [`write`](Self::write): threads and tasks are served in one order.
    ///
    /// # Panics
    ///
    /// As [`blocking_read`](Self::blocking_read).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::RwLock;
    ///
    /// let config = RwLock::new(1);
    /// *config.blocking_write() = 2;
    /// assert_eq!(*config.blocking_read(), 2);
    /// ```
    #[doc(alias = "write_blocking")]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T, P> {
        crate::blocking::acquire(Writing(self))
    }

    /// As [`blocking_read`](Self::blocking_read), parking the thread no longer than `timeout`, a span of the operating system's monotonic clock.
    ///
    /// The timeout limits the wait, never the holding. It needs no runtime, and a lock that can be had at once costs no look at the
    /// clock.
    ///
    /// # Fairness
    ///
    /// As [`blocking_read`](Self::blocking_read). A thread that is granted in time gets the lock, however late it wakes up.
    ///
    /// # Errors
    ///
    /// [`TimeoutError::Elapsed`] if it was not granted in time; it is out of the queue then.
    /// [`TimeoutError::InvalidTimeout`] if the timeout is zero, whether the lock is free or not: where the rest of some budget may be
    /// zero, use [`try_read`](Self::try_read) then.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// # fifolock_core::__facade!();
    /// use fifolock::RwLock;
    /// use std::time::Duration;
    ///
    /// let lock = RwLock::new(1);
    /// let held = lock.blocking_write();
    /// let error = lock.blocking_read_timeout(Duration::from_millis(5)).unwrap_err();
    /// assert_eq!(error.to_string(), "timed out waiting for read lock after 5ms");
    /// # drop(held);
    /// # }
    /// ```
    #[doc(alias("try_read_for", "try_read_until"))]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_read_timeout(
        &self,
        timeout: core::time::Duration,
    ) -> Result<RwLockReadGuard<'_, T, P>, TimeoutError> {
        crate::timeout::block_on(Reading(self), timeout)
    }

    /// As [`blocking_write`](Self::blocking_write), parking the thread no longer than `timeout`, a span of the operating system's monotonic clock.
    ///
    /// The timeout limits the wait, never the holding. It needs no runtime, and a lock that can be had at once costs no look at the
    /// clock.
    ///
    /// # Fairness
    ///
    /// As [`blocking_write`](Self::blocking_write). A thread that is granted in time gets the lock, however late it wakes up.
    ///
    /// # Errors
    ///
    /// [`TimeoutError::Elapsed`] if it was not granted in time; it is out of the queue then.
    /// [`TimeoutError::InvalidTimeout`] if the timeout is zero, whether the lock is free or not: where the rest of some budget may be
    /// zero, use [`try_write`](Self::try_write) then.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// # fifolock_core::__facade!();
    /// use fifolock::RwLock;
    /// use std::time::Duration;
    ///
    /// let lock = RwLock::new(1);
    /// let held = lock.blocking_read();
    /// let error = lock.blocking_write_timeout(Duration::from_millis(5)).unwrap_err();
    /// assert_eq!(error.to_string(), "timed out waiting for write lock after 5ms");
    /// # drop(held);
    /// # }
    /// ```
    #[doc(alias("try_write_for", "try_write_until"))]
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[track_caller]
    pub fn blocking_write_timeout(
        &self,
        timeout: core::time::Duration,
    ) -> Result<RwLockWriteGuard<'_, T, P>, TimeoutError> {
        crate::timeout::block_on(Writing(self), timeout)
    }

    /// The policy that the lock was made with.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::{RwLock, RwLockPolicy};
    ///
    /// let lock = RwLock::new(0);
    /// assert_eq!(lock.policy(), RwLockPolicy::WriterPreferring);
    /// ```
    pub fn policy(&self) -> RwLockPolicy {
        self.raw().policy()
    }

    /// Whether anybody holds the lock, to read or to write, or has been granted it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let lock = RwLock::new(1);
    /// let guard = lock.try_read()?;
    /// assert!(lock.is_locked() && !lock.is_write_locked());
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn is_locked(&self) -> bool {
        let state = self.raw().state();
        state.writer || state.readers > 0
    }

    /// Whether a writer holds the lock, or has been granted it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let lock = RwLock::new(1);
    /// let guard = lock.try_write()?;
    /// assert!(lock.is_locked() && lock.is_write_locked());
    /// # drop(guard);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    #[doc(alias = "is_locked_exclusive")]
    pub fn is_write_locked(&self) -> bool {
        self.raw().state().writer
    }

    /// How many wait, to read or to write, an upgrade counted. One that has been granted the lock does not; one that timed out
    /// or was dropped neither. [`state`](Self::state) has them by kind.
    ///
    /// # Examples
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    /// # use futures_lite::future::poll_once;
    /// let lock = RwLock::new(1);
    /// let guard = lock.write().await;
    /// let mut read = Box::pin(lock.read());
    /// assert_eq!(lock.queued(), 0, "what was never polled does not wait");
    /// assert!(poll_once(&mut read).await.is_none());
    /// assert_eq!(lock.queued(), 1);
    /// # drop((read, guard));
    /// # });
    /// ```
    pub fn queued(&self) -> usize {
        let RwLockState { waiting_readers, waiting_upgradable, waiting_writers, .. } = self.state();
        waiting_readers + waiting_upgradable + waiting_writers
    }

    /// A consistent snapshot. Taking it changes nothing and wakes nobody.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let lock = RwLock::new(0);
    /// let readers = (lock.try_read()?, lock.try_read()?);
    /// let state = lock.state();
    /// println!("{} read, {} wait to write", state.readers, state.waiting_writers);
    /// assert_eq!(state.readers, 2);
    /// # drop(readers);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn state(&self) -> RwLockState {
        let state = self.raw().state();
        RwLockState {
            readers: state.readers() as usize,
            writer: state.writer,
            upgradable: state.upgradable,
            waiting_readers: state.counts.waiting_readers as usize,
            waiting_upgradable: state.counts.waiting_upgradable as usize,
            waiting_writers: state.counts.waiting_writers as usize,
        }
    }

    /// Who holds the lock, who was granted it and has not been polled since, and who waits for it, each by the place in the
    /// source that asked. A consistent snapshot; taking it changes nothing and wakes nobody.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::RwLock;
    ///
    /// let lock = RwLock::new(1);
    /// let guard = lock.try_write()?;
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

    /// The same lock as one of another platform with the same raw lock: a library's lock, timed by its user's runtime.
    /// See [`Mutex::on`](crate::Mutex::on); for the owned forms, which take an `Arc`, `on_arc`.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// # fifolock_core::__facade!();
    /// use fifolock::{RwLock, tokio::Tokio};
    ///
    /// // A library's lock belongs to no runtime. Its user runs on tokio, and limits the wait.
    /// let library_lock = RwLock::new(0);
    /// let timed: &fifolock::tokio::RwLock<_> = library_lock.on::<Tokio>();
    /// # let _ = timed;
    /// # }
    /// ```
    pub const fn on<Q>(&self) -> &RwLock<T, Q>
    where
        Q: Platform<Raw = P::Raw>,
    {
        let this = ptr::from_ref(self) as *const RwLock<T, Q>;
        // SAFETY: both are `repr(transparent)` over the same `Inner<P::Raw, T>`, and neither platform adds anything.
        unsafe { &*this }
    }
}

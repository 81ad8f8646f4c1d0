//! The methods of a mutex, but for the owned forms.

use super::*;

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
    pub(super) fn raw(&self) -> &RawMutex<P::Raw> {
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

//! The interface of a lock that is measured.

use core::future::Future;
use core::time::Duration;

/// An async mutex over a number. Its `lock` returns what a user would await: no wrapper, if the lock has guards of its
/// own.
/// the lock has guards of its own.
pub trait Mutex: Send + Sync + 'static {
    /// The bytes of the number.
    const DATA: usize = size_of::<u64>();

    /// The guard.
    type Guard<'a>: Send;

    /// A free mutex.
    fn new() -> Self;

    /// Locks the mutex.
    fn lock(&self) -> impl Future<Output = Self::Guard<'_>> + Send;

    /// Locks the mutex if it is free.
    fn try_lock(&self) -> Option<Self::Guard<'_>>;

    /// Locks the mutex within `timeout`. A lock without timeouts uses tokio's.
    #[inline(always)]
    fn lock_timeout(&self, timeout: Duration) -> impl Future<Output = Result<Self::Guard<'_>, impl Send>> + Send {
        tokio::time::timeout(timeout, self.lock())
    }
}

/// An async read-write lock over a number.
pub trait RwLock: Send + Sync + 'static {
    /// The bytes of the number.
    const DATA: usize = size_of::<u64>();

    /// The read guard.
    type Read<'a>: Send;
    /// The write guard.
    type Write<'a>: Send;

    /// A free lock.
    fn new() -> Self;

    /// Locks for reading.
    fn read(&self) -> impl Future<Output = Self::Read<'_>> + Send;

    /// Locks for writing.
    fn write(&self) -> impl Future<Output = Self::Write<'_>> + Send;
}

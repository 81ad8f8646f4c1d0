//! What a lock must offer to be measured.

use core::future::Future;
use core::time::Duration;

/// An async mutex over a number. What its `lock` returns is counted as a user would await it: without a wrapper, where
/// the lock has guards of its own.
pub trait Mutex: Send + Sync + 'static {
    /// How many of its bytes are the number's.
    const DATA: usize = size_of::<u64>();

    /// What holds it.
    type Guard<'a>: Send;

    /// A free one.
    fn new() -> Self;

    /// Locks it.
    fn lock(&self) -> impl Future<Output = Self::Guard<'_>> + Send;

    /// Locks it if it is free.
    fn try_lock(&self) -> Option<Self::Guard<'_>>;

    /// Locks it, waiting no longer than this; with tokio's timeout, for locks without one of their own.
    #[inline(always)]
    fn lock_timeout(&self, timeout: Duration) -> impl Future<Output = Result<Self::Guard<'_>, impl Send>> + Send {
        tokio::time::timeout(timeout, self.lock())
    }
}

/// An async read-write lock over a number.
pub trait RwLock: Send + Sync + 'static {
    /// How many of its bytes are the number's.
    const DATA: usize = size_of::<u64>();

    /// What reads it.
    type Read<'a>: Send;
    /// What writes it.
    type Write<'a>: Send;

    /// A free one.
    fn new() -> Self;

    /// Locks it for reading.
    fn read(&self) -> impl Future<Output = Self::Read<'_>> + Send;

    /// Locks it for writing.
    fn write(&self) -> impl Future<Output = Self::Write<'_>> + Send;
}

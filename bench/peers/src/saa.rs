//! saa's lock has neither data nor guards. Both are added here, as a user would write them.

use saa::Lock;
use scenarios::lock;

/// saa's lock as a mutex.
pub struct SaaMutex(Lock);

/// The guard of the exclusive owner.
pub struct Exclusive<'a>(&'a Lock);

/// The guard of a shared owner.
pub struct Shared<'a>(&'a Lock);

impl Drop for Exclusive<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.release_lock();
    }
}

impl Drop for Shared<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.release_share();
    }
}

impl lock::Mutex for SaaMutex {
    const DATA: usize = 0;
    type Guard<'a> = Exclusive<'a>;

    fn new() -> Self {
        Self(Lock::new())
    }

    #[inline(always)]
    async fn lock(&self) -> Self::Guard<'_> {
        self.0.lock_async().await;
        Exclusive(&self.0)
    }

    #[inline(always)]
    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.0.try_lock().ok().map(|()| Exclusive(&self.0))
    }
}

/// saa's lock as a read-write lock.
pub struct SaaRwLock(Lock);

impl lock::RwLock for SaaRwLock {
    const DATA: usize = 0;
    type Read<'a> = Shared<'a>;
    type Write<'a> = Exclusive<'a>;

    fn new() -> Self {
        Self(Lock::new())
    }

    #[inline(always)]
    async fn read(&self) -> Self::Read<'_> {
        self.0.share_async().await;
        Shared(&self.0)
    }

    #[inline(always)]
    async fn write(&self) -> Self::Write<'_> {
        self.0.lock_async().await;
        Exclusive(&self.0)
    }
}

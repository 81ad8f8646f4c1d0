//! fifolock's locks over each raw lock, behind the interface of the measurements. All have tokio's timer.

use core::future::Future;
use core::marker::PhantomData;
use core::time::Duration;

use fifolock::platform::{Platform, Timer};
use fifolock::raw::{CellLock, CriticalSectionLock, Exclusion, RawLock, SpinLock};
use scenarios::lock;
use tokio::time::{Instant, Sleep};

/// Over [`StdLock`](fifolock::raw::StdLock), as in `fifolock::tokio`.
pub type Std = fifolock::tokio::Tokio;
/// Over [`SpinLock`].
pub type Spin = OnTokio<SpinLock>;
/// Over [`CriticalSectionLock`], with the critical section for hosts, a global mutex of the standard library.
pub type CriticalSection = OnTokio<CriticalSectionLock>;
/// Over a lock that works as [`LocalLock`](fifolock::raw::LocalLock) does, but is `Send`, so that one harness fits all.
pub type Local = OnTokio<CellLock<OnlyThread>>;

/// Tokio's timer over any raw lock.
#[derive(Debug)]
pub struct OnTokio<R>(PhantomData<R>);

impl<R: RawLock + 'static> Platform for OnTokio<R> {
    type Raw = R;
}

impl<R: RawLock + 'static> Timer for OnTokio<R> {
    type Duration = Duration;
    type Instant = Instant;
    type Sleep = Sleep;

    fn sleep(duration: Duration) -> Option<Sleep> {
        Std::sleep(duration)
    }

    fn sleep_until(deadline: Instant) -> Option<Sleep> {
        Std::sleep_until(deadline)
    }

    fn now() -> Instant {
        Instant::now()
    }

    fn to_core(duration: Duration) -> Duration {
        duration
    }
}

/// Excludes nothing, for programs with one thread.
#[derive(Debug)]
pub struct OnlyThread;

// SAFETY: the closure is called once. Only programs with one thread use this type, although it is `Sync`.
unsafe impl Exclusion for OnlyThread {
    const INIT: Self = Self;

    #[inline(always)]
    fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        f()
    }
}

/// The mutex of a platform.
#[derive(Debug)]
pub struct Mutex<P: Platform>(fifolock::mutex::Mutex<u64, P>);

impl<P: Timer<Duration = Duration, Instant = Instant, Sleep = Sleep> + 'static> lock::Mutex for Mutex<P>
where
    P::Raw: Send + Sync,
{
    type Guard<'a> = fifolock::mutex::MutexGuard<'a, u64, P>;

    fn new() -> Self {
        Self(fifolock::mutex::Mutex::new(0))
    }

    #[inline(always)]
    fn lock(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.0.lock()
    }

    #[inline(always)]
    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.0.try_lock().ok()
    }

    #[inline(always)]
    fn lock_timeout(&self, timeout: Duration) -> impl Future<Output = Result<Self::Guard<'_>, impl Send>> + Send {
        self.0.lock_timeout(timeout)
    }
}

/// The read-write lock of a platform.
#[derive(Debug)]
pub struct RwLock<P: Platform>(fifolock::rwlock::RwLock<u64, P>);

impl<P: Platform + 'static> lock::RwLock for RwLock<P>
where
    P::Raw: Send + Sync,
{
    type Read<'a> = fifolock::rwlock::RwLockReadGuard<'a, u64, P>;
    type Write<'a> = fifolock::rwlock::RwLockWriteGuard<'a, u64, P>;

    fn new() -> Self {
        Self(fifolock::rwlock::RwLock::new(0))
    }

    #[inline(always)]
    fn read(&self) -> impl Future<Output = Self::Read<'_>> + Send {
        self.0.read()
    }

    #[inline(always)]
    fn write(&self) -> impl Future<Output = Self::Write<'_>> + Send {
        self.0.write()
    }
}

/// Counts every row on this platform. This is the whole program.
pub fn count_all<P: Timer<Duration = Duration, Instant = Instant, Sleep = Sleep> + 'static>()
where
    P::Raw: Send + Sync,
{
    scenarios::count::empty();
    scenarios::waker::rows();
    scenarios::mutex::rows::<Mutex<P>>();
    scenarios::rwlock::rows::<RwLock<P>>();
    scenarios::rwlock::looks::<RwLock<P>>();
}

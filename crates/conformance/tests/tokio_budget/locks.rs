//! A platform that gives way as the test says, and every way to acquire a lock.

use core::cell::Cell;
use core::future::{Future, pending};
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use fifolock::platform::{Platform, Timer};
use fifolock::raw::RawLock;
use fifolock::rwlock::RwLockUpgradableReadGuard;
use fifolock::tokio::Tokio;
use fifolock::{mutex::Mutex, rwlock::RwLock};
use std::sync::Arc;
use tokio::time::{Instant, Sleep};

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

pub(crate) type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Tokio's timer over any raw lock. The test sets the platform's answers.
pub(crate) struct Asks<R>(PhantomData<R>);

std::thread_local! {
    pub(crate) static YES: Cell<bool> = const { Cell::new(true) };
    pub(crate) static ASKED: Cell<usize> = const { Cell::new(0) };
}

impl<R: RawLock + 'static> Platform for Asks<R> {
    type Raw = R;

    fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
        ASKED.set(ASKED.get() + 1);
        if YES.get() {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<R: RawLock + 'static> Timer for Asks<R> {
    type Duration = Duration;
    type Instant = Instant;
    type Sleep = Sleep;

    fn sleep(duration: Duration) -> Option<Sleep> {
        assert!(YES.get(), "a task that must give way uses no timer");
        Tokio::sleep(duration)
    }

    fn sleep_until(deadline: Instant) -> Option<Sleep> {
        assert!(YES.get(), "a task that must give way uses no timer");
        Tokio::sleep_until(deadline)
    }

    fn now() -> Instant {
        assert!(YES.get(), "a task that must give way reads no clock");
        Tokio::now()
    }

    fn to_core(duration: Duration) -> Duration {
        duration
    }
}

/// The platforms of this test.
pub(crate) trait OnTokio:
    'static + Timer<Duration = Duration, Instant = Instant, Sleep = Sleep, Raw: Send + Sync>
{
}

impl<P: 'static + Timer<Duration = Duration, Instant = Instant, Sleep = Sleep, Raw: Send + Sync>> OnTokio for P {}

/// A mutex and a read-write lock, and every way to acquire them.
pub(crate) struct Locks<P: Platform> {
    pub(crate) mutex: Arc<Mutex<u64, P>>,
    pub(crate) lock: Arc<RwLock<u64, P>>,
}

/// Acquires a lock and releases it.
pub(crate) struct Form {
    pub(crate) name: &'static str,
    pub(crate) make: Box<dyn Fn() -> Boxed<()> + Send + Sync>,
}

macro_rules! forms {
    ($lock:ident: $($acquire:expr),+ $(,)?) => {
        [$({
            let lock = Arc::clone($lock);
            Form {
                name: stringify!($acquire),
                make: Box::new(move || {
                    let $lock = Arc::clone(&lock);
                    Box::pin(async move { drop($acquire) })
                }),
            }
        }),+]
    };
}

impl<P: OnTokio> Locks<P> {
    pub(crate) fn new() -> Self {
        Self { mutex: Arc::new(Mutex::new(0)), lock: Arc::new(RwLock::new(0)) }
    }

    pub(crate) fn forms(&self) -> Vec<Form> {
        let Self { mutex, lock } = self;
        let deadline = || Instant::now() + HOUR;
        let mut all = Vec::new();
        all.extend(forms!(mutex:
            mutex.lock().await,
            mutex.clone().lock_owned().await,
            mutex.lock_until(pending::<()>()).await.expect("free"),
            mutex.lock_timeout(HOUR).await.expect("free"),
            mutex.lock_deadline(deadline()).await.expect("free"),
            mutex.clone().lock_owned_timeout(HOUR).await.expect("free"),
            mutex.clone().lock_owned_deadline(deadline()).await.expect("free"),
            mutex.run_exclusive(async |_| String::new()).await,
            mutex.run_exclusive_timeout(HOUR, async |_| String::new()).await.expect("free"),
        ));
        all.extend(forms!(lock:
            lock.read().await,
            lock.clone().read_owned().await,
            lock.read_until(pending::<()>()).await.expect("free"),
            lock.read_timeout(HOUR).await.expect("free"),
            lock.read_deadline(deadline()).await.expect("free"),
            lock.clone().read_owned_timeout(HOUR).await.expect("free"),
            lock.clone().read_owned_deadline(deadline()).await.expect("free"),
            lock.run_shared(async |_| String::new()).await,
            lock.run_shared_timeout(HOUR, async |_| String::new()).await.expect("free"),
            lock.write().await,
            lock.clone().write_owned().await,
            lock.write_until(pending::<()>()).await.expect("free"),
            lock.write_timeout(HOUR).await.expect("free"),
            lock.write_deadline(deadline()).await.expect("free"),
            lock.clone().write_owned_timeout(HOUR).await.expect("free"),
            lock.clone().write_owned_deadline(deadline()).await.expect("free"),
            lock.run_exclusive(async |_| String::new()).await,
            lock.run_exclusive_timeout(HOUR, async |_| String::new()).await.expect("free"),
            lock.upgradable_read().await,
            lock.clone().upgradable_read_owned().await,
            lock.upgradable_read_until(pending::<()>()).await.expect("free"),
            lock.upgradable_read_timeout(HOUR).await.expect("free"),
            lock.upgradable_read_deadline(deadline()).await.expect("free"),
            lock.clone().upgradable_read_owned_timeout(HOUR).await.expect("free"),
            lock.clone().upgradable_read_owned_deadline(deadline()).await.expect("free"),
            RwLockUpgradableReadGuard::upgrade(lock.try_upgradable_read().expect("free")).await,
        ));
        all
    }

    /// Asserts that both locks are free and have no waiters.
    pub(crate) fn assert_free(&self, name: &str) {
        let state = self.lock.state();
        assert!(!self.mutex.is_locked() && self.mutex.queued() == 0, "{name}");
        assert!(!state.writer && state.readers == 0, "{name}");
        assert_eq!(state.waiting_readers + state.waiting_writers + state.waiting_upgradable, 0, "{name}");
    }
}

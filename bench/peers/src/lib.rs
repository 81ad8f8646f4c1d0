//! The peers' locks, behind the interface of the measurements.

mod bare;
mod macros;
mod saa;

use core::future::Future;

pub use bare::{BareMutex, BareRwLock, parking_lot_rows, rows as bare_rows, std_rows};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use macros::{mutex, rwlock};
pub use saa::{SaaMutex, SaaRwLock};

mutex!(TokioMutex, tokio::sync::Mutex<u64>, new(0), tokio::sync::MutexGuard<'a, u64>, |guard| guard.ok());
rwlock!(
    TokioRwLock,
    tokio::sync::RwLock<u64>,
    tokio::sync::RwLockReadGuard<'a, u64>,
    tokio::sync::RwLockWriteGuard<'a, u64>
);

mutex!(AsyncLockMutex, async_lock::Mutex<u64>, new(0), async_lock::MutexGuard<'a, u64>, |guard| guard);
rwlock!(
    AsyncLockRwLock,
    async_lock::RwLock<u64>,
    async_lock::RwLockReadGuard<'a, u64>,
    async_lock::RwLockWriteGuard<'a, u64>
);

mutex!(FuturesMutex, futures::lock::Mutex<u64>, new(0), futures::lock::MutexGuard<'a, u64>, |guard| guard);

mutex!(
    IntrusiveMutex,
    futures_intrusive::sync::Mutex<u64>,
    new(0, true),
    futures_intrusive::sync::MutexGuard<'a, u64>,
    |guard| guard
);

mutex!(MaitakeMutex, maitake_sync::Mutex<u64>, new(0), maitake_sync::MutexGuard<'a, u64>, |guard| guard);
rwlock!(
    MaitakeRwLock,
    maitake_sync::RwLock<u64>,
    maitake_sync::RwLockReadGuard<'a, u64>,
    maitake_sync::RwLockWriteGuard<'a, u64>
);

mutex!(
    EmbassyMutex,
    embassy_sync::mutex::Mutex<CriticalSectionRawMutex, u64>,
    new(0),
    embassy_sync::mutex::MutexGuard<'a, CriticalSectionRawMutex, u64>,
    |guard| guard.ok()
);
rwlock!(
    EmbassyRwLock,
    embassy_sync::rwlock::RwLock<CriticalSectionRawMutex, u64>,
    embassy_sync::rwlock::RwLockReadGuard<'a, CriticalSectionRawMutex, u64>,
    embassy_sync::rwlock::RwLockWriteGuard<'a, CriticalSectionRawMutex, u64>
);

mutex!(AsyncbandMutex, asyncband::mutex::Mutex<u64>, new(0), asyncband::mutex::MutexGuard<'a, u64>, |guard| guard);
rwlock!(
    AsyncbandRwLock,
    asyncband::rwlock::RwLock<u64>,
    asyncband::rwlock::RwLockReadGuard<'a, u64>,
    asyncband::rwlock::RwLockWriteGuard<'a, u64>
);

/// Counts every row of a peer that has both locks.
pub fn count_all<M: scenarios::lock::Mutex, L: scenarios::lock::RwLock>() {
    count_mutex::<M>();
    scenarios::rwlock::rows::<L>();
}

/// Counts every row of a peer without a read-write lock.
pub fn count_mutex<M: scenarios::lock::Mutex>() {
    scenarios::count::empty();
    scenarios::waker::rows();
    scenarios::mutex::rows::<M>();
}

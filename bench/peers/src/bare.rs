//! Locks that can't wait asynchronously, as the floor: the least that a free lock costs.

use core::hint::black_box;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync;

use scenarios::count::{counted, empty, row};

/// A mutex without waiters: a compare-exchange locks it, an exchange unlocks it.
#[derive(Debug, Default)]
pub struct BareMutex(AtomicUsize);

impl BareMutex {
    /// Locks the mutex if it is free.
    #[inline(always)]
    pub fn try_lock(&self) -> bool {
        self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Unlocks the mutex. A lock with waiters needs an exchange here too, to learn whether any wait.
    #[inline(always)]
    pub fn unlock(&self) -> bool {
        self.0.swap(0, Ordering::Release) == 1
    }
}

/// A read-write lock without waiters.
#[derive(Debug, Default)]
pub struct BareRwLock(AtomicUsize);

impl BareRwLock {
    const WRITER: usize = 1;
    const READER: usize = 2;

    /// Locks the lock for reading if no writer holds it.
    #[inline(always)]
    pub fn try_read(&self) -> bool {
        let seen = self.0.load(Ordering::Relaxed);
        seen & Self::WRITER == 0
            && self.0.compare_exchange(seen, seen + Self::READER, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Releases a reader.
    #[inline(always)]
    pub fn unlock_read(&self) -> bool {
        self.0.fetch_sub(Self::READER, Ordering::Release) == Self::READER
    }

    /// Locks the lock for writing if it is free.
    #[inline(always)]
    pub fn try_write(&self) -> bool {
        self.0.compare_exchange(0, Self::WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Releases the writer.
    #[inline(always)]
    pub fn unlock_write(&self) -> bool {
        self.0.swap(0, Ordering::Release) == Self::WRITER
    }
}

/// Counts the rows of bare atomics.
pub fn rows() {
    empty();
    let mutex: &'static BareMutex = Box::leak(Box::default());
    for name in ["mutex/lock", "mutex/try_lock"] {
        row(name, || {
            let mutex = black_box(mutex);
            counted(|| assert!(mutex.try_lock() && mutex.unlock()));
        });
    }
    let lock: &'static BareRwLock = Box::leak(Box::default());
    row("rwlock/read", || {
        let lock = black_box(lock);
        counted(|| assert!(lock.try_read() && lock.unlock_read()));
    });
    row("rwlock/write", || {
        let lock = black_box(lock);
        counted(|| assert!(lock.try_write() && lock.unlock_write()));
    });
}

/// Counts the rows of parking_lot's locks.
pub fn parking_lot_rows() {
    empty();
    let mutex: &'static parking_lot::Mutex<u64> = Box::leak(Box::default());
    row("mutex/lock", || {
        let mutex = black_box(mutex);
        counted(|| drop(mutex.lock()));
    });
    row("mutex/try_lock", || {
        let mutex = black_box(mutex);
        counted(|| assert!(mutex.try_lock().is_some()));
    });
    let lock: &'static parking_lot::RwLock<u64> = Box::leak(Box::default());
    row("rwlock/read", || {
        let lock = black_box(lock);
        counted(|| drop(lock.read()));
    });
    row("rwlock/write", || {
        let lock = black_box(lock);
        counted(|| drop(lock.write()));
    });
}

/// Counts the rows of the standard library's locks.
pub fn std_rows() {
    empty();
    let mutex: &'static sync::Mutex<u64> = Box::leak(Box::default());
    row("mutex/lock", || {
        let mutex = black_box(mutex);
        counted(|| drop(mutex.lock()));
    });
    row("mutex/try_lock", || {
        let mutex = black_box(mutex);
        counted(|| assert!(mutex.try_lock().is_ok()));
    });
    let lock: &'static sync::RwLock<u64> = Box::leak(Box::default());
    row("rwlock/read", || {
        let lock = black_box(lock);
        counted(|| drop(lock.read()));
    });
    row("rwlock/write", || {
        let lock = black_box(lock);
        counted(|| drop(lock.write()));
    });
}

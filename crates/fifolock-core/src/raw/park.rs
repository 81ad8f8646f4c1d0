//! Threads that wait for a section to end, parked by the address of its word.
//!
//! | who | does |
//! |---|---|
//! | a parker, holding its bucket's mutex | marks the busy word; if it still is busy, sleeps on the bucket |
//! | a newcomer | makes the word busy by a swap; if it was, and marked, marks it again, or wakes the bucket |
//! | a section that ends | stores the new state by a swap; if it finds the mark, takes the mutex and wakes the bucket |
//!
//! The mark is set and the sleep begun under the mutex, so the wake can't fall between the two. Whoever shares a bucket
//! is woken too and looks again; so does everybody after a spurious wake.

extern crate std;

use super::atomic::AtomicWord;
use std::sync::PoisonError;

#[cfg(fifolock_loom)]
use loom::sync::{Condvar, Mutex};
#[cfg(fifolock_shuttle)]
use shuttle::sync::{Condvar, Mutex};
#[cfg(not(any(fifolock_loom, fifolock_shuttle)))]
use std::sync::{Condvar, Mutex};

/// Where threads sleep that wait for sections of any lock that falls to this bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    mutex: Mutex<()>,
    ended: Condvar,
}

impl Bucket {
    crate::sync_shim::const_fn! {
        pub(super) const fn new() -> Self {
            Self { mutex: Mutex::new(()), ended: Condvar::new() }
        }
    }

    /// Sleeps until the running section has ended, or less; returns at once when none runs.
    pub(super) fn sleep(&self, word: &AtomicWord) {
        let held = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        if word.mark_parked() {
            drop(self.ended.wait(held).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Somebody has taken off the mark of threads that sleep here: it is set again, or they are woken.
    pub(super) fn mark_again(&self, word: &AtomicWord) {
        if !word.mark_parked() {
            self.wake();
        }
    }

    /// Wakes all that sleep here.
    pub(super) fn wake(&self) {
        let held = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        self.ended.notify_all();
        drop(held);
    }
}

#[cfg(not(any(fifolock_loom, fifolock_shuttle)))]
impl Bucket {
    /// The bucket of the lock with this word.
    pub(super) fn of(word: &AtomicWord) -> &'static Self {
        const BUCKETS: usize = 64;
        static TABLE: [Bucket; BUCKETS] = [const { Bucket::new() }; BUCKETS];
        // Locks are some tens of bytes apart, so the low bits say little.
        let address = core::ptr::from_ref(word).addr();
        &TABLE[((address >> 4) ^ (address >> 10)) % BUCKETS]
    }
}

#[cfg(all(test, fifolock_loom))]
mod tests {
    use crate::raw::{RawLock, StdLock, Word};
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;

    /// Sections exclude each other, and no thread sleeps on when the section has ended (a deadlock to loom).
    #[test]
    fn loom_k4_a_parked_thread_is_woken_when_the_section_ends() {
        // Three threads: at two preemptions this takes seconds, at three an hour.
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(|| {
            let shared = Arc::new((StdLock::init(), UnsafeCell::new(0)));
            let section = |shared: &(StdLock, UnsafeCell<u32>)| {
                let (lock, count) = shared;
                lock.with(|word| {
                    // SAFETY: sections exclude each other; loom checks it.
                    count.with_mut(|count| unsafe { *count += 1 });
                    *word = Word::from_bits(word.bits() + (1 << 3));
                });
            };
            let threads: [_; 2] = core::array::from_fn(|_| {
                let shared = Arc::clone(&shared);
                loom::thread::spawn(move || section(&shared))
            });
            section(&shared);
            for thread in threads {
                thread.join().unwrap();
            }
            // SAFETY: all threads have ended.
            assert_eq!(shared.1.with(|count| unsafe { *count }), 3);
            assert_eq!(shared.0.peek().map(Word::bits), Some(3 << 3));
        });
    }
}

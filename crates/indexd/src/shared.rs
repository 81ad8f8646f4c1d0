//! The index behind its read-write lock.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::path::PathBuf;

use fifolock::tokio::{RwLock, RwLockState, TimeoutError};

use crate::index::Index;
use crate::measure::{Arrival, SharedEntries, SharedProbe};
use crate::words::Counts;

/// The one index of a program: queries read it while it is being rebuilt.
#[derive(Debug, Default)]
pub struct SharedIndex {
    index: RwLock<Index>,
    probe: SharedProbe,
    asked: AtomicU64,
    answered: AtomicU64,
    timed_out: AtomicU64,
}

/// How queries fared. A query that was dropped while it waited was asked, but is in neither other count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Queries {
    /// Queries that were begun.
    pub asked: u64,
    /// Queries that got to read the index.
    pub answered: u64,
    /// Queries that waited longer than they wanted to.
    pub timed_out: u64,
}

impl SharedIndex {
    /// Asks the index something. `timeout` limits the wait for the lock, not the asking.
    ///
    /// # Fairness
    ///
    /// A query waits while another task changes the index, or waits to: changes that come without a pause keep
    /// it waiting. That is what the timeout is for.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves the queue or the lock at once.
    ///
    /// # Errors
    ///
    /// [`TimeoutError`] if the wait took longer than `timeout`, or `timeout` is zero.
    pub async fn query<R>(&self, timeout: Duration, ask: impl AsyncFnOnce(&Index) -> R) -> Result<R, TimeoutError> {
        // Ordering: Relaxed here and below, counts that publish nothing.
        self.asked.fetch_add(1, Ordering::Relaxed);
        let index = match self.index.read_timeout(timeout).await {
            Ok(index) => index,
            Err(error) => {
                if error.is_elapsed() {
                    self.timed_out.fetch_add(1, Ordering::Relaxed);
                }
                return Err(error);
            }
        };
        let _inside = self.probe.enter_reader();
        self.answered.fetch_add(1, Ordering::Relaxed);
        Ok(ask(&index).await)
    }

    /// Reads the index, however long that has to wait. Not counted as a query.
    ///
    /// Fairness and cancel safety are those of [`query`](Self::query).
    pub async fn read<R>(&self, look: impl AsyncFnOnce(&Index) -> R) -> R {
        let read = self.index.run_shared(async |index: &Index| {
            let _inside = self.probe.enter_reader();
            look(index).await
        });
        read.await
    }

    /// Changes the index.
    ///
    /// # Fairness
    ///
    /// Changes are made in the order of the first polls, each alone.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves the queue or the lock at once; what `change` did until then is done.
    pub async fn update<R>(&self, change: impl AsyncFnOnce(&mut Index) -> R) -> R {
        let arrival = Arrival::default();
        let mut index = self.probe.arrive(&arrival, self.index.write()).await;
        let _inside = self.probe.enter_writer(&arrival);
        change(&mut index).await
    }

    /// Adds a file that is not in the index yet, and its words.
    pub async fn add(&self, file: PathBuf, counts: Counts) {
        self.update(async move |index: &mut Index| index.add(file, counts)).await;
    }

    /// Who holds the lock and who waits for it.
    #[must_use]
    pub fn state(&self) -> RwLockState {
        self.index.state()
    }

    /// What was measured about readers and writers so far.
    #[must_use]
    pub fn entries(&self) -> SharedEntries {
        self.probe.entries()
    }

    /// How queries fared so far.
    #[must_use]
    pub fn queries(&self) -> Queries {
        Queries {
            asked: self.asked.load(Ordering::Relaxed),
            answered: self.answered.load(Ordering::Relaxed),
            timed_out: self.timed_out.load(Ordering::Relaxed),
        }
    }
}

//! What stands at the door of a critical section.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::arrival::{Arrival, Clock, FirstPoll};
use super::gauge::{Gauge, Inside};
use super::order::{Order, Ranks};

/// What was measured where one holder at a time is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entries {
    /// How often the lock was held.
    pub entries: u64,
    /// The most holders seen at once.
    pub most_at_once: usize,
    /// Order of entry against order of arrival.
    pub order: Order,
}

/// What was measured at a read-write lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedEntries {
    /// The writers.
    pub writers: Entries,
    /// How often the lock was held by a reader.
    pub reads: u64,
    /// The most readers seen at once.
    pub most_readers_at_once: usize,
    /// How often a reader and a writer saw each other inside.
    pub mixed: u64,
}

/// Watches a lock that has one holder at a time.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    clock: Clock,
    gauge: Gauge,
    /// A mutex of its own: the lock that is measured isn't trusted to keep entrants apart.
    ranks: Mutex<Ranks>,
}

impl Probe {
    /// Brackets the first poll of `future`, which is to get the lock.
    pub(crate) fn arrive<'a, F>(&'a self, arrival: &'a Arrival, future: F) -> FirstPoll<'a, F> {
        FirstPoll::new(future, arrival, &self.clock)
    }

    /// To be called as soon as the lock is held; what it returns is to be dropped before the lock is left.
    pub(crate) fn enter(&self, arrival: &Arrival) -> Inside<'_> {
        let inside = self.gauge.enter();
        let mut ranks = self.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        let (opened, closed) = arrival.bracket(&self.clock);
        ranks.enter(opened, closed);
        inside
    }

    /// What was measured so far.
    pub(crate) fn entries(&self) -> Entries {
        let ranks = self.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        let order = ranks.order();
        Entries { entries: order.compared() + order.overlapping, most_at_once: self.gauge.most(), order }
    }
}

/// Watches a read-write lock.
///
/// Readers' order isn't measured: a batch of them is let in together, and which of its tasks runs first is
/// the runtime's choice.
#[derive(Debug, Default)]
pub(crate) struct SharedProbe {
    writers: Probe,
    readers: Gauge,
    reads: AtomicU64,
    mixed: AtomicU64,
}

impl SharedProbe {
    /// As [`Probe::arrive`], for a writer.
    pub(crate) fn arrive<'a, F>(&'a self, arrival: &'a Arrival, future: F) -> FirstPoll<'a, F> {
        self.writers.arrive(arrival, future)
    }

    /// As [`Probe::enter`], for a writer.
    pub(crate) fn enter_writer(&self, arrival: &Arrival) -> Inside<'_> {
        let inside = self.writers.enter(arrival);
        self.note_mixed(&self.readers);
        inside
    }

    /// As [`Probe::enter`], for a reader.
    pub(crate) fn enter_reader(&self) -> Inside<'_> {
        // Ordering: Relaxed, a count that publishes nothing.
        self.reads.fetch_add(1, Ordering::Relaxed);
        let inside = self.readers.enter();
        self.note_mixed(&self.writers.gauge);
        inside
    }

    fn note_mixed(&self, others: &Gauge) {
        if others.inside() > 0 {
            // Ordering: Relaxed, a count that publishes nothing.
            self.mixed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What was measured so far.
    pub(crate) fn entries(&self) -> SharedEntries {
        SharedEntries {
            writers: self.writers.entries(),
            reads: self.reads.load(Ordering::Relaxed),
            most_readers_at_once: self.readers.most(),
            mixed: self.mixed.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use core::future::ready;

    use super::*;

    async fn arrive(probe: &Probe) -> Arrival {
        let arrival = Arrival::default();
        probe.arrive(&arrival, ready(())).await;
        arrival
    }

    #[tokio::test]
    async fn a_lock_that_admits_two_and_overtakes_is_found_out() {
        let probe = Probe::default();
        let (first, second) = (arrive(&probe).await, arrive(&probe).await);
        let inside = (probe.enter(&second), probe.enter(&first));
        drop(inside);
        let third = arrive(&probe).await;
        drop(probe.enter(&third));

        let entries = probe.entries();
        assert_eq!((entries.entries, entries.most_at_once), (3, 2));
        assert_eq!((entries.order.in_order, entries.order.out_of_order), (2, 1));
    }

    #[tokio::test]
    async fn a_reader_beside_a_writer_is_found_out() {
        let probe = SharedProbe::default();
        let arrival = Arrival::default();
        probe.arrive(&arrival, ready(())).await;

        let readers = (probe.enter_reader(), probe.enter_reader());
        assert_eq!(probe.entries().mixed, 0);
        let writer = probe.enter_writer(&arrival);
        assert_eq!(probe.entries().mixed, 1);
        drop(readers);
        drop(probe.enter_reader());
        drop(writer);
        drop(probe.enter_reader());

        let entries = probe.entries();
        assert_eq!((entries.reads, entries.most_readers_at_once, entries.mixed), (4, 2, 2));
        assert_eq!((entries.writers.entries, entries.writers.most_at_once), (1, 1));
    }
}

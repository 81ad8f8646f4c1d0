//! The models: lists and counters.

use super::{Counts, Kind};
use std::collections::VecDeque;

/// A lock as the contract describes it. Waiters are numbers; who is granted is returned.
pub(super) trait Reference: Clone {
    /// One attempt.
    fn enter(&mut self, kind: Kind) -> bool;
    /// One that could not enter waits.
    fn wait(&mut self, waiter: usize, kind: Kind);
    /// One that waits leaves.
    fn leave(&mut self, waiter: usize, kind: Kind) -> Vec<usize>;
    /// One that holds, or was granted, gives up what it has.
    fn release(&mut self, kind: Kind) -> Vec<usize>;
    /// The writer becomes a reader.
    fn downgrade(&mut self) -> Vec<usize>;
    fn counts(&self) -> Counts;
}

fn remove(queue: &mut VecDeque<usize>, waiter: usize) {
    let place = queue.iter().position(|other| *other == waiter).expect("it waits");
    queue.remove(place);
}

#[derive(Clone, Debug, Default)]
pub(super) struct MutexReference {
    locked: bool,
    waiters: VecDeque<usize>,
}

impl Reference for MutexReference {
    fn enter(&mut self, _: Kind) -> bool {
        !core::mem::replace(&mut self.locked, true)
    }

    fn wait(&mut self, waiter: usize, _: Kind) {
        self.waiters.push_back(waiter);
    }

    fn leave(&mut self, waiter: usize, _: Kind) -> Vec<usize> {
        remove(&mut self.waiters, waiter);
        Vec::new()
    }

    fn release(&mut self, _: Kind) -> Vec<usize> {
        let next = self.waiters.pop_front();
        self.locked = next.is_some();
        Vec::from_iter(next)
    }

    fn downgrade(&mut self) -> Vec<usize> {
        unreachable!("a mutex has no downgrade")
    }

    fn counts(&self) -> Counts {
        (0, self.locked, 0, self.waiters.len())
    }
}

#[derive(Clone, Debug)]
pub(super) struct RwLockReference {
    max_readers: usize,
    readers: usize,
    writer: bool,
    waiting_readers: VecDeque<usize>,
    waiting_writers: VecDeque<usize>,
}

impl RwLockReference {
    pub(super) fn new(max_readers: u32) -> Self {
        Self {
            max_readers: max_readers as usize,
            readers: 0,
            writer: false,
            waiting_readers: VecDeque::new(),
            waiting_writers: VecDeque::new(),
        }
    }

    /// No writer holds or waits: the readers come in.
    fn admit_readers(&mut self) -> Vec<usize> {
        let room = self.max_readers - self.readers;
        let admitted: Vec<_> = self.waiting_readers.drain(..room.min(self.waiting_readers.len())).collect();
        self.readers += admitted.len();
        admitted
    }
}

impl Reference for RwLockReference {
    fn enter(&mut self, kind: Kind) -> bool {
        let open = !self.writer && self.waiting_writers.is_empty();
        match kind {
            Kind::Read if open && self.readers < self.max_readers => self.readers += 1,
            Kind::Write if open && self.readers == 0 => self.writer = true,
            _ => return false,
        }
        true
    }

    fn wait(&mut self, waiter: usize, kind: Kind) {
        match kind {
            Kind::Read => self.waiting_readers.push_back(waiter),
            Kind::Write => self.waiting_writers.push_back(waiter),
        }
    }

    fn leave(&mut self, waiter: usize, kind: Kind) -> Vec<usize> {
        match kind {
            Kind::Read => remove(&mut self.waiting_readers, waiter),
            Kind::Write => {
                remove(&mut self.waiting_writers, waiter);
                if self.waiting_writers.is_empty() && !self.writer {
                    return self.admit_readers();
                }
            }
        }
        Vec::new()
    }

    fn release(&mut self, kind: Kind) -> Vec<usize> {
        match kind {
            Kind::Read => {
                self.readers -= 1;
                if self.readers > 0 && !self.waiting_writers.is_empty() {
                    return Vec::new();
                }
            }
            Kind::Write => self.writer = false,
        }
        if let Some(next) = self.waiting_writers.pop_front() {
            self.writer = true;
            return vec![next];
        }
        self.admit_readers()
    }

    fn downgrade(&mut self) -> Vec<usize> {
        self.writer = false;
        self.readers = 1;
        if self.waiting_writers.is_empty() { self.admit_readers() } else { Vec::new() }
    }

    fn counts(&self) -> Counts {
        (self.readers, self.writer, self.waiting_readers.len(), self.waiting_writers.len())
    }
}

//! The read-write lock: counters and one list in order of arrival (W1 to W8, P1 to P6, U1 to U6).

use super::{Counts, Kind, Reference};
use fifolock_core::rwlock::RwLockPolicy::{self, PhaseFair, TaskFair};

/// The read-write lock by its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RwLock {
    policy: RwLockPolicy,
    max_readers: usize,
    readers: usize,
    upgradable: bool,
    writer: bool,
    /// All waiters, in order of arrival.
    line: Vec<(usize, Kind)>,
}

// The policy has no `Hash`. It is the same in all locks of an exploration.
impl core::hash::Hash for RwLock {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        (self.readers, self.upgradable, self.writer, &self.line).hash(state);
    }
}

impl RwLock {
    /// A free lock.
    #[must_use]
    pub fn new(policy: RwLockPolicy, max_readers: u32) -> Self {
        let max_readers = max_readers as usize;
        Self { policy, max_readers, readers: 0, upgradable: false, writer: false, line: Vec::new() }
    }

    fn waits(&self, kinds: &[Kind]) -> bool {
        self.line.iter().any(|(_, kind)| kinds.contains(kind))
    }

    /// Whether a writer waits. An upgrade counts as one.
    fn writer_waits(&self) -> bool {
        self.waits(&[Kind::Write, Kind::Upgrade])
    }

    /// Whether the owners leave room for this kind. Other waiters don't matter here.
    fn has_place(&self, kind: Kind) -> bool {
        let room = !self.writer && self.readers < self.max_readers;
        match kind {
            Kind::Read => room,
            Kind::Upgradable => room && !self.upgradable,
            Kind::Write => !self.writer && self.readers == 0,
            // The upgrade's own share is the only one.
            Kind::Upgrade => !self.writer && self.readers == 1,
        }
    }

    fn seat(&mut self, kind: Kind) {
        match kind {
            Kind::Read => self.readers += 1,
            Kind::Upgradable => {
                self.readers += 1;
                self.upgradable = true;
            }
            Kind::Write => self.writer = true,
            Kind::Upgrade => {
                self.unseat(Kind::Upgradable);
                self.writer = true;
            }
        }
    }

    fn unseat(&mut self, kind: Kind) {
        match kind {
            Kind::Read => self.readers -= 1,
            Kind::Upgradable => {
                self.readers -= 1;
                self.upgradable = false;
            }
            Kind::Write | Kind::Upgrade => self.writer = false,
        }
    }

    /// Whether a newcomer may pass all waiters.
    fn may_pass(&self, newcomer: Kind) -> bool {
        match newcomer {
            // U3: an upgrade passes all waiters.
            Kind::Upgrade => true,
            // P2: a newcomer passes no waiter.
            _ if self.policy == TaskFair => self.line.is_empty(),
            // W1 and U2: a reader waits for writers only.
            Kind::Read => !self.writer_waits(),
            // U2: an upgradable reader has its turn among writers and upgradable readers.
            Kind::Upgradable => !self.waits(&[Kind::Upgradable, Kind::Write, Kind::Upgrade]),
            // W2: a writer waits for all waiters.
            Kind::Write => self.line.is_empty(),
        }
    }

    /// Lets in the first waiter for which `who` holds, if there is room.
    fn let_in(&mut self, who: impl Fn(Kind) -> bool, granted: &mut Vec<usize>) -> bool {
        let first = self.line.iter().position(|(_, kind)| *kind == Kind::Upgrade && who(Kind::Upgrade));
        let Some(at) = first.or_else(|| self.line.iter().position(|(_, kind)| who(*kind))) else { return false };
        let (number, kind) = self.line[at];
        if !self.has_place(kind) {
            return false;
        }
        self.line.remove(at);
        self.seat(kind);
        granted.push(number);
        true
    }

    /// Lets in all waiters that may enter after a change.
    fn settle(&mut self, turn_ended: bool) -> Vec<usize> {
        let mut granted = Vec::new();
        let is_reader = |kind| kind == Kind::Read;
        if self.policy == TaskFair {
            // P2 and P3: the first waiter enters while there is room.
            while self.let_in(|_| true, &mut granted) {}
            return granted;
        }
        if turn_ended && self.policy == PhaseFair {
            // P4: the readers that wait now enter before the next writer.
            while self.let_in(is_reader, &mut granted) {}
        }
        // W3, W4 and U2: writers and upgradable readers enter in their order.
        while self.let_in(|kind| !is_reader(kind), &mut granted) {}
        if !self.writer_waits() {
            // W4 and W5: all readers enter, as far as there is room (W7).
            while self.let_in(is_reader, &mut granted) {}
        }
        granted
    }
}

impl Reference for RwLock {
    const IS_MUTEX: bool = false;

    fn enter(&mut self, kind: Kind) -> bool {
        let enters = self.may_pass(kind) && self.has_place(kind);
        if enters {
            self.seat(kind);
        }
        enters
    }

    fn wait(&mut self, who: usize, kind: Kind) {
        self.line.push((who, kind));
    }

    fn leave(&mut self, who: usize) -> Vec<usize> {
        let at = self.line.iter().position(|(other, _)| *other == who).expect("it waits");
        let (_, kind) = self.line.remove(at);
        if kind == Kind::Upgrade {
            // U4: an upgrade gives its share back too.
            self.unseat(Kind::Upgradable);
        }
        self.settle(false)
    }

    fn release(&mut self, had: Kind) -> Vec<usize> {
        self.unseat(had);
        self.settle(matches!(had, Kind::Write | Kind::Upgrade))
    }

    fn downgrade(&mut self, had: Kind, keeps: Kind) -> Vec<usize> {
        self.unseat(had);
        self.seat(keeps);
        self.settle(had == Kind::Write)
    }

    fn line(&self) -> Vec<usize> {
        self.line.iter().map(|(who, _)| *who).collect()
    }

    fn rename(&mut self, new: impl Fn(usize) -> usize) {
        self.line.iter_mut().for_each(|(who, _)| *who = new(*who));
    }

    fn counts(&self) -> Counts {
        let waiting = |kind| self.line.iter().filter(|(_, other)| *other == kind).count();
        Counts {
            readers: self.readers,
            upgradable: self.upgradable,
            writer: self.writer,
            waiting_readers: waiting(Kind::Read),
            waiting_upgradable: waiting(Kind::Upgradable),
            waiting_writers: waiting(Kind::Write) + waiting(Kind::Upgrade),
        }
    }
}

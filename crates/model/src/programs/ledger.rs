//! The records of a run: the reference, the guards inside, and the order between tasks.

use crate::reference::{Kind, Reference};

/// The answer of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Pending,
    Guard,
    Elapsed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Absent,
    Waiting,
    Granted,
    Holding,
}

/// A request or a guard of a child: a child has one at a time.
#[derive(Clone, Copy, Debug)]
struct Entry {
    stage: Stage,
    kind: Kind,
}

/// The place of a waiter in the order of first polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    child: usize,
    waker: usize,
}

/// The state of a run, apart from the lock.
pub(super) struct Ledger<R> {
    /// `Some` until the first rescue, since the reference has no rescue.
    reference: Option<R>,
    entries: Vec<Entry>,
    /// The number of each child's waker.
    wakers: Vec<usize>,
    /// For programs of one kind whose guards follow each other: the order of turns.
    slots: Option<Vec<Slot>>,
    /// The waiting writes, and the waiting upgradable reads, of children without siblings.
    alone: [Vec<usize>; 2],
    is_alone: Vec<bool>,
    inside: [usize; 3],
    /// The first child whose turn came, or did not come, at another time than without the rescue.
    pub(super) rescued: Option<usize>,
    /// The number of guards that went to another waiter of the task whose turn it was, counted if all children are of
    /// one kind.
    pub(super) swaps: u32,
}

fn place(kind: Kind) -> usize {
    match kind {
        Kind::Read => 0,
        Kind::Upgradable => 1,
        Kind::Write | Kind::Upgrade => 2,
    }
}

impl<R: Reference> Ledger<R> {
    /// `wakers` has the number of each child's waker; `is_alone` tells which children have no sibling.
    pub(super) fn new(reference: R, is_serial: bool, wakers: Vec<usize>, is_alone: Vec<bool>) -> Self {
        let absent = Entry { stage: Stage::Absent, kind: Kind::Write };
        Self {
            reference: Some(reference),
            entries: vec![absent; wakers.len()],
            wakers,
            slots: is_serial.then(Vec::new),
            alone: [Vec::new(), Vec::new()],
            is_alone,
            inside: [0; 3],
            rescued: None,
            swaps: 0,
        }
    }

    /// Whether the waiter was granted. `None` after a rescue, when the reference can't tell.
    pub(super) fn is_granted(&self, child: usize) -> Option<bool> {
        self.reference.as_ref().map(|_| self.entries[child].stage == Stage::Granted)
    }

    fn grant(&mut self, granted: Vec<usize>) {
        for child in granted {
            self.entries[child].stage = Stage::Granted;
        }
    }

    /// Records the answer of a poll of a lock future, the first one or a later one.
    pub(super) fn polled(&mut self, child: usize, kind: Kind, first: bool, answer: Answer) -> Result<(), String> {
        if first {
            self.queue(child, kind);
        }
        self.expect(child, kind, first, answer);
        match answer {
            Answer::Pending => Ok(()),
            Answer::Elapsed => {
                self.leave_queue(child);
                self.entries[child].stage = Stage::Absent;
                Ok(())
            }
            Answer::Guard => {
                self.entries[child] = Entry { stage: Stage::Holding, kind };
                self.take_turn(child, kind)?;
                self.enter(child, kind)
            }
        }
    }

    /// Compares the answer with that of the reference.
    fn expect(&mut self, child: usize, kind: Kind, first: bool, answer: Answer) {
        let Some(reference) = &mut self.reference else { return };
        if first && !reference.enter(kind) {
            reference.wait(child, kind);
            self.entries[child] = Entry { stage: Stage::Waiting, kind };
        } else if first {
            self.entries[child] = Entry { stage: Stage::Granted, kind };
        }
        let is_granted = self.entries[child].stage == Stage::Granted;
        if is_granted != (answer == Answer::Guard) {
            self.rescued = Some(child);
            self.reference = None;
        } else if answer == Answer::Elapsed {
            let granted = reference.leave(child);
            self.grant(granted);
        }
    }

    fn queue(&mut self, child: usize, kind: Kind) {
        let waker = self.wakers[child];
        if let Some(slots) = &mut self.slots {
            slots.push(Slot { child, waker });
        }
        if self.is_alone[child] && matches!(kind, Kind::Write | Kind::Upgradable) {
            self.alone[place(kind) - 1].push(child);
        }
    }

    /// Serves the waiter, whose task must have the turn.
    fn take_turn(&mut self, child: usize, kind: Kind) -> Result<(), String> {
        if let Some(slots) = &mut self.slots {
            let head = slots[0];
            if head.child != child {
                if head.waker != self.wakers[child] {
                    return Err(format!("child {child} is served before child {}, of another task", head.child));
                }
                let own = slots.iter_mut().find(|slot| slot.child == child).expect("the child waits");
                own.child = head.child;
                self.swaps += 1;
            }
            slots.remove(0);
        }
        if self.is_alone[child] && matches!(kind, Kind::Write | Kind::Upgradable) {
            let first = self.alone[place(kind) - 1].remove(0);
            if first != child {
                return Err(format!("child {child} passes child {first}: no task of the two has another child"));
            }
        }
        Ok(())
    }

    fn enter(&mut self, child: usize, kind: Kind) -> Result<(), String> {
        self.inside[place(kind)] += 1;
        let [reads, upgradable, writes] = self.inside;
        if writes > 1 || upgradable > 1 || (writes == 1 && reads + upgradable > 0) {
            return Err(format!("child {child} is inside beside others: {:?}", self.inside));
        }
        Ok(())
    }

    fn leave_queue(&mut self, child: usize) {
        if let Some(slots) = &mut self.slots {
            slots.retain(|slot| slot.child != child);
        }
        self.alone.iter_mut().for_each(|waiting| waiting.retain(|other| *other != child));
    }

    /// Records the drop of a lock future that was polled.
    pub(super) fn dropped(&mut self, child: usize) {
        self.leave_queue(child);
        let Entry { stage, kind } = self.entries[child];
        self.entries[child].stage = Stage::Absent;
        let Some(reference) = &mut self.reference else { return };
        let granted = if stage == Stage::Granted { reference.release(kind) } else { reference.leave(child) };
        self.grant(granted);
    }

    /// Records the drop of a guard. An upgradable guard may become an upgrade that is not polled yet, which keeps the
    /// share.
    pub(super) fn left(&mut self, child: usize, becomes_upgrade: bool) {
        let Entry { kind, .. } = self.entries[child];
        self.inside[place(kind)] -= 1;
        self.entries[child].stage = Stage::Absent;
        if becomes_upgrade {
            return;
        }
        let Some(reference) = &mut self.reference else { return };
        let granted = reference.release(kind);
        self.grant(granted);
    }

    /// Records the drop of an upgrade that was never polled, which gives its share back.
    pub(super) fn share_given_back(&mut self) {
        let Some(reference) = &mut self.reference else { return };
        let granted = reference.release(Kind::Upgradable);
        self.grant(granted);
    }
}

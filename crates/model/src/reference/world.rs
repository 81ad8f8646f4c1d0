//! The lock, its futures and guards, and the clock.

use super::{Kind, Reference};
use crate::alphabet::{Form, Limit, Mapping, Moment, Op, With};

/// The stage of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The place is empty.
    Absent,
    /// A future that was never polled.
    Unpolled,
    /// A future that waits.
    Waiting,
    /// A future that was granted, and has not been polled since.
    Granted,
    /// A guard.
    Holding,
}

/// The sleep of a future with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sleep {
    left: u8,
    /// Whether the time has come. Then the sleep has woken its task and dropped the waker.
    pub rung: bool,
}

/// A future, or the guard that came out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Person {
    /// The stage of the future.
    pub stage: Stage,
    /// The access that the future waits for, or that the guard has.
    pub kind: Kind,
    /// Whether it borrows the lock or owns a share of it.
    pub form: Form,
    limit: Limit,
    /// The sleep of the future, from its first pending poll until the operation ends.
    pub sleep: Option<Sleep>,
    /// Whether the guard is mapped to a part of the data.
    pub mapped: bool,
}

impl Person {
    const NOBODY: Self = Self {
        stage: Stage::Absent,
        kind: Kind::Write,
        form: Form::Borrowed,
        limit: Limit::None,
        sleep: None,
        mapped: false,
    };
}

/// The outcome of a step for the future or guard that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No result.
    Done,
    /// The future waits.
    Pending,
    /// The future is ready with its guard, or the guard stays.
    Guard,
    /// The attempt failed, or the guard came back unchanged.
    Refused,
    /// The future timed out.
    Elapsed,
    /// The timeout was zero.
    Invalid,
}

/// The effects of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The outcome.
    pub outcome: Outcome,
    /// The futures that are granted and woken.
    pub granted: Vec<usize>,
    /// The futures whose sleep ends and wakes them.
    pub rung: Vec<usize>,
}

impl Step {
    fn new(outcome: Outcome) -> Self {
        Self { outcome, granted: Vec::new(), rung: Vec::new() }
    }

    fn granting(mut self, granted: Vec<usize>) -> Self {
        self.granted = granted;
        self
    }
}

/// The complete state that the rules describe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World<R> {
    /// The lock.
    pub lock: R,
    /// The places, and after them the forgotten futures and guards.
    pub people: Vec<Person>,
    places: usize,
}

impl<R: Reference> World<R> {
    /// A free lock with this many places.
    #[must_use]
    pub fn new(lock: R, places: usize) -> Self {
        Self { lock, people: vec![Person::NOBODY; places], places }
    }

    /// The number of forgotten futures and guards.
    #[must_use]
    pub fn forgotten(&self) -> usize {
        self.people.len() - self.places
    }

    /// The same world with its places in a canonical order. All worlds that differ only in the order of their places
    /// become equal.
    #[must_use]
    pub fn canonical(&self) -> Self {
        let line = self.lock.line();
        let rank = |at: &usize| (line.iter().position(|who| who == at), self.people[*at]);
        let (mut order, mut forgotten): (Vec<usize>, Vec<usize>) =
            (0..self.people.len()).partition(|at| *at < self.places);
        order.sort_by_key(rank);
        forgotten.sort_by_key(rank);
        order.append(&mut forgotten);
        let mut world = self.clone();
        world.people = order.iter().map(|at| self.people[*at]).collect();
        world.lock.rename(|who| order.iter().position(|at| *at == who).expect("every waiter has a place"));
        world
    }

    fn those(&self, fits: impl Fn(&Person) -> bool) -> Vec<usize> {
        (0..self.places).filter(|at| fits(&self.people[*at])).collect()
    }

    fn guards(&self, fits: impl Fn(&Person) -> bool) -> Vec<usize> {
        self.those(|person| person.stage == Stage::Holding && fits(person))
    }

    /// The places that this letter applies to.
    #[must_use]
    pub fn candidates(&self, op: Op) -> Vec<usize> {
        use Stage::{Absent, Granted, Unpolled, Waiting};
        match op {
            Op::Create(..) | Op::Try(..) => {
                let free = self.people[..self.places].iter().position(|person| person.stage == Absent);
                Vec::from_iter(free)
            }
            Op::Poll(..) => self.those(|person| matches!(person.stage, Unpolled | Waiting | Granted)),
            Op::Drop(moment, _) => {
                let stage = match moment {
                    Moment::Unpolled => Unpolled,
                    Moment::Queued => Waiting,
                    Moment::Granted => Granted,
                };
                self.those(|person| person.stage == stage)
            }
            Op::Release(_) => self.guards(|_| true),
            Op::Downgrade(_) if R::IS_MUTEX => Vec::new(),
            Op::Downgrade(_) => self.guards(|guard| guard.kind != Kind::Read && !guard.mapped),
            Op::DowngradeToUpgradable(_) if R::IS_MUTEX => Vec::new(),
            Op::DowngradeToUpgradable(_) => self.guards(|guard| guard.kind == Kind::Write && !guard.mapped),
            Op::Upgrade(_) | Op::TryUpgrade(_) => self.guards(|guard| guard.kind == Kind::Upgradable),
            Op::Map(..) => self.guards(|guard| guard.kind != Kind::Upgradable),
            Op::Forget(_) => self.those(|person| person.stage != Absent),
            Op::Pass(_) | Op::Look => vec![0],
            Op::Crowd(..) => Vec::new(),
        }
    }

    /// All letters of this kind that apply now, one for each place.
    #[must_use]
    pub fn letters(&self, kind: Op) -> Vec<Op> {
        (0..self.candidates(kind).len() as u8).map(|who| kind.to(who)).collect()
    }

    /// The place that a letter chooses.
    #[must_use]
    pub fn choose(&self, op: Op) -> Option<usize> {
        let who = op.who();
        let candidates = self.candidates(op);
        if candidates.is_empty() { None } else { Some(candidates[usize::from(who) % candidates.len()]) }
    }

    /// The steps of a letter: many for a crowd, one for any other, none if it applies to nothing.
    #[must_use]
    pub fn plan(&self, op: Op) -> Vec<(Op, usize)> {
        let Op::Crowd(want, count) = op else { return Vec::from_iter(self.choose(op).map(|at| (op, at))) };
        let free = self.those(|person| person.stage == Stage::Absent);
        let comers = free.into_iter().take(count.into());
        let create = Op::Create(want, Form::Owned, Limit::None);
        comers.flat_map(|at| [(create, at), (Op::Poll(0, With::Same), at)]).collect()
    }

    /// Makes a step in the place that [`choose`](Self::choose) has chosen.
    pub fn apply(&mut self, op: Op, at: usize) -> Step {
        let had = self.people[at].kind;
        match op {
            Op::Create(want, form, limit) => {
                let kind = if R::IS_MUTEX { Kind::Write } else { want.into() };
                self.people[at] = Person { stage: Stage::Unpolled, kind, form, limit, ..Person::NOBODY };
                Step::new(Outcome::Done)
            }
            Op::Poll(..) => self.poll(at),
            Op::Drop(..) | Op::Release(_) => self.end(at),
            Op::Try(want, form) => {
                let kind = if R::IS_MUTEX { Kind::Write } else { want.into() };
                if !self.lock.enter(kind) {
                    return Step::new(Outcome::Refused);
                }
                self.people[at] = Person { stage: Stage::Holding, kind, form, ..Person::NOBODY };
                Step::new(Outcome::Guard)
            }
            Op::Downgrade(_) => self.downgrade(at, Kind::Read),
            Op::DowngradeToUpgradable(_) => self.downgrade(at, Kind::Upgradable),
            Op::Upgrade(_) => {
                let form = self.people[at].form;
                self.people[at] = Person { stage: Stage::Unpolled, kind: Kind::Upgrade, form, ..Person::NOBODY };
                Step::new(Outcome::Done)
            }
            Op::TryUpgrade(_) => {
                if !self.lock.enter(Kind::Upgrade) {
                    return Step::new(Outcome::Refused);
                }
                self.people[at].kind = Kind::Write;
                Step::new(Outcome::Guard)
            }
            Op::Map(mapping, _) => {
                if mapping == Mapping::Refused {
                    return Step::new(Outcome::Refused);
                }
                // A mapped read guard has the same type as before.
                self.people[at].mapped = had == Kind::Write;
                Step::new(Outcome::Guard)
            }
            Op::Forget(_) => {
                let new = self.people.len();
                self.lock.rename(|who| if who == at { new } else { who });
                let forgotten = core::mem::replace(&mut self.people[at], Person::NOBODY);
                self.people.push(forgotten);
                Step::new(Outcome::Done)
            }
            Op::Pass(ticks) => self.pass(ticks),
            Op::Look => Step::new(Outcome::Done),
            Op::Crowd(..) => unreachable!("a crowd is split into single steps"),
        }
    }

    /// Marks and wakes the futures that were granted.
    fn grant(&mut self, outcome: Outcome, granted: Vec<usize>) -> Step {
        for at in &granted {
            let person = &mut self.people[*at];
            assert_eq!(person.stage, Stage::Waiting, "the reference grants waiting futures only");
            person.stage = Stage::Granted;
        }
        Step::new(outcome).granting(granted)
    }

    fn hold(&mut self, at: usize) -> Step {
        let Person { kind, form, .. } = self.people[at];
        let kind = if kind == Kind::Upgrade { Kind::Write } else { kind };
        self.people[at] = Person { stage: Stage::Holding, kind, form, ..Person::NOBODY };
        Step::new(Outcome::Guard)
    }

    fn poll(&mut self, at: usize) -> Step {
        let Person { stage, kind, limit, sleep, .. } = self.people[at];
        match stage {
            Stage::Granted => self.hold(at),
            // T2: a zero timeout is refused.
            Stage::Unpolled if limit == Limit::Timeout(0) => {
                self.people[at] = Person::NOBODY;
                Step::new(Outcome::Invalid)
            }
            Stage::Unpolled if self.lock.enter(kind) => self.hold(at),
            Stage::Unpolled if limit == Limit::Deadline(0) => {
                self.people[at] = Person::NOBODY;
                Step::new(Outcome::Elapsed)
            }
            Stage::Unpolled => {
                self.lock.wait(at, kind);
                let person = &mut self.people[at];
                person.stage = Stage::Waiting;
                person.sleep = match limit {
                    Limit::Timeout(left) | Limit::Deadline(left) => Some(Sleep { left, rung: false }),
                    Limit::None | Limit::Endless => None,
                };
                Step::new(Outcome::Pending)
            }
            // T4: the future was not granted when the poll sees its deadline.
            Stage::Waiting if sleep.is_some_and(|sleep| sleep.rung) => {
                let granted = self.lock.leave(at);
                self.people[at] = Person::NOBODY;
                self.grant(Outcome::Elapsed, granted)
            }
            Stage::Waiting => Step::new(Outcome::Pending),
            Stage::Absent | Stage::Holding => unreachable!("nothing to poll"),
        }
    }

    /// Drops a future or a guard.
    pub fn end(&mut self, at: usize) -> Step {
        let Person { stage, kind, .. } = core::mem::replace(&mut self.people[at], Person::NOBODY);
        let granted = match stage {
            // U4: the upgrade still has its share.
            Stage::Unpolled if kind == Kind::Upgrade => self.lock.release(Kind::Upgradable),
            Stage::Absent | Stage::Unpolled => Vec::new(),
            Stage::Waiting => self.lock.leave(at),
            Stage::Granted | Stage::Holding => self.lock.release(kind),
        };
        self.grant(Outcome::Done, granted)
    }

    fn downgrade(&mut self, at: usize, keeps: Kind) -> Step {
        let had = core::mem::replace(&mut self.people[at].kind, keeps);
        let granted = self.lock.downgrade(had, keeps);
        self.grant(Outcome::Guard, granted)
    }

    fn pass(&mut self, ticks: u8) -> Step {
        let mut step = Step::new(Outcome::Done);
        for (at, person) in self.people.iter_mut().enumerate() {
            if let Limit::Deadline(left) = &mut person.limit
                && person.stage == Stage::Unpolled
            {
                *left = left.saturating_sub(ticks);
            }
            if let Some(sleep) = &mut person.sleep
                && !sleep.rung
            {
                sleep.left = sleep.left.saturating_sub(ticks);
                sleep.rung = sleep.left == 0;
                if sleep.rung {
                    step.rung.push(at);
                }
            }
        }
        step
    }
}

//! Tasks with several futures of one lock each, which may so park a grant. Here the rescue acts.
//!
//! For a mutex the test predicts each poll and each wake, by R1 to R3. For a read-write lock it asserts less: owners
//! exclude each other, the counts are complete, and no task hangs at the end, although each task polls only its newest
//! future until that is ready.

use crate::alphabet::{Form, Limit, Moment, Op};
use crate::leaked::Leaked;
use crate::real::{Acquiring, Real, Setup, ticks};
use crate::reference::{Counts, Kind, Reference};
use core::fmt;
use core::mem;
use core::task::{Poll, Waker};
use fifolock_conformance::tools::clock::TestTimer;
use fifolock_conformance::tools::{Count, counting_waker, poll_once};
use std::collections::HashMap;
use std::sync::Arc;
use std::thread;

struct Task {
    waker: Waker,
    count: Arc<Count>,
    /// The expected number of wakes, for a mutex.
    expected: usize,
    /// The number of wakes at the last poll.
    seen: usize,
}

enum What<L: Real> {
    Future(Acquiring<L>),
    Guard(L::Guard),
}

struct Thing<L: Real> {
    /// A number that is never reused, unlike that of its place.
    id: usize,
    task: usize,
    kind: Kind,
    polled: bool,
    what: What<L>,
}

/// The mutex as tasks see it: the owner, the waiters, and the suspicions.
#[derive(Debug, Default)]
struct Rescue {
    owner: Option<Owner>,
    /// The waiting futures, with their tasks.
    queue: Vec<(usize, usize)>,
    grants: usize,
    /// The grant because of which a future suspects its task, and the number of polls in a row.
    suspects: HashMap<usize, (usize, u32)>,
    /// Victims that were not polled since the theft, and the newest grant at that time.
    robbed: HashMap<usize, usize>,
    /// The number of polls of a victim while it waited.
    proofs: HashMap<usize, u32>,
    /// The number of waits in which that has happened on this lock.
    doubts: u32,
}

/// The number of polls in a row after which a waiter steals. Each proof doubles the number (R1).
const POLLS_TO_STEAL: u32 = 3;
const PROOFS_MAX: u32 = 7;
/// This many disturbed waits double the polls for all victims of the lock.
const DOUBTS: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Guard,
    Granted(usize, usize),
}

/// The result of a poll, by the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Ready,
    Pending,
    /// Pending, and the poll wakes its task once more.
    Noted,
}

impl Rescue {
    /// Releases; returns the task that is woken.
    fn release(&mut self) -> Option<usize> {
        self.grants += 1;
        if self.queue.is_empty() {
            self.owner = None;
            return None;
        }
        let (id, task) = self.queue.remove(0);
        self.owner = Some(Owner::Granted(id, task));
        Some(task)
    }

    fn enter(&mut self) -> bool {
        let free = self.owner.is_none();
        if free {
            self.owner = Some(Owner::Guard);
        }
        free
    }

    fn poll(&mut self, id: usize, task: usize, first: bool) -> Turn {
        if first {
            if self.enter() {
                return Turn::Ready;
            }
            self.queue.push((id, task));
        }
        let is_granted = matches!(self.owner, Some(Owner::Granted(granted, _)) if granted == id);
        if let Some(robbed_at) = self.robbed.remove(&id)
            && !is_granted
        {
            let proofs = self.proofs.entry(id).or_default();
            // The lock remembers one proof for each wait, if the victim was about to claim.
            self.doubts += u32::from(*proofs == 0 && robbed_at == self.grants);
            *proofs = (*proofs + 1).min(PROOFS_MAX);
        }
        match self.owner {
            Some(Owner::Granted(..)) if is_granted => {
                self.owner = Some(Owner::Guard);
                Turn::Ready
            }
            // R1: a grant of the same task is unclaimed.
            Some(Owner::Granted(granted, of)) if of == task => {
                let polls = match self.suspects.get(&id) {
                    Some((grant, polls)) if *grant == self.grants => polls + 1,
                    _ => 1,
                };
                let proofs = self.proofs.get(&granted).copied().unwrap_or(0);
                let doubts = (self.doubts / DOUBTS).min(PROOFS_MAX);
                if polls < POLLS_TO_STEAL << proofs.max(doubts) {
                    self.suspects.insert(id, (self.grants, polls));
                    return Turn::Noted;
                }
                self.robbed.insert(granted, self.grants);
                // R3: thief and victim change places.
                let place = self.queue.iter().position(|(other, _)| *other == id).expect("it waits");
                self.queue[place] = (granted, of);
                self.owner = Some(Owner::Guard);
                Turn::Ready
            }
            _ => {
                self.suspects.remove(&id);
                Turn::Pending
            }
        }
    }

    /// Drops a future that was polled; returns the task that is woken.
    fn gone(&mut self, id: usize) -> Option<usize> {
        if matches!(self.owner, Some(Owner::Granted(granted, _)) if granted == id) {
            return self.release();
        }
        self.queue.retain(|(other, _)| *other != id);
        None
    }
}

/// A lock, and the tasks that use it.
pub struct Tasks<L: Real> {
    lock: Leaked<L>,
    setup: Setup,
    tasks: Vec<Task>,
    places: Vec<Option<Thing<L>>>,
    rescue: Option<Rescue>,
    next_id: usize,
    done: Vec<Op>,
}

impl<L: Real> Tasks<L> {
    /// A free lock with this many places and tasks. Call this inside [`TestTimer::with`] of the platform.
    #[must_use]
    pub fn new(setup: Setup, places: usize, tasks: usize) -> Self {
        let task = || {
            let (waker, count) = counting_waker();
            Task { waker, count, expected: 0, seen: 0 }
        };
        Self {
            lock: Leaked::new(L::new(setup).0),
            setup,
            tasks: (0..tasks).map(|_| task()).collect(),
            places: (0..places).map(|_| None).collect(),
            rescue: L::Reference::IS_MUTEX.then(Rescue::default),
            next_id: 0,
            done: Vec::new(),
        }
    }

    fn choose(&self, who: u8, fits: impl Fn(&Thing<L>) -> bool) -> Option<usize> {
        let all = self.places.iter().enumerate();
        let fitting: Vec<usize> =
            all.filter(|(_, thing)| thing.as_ref().is_some_and(&fits)).map(|(at, _)| at).collect();
        if fitting.is_empty() { None } else { Some(fitting[usize::from(who) % fitting.len()]) }
    }

    fn future(&self, who: u8, fits: impl Fn(&Thing<L>) -> bool) -> Option<usize> {
        self.choose(who, |thing| matches!(thing.what, What::Future(_)) && fits(thing))
    }

    fn guard(&self, who: u8, fits: impl Fn(Kind) -> bool) -> Option<usize> {
        self.choose(who, |thing| matches!(thing.what, What::Guard(_)) && fits(thing.kind))
    }

    fn put(&mut self, at: usize, task: usize, kind: Kind, what: What<L>) {
        self.next_id += 1;
        self.places[at] = Some(Thing { id: self.next_id, task, kind, polled: false, what });
    }

    fn free(&self) -> Option<usize> {
        self.places.iter().position(Option::is_none)
    }

    /// Makes one step, if the letter applies to something and has a meaning here.
    ///
    /// # Panics
    ///
    /// If the lock breaks a rule.
    pub fn apply(&mut self, op: Op) {
        self.done.push(op);
        match op {
            Op::Create(want, form, limit) => {
                if let Some(at) = self.free() {
                    self.create(at, at % self.tasks.len(), want.into(), form, limit);
                }
            }
            Op::Crowd(want, count) => {
                for _ in 0..count {
                    let Some(at) = self.free() else { break };
                    self.create(at, usize::from(count) % self.tasks.len(), want.into(), Form::Borrowed, Limit::None);
                    self.poll(at);
                }
            }
            Op::Poll(who, _) => {
                if let Some(at) = self.future(who, |_| true) {
                    self.poll(at);
                }
            }
            Op::Drop(moment, who) => {
                let polled = moment != Moment::Unpolled;
                self.future(who, |thing| thing.polled == polled).into_iter().for_each(|at| self.end(at));
            }
            Op::Release(who) => self.guard(who, |_| true).into_iter().for_each(|at| self.end(at)),
            Op::Try(want, form) => {
                if let Some(at) = self.free() {
                    self.attempt(at, want.into(), form);
                }
            }
            Op::Downgrade(who) => self.downgrade(self.guard(who, |kind| kind != Kind::Read), Kind::Read),
            Op::DowngradeToUpgradable(who) => {
                self.downgrade(self.guard(who, |kind| kind == Kind::Write), Kind::Upgradable);
            }
            Op::Upgrade(who) => {
                if let Some((at, task, guard)) = self.take_upgradable(who) {
                    self.put(at, task, Kind::Upgrade, What::Future(L::upgrade(guard)));
                }
            }
            Op::TryUpgrade(who) => {
                if let Some((at, task, guard)) = self.take_upgradable(who) {
                    let (kind, guard) = match L::try_upgrade(guard) {
                        Ok(guard) => (Kind::Write, guard),
                        Err(guard) => (Kind::Upgradable, guard),
                    };
                    self.put(at, task, kind, What::Guard(guard));
                }
            }
            Op::Pass(count) => L::Platform::advance(ticks(count)),
            Op::Look => drop(format!("{:?}", *self.lock)),
            // A forgotten guard would keep others waiting without end, and a map changes nothing for them.
            Op::Forget(_) | Op::Map(..) => {}
        }
        self.check();
    }

    fn create(&mut self, at: usize, task: usize, kind: Kind, form: Form, limit: Limit) {
        // For a mutex the test predicts everything, except whether a waiter past its limit may still be rescued.
        let limit = if self.rescue.is_some() { Limit::None } else { limit };
        let kind = if self.rescue.is_some() { Kind::Write } else { kind };
        let future = L::acquire(self.lock.get(), kind, form, limit);
        self.put(at, task, kind, What::Future(future));
    }

    fn attempt(&mut self, at: usize, kind: Kind, form: Form) {
        let kind = if self.rescue.is_some() { Kind::Write } else { kind };
        let guard = L::try_acquire(self.lock.get(), kind, form);
        if let Some(rescue) = &mut self.rescue {
            assert_eq!(guard.is_some(), rescue.enter(), "try_lock");
        }
        if let Some(guard) = guard {
            self.put(at, at % self.tasks.len(), kind, What::Guard(guard));
        }
    }

    fn downgrade(&mut self, at: Option<usize>, keeps: Kind) {
        let Some(at) = at.filter(|_| self.rescue.is_none()) else { return };
        let Some(Thing { task, what: What::Guard(guard), .. }) = self.places[at].take() else {
            unreachable!("a guard")
        };
        self.put(at, task, keeps, What::Guard(L::downgrade(guard, keeps)));
    }

    fn take_upgradable(&mut self, who: u8) -> Option<(usize, usize, L::Guard)> {
        let at = self.guard(who, |kind| kind == Kind::Upgradable)?;
        let Some(Thing { task, what: What::Guard(guard), .. }) = self.places[at].take() else {
            unreachable!("a guard")
        };
        Some((at, task, guard))
    }

    /// Polls a future with the waker of its task; returns whether the future has ended.
    fn poll(&mut self, at: usize) -> bool {
        let thing = self.places[at].as_mut().expect("a future");
        let What::Future(future) = &mut thing.what else { unreachable!("a future") };
        let first = !mem::replace(&mut thing.polled, true);
        let task = &mut self.tasks[thing.task];
        let turn = self.rescue.as_mut().map(|rescue| rescue.poll(thing.id, thing.task, first));
        task.expected += usize::from(turn == Some(Turn::Noted));
        let found = poll_once(future, &task.waker);
        if let Some(turn) = turn {
            assert_eq!(found.is_ready(), turn == Turn::Ready, "the rules say {turn:?} for future {}", thing.id);
        }
        match found {
            Poll::Pending => return false,
            Poll::Ready(Ok(guard)) => {
                let kind = if thing.kind == Kind::Upgrade { Kind::Write } else { thing.kind };
                (thing.kind, thing.what) = (kind, What::Guard(guard));
            }
            Poll::Ready(Err(_)) => self.places[at] = None,
        }
        true
    }

    /// Drops a future or a guard.
    fn end(&mut self, at: usize) {
        let Some(thing) = self.places[at].take() else { return };
        if let Some(rescue) = &mut self.rescue {
            let woken = match thing.what {
                What::Guard(_) => rescue.release(),
                What::Future(_) if thing.polled => rescue.gone(thing.id),
                What::Future(_) => None,
            };
            if let Some(task) = woken {
                self.tasks[task].expected += 1;
            }
        }
        drop(thing);
    }

    fn count(&self, fits: impl Fn(&Thing<L>) -> bool) -> usize {
        self.places.iter().flatten().filter(|thing| fits(thing)).count()
    }

    fn guards(&self, kind: Kind) -> usize {
        self.count(|thing| thing.kind == kind && matches!(thing.what, What::Guard(_)))
    }

    fn check(&self) {
        let counts = self.lock.counts();
        let (read, upgradable, write) =
            (self.guards(Kind::Read), self.guards(Kind::Upgradable), self.guards(Kind::Write));
        assert!(write == 0 || (write == 1 && read + upgradable == 0), "two owners");
        assert!(upgradable <= 1, "two upgradable readers");
        assert!(!counts.writer || counts.readers == 0, "{counts:?}");
        assert!(write == 0 || counts.writer, "{counts:?}");
        assert!(counts.readers >= read + upgradable, "{counts:?}");
        if !L::Reference::IS_MUTEX {
            assert!(counts.readers <= self.setup.max_readers as usize, "{counts:?}");
        }
        // The counts contain every future that was polled, inside or queued. A waiting upgrade is counted as both.
        let waiting = counts.waiting_readers + counts.waiting_upgradable + counts.waiting_writers;
        let counted = counts.readers + usize::from(counts.writer) + waiting;
        let is_upgrade = |thing: &Thing<L>| thing.kind == Kind::Upgrade;
        let polled = self.count(|thing| matches!(thing.what, What::Guard(_)) || thing.polled || is_upgrade(thing));
        let twice = self.count(|thing| is_upgrade(thing) && thing.polled);
        assert!((polled..=polled + twice).contains(&counted), "{polled} have come, {counts:?}");
        for (n, task) in self.tasks.iter().enumerate() {
            if self.rescue.is_some() {
                assert_eq!(task.count.wakes(), task.expected, "wakes of task {n}");
            }
        }
    }

    /// Drops every guard. Then each task polls its newest future until that is ready, then the one before it. A task is
    /// polled after a wake.
    ///
    /// # Panics
    ///
    /// If a task hangs, the lock breaks a rule, or the lock isn't free at the end.
    pub fn finish(mut self) {
        for at in 0..self.places.len() {
            if matches!(&self.places[at], Some(Thing { what: What::Guard(_), .. })) {
                self.end(at);
                self.check();
            }
        }
        // Each task is polled once without a wake.
        let mut woken: Vec<usize> = (0..self.tasks.len()).collect();
        for _ in 0..POLLS_MAX {
            let Some(task) = woken.pop() else { break };
            self.tasks[task].seen = self.tasks[task].count.wakes();
            self.run(task);
            woken = (0..self.tasks.len())
                .filter(|n| woken.contains(n) || self.tasks[*n].count.wakes() > self.tasks[*n].seen)
                .collect();
        }
        let left: Vec<_> = self.places.iter().flatten().map(|thing| (thing.task, thing.kind)).collect();
        assert!(left.is_empty(), "they hang: {left:?}, {:?}", self.lock.counts());
        assert_eq!(self.lock.counts(), Counts::default(), "the lock at the end");
        assert_eq!(L::Platform::armed(), Some(0), "sleeps at the end");
        assert_eq!(Arc::strong_count(&self.lock), 1, "an owner is left behind");
        for task in &self.tasks {
            assert_eq!(task.count.alive(), 1, "a waker is left behind");
        }
    }

    /// Polls a task.
    fn run(&mut self, task: usize) {
        loop {
            // The task polls its upgrade too, since the upgrade holds a share, as a guard does.
            let upgrade = self.choose(0, |thing| thing.task == task && thing.kind == Kind::Upgrade);
            let newest = self.places.iter().enumerate().filter_map(|(at, thing)| Some((thing.as_ref()?, at)));
            let newest = newest.filter(|(thing, _)| thing.task == task && thing.kind != Kind::Upgrade);
            let newest = newest.max_by_key(|(thing, _)| thing.id).map(|(_, at)| at);
            let ready: Vec<usize> = upgrade.into_iter().chain(newest).filter(|at| self.poll(*at)).collect();
            for at in &ready {
                self.end(*at);
            }
            self.check();
            if ready.is_empty() {
                return;
            }
        }
    }
}

/// More polls of tasks than any sequence needs.
const POLLS_MAX: usize = 400_000;

impl<L: Real> Drop for Tasks<L> {
    fn drop(&mut self) {
        if thread::panicking() {
            // The lock is broken. Another step on it might hide the cause.
            eprintln!("{:?}, after {:?}", self.setup, self.done);
            mem::forget(mem::take(&mut self.places));
            return;
        }
        self.places.clear();
        // SAFETY: only the places borrowed the lock, and they have been dropped. `self` is being dropped, so this is
        // the last use.
        unsafe { self.lock.reclaim() };
    }
}

impl<L: Real> fmt::Debug for Tasks<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").field("lock", &*self.lock).field("rescue", &self.rescue).finish_non_exhaustive()
    }
}

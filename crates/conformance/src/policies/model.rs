//! The lock beside a plain model of the three policies, at random: every kind of waiter, and every way in and out.

use crate::rescue::fixture::{Case, POLICIES};
use crate::tools::{Random, Task};
use core::task::Poll;
use fifolock_core::RwLock;
use fifolock_core::platform::Platform;
use fifolock_core::rwlock::RwLockPolicy::{self, PhaseFair, TaskFair};
use fifolock_core::rwlock::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, ReadOwned, UpgradableReadOwned,
    UpgradeOwned, WriteOwned,
};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Upgradable,
    Write,
    Upgrade,
}

/// Lists and counters. Waiters are numbers.
#[derive(Debug)]
struct Model {
    policy: RwLockPolicy,
    most: usize,
    readers: usize,
    upgradable: bool,
    writer: bool,
    /// In order of arrival; an upgrade comes first.
    waiting: Vec<(usize, Kind)>,
}

impl Model {
    fn fits(&self, kind: Kind) -> bool {
        !self.writer
            && match kind {
                Kind::Read => self.readers < self.most,
                Kind::Upgradable => self.readers < self.most && !self.upgradable,
                Kind::Write => self.readers == 0,
                Kind::Upgrade => self.readers == 1,
            }
    }

    fn seat(&mut self, kind: Kind) {
        match kind {
            Kind::Read => self.readers += 1,
            Kind::Upgradable => (self.readers, self.upgradable) = (self.readers + 1, true),
            Kind::Write => self.writer = true,
            Kind::Upgrade => (self.readers, self.upgradable, self.writer) = (0, false, true),
        }
    }

    fn writer_waits(&self) -> bool {
        self.waiting.iter().any(|(_, kind)| matches!(kind, Kind::Write | Kind::Upgrade))
    }

    fn enter(&mut self, kind: Kind) -> bool {
        let next = match kind {
            Kind::Upgrade => true,
            _ if self.policy == TaskFair => self.waiting.is_empty(),
            Kind::Read => !self.writer_waits(),
            Kind::Upgradable => self.waiting.iter().all(|(_, other)| *other == Kind::Read),
            Kind::Write => self.waiting.is_empty(),
        };
        let enters = next && self.fits(kind);
        if enters {
            self.seat(kind);
        }
        enters
    }

    fn wait(&mut self, id: usize, kind: Kind) {
        let at = if kind == Kind::Upgrade { 0 } else { self.waiting.len() };
        self.waiting.insert(at, (id, kind));
    }

    fn grant(&mut self, at: usize, granted: &mut Vec<usize>) {
        let (id, kind) = self.waiting.remove(at);
        self.seat(kind);
        granted.push(id);
    }

    fn all_readers(&mut self, granted: &mut Vec<usize>) {
        while let Some(at) = self.waiting.iter().position(|(_, kind)| *kind == Kind::Read) {
            if !self.fits(Kind::Read) {
                return;
            }
            self.grant(at, granted);
        }
    }

    /// Whoever may enter now.
    fn admit(&mut self, after_writer: bool) -> Vec<usize> {
        let mut granted = Vec::new();
        if after_writer && self.policy == PhaseFair {
            self.all_readers(&mut granted);
        }
        let apart = self.policy != TaskFair;
        while let Some(at) = self.waiting.iter().position(|(_, kind)| !apart || *kind != Kind::Read) {
            if !self.fits(self.waiting[at].1) {
                break;
            }
            self.grant(at, &mut granted);
        }
        if apart && !self.writer_waits() {
            self.all_readers(&mut granted);
        }
        granted
    }

    fn leave(&mut self, id: usize) -> Vec<usize> {
        let at = self.waiting.iter().position(|(other, _)| *other == id).expect("it waits");
        let (_, kind) = self.waiting.remove(at);
        if kind == Kind::Upgrade {
            (self.readers, self.upgradable) = (self.readers - 1, false);
        }
        self.admit(false)
    }

    fn release(&mut self, kind: Kind) -> Vec<usize> {
        match kind {
            Kind::Read => self.readers -= 1,
            Kind::Upgradable => (self.readers, self.upgradable) = (self.readers - 1, false),
            Kind::Write | Kind::Upgrade => self.writer = false,
        }
        self.admit(matches!(kind, Kind::Write | Kind::Upgrade))
    }

    fn downgrade(&mut self, from: Kind, to: Kind) -> Vec<usize> {
        if from == Kind::Upgradable {
            self.upgradable = false;
            return self.admit(false);
        }
        self.writer = false;
        self.seat(to);
        self.admit(true)
    }

    /// As `RwLock::state` tells it.
    fn state(&self) -> [usize; 6] {
        let waiting = |kind| self.waiting.iter().filter(|(_, other)| *other == kind).count();
        [
            self.readers,
            usize::from(self.upgradable),
            usize::from(self.writer),
            waiting(Kind::Read),
            waiting(Kind::Upgradable),
            waiting(Kind::Write) + waiting(Kind::Upgrade),
        ]
    }
}

type Data = u32;

enum Waiter<P: Platform> {
    Read(Task<ReadOwned<Data, P>>),
    Upgradable(Task<UpgradableReadOwned<Data, P>>),
    Write(Task<WriteOwned<Data, P>>),
    Upgrade(Task<UpgradeOwned<Data, P>>),
}

#[allow(dead_code, reason = "of a reader only the drop matters")]
enum Guard<P: Platform> {
    Read(OwnedRwLockReadGuard<Data, Data, P>),
    Upgradable(OwnedRwLockUpgradableReadGuard<Data, P>),
    Write(OwnedRwLockWriteGuard<Data, P>),
}

impl<P: Platform> Waiter<P> {
    fn kind(&self) -> Kind {
        match self {
            Self::Read(_) => Kind::Read,
            Self::Upgradable(_) => Kind::Upgradable,
            Self::Write(_) => Kind::Write,
            Self::Upgrade(_) => Kind::Upgrade,
        }
    }

    fn wakes(&self) -> usize {
        match self {
            Self::Read(task) => task.wakes(),
            Self::Upgradable(task) => task.wakes(),
            Self::Write(task) => task.wakes(),
            Self::Upgrade(task) => task.wakes(),
        }
    }

    fn poll(&mut self) -> Poll<Guard<P>> {
        match self {
            Self::Read(task) => task.poll().map(Guard::Read),
            Self::Upgradable(task) => task.poll().map(Guard::Upgradable),
            Self::Write(task) => task.poll().map(Guard::Write),
            Self::Upgrade(task) => task.poll().map(Guard::Write),
        }
    }
}

impl<P: Platform> Guard<P> {
    fn kind(&self) -> Kind {
        match self {
            Self::Read(_) => Kind::Read,
            Self::Upgradable(_) => Kind::Upgradable,
            Self::Write(_) => Kind::Write,
        }
    }
}

struct Run<P: Platform> {
    lock: Arc<RwLock<Data, P>>,
    model: Model,
    random: Random,
    waiting: Vec<(usize, Waiter<P>)>,
    granted: Vec<usize>,
    inside: Vec<Guard<P>>,
    next: usize,
}

impl<P: Platform> Run<P> {
    /// All that the model grants are woken, once; nobody else is.
    #[track_caller]
    fn check(&mut self, granted: Vec<usize>) {
        self.granted.extend(granted);
        for (id, waiter) in &self.waiting {
            assert_eq!(waiter.wakes(), usize::from(self.granted.contains(id)), "waiter {id}, {:?}", self.model);
        }
        let state = self.lock.state();
        let seen = [
            state.readers,
            usize::from(state.upgradable),
            usize::from(state.writer),
            state.waiting_readers,
            state.waiting_upgradable,
            state.waiting_writers,
        ];
        assert_eq!(seen, self.model.state(), "{:?}", self.model);
    }

    fn start(&mut self, mut waiter: Waiter<P>) {
        let kind = waiter.kind();
        let enters = self.model.enter(kind);
        match waiter.poll() {
            Poll::Ready(guard) => {
                assert!(enters, "{kind:?} has to wait: {:?}", self.model);
                self.inside.push(guard);
            }
            Poll::Pending => {
                assert!(!enters, "{kind:?} enters: {:?}", self.model);
                self.next += 1;
                self.model.wait(self.next, kind);
                self.waiting.push((self.next, waiter));
            }
        }
        self.check(Vec::new());
    }

    fn new_waiter(&mut self) -> Waiter<P> {
        let lock = Arc::clone(&self.lock);
        match self.random.below(6) {
            0..3 => Waiter::Read(Task::new(lock.read_owned())),
            3 => Waiter::Upgradable(Task::new(lock.upgradable_read_owned())),
            _ => Waiter::Write(Task::new(lock.write_owned())),
        }
    }

    fn try_now(&mut self) {
        let lock = Arc::clone(&self.lock);
        let (kind, guard) = match self.random.below(3) {
            0 => (Kind::Read, lock.try_read_owned().map(Guard::Read)),
            1 => (Kind::Upgradable, lock.try_upgradable_read_owned().map(Guard::Upgradable)),
            _ => (Kind::Write, lock.try_write_owned().map(Guard::Write)),
        };
        assert_eq!(guard.is_ok(), self.model.enter(kind), "try {kind:?}: {:?}", self.model);
        self.inside.extend(guard.ok());
        self.check(Vec::new());
    }

    /// A poll of any waiter.
    fn poll(&mut self) {
        let n = self.random.below(self.waiting.len());
        let id = self.waiting[n].0;
        let granted = self.granted.iter().position(|other| *other == id);
        match self.waiting[n].1.poll() {
            Poll::Ready(guard) => {
                self.granted.remove(granted.expect("it was granted"));
                self.waiting.remove(n);
                self.inside.push(guard);
            }
            Poll::Pending => assert!(granted.is_none(), "{id} was granted"),
        }
        self.check(Vec::new());
    }

    fn cancel(&mut self) {
        let n = self.random.below(self.waiting.len());
        let (id, waiter) = self.waiting.remove(n);
        let kind = waiter.kind();
        drop(waiter);
        let next = match self.granted.iter().position(|other| *other == id) {
            Some(at) => {
                self.granted.remove(at);
                self.model.release(kind)
            }
            None => self.model.leave(id),
        };
        self.check(next);
    }

    fn leave(&mut self) {
        let n = self.random.below(self.inside.len());
        let guard = self.inside.remove(n);
        let kind = guard.kind();
        let next = match (guard, self.random.below(6)) {
            (Guard::Upgradable(guard), 0) => {
                let guard = OwnedRwLockUpgradableReadGuard::downgrade(guard);
                self.inside.push(Guard::Read(guard));
                self.model.downgrade(kind, Kind::Read)
            }
            (Guard::Upgradable(guard), 1) => {
                let free = self.model.fits(Kind::Upgrade);
                match OwnedRwLockUpgradableReadGuard::try_upgrade(guard) {
                    Ok(guard) => {
                        assert!(free);
                        self.model.seat(Kind::Upgrade);
                        self.inside.push(Guard::Write(guard));
                    }
                    Err(guard) => {
                        assert!(!free);
                        self.inside.push(Guard::Upgradable(guard));
                    }
                }
                Vec::new()
            }
            (Guard::Upgradable(guard), 2) => {
                // Never polled.
                drop(OwnedRwLockUpgradableReadGuard::upgrade(guard));
                self.model.release(kind)
            }
            (Guard::Upgradable(guard), 3 | 4) => {
                return self.start(Waiter::Upgrade(Task::new(OwnedRwLockUpgradableReadGuard::upgrade(guard))));
            }
            (Guard::Write(guard), 0) => {
                self.inside.push(Guard::Read(guard.downgrade()));
                self.model.downgrade(kind, Kind::Read)
            }
            (Guard::Write(guard), 1 | 2) => {
                self.inside.push(Guard::Upgradable(OwnedRwLockWriteGuard::downgrade_to_upgradable(guard)));
                self.model.downgrade(kind, Kind::Upgradable)
            }
            (guard, _) => {
                drop(guard);
                self.model.release(kind)
            }
        };
        self.check(next);
    }
}

pub(super) fn p6_like_the_model<P: Platform>() {
    let (seeds, steps) = if cfg!(miri) { (2, 60) } else { (60, 250) };
    for policy in POLICIES {
        for seed in 0..seeds {
            let most = [1, 2, 3, 1000][(seed % 4) as usize];
            let _case = Case((policy, seed, most));
            let model = Model { policy, most, readers: 0, upgradable: false, writer: false, waiting: Vec::new() };
            let mut run = Run::<P> {
                lock: Arc::new(RwLock::with_policy_and_max_readers(0, policy, most as u32)),
                model,
                random: Random::new(seed),
                waiting: Vec::new(),
                granted: Vec::new(),
                inside: Vec::new(),
                next: 0,
            };
            for step in 0..steps {
                // Full at first, then empty.
                let coming = if step < steps / 3 { 4 } else { 2 };
                match run.random.below(8) {
                    n if n < coming && run.waiting.len() < 25 => {
                        let waiter = run.new_waiter();
                        run.start(waiter);
                    }
                    4 => run.try_now(),
                    5 if !run.waiting.is_empty() => run.cancel(),
                    6 if !run.inside.is_empty() => run.leave(),
                    _ if !run.waiting.is_empty() => run.poll(),
                    _ => {}
                }
            }
            while !run.waiting.is_empty() || !run.inside.is_empty() {
                if run.inside.is_empty() || run.random.below(2) == 0 && !run.waiting.is_empty() {
                    run.poll();
                } else {
                    run.leave();
                }
            }
            assert_eq!(run.model.state(), [0; 6]);
            assert!(run.lock.try_write().is_ok());
            assert_eq!(Arc::strong_count(&run.lock), 1);
        }
    }
}

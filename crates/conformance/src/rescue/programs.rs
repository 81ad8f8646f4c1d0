//! Random programs: tasks that poll their futures by join, by select, by one, or park them.
//!
//! A task is polled when it was woken. Each poll it polls at least one of its futures that are not parked; at its end it
//! drops those that are. Then nothing may hang, and between tasks the order is that of first polls.

use super::fixture::{Actor, Fixture, Form, Guard, Hidden, Op, POLICIES, SUSPICIONS, Target};
use crate::tools::Random;
use core::task::Poll;
use fifolock_core::platform::Platform;
use std::collections::{BTreeMap, BTreeSet};

/// How a task polls the futures of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// All of them in each round, until each was ready.
    Join,
    /// All of them in each round, until one is ready; the others are dropped.
    Select,
    /// One poll of each; what is not ready is parked, and perhaps taken up again by a later step.
    Park,
}

struct Child<'a> {
    id: usize,
    op: Op,
    future: Hidden<'a>,
}

/// A guard, and how many rounds of its task it stays.
struct Inside<'a> {
    op: Op,
    _guard: Guard<'a>,
    rounds: usize,
}

struct Program<'a> {
    actor: Actor,
    steps: usize,
    how: How,
    children: Vec<Child<'a>>,
    parked: Vec<Child<'a>>,
    inside: Vec<Inside<'a>>,
    done: bool,
}

/// What is expected of the mutex: who is granted, and the queue, as futures with their tasks.
#[derive(Default)]
struct Model {
    task_of: BTreeMap<usize, usize>,
    owner: Option<Owner>,
    queue: Vec<usize>,
    grants: usize,
    /// Because of which grant a waiter suspects its task, and at how many polls in a row.
    suspicions: BTreeMap<usize, (usize, usize)>,
    /// Who has been robbed and not polled since.
    robbed: BTreeSet<usize>,
    /// How often a theft from it has turned out to be wrong.
    levels: BTreeMap<usize, u32>,
    /// The tasks in the order in which they queued, and in which they were granted; who left is taken out of both.
    rescues: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Guard,
    Granted(usize),
}

impl Model {
    fn release(&mut self) {
        self.grants += 1;
        self.owner = if self.queue.is_empty() { None } else { Some(Owner::Granted(self.queue.remove(0))) };
    }

    /// Whether a poll of this future is to be ready.
    fn poll(&mut self, id: usize, task: usize) -> bool {
        let place = match self.task_of.insert(id, task) {
            Some(_) => self.queue.iter().position(|waits| *waits == id),
            None if self.owner.is_none() => {
                self.owner = Some(Owner::Guard);
                return true;
            }
            None => {
                self.queue.push(id);
                Some(self.queue.len() - 1)
            }
        };
        let Some(place) = place else {
            assert_eq!(self.owner, Some(Owner::Granted(id)));
            self.owner = Some(Owner::Guard);
            return true;
        };
        // R1: it has shown that its task is alive.
        if self.robbed.remove(&id) {
            *self.levels.entry(id).or_default() += 1;
        }
        let Some(Owner::Granted(granted)) = self.owner else { return false };
        if self.task_of[&granted] != task {
            return false;
        }
        let (grant, polls) = self.suspicions.get(&id).copied().unwrap_or_default();
        let polls = 1 + if grant == self.grants { polls } else { 0 };
        if polls == (SUSPICIONS + 1) << self.levels.get(&granted).copied().unwrap_or_default() {
            self.queue[place] = granted;
            self.owner = Some(Owner::Guard);
            self.robbed.insert(granted);
            self.suspicions.remove(&granted);
            self.rescues += 1;
            return true;
        }
        self.suspicions.insert(id, (self.grants, polls));
        false
    }

    fn gone(&mut self, id: usize) {
        if self.owner == Some(Owner::Granted(id)) {
            self.release();
        } else {
            self.queue.retain(|waits| *waits != id);
        }
    }
}

/// The tasks, and what is known of who is inside, counted apart from the lock.
struct World<'a, P: Platform> {
    fixture: &'a Fixture<P>,
    random: Random,
    programs: Vec<Program<'a>>,
    model: Option<Model>,
    next_id: usize,
    shares: usize,
    upgradable: usize,
    writers: usize,
}

impl<'a, P: Platform> World<'a, P> {
    fn new(fixture: &'a Fixture<P>, seed: u64, model: Option<Model>) -> Self {
        let mut random = Random::new(seed);
        let programs = (0..2 + random.below(4))
            .map(|_| Program {
                actor: Actor::new(),
                steps: 2 + random.below(6),
                how: How::Join,
                children: Vec::new(),
                parked: Vec::new(),
                inside: Vec::new(),
                done: false,
            })
            .collect();
        Self { fixture, random, programs, model, next_id: 0, shares: 0, upgradable: 0, writers: 0 }
    }

    fn pick(&mut self) -> Op {
        if self.model.is_some() {
            return Op::Lock;
        }
        [Op::Read, Op::Read, Op::Upgradable, Op::Write][self.random.below(4)]
    }

    fn enter(&mut self, op: Op) {
        match op {
            Op::Read => self.shares += 1,
            Op::Upgradable => (self.shares, self.upgradable) = (self.shares + 1, self.upgradable + 1),
            Op::Lock | Op::Write => self.writers += 1,
        }
        assert!(self.writers <= 1 && (self.writers == 0 || self.shares == 0), "exclusion");
        assert!(self.upgradable <= 1, "two upgradable readers");
    }

    fn exit(&mut self, task: usize, n: usize) {
        let inside = self.programs[task].inside.remove(n);
        match inside.op {
            Op::Read => self.shares -= 1,
            Op::Upgradable => (self.shares, self.upgradable) = (self.shares - 1, self.upgradable - 1),
            Op::Lock | Op::Write => self.writers -= 1,
        }
        drop(inside);
        if let Some(model) = &mut self.model {
            model.release();
        }
    }

    fn drop_child(&mut self, child: Child<'a>) {
        drop(child.future);
        if let Some(model) = &mut self.model {
            model.gone(child.id);
        }
    }

    /// Polls a child; it goes inside if it is ready.
    fn poll(&mut self, task: usize, mut child: Child<'a>) -> Option<Child<'a>> {
        let expected = self.model.as_mut().map(|model| model.poll(child.id, task));
        let rounds = self.random.below(3);
        match self.programs[task].actor.poll(&mut child.future) {
            Poll::Ready(guard) => {
                assert!(expected != Some(false), "future {} of task {task} is out of turn", child.id);
                self.enter(child.op);
                self.programs[task].inside.push(Inside { op: child.op, _guard: guard, rounds });
                None
            }
            Poll::Pending => {
                assert!(expected != Some(true), "it is the turn of future {} of task {task}", child.id);
                Some(child)
            }
        }
    }

    /// The next step of a task.
    fn begin(&mut self, task: usize) {
        let how = [How::Join, How::Select, How::Park, How::Park][self.random.below(4)];
        let count = 1 + self.random.below(3);
        let mut children = Vec::new();
        for _ in 0..count {
            self.next_id += 1;
            // R5: a task that parks a read and waits for another's upgradable share may wait for itself through others.
            let op = match self.pick() {
                Op::Upgradable if task % 2 == 1 => Op::Read,
                Op::Read if task.is_multiple_of(2) && how == How::Park => Op::Upgradable,
                op => op,
            };
            children.push(Child { id: self.next_id, op, future: self.fixture.op(op) });
        }
        // Now and then a parked one is taken up again, or dropped.
        while how != How::Park && !self.programs[task].parked.is_empty() && self.random.below(2) == 0 {
            let n = self.random.below(self.programs[task].parked.len());
            let parked = self.programs[task].parked.remove(n);
            if self.random.below(2) == 0 { children.push(parked) } else { self.drop_child(parked) }
        }
        let program = &mut self.programs[task];
        (program.how, program.children) = (how, children);
        program.steps -= 1;
    }

    /// One poll of a task. While it has something to do it wakes itself, as a task that yields.
    fn run(&mut self, task: usize) {
        let mut wake = false;
        for n in (0..self.programs[task].inside.len()).rev() {
            if self.programs[task].inside[n].rounds == 0 {
                self.exit(task, n);
            } else {
                self.programs[task].inside[n].rounds -= 1;
                wake = true;
            }
        }
        if self.programs[task].children.is_empty() && self.programs[task].inside.is_empty() {
            if self.programs[task].steps == 0 {
                while let Some(parked) = self.programs[task].parked.pop() {
                    self.drop_child(parked);
                }
                self.programs[task].done = true;
                return;
            }
            self.begin(task);
        }
        let how = self.programs[task].how;
        let children = core::mem::take(&mut self.programs[task].children);
        let mut left = Vec::new();
        let mut won = false;
        for child in children {
            if won {
                // Never polled, or waiting: it has lost.
                self.drop_child(child);
            } else if let Some(child) = self.poll(task, child) {
                left.push(child);
            } else {
                wake = true;
                won = how == How::Select;
            }
        }
        if won {
            for loser in left.drain(..) {
                self.drop_child(loser);
            }
        }
        if how == How::Park {
            wake = true;
            self.programs[task].parked.append(&mut left);
        }
        self.programs[task].children = left;
        if wake {
            self.programs[task].actor.wake();
        }
    }

    /// Polls who was woken, in a random order, until all have ended.
    fn run_all(&mut self) {
        self.programs.iter().for_each(|program| program.actor.wake());
        for _ in 0..20_000 {
            let woken: Vec<_> = (0..self.programs.len())
                .filter(|task| !self.programs[*task].done && self.programs[*task].actor.is_woken())
                .collect();
            if woken.is_empty() {
                break;
            }
            let task = woken[self.random.below(woken.len())];
            self.programs[task].actor.woken();
            self.run(task);
        }
        let stuck: Vec<_> = (0..self.programs.len()).filter(|task| !self.programs[*task].done).collect();
        assert!(
            stuck.is_empty(),
            "tasks {stuck:?} hang: {} inside, {} wait; {:?}",
            self.fixture.inside(),
            self.fixture.waiting(),
            stuck.iter().map(|task| self.describe(*task)).collect::<Vec<_>>()
        );
    }

    fn describe(&self, task: usize) -> String {
        let ops = |children: &[Child<'_>]| children.iter().map(|child| child.op).collect::<Vec<_>>();
        let program = &self.programs[task];
        let woken = program.actor.is_woken();
        format!(
            "{task} woken {woken}: {:?} {:?}, parked {:?}",
            program.how,
            ops(&program.children),
            ops(&program.parked)
        )
    }
}

fn seeds() -> u64 {
    if cfg!(miri) { 3 } else { 300 }
}

/// Every poll of every future is foretold; so the sequence of tasks served is the sequence of tasks queued.
pub(super) fn r2_random_programs_with_a_mutex<P: Platform>() {
    let mut rescues = 0;
    for seed in 0..seeds() {
        let _case = super::fixture::Case(seed);
        let fixture = Fixture::<P>::new(Target::Mutex, if seed % 2 == 0 { Form::Borrowed } else { Form::Owned });
        let mut world = World::new(&fixture, seed, Some(Model::default()));
        world.run_all();
        assert!(world.programs.iter().all(|program| program.actor.kept() == 0));
        rescues += world.model.take().map_or(0, |model| model.rescues);
        drop(world);
        fixture.assert_free();
    }
    assert!(rescues as u64 >= seeds(), "{rescues} rescues");
}

/// Exclusion, the end of every task, and a lock that is free then.
pub(super) fn r2_random_programs_with_a_read_write_lock<P: Platform>() {
    for seed in 0..seeds() {
        for policy in POLICIES {
            let most = [1, 2, 3, 1000][(seed % 4) as usize];
            let _case = super::fixture::Case((seed, policy, most));
            let form = if seed % 2 == 0 { Form::Borrowed } else { Form::Owned };
            let fixture = Fixture::<P>::new(Target::RwLock(policy, most), form);
            let mut world = World::new(&fixture, seed, None);
            world.run_all();
            assert!(world.programs.iter().all(|program| program.actor.kept() == 0));
            drop(world);
            fixture.assert_free();
        }
    }
}

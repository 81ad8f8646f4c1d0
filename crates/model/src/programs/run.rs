//! The executor, and the children that the executor runs.

use super::ledger::{Answer, Ledger};
use super::{Between, Child, Executor, Lock, Order, Program, Raw, Shape, Task, Without};
use crate::alphabet::{Form, Limit};
use crate::leaked::Leaked;
use crate::real::{Acquiring, Real, Setup, ticks};
use crate::reference::Kind;
use core::mem;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Poll, Waker};
use fifolock_conformance::tools::clock::{Manual, TestTimer};
use fifolock_conformance::tools::{Hooks, Random, hooked_waker, poll_once};
use fifolock_core::raw::{CriticalSectionLock, LocalLock, RawLock, SpinLock, StdLock};
use fifolock_core::rwlock::RwLockPolicy;
use fifolock_core::{Mutex, RwLock};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::thread;

/// The way in which a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// With the rescue.
    With,
    /// On a platform without the rescue.
    Without,
    /// With the rescue, but each child has a waker of its own that wakes the task. No two waiters share a waker, so the
    /// rescue finds nothing (R10).
    /// the rescue finds nothing (R10).
    Apart,
}

/// An event of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The child has begun to wait.
    Queued,
    /// The child has received its guard.
    Guard,
    /// The child has dropped its guard.
    Left,
    /// The child's future has timed out.
    Elapsed,
    /// The child has dropped its future.
    Dropped,
}

/// The outcome of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The number of guards of each child.
    pub turns: Vec<u32>,
    /// The number of guards of each child in the second half of the rounds.
    pub late_turns: Vec<u32>,
    /// The round, the child and the event.
    pub trace: Vec<(u32, usize, Event)>,
    /// The number of polls of tasks.
    pub polls: u64,
    /// The number of rounds that were run.
    pub rounds: u32,
    /// Whether all tasks ended.
    pub ended: bool,
    /// The child at which the run first differed from the reference, which has no rescue.
    pub rescued: Option<usize>,
    /// The number of guards that went to another waiter of the task whose turn it was, if all children are of one kind.
    pub swaps: u32,
    /// The same number, for the second half of the rounds.
    pub late_swaps: u32,
    /// The children that wait at the end, and whether each was granted, as far as the ledger knows.
    pub waiting: Vec<(usize, Option<bool>)>,
    /// The rule that the run broke. The run ended there.
    pub fault: Option<String>,
}

/// Tasks in the order in which they were woken.
type Queue = Arc<StdMutex<VecDeque<usize>>>;

fn wake(queue: &Queue, task: usize) {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    if !queue.contains(&task) {
        queue.push_back(task);
    }
}

enum Stage<L: Real> {
    /// The child asks for nothing in this many rounds.
    Rest(u32),
    Waiting {
        future: Acquiring<L>,
        kind: Kind,
        /// The rounds of the task in which the child has waited; 0 before its first poll.
        rounds: u32,
    },
    Holding {
        guard: L::Guard,
        kind: Kind,
        rounds: u32,
    },
    Ended,
}

struct Seat<L: Real> {
    plan: Child,
    form: Form,
    waker: Waker,
    woken: Arc<AtomicBool>,
    stage: Stage<L>,
    turns: u32,
}

/// The tasks, the lock, and the ledger.
struct Run<'a, L: Real> {
    program: &'a Program,
    lock: Leaked<L>,
    ledger: Ledger<L::Reference>,
    seats: Vec<Seat<L>>,
    /// The first child of each task, and the number of polls of the task.
    tasks: Vec<(usize, u32)>,
    ended: Vec<bool>,
    queue: Queue,
    /// The round of the last guard.
    last_guard: u32,
    /// The number of guards out of turn in the first half of the rounds.
    early_swaps: u32,
    outcome: Outcome,
}

impl<'a, L: Real> Run<'a, L> {
    fn new(program: &'a Program, side: Side) -> Self {
        let (policy, max_readers) = match program.lock {
            Lock::Mutex => (RwLockPolicy::WriterPreferring, 1),
            Lock::RwLock(policy, max_readers) => (policy, max_readers),
        };
        let (lock, reference) = L::new(Setup { policy, max_readers });
        let queue = Queue::default();
        let (mut seats, mut tasks, mut wakers, mut is_alone) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (n, task) in program.tasks.iter().enumerate() {
            let new_waker = |woken: &Arc<AtomicBool>| {
                let (queue, woken) = (Arc::clone(&queue), Arc::clone(woken));
                let on_wake = move || {
                    woken.store(true, Ordering::Relaxed);
                    wake(&queue, n);
                };
                hooked_waker(Hooks { on_wake: Some(Box::new(on_wake)), ..Hooks::default() }).0
            };
            let shared = (new_waker(&Arc::default()), seats.len());
            tasks.push((seats.len(), 0));
            for plan in &task.children {
                let number = seats.len();
                let woken = Arc::new(AtomicBool::new(true));
                let is_apart = plan.own_waker || side == Side::Apart;
                let waker = if is_apart { new_waker(&woken) } else { shared.0.clone() };
                wakers.push(if is_apart { number } else { shared.1 });
                is_alone.push(task.children.len() == 1);
                let form = if number % 2 == 0 { Form::Borrowed } else { Form::Owned };
                seats.push(Seat { plan: *plan, form, waker, woken, stage: Stage::Rest(0), turns: 0 });
            }
        }
        let outcome = Outcome { turns: vec![0; seats.len()], late_turns: vec![0; seats.len()], ..Outcome::default() };
        Self {
            program,
            lock: Leaked::new(lock),
            ledger: Ledger::new(reference, program.serial_kind().is_some(), wakers, is_alone),
            seats,
            ended: vec![false; tasks.len()],
            tasks,
            queue,
            last_guard: 0,
            early_swaps: 0,
            outcome,
        }
    }

    fn note(&mut self, child: usize, event: Event) {
        self.outcome.trace.push((self.outcome.rounds, child, event));
    }

    fn fail(&mut self, fault: String) {
        let round = self.outcome.rounds;
        self.outcome.fault.get_or_insert_with(|| format!("round {round}: {fault}"));
    }

    /// Drops the future or the guard of a child.
    fn end(&mut self, child: usize, then: Stage<L>) {
        let gone = mem::replace(&mut self.seats[child].stage, then);
        let event = match &gone {
            Stage::Waiting { kind: Kind::Upgrade, rounds: 0, .. } => {
                self.ledger.share_given_back();
                Some(Event::Dropped)
            }
            Stage::Waiting { rounds: 0, .. } | Stage::Rest(_) | Stage::Ended => None,
            Stage::Waiting { .. } => {
                self.ledger.dropped(child);
                Some(Event::Dropped)
            }
            Stage::Holding { .. } => {
                self.ledger.left(child, false);
                Some(Event::Left)
            }
        };
        drop(gone);
        if let Some(event) = event {
            self.note(child, event);
        }
    }

    /// Polls a child. Returns whether the child is busy, so that its task must be polled in the next round too.
    fn poll_child(&mut self, child: usize) -> bool {
        loop {
            let seat = &mut self.seats[child];
            let plan = seat.plan;
            match &mut seat.stage {
                Stage::Ended => return false,
                Stage::Rest(0) => {
                    let kind = match plan.kind {
                        Kind::Upgrade => Kind::Upgradable,
                        kind => kind,
                    };
                    let limit = if let Shape::Timed(rounds) = plan.shape {
                        Limit::Timeout(u8::try_from(rounds).expect("a short timeout"))
                    } else {
                        Limit::None
                    };
                    let future = L::acquire(self.lock.get(), kind, seat.form, limit);
                    seat.stage = Stage::Waiting { future, kind, rounds: 0 };
                }
                Stage::Rest(rounds) => {
                    *rounds -= 1;
                    return true;
                }
                Stage::Holding { rounds: 1.., .. } => {
                    let Stage::Holding { rounds, .. } = &mut seat.stage else { unreachable!("just seen") };
                    *rounds -= 1;
                    if *rounds > 0 {
                        return true;
                    }
                }
                Stage::Holding { kind, .. } if plan.kind == Kind::Upgrade && *kind == Kind::Upgradable => {
                    let Stage::Holding { guard, .. } = mem::replace(&mut seat.stage, Stage::Ended) else {
                        unreachable!("just seen")
                    };
                    let kind = Kind::Upgrade;
                    self.ledger.left(child, true);
                    self.seats[child].stage = Stage::Waiting { future: L::upgrade(guard), kind, rounds: 0 };
                }
                Stage::Holding { .. } => {
                    seat.turns += 1;
                    let is_last = self.program.turns == Some(seat.turns);
                    let then = if is_last { Stage::Ended } else { Stage::Rest(plan.rest) };
                    self.end(child, then);
                }
                Stage::Waiting { rounds, .. } => {
                    let waited = mem::replace(rounds, *rounds + 1);
                    let polls = match plan.shape {
                        Shape::Polls(polls) => polls,
                        Shape::Parks(parked) if waited % (parked + 1) != 0 => 0,
                        Shape::ForEver | Shape::Drops(_, Between::Parked) if waited > 0 => 0,
                        Shape::Drops(..) | Shape::Parks(_) | Shape::ForEver | Shape::Timed(_) => 1,
                    };
                    if let Shape::Drops(after, _) = plan.shape
                        && waited >= after.max(1)
                    {
                        self.end(child, Stage::Rest(plan.rest.max(1)));
                        continue;
                    }
                    if !(0..polls).any(|n| self.poll_future(child, waited == 0 && n == 0)) {
                        let is_patient = matches!(plan.shape, Shape::Polls(1) | Shape::ForEver | Shape::Timed(_));
                        return !is_patient;
                    }
                }
            }
            if self.outcome.fault.is_some() {
                return false;
            }
        }
    }

    /// Polls a lock future. Returns whether the future is ready.
    fn poll_future(&mut self, child: usize, first: bool) -> bool {
        let seat = &mut self.seats[child];
        let Stage::Waiting { future, kind, .. } = &mut seat.stage else { unreachable!("a future is polled") };
        let kind = *kind;
        let poll = poll_once(future, &seat.waker);
        let answer = match &poll {
            Poll::Pending => Answer::Pending,
            Poll::Ready(Ok(_)) => Answer::Guard,
            Poll::Ready(Err(_)) => Answer::Elapsed,
        };
        if let Err(fault) = self.ledger.polled(child, kind, first, answer) {
            self.fail(fault);
        }
        let plan = self.seats[child].plan;
        match poll {
            Poll::Pending => {
                if first {
                    self.note(child, Event::Queued);
                }
                return false;
            }
            Poll::Ready(Ok(guard)) => {
                let is_half = plan.kind == Kind::Upgrade && kind == Kind::Upgradable;
                let rounds = if is_half { 1 } else { plan.hold };
                self.outcome.turns[child] += u32::from(!is_half);
                let is_late = self.outcome.rounds >= self.program.rounds / 2;
                if !is_late {
                    self.early_swaps = self.ledger.swaps;
                }
                self.outcome.late_turns[child] += u32::from(!is_half && is_late);
                self.last_guard = self.outcome.rounds;
                // One round is added, since the round of the guard itself does not count.
                self.seats[child].stage = Stage::Holding { guard, kind, rounds: rounds + 1 };
                self.note(child, Event::Guard);
            }
            Poll::Ready(Err(_)) => {
                self.seats[child].stage = Stage::Rest(plan.rest.max(1));
                self.note(child, Event::Elapsed);
            }
        }
        true
    }

    fn order(&mut self, task: usize) -> Vec<usize> {
        let Task { order, children, .. } = &self.program.tasks[task];
        let (first, polls) = self.tasks[task];
        self.tasks[task].1 += 1;
        let count = children.len();
        let mut order_now: Vec<usize> = (first..first + count).collect();
        match order {
            Order::Biased => {}
            Order::Rotating => order_now.rotate_left(polls as usize % count),
            Order::Zigzag if polls % 2 == 0 => {}
            Order::Zigzag => order_now.reverse(),
            Order::Shuffled(seed) => {
                let mut random = Random::new(seed.wrapping_add(u64::from(polls) << 32));
                (1..count).for_each(|n| order_now.swap(n, random.below(n + 1)));
            }
        }
        order_now
    }

    /// Polls a task.
    fn poll_task(&mut self, task: usize) {
        self.outcome.polls += 1;
        for child in self.order(task) {
            let seat = &self.seats[child];
            let was_woken = seat.woken.swap(false, Ordering::Relaxed);
            if seat.plan.own_waker && !was_woken && self.program.executor == Executor::Woken {
                continue;
            }
            if self.poll_child(child) {
                self.seats[child].woken.store(true, Ordering::Relaxed);
                wake(&self.queue, task);
            }
            if self.outcome.fault.is_some() {
                return;
            }
        }
        let (first, _) = self.tasks[task];
        let children = first..first + self.program.tasks[task].children.len();
        let is_over = |seat: &Seat<L>| matches!(seat.stage, Stage::Ended) || !seat.plan.shape.goes_on();
        if self.program.turns.is_some() && self.seats[children.clone()].iter().all(is_over) {
            children.for_each(|child| self.end(child, Stage::Ended));
            self.ended[task] = true;
        }
    }

    fn run(&mut self) {
        while self.outcome.rounds < self.program.rounds {
            let round = self.outcome.rounds;
            for (n, task) in self.program.tasks.iter().enumerate() {
                if task.start == round {
                    wake(&self.queue, n);
                }
            }
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            let mut woken = Vec::from(mem::take(&mut *queue));
            drop(queue);
            if self.program.executor == Executor::EachRound {
                woken = (0..self.tasks.len()).filter(|n| self.program.tasks[*n].start <= round).collect();
            }
            let is_idle = woken.is_empty() && self.program.tasks.iter().all(|task| task.start <= round);
            for task in woken {
                if !self.ended[task] {
                    self.poll_task(task);
                }
                if self.outcome.fault.is_some() {
                    return;
                }
            }
            self.outcome.rounds += 1;
            self.outcome.ended = self.ended.iter().all(|ended| *ended);
            if self.outcome.ended || (is_idle && L::Platform::armed() == Some(0)) {
                return;
            }
            if self.outcome.rounds - self.last_guard > STALL {
                return;
            }
            L::Platform::advance(ticks(1));
        }
    }

    fn finish(mut self) -> Outcome {
        let is_waiting = |child: &usize| matches!(self.seats[*child].stage, Stage::Waiting { rounds: 1.., .. });
        let waiting = (0..self.seats.len()).filter(is_waiting);
        self.outcome.waiting = waiting.map(|child| (child, self.ledger.is_granted(child))).collect();
        self.outcome.rescued = self.ledger.rescued;
        self.outcome.swaps = self.ledger.swaps;
        self.outcome.late_swaps = self.ledger.swaps - self.early_swaps;
        mem::take(&mut self.outcome)
    }
}

impl<L: Real> Drop for Run<'_, L> {
    fn drop(&mut self) {
        if thread::panicking() {
            // The lock is broken. Another step on it might hide the cause.
            mem::forget(mem::take(&mut self.seats));
            return;
        }
        self.seats.clear();
        // SAFETY: only the seats borrowed the lock, and they have been dropped. `self` is being dropped, so this is the
        // last use.
        unsafe { self.lock.reclaim() };
    }
}

/// After this many rounds without a guard, there will be none: a theft takes some hundred polls at most.
const STALL: u32 = 10_000;

fn run_on<L: Real>(program: &Program, side: Side) -> Outcome {
    let mut outcome = Outcome::default();
    L::Platform::with(|| {
        let mut run = Run::<L>::new(program, side);
        run.run();
        outcome = run.finish();
    });
    outcome
}

fn run_on_raw<R: RawLock + 'static>(program: &Program, side: Side) -> Outcome {
    match (program.lock, side) {
        (Lock::Mutex, Side::Without) => run_on::<Mutex<u64, Without<R>>>(program, side),
        (Lock::Mutex, Side::With | Side::Apart) => run_on::<Mutex<u64, Manual<R>>>(program, side),
        (Lock::RwLock(..), Side::Without) => run_on::<RwLock<u64, Without<R>>>(program, side),
        (Lock::RwLock(..), Side::With | Side::Apart) => run_on::<RwLock<u64, Manual<R>>>(program, side),
    }
}

/// Runs a program.
///
/// # Panics
///
/// If the lock panics.
#[must_use]
pub fn run(program: &Program, side: Side) -> Outcome {
    match program.raw {
        Raw::Std => run_on_raw::<StdLock>(program, side),
        Raw::CriticalSection => run_on_raw::<CriticalSectionLock>(program, side),
        Raw::Local => run_on_raw::<LocalLock>(program, side),
        Raw::Spin => run_on_raw::<SpinLock>(program, side),
    }
}

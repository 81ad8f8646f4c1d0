//! Random sequences of operations on the real locks and on naive models of them: after each step everything that can be
//! seen must be the same.
//!
//! The models are the locks that the project was created from, lists and counters, with cancellation, a limit of readers
//! and downgrades added.

mod real;
mod reference;

use crate::tools::{Boxed, Count, Random, counting_waker};
use core::task::{Context, Poll, Waker};
use fifolock_core::platform::Platform;
use fifolock_core::{Mutex, RwLock};
use real::Real;
use reference::Reference;
use std::sync::Arc;

/// What is asked of a lock. Of a mutex both are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
}

/// Readers, writer, waiting readers, waiting writers. A mutex has one writer, and writers that wait.
type Counts = (usize, bool, usize, usize);

/// A future, or the guard that it ended in, and what is expected of it.
struct Operation<'a, L: Real + 'a> {
    kind: Kind,
    future: Option<Boxed<dyn Future<Output = L::Guard<'a>> + 'a>>,
    guard: Option<L::Guard<'a>>,
    stage: Stage,
    /// The newest last.
    wakers: Vec<Expected>,
}

/// A waker and what must be seen of it.
struct Expected {
    waker: Waker,
    count: Arc<Count>,
    wakes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Unpolled,
    Waiting,
    Granted,
    Holding,
    Over,
}

impl<'a, L: Real> Operation<'a, L> {
    /// The waker to poll with next: a new one, or the last one again.
    fn waker(&mut self, new: bool) -> Waker {
        if new || self.wakers.is_empty() {
            let (waker, count) = counting_waker();
            self.wakers.push(Expected { waker, count, wakes: 0 });
        }
        self.wakers.last().expect("just pushed").waker.clone()
    }

    /// While it waits the lock has its newest waker, and no other.
    fn check_wakers(&self) {
        for (n, expected) in self.wakers.iter().enumerate() {
            let stored = self.stage == Stage::Waiting && n + 1 == self.wakers.len();
            assert_eq!(expected.count.wakes(), expected.wakes, "wakes of a {:?} that is {:?}", self.kind, self.stage);
            assert_eq!(expected.count.alive(), 1 + usize::from(stored), "a waker of one that is {:?}", self.stage);
        }
    }
}

/// The real lock, the model, and all operations on them.
struct Run<'a, L: Real> {
    lock: &'a Arc<L>,
    model: L::Reference,
    operations: Vec<Operation<'a, L>>,
    random: Random,
    /// What the data must be.
    value: u64,
}

impl<'a, L: Real> Run<'a, L> {
    /// One of the operations that are at one of these stages.
    fn choose(&mut self, stages: &[Stage]) -> Option<usize> {
        let all = self.operations.iter().enumerate();
        let fitting: Vec<_> = all.filter(|(_, o)| stages.contains(&o.stage)).map(|(n, _)| n).collect();
        if fitting.is_empty() { None } else { Some(fitting[self.random.below(fitting.len())]) }
    }

    fn step(&mut self, most: usize) {
        use Stage::{Granted, Holding, Over, Unpolled, Waiting};
        let alive = self.operations.iter().filter(|operation| operation.stage != Over).count();
        match self.random.below(20) {
            0..=3 if alive < most => self.create(),
            // First polls, spurious polls, and claims.
            4..=7 => self.choose(&[Unpolled]).into_iter().for_each(|n| self.poll(n)),
            8 => self.choose(&[Waiting]).into_iter().for_each(|n| self.poll(n)),
            9..=11 => self.choose(&[Granted]).into_iter().for_each(|n| self.poll(n)),
            12 => self.choose(&[Unpolled, Waiting]).into_iter().for_each(|n| self.cancel(n)),
            13 => self.choose(&[Granted]).into_iter().for_each(|n| self.cancel(n)),
            14 | 15 => self.choose(&[Holding]).into_iter().for_each(|n| self.release(n)),
            16 => self.choose(&[Holding]).into_iter().for_each(|n| self.downgrade(n)),
            17 | 18 if alive < most => self.try_acquire(),
            19 if alive + CROWD < most => self.crowd(),
            _ => self.look(),
        }
        self.check();
    }

    fn kind(&mut self) -> Kind {
        if self.random.below(5) < 3 { Kind::Read } else { Kind::Write }
    }

    fn push(&mut self, kind: Kind, future: Option<Boxed<dyn Future<Output = L::Guard<'a>> + 'a>>) -> usize {
        self.operations.push(Operation { kind, future, guard: None, stage: Stage::Unpolled, wakers: Vec::new() });
        self.operations.len() - 1
    }

    fn create(&mut self) {
        let kind = self.kind();
        let future = L::acquire(self.lock, kind, self.random.below(2) == 0);
        self.push(kind, Some(future));
    }

    /// A writer, and behind it readers for a batch of several chunks.
    fn crowd(&mut self) {
        for number in 0..CROWD {
            let kind = if number == 0 { Kind::Write } else { Kind::Read };
            let future = L::acquire(self.lock, kind, false);
            let n = self.push(kind, Some(future));
            self.poll(n);
        }
    }

    fn try_acquire(&mut self) {
        let kind = self.kind();
        let found = L::try_acquire(self.lock, kind, self.random.below(2) == 0);
        assert_eq!(found.is_some(), self.model.enter(kind), "try {kind:?}");
        if let Some(guard) = found {
            let n = self.push(kind, None);
            self.hold(n, guard);
        }
    }

    fn poll(&mut self, n: usize) {
        let new = self.random.below(3) == 0;
        let operation = &mut self.operations[n];
        let (kind, stage) = (operation.kind, operation.stage);
        let ready = match stage {
            Stage::Granted => true,
            Stage::Unpolled => self.model.enter(kind),
            _ => false,
        };
        let waker = operation.waker(new);
        let future = operation.future.as_mut().expect("not over");
        let found = future.as_mut().poll(&mut Context::from_waker(&waker));
        assert_eq!(found.is_ready(), ready, "a {kind:?} that was {stage:?}");
        match found {
            Poll::Ready(guard) => {
                operation.future = None;
                self.hold(n, guard);
            }
            Poll::Pending => {
                if stage == Stage::Unpolled {
                    self.model.wait(n, kind);
                }
                operation.stage = Stage::Waiting;
            }
        }
    }

    fn hold(&mut self, n: usize, mut guard: L::Guard<'a>) {
        assert_eq!(L::value(&guard), self.value, "it sees what was written last");
        if let Some(value) = L::value_mut(&mut guard) {
            *value += 1;
            self.value += 1;
        }
        self.operations[n].guard = Some(guard);
        self.operations[n].stage = Stage::Holding;
    }

    fn cancel(&mut self, n: usize) {
        let operation = &mut self.operations[n];
        let granted = match operation.stage {
            Stage::Waiting => self.model.leave(n, operation.kind),
            Stage::Granted => self.model.release(operation.kind),
            _ => Vec::new(),
        };
        operation.future = None;
        operation.stage = Stage::Over;
        self.grant(granted);
    }

    fn release(&mut self, n: usize) {
        let operation = &mut self.operations[n];
        operation.guard = None;
        operation.stage = Stage::Over;
        let granted = self.model.release(operation.kind);
        self.grant(granted);
    }

    fn downgrade(&mut self, n: usize) {
        let operation = &mut self.operations[n];
        let guard = operation.guard.take().expect("it holds");
        match L::downgrade(guard) {
            Ok(guard) => {
                assert_eq!(L::value(&guard), self.value);
                operation.guard = Some(guard);
                operation.kind = Kind::Read;
                let granted = self.model.downgrade();
                self.grant(granted);
            }
            Err(guard) => operation.guard = Some(guard),
        }
    }

    /// The model has granted these: each was woken, by its newest waker.
    fn grant(&mut self, granted: Vec<usize>) {
        for n in granted {
            let operation = &mut self.operations[n];
            assert_eq!(operation.stage, Stage::Waiting, "the model's own fault");
            operation.stage = Stage::Granted;
            operation.wakers.last_mut().expect("it was polled").wakes += 1;
        }
    }

    /// Looks that change nothing.
    fn look(&mut self) {
        let readable = self.model.clone().enter(Kind::Read);
        let data = if readable { self.value.to_string() } else { "<locked>".to_owned() };
        assert_eq!(format!("{:?}", self.lock), format!("{} {{ data: {data} }}", L::NAME));
    }

    fn check(&self) {
        assert_eq!(self.lock.counts(), self.model.counts());
        // Those that are over are checked once more, at the end.
        self.operations.iter().filter(|operation| operation.stage != Stage::Over).for_each(Operation::check_wakers);
    }

    /// Ends all operations, in any order.
    fn end(&mut self) {
        while let Some(n) = self.choose(&[Stage::Unpolled, Stage::Waiting, Stage::Granted, Stage::Holding]) {
            match self.operations[n].stage {
                Stage::Holding => self.release(n),
                Stage::Granted if self.random.below(2) == 0 => self.poll(n),
                _ => self.cancel(n),
            }
            self.check();
        }
        self.operations.iter().for_each(Operation::check_wakers);
        assert_eq!(self.lock.counts(), (0, false, 0, 0));
        assert_eq!(Arc::strong_count(self.lock), 1, "an owned form is left behind");
    }
}

/// How many come together now and then in the long sequences.
const CROWD: usize = 60;

/// Short sequences with few operations at a time, and some long ones in which batches of several chunks come up.
fn agrees<L: Real>() {
    let sequences = if cfg!(miri) { 8 } else { 1000 };
    for seed in 0..sequences {
        println!("seed {seed}");
        let crowded = seed % 100 == 7;
        let (steps, most) = if crowded { (300, 2 * CROWD) } else { (60, 8) };
        let mut random = Random::new(seed);
        let (lock, model) = L::new(random.below(3), crowded);
        let lock = Arc::new(lock);
        let mut run = Run { lock: &lock, model, operations: Vec::new(), random, value: 0 };
        for _ in 0..steps {
            run.step(most);
        }
        run.end();
    }
}

fn model_mutex_agrees<P: Platform>() {
    agrees::<Mutex<u64, P>>();
}

fn model_rwlock_agrees<P: Platform>() {
    agrees::<RwLock<u64, P>>();
}

crate::rules! {
    ($) model_rules in model where Platform: model_mutex_agrees, model_rwlock_agrees
}

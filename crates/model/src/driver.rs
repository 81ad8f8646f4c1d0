//! Makes the same steps on a real lock and on the reference, and compares all visible state after each step.

use crate::alphabet::{Form, Op, With};
use crate::leaked::Leaked;
use crate::real::{Acquiring, Real, Setup, ticks};
use crate::reference::{Counts, Kind, Outcome, Person, Reference, Stage, Step, World};
use core::fmt;
use core::mem;
use core::task::{Poll, Waker};
use fifolock_conformance::tools::clock::{TestTimer, forbid_clock};
use fifolock_conformance::tools::{Count, counting_waker, poll_once};
use fifolock_core::TimeoutError;
use std::sync::Arc;
use std::thread;

/// A waker, and the counts that the test expects of it.
#[derive(Debug)]
struct Expected {
    waker: Waker,
    count: Arc<Count>,
    wakes: usize,
}

impl Expected {
    fn new() -> Self {
        let (waker, count) = counting_waker();
        Self { waker, count, wakes: 0 }
    }
}

/// The real future or guard in a place. Each place has wakers of its own, so that to the lock each is a task.
struct Seat<L: Real> {
    future: Option<Acquiring<L>>,
    guard: Option<L::Guard>,
    wakers: [Expected; 2],
    current: usize,
}

impl<L: Real> Seat<L> {
    fn new() -> Self {
        Self { future: None, guard: None, wakers: [Expected::new(), Expected::new()], current: 0 }
    }

    /// Asserts that the lock keeps the newest waker of a waiting future, once more for its sleep, and no other waker.
    fn check(&self, at: usize, person: &Person) {
        let queued = usize::from(person.stage == Stage::Waiting);
        let asleep = usize::from(person.sleep.is_some_and(|sleep| !sleep.rung));
        for (n, expected) in self.wakers.iter().enumerate() {
            let kept = if n == self.current { queued + asleep } else { 0 };
            let seen = (expected.count.wakes(), expected.count.alive() - 1);
            assert_eq!(seen, (expected.wakes, kept), "wakes and kept wakers of {at}, waker {n}, {person:?}");
        }
    }
}

/// A real lock, and its reference.
pub struct Driver<L: Real> {
    lock: Leaked<L>,
    world: World<L::Reference>,
    seats: Vec<Seat<L>>,
    /// The expected value of the data.
    value: u64,
    /// The steps so far, for the message of a failing test.
    done: Vec<Op>,
}

impl<L: Real> Driver<L> {
    /// A free lock with this many places for futures and guards. Call this inside [`TestTimer::with`] of the platform.
    #[must_use]
    pub fn new(setup: Setup, places: usize) -> Self {
        let (lock, reference) = L::new(setup);
        Self {
            lock: Leaked::new(lock),
            world: World::new(reference, places),
            seats: (0..places).map(|_| Seat::new()).collect(),
            value: 0,
            done: Vec::new(),
        }
    }

    /// The reference, with its futures and guards.
    #[must_use]
    pub fn world(&self) -> &World<L::Reference> {
        &self.world
    }

    /// Makes one step. Returns `false` if the letter applies to nothing.
    ///
    /// # Panics
    ///
    /// If the lock and the reference differ.
    pub fn apply(&mut self, op: Op) -> bool {
        let steps = self.world.plan(op);
        for (op, at) in &steps {
            self.step(*op, *at);
        }
        !steps.is_empty()
    }

    fn step(&mut self, op: Op, at: usize) {
        self.done.push(op);
        let before = self.world.people[at];
        let step = self.world.apply(op, at);
        // The expected wakes must be counted before the lock may wake.
        for who in step.granted.iter().chain(&step.rung) {
            let seat = &mut self.seats[*who];
            seat.wakers[seat.current].wakes += 1;
        }
        match op {
            Op::Create(_, form, limit) => {
                let kind = self.world.people[at].kind;
                self.seats[at].future = Some(L::acquire(self.lock.get(), kind, form, limit));
            }
            Op::Poll(_, with) => self.poll(at, with, &before, &step),
            Op::Drop(..) | Op::Release(_) => self.drop_one(at),
            Op::Try(want, form) => {
                let kind = if L::Reference::IS_MUTEX { Kind::Write } else { want.into() };
                let guard = L::try_acquire(self.lock.get(), kind, form);
                assert_eq!(guard.is_some(), step.outcome == Outcome::Guard, "{op:?}");
                if let Some(guard) = guard {
                    self.hold(at, guard);
                }
            }
            Op::Downgrade(_) | Op::DowngradeToUpgradable(_) => {
                let guard = self.take_guard(at);
                self.keep(at, L::downgrade(guard, self.world.people[at].kind));
            }
            Op::Upgrade(_) => {
                let guard = self.take_guard(at);
                self.seats[at].future = Some(L::upgrade(guard));
            }
            Op::TryUpgrade(_) | Op::Map(..) => {
                let guard = self.take_guard(at);
                let result = if let Op::Map(mapping, _) = op { L::map(guard, mapping) } else { L::try_upgrade(guard) };
                assert_eq!(result.is_ok(), step.outcome == Outcome::Guard, "{op:?}");
                match result {
                    Ok(guard) if matches!(op, Op::TryUpgrade(_)) => self.hold(at, guard),
                    Ok(guard) | Err(guard) => self.keep(at, guard),
                }
            }
            Op::Forget(_) => {
                // To the lock, a forgotten future or guard is one that is never polled or dropped. The test keeps it
                // and drops it at the end, so a long run leaks nothing and can assert that the lock is free then.
                let forgotten = mem::replace(&mut self.seats[at], Seat::new());
                self.seats.push(forgotten);
            }
            Op::Pass(count) => L::Platform::advance(ticks(count)),
            Op::Look => self.look(),
            Op::Crowd(..) => unreachable!("a crowd is split into single steps"),
        }
        self.check();
    }

    fn poll(&mut self, at: usize, with: With, before: &Person, step: &Step) {
        let seat = &mut self.seats[at];
        if with == With::Other {
            seat.current = 1 - seat.current;
        }
        let waker = seat.wakers[seat.current].waker.clone();
        let future = seat.future.as_mut().expect("a future");
        let found = if before.stage == Stage::Unpolled && step.outcome == Outcome::Guard {
            // M1: a poll that enters at once uses no clock.
            forbid_clock(|| poll_once(future, &waker))
        } else {
            poll_once(future, &waker)
        };
        let outcome = match &found {
            Poll::Pending => Outcome::Pending,
            Poll::Ready(Ok(_)) => Outcome::Guard,
            Poll::Ready(Err(TimeoutError::InvalidTimeout)) => Outcome::Invalid,
            Poll::Ready(Err(_)) => Outcome::Elapsed,
        };
        assert_eq!(outcome, step.outcome, "the poll of {at}, {before:?}");
        if let Poll::Ready(result) = found {
            // The sleep ends with the operation, and not with the drop of its future.
            let sleeps = self.world.people.iter().filter(|person| person.sleep.is_some()).count();
            assert_eq!(L::Platform::armed(), Some(sleeps), "sleeps after the end of {before:?}");
            self.seats[at].future = None;
            if let Ok(guard) = result {
                self.hold(at, guard);
            }
        }
    }

    fn take_guard(&mut self, at: usize) -> L::Guard {
        self.seats[at].guard.take().expect("a guard")
    }

    /// A place has a new guard.
    fn hold(&mut self, at: usize, mut guard: L::Guard) {
        if let Some(value) = L::value_mut(&mut guard) {
            assert_eq!(*value, self.value, "the owner sees the last write");
            *value += 1;
            self.value += 1;
        }
        self.keep(at, guard);
    }

    /// A place keeps a guard, of another type.
    fn keep(&mut self, at: usize, guard: L::Guard) {
        assert_eq!(L::value(&guard), self.value, "the owner sees the last write");
        self.seats[at].guard = Some(guard);
    }

    fn drop_one(&mut self, at: usize) {
        let seat = &mut self.seats[at];
        seat.future = None;
        seat.guard = None;
    }

    fn look(&mut self) {
        let data = if self.world.lock.is_readable() { self.value.to_string() } else { "<locked>".to_owned() };
        assert_eq!(format!("{:?}", *self.lock), format!("{} {{ data: {data} }}", L::NAME));
    }

    fn check(&self) {
        assert_eq!(self.lock.counts(), self.world.lock.counts());
        let (mut sleeps, mut owners) = (0, 1);
        for (at, (seat, person)) in self.seats.iter().zip(&self.world.people).enumerate() {
            seat.check(at, person);
            sleeps += usize::from(person.sleep.is_some());
            owners += usize::from(person.stage != Stage::Absent && person.form == Form::Owned);
        }
        assert_eq!(L::Platform::armed(), Some(sleeps), "armed sleeps");
        assert_eq!(Arc::strong_count(&self.lock), owners, "owners of the lock");
    }

    /// Drops everything, forgotten futures and guards too, and asserts that the lock is free then.
    ///
    /// # Panics
    ///
    /// If the lock is not free, or differs from the reference before that.
    pub fn finish(mut self) {
        for at in 0..self.seats.len() {
            // Some granted futures are claimed first, the others are dropped unclaimed.
            if self.world.people[at].stage == Stage::Granted && at % 2 == 0 {
                self.step(Op::Poll(0, With::Same), at);
            }
            self.step(Op::Release(0), at);
        }
        assert_eq!(self.lock.counts(), Counts::default(), "the lock at the end");
        assert_eq!(L::Platform::armed(), Some(0), "sleeps at the end");
        assert_eq!(Arc::strong_count(&self.lock), 1, "an owner is left behind");
    }
}

impl<L: Real> Drop for Driver<L> {
    fn drop(&mut self) {
        if thread::panicking() {
            // The lock is broken. Another step on it might hide the cause.
            eprintln!("after {:?}", self.done);
            mem::forget(mem::take(&mut self.seats));
            return;
        }
        self.seats.clear();
        // SAFETY: only the seats borrowed the lock, and they have been dropped. `self` is being dropped, so this is the
        // last use.
        unsafe { self.lock.reclaim() };
    }
}

impl<L: Real> fmt::Debug for Driver<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("lock", &*self.lock).field("world", &self.world).finish_non_exhaustive()
    }
}

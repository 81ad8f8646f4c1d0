//! Tasks with many futures.

pub(crate) use crate::tools::subject::{
    Case, Form, Guard, Hidden, Op, POLICIES, Subject, each_policy, each_policy_with, each_serial, each_serial_left,
};
use crate::tools::{Boxed, Count, Hooks, hooked_waker, poll_once};
use core::cell::Cell;
use core::future::Future;
use core::task::{Poll, Waker};
use std::sync::Arc;

/// The number of polls in a row that only suspect the task. The next one, the third, steals (R1).
pub(crate) const SUSPICIONS: usize = 2;

/// A task: the waker with which it polls all of its futures.
#[derive(Debug)]
pub(crate) struct Actor {
    waker: Waker,
    count: Arc<Count>,
    seen: Cell<usize>,
}

impl Actor {
    pub(crate) fn new() -> Self {
        Self::with_hooks(Hooks::default())
    }

    pub(crate) fn with_hooks(hooks: Hooks) -> Self {
        let (waker, count) = hooked_waker(hooks);
        Self { waker, count, seen: Cell::new(0) }
    }

    pub(crate) fn many(n: usize) -> Vec<Self> {
        (0..n).map(|_| Self::new()).collect()
    }

    /// The number of wakes since the last call.
    pub(crate) fn woken(&self) -> usize {
        let wakes = self.count.wakes();
        wakes - self.seen.replace(wakes)
    }

    /// Whether the task was woken since the last call of `woken`.
    pub(crate) fn is_woken(&self) -> bool {
        self.count.wakes() > self.seen.get()
    }

    /// The number of clones of the task's waker that the lock keeps.
    pub(crate) fn kept(&self) -> usize {
        self.count.alive() - 1
    }

    pub(crate) fn poll<F: Future + ?Sized>(&self, future: &mut Boxed<F>) -> Poll<F::Output> {
        poll_once(future, &self.waker)
    }

    #[track_caller]
    pub(crate) fn pending<F: Future + ?Sized>(&self, future: &mut Boxed<F>) {
        assert!(self.poll(future).is_pending(), "expected Pending, found Ready");
    }

    #[track_caller]
    pub(crate) fn ready<F: Future + ?Sized>(&self, future: &mut Boxed<F>) -> F::Output {
        match self.poll(future) {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("expected Ready, found Pending"),
        }
    }

    /// Polls a future that is ready, after exactly one wake.
    #[track_caller]
    pub(crate) fn served<F: Future + ?Sized>(&self, future: &mut Boxed<F>) -> F::Output {
        assert_eq!(self.woken(), 1, "one grant, one wake");
        self.ready(future)
    }

    /// Polls a future for the first time. The future must wait, and nothing else may happen.
    #[track_caller]
    pub(crate) fn queue<F: Future + ?Sized>(&self, mut future: Boxed<F>) -> Boxed<F> {
        self.pending(&mut future);
        assert_eq!(self.woken(), 0, "the task has no unclaimed grant");
        future
    }

    /// Makes the polls that suspect the task because of its unclaimed grant.
    #[track_caller]
    pub(crate) fn suspect<F: Future + ?Sized>(&self, future: &mut Boxed<F>) {
        for _ in 0..SUSPICIONS {
            self.pending(future);
            assert_eq!(self.woken(), 1, "the task is woken once more");
        }
    }

    /// Makes the polls that suspect the task, and the poll that steals the grant.
    #[track_caller]
    pub(crate) fn rescue<F: Future + ?Sized>(&self, future: &mut Boxed<F>) -> F::Output {
        self.suspect(future);
        let output = self.ready(future);
        assert_eq!(self.woken(), 0, "a poll that is ready wakes nobody");
        output
    }

    /// Polls until the future is ready or a poll does not wake its own task; returns the number of polls, and the
    /// output.
    #[track_caller]
    pub(crate) fn drive<F: Future + ?Sized>(&self, future: &mut Boxed<F>) -> (usize, Option<F::Output>) {
        self.woken();
        for polls in 1..1000 {
            if let Poll::Ready(output) = self.poll(future) {
                return (polls, Some(output));
            }
            match self.woken() {
                0 => return (polls, None),
                wakes => assert_eq!(wakes, 1, "a poll wakes its own task once"),
            }
        }
        panic!("the task wakes itself without end");
    }
}

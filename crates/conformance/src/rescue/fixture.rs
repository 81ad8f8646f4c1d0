//! Tasks with many futures.

pub(crate) use crate::tools::subject::{
    Case, Form, Guard, Hidden, Op, POLICIES, Subject, each_policy, each_policy_with, each_serial,
};
use crate::tools::{Boxed, Count, Hooks, hooked_waker, poll_once};
use core::cell::Cell;
use core::future::Future;
use core::task::{Poll, Waker};
use std::sync::Arc;

/// How many polls in a row suspect the task before the one that steals: the third steals (R1).
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

    /// How often it was woken since this was asked last.
    pub(crate) fn woken(&self) -> usize {
        let wakes = self.count.wakes();
        wakes - self.seen.replace(wakes)
    }

    /// Whether it was woken since then.
    pub(crate) fn is_woken(&self) -> bool {
        self.count.wakes() > self.seen.get()
    }

    /// How many clones of its waker others keep.
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

    /// Woken once, and it is its turn.
    #[track_caller]
    pub(crate) fn served<F: Future + ?Sized>(&self, future: &mut Boxed<F>) -> F::Output {
        assert_eq!(self.woken(), 1, "one grant, one wake");
        self.ready(future)
    }

    /// Polls a future for the first time, which has to wait, and nothing else happens.
    #[track_caller]
    pub(crate) fn queue<F: Future + ?Sized>(&self, mut future: Boxed<F>) -> Boxed<F> {
        self.pending(&mut future);
        assert_eq!(self.woken(), 0, "nothing of its own is unclaimed");
        future
    }

    /// The polls that suspect the task because of its unclaimed grant.
    #[track_caller]
    pub(crate) fn suspect<F: Future + ?Sized>(&self, future: &mut Boxed<F>) {
        for _ in 0..SUSPICIONS {
            self.pending(future);
            assert_eq!(self.woken(), 1, "the task is woken once more");
        }
    }

    /// Suspects the task as often as it takes, and steals the grant.
    #[track_caller]
    pub(crate) fn rescue<F: Future + ?Sized>(&self, future: &mut Boxed<F>) -> F::Output {
        self.suspect(future);
        let output = self.ready(future);
        assert_eq!(self.woken(), 0, "who is Ready need not be woken");
        output
    }

    /// Polls as long as that wakes the task itself, and it is not ready; returns how often, and the output.
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
        panic!("it wakes itself for ever");
    }
}

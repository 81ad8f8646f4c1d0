//! A future with a waker of its own.

use super::{Boxed, Count, Hooks, hooked_waker, poll_once};
use core::future::Future;
use core::task::{Poll, Waker};
use std::sync::Arc;

/// A future and the one waker that it is polled with, which is a task to the locks.
#[derive(Debug)]
pub struct Task<F: Future> {
    future: Option<Boxed<F>>,
    waker: Waker,
    count: Arc<Count>,
}

impl<F: Future> Task<F> {
    /// A task that has not been polled.
    #[must_use]
    pub fn new(future: F) -> Self {
        Self::with_hooks(future, Hooks::default())
    }

    /// A task that has not been polled, with hooks in its waker.
    #[must_use]
    pub fn with_hooks(future: F, hooks: Hooks) -> Self {
        let (waker, count) = hooked_waker(hooks);
        Self { future: Some(Box::pin(future)), waker, count }
    }

    /// A task that was polled once and is pending.
    #[must_use]
    #[track_caller]
    pub fn queued(future: F) -> Self {
        let mut task = Self::new(future);
        task.pending();
        task
    }

    /// Polls once.
    ///
    /// # Panics
    ///
    /// If the task was dropped or taken.
    #[track_caller]
    pub fn poll(&mut self) -> Poll<F::Output> {
        poll_once(self.future.as_mut().expect("the future is gone"), &self.waker)
    }

    /// Polls once, with the waker of another task.
    ///
    /// # Panics
    ///
    /// If the task was dropped or taken.
    #[track_caller]
    pub fn poll_with(&mut self, waker: &Waker) -> Poll<F::Output> {
        poll_once(self.future.as_mut().expect("the future is gone"), waker)
    }

    /// Asserts that one poll is `Pending`.
    #[track_caller]
    pub fn pending(&mut self) {
        assert!(self.poll().is_pending(), "expected Pending, found Ready");
    }

    /// Asserts that one poll is `Ready`; returns the output.
    #[track_caller]
    pub fn ready(&mut self) -> F::Output {
        match self.poll() {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("expected Ready, found Pending"),
        }
    }

    /// Drops the future, and keeps the counts.
    pub fn cancel(&mut self) {
        drop(self.take());
    }

    /// Takes the future out, and keeps the counts.
    pub fn take(&mut self) -> Option<Boxed<F>> {
        self.future.take()
    }

    /// The number of times the task was woken.
    #[must_use]
    pub fn wakes(&self) -> usize {
        self.count.wakes()
    }

    /// The number of clones of the task's waker that exist elsewhere.
    #[must_use]
    pub fn wakers_kept(&self) -> usize {
        self.count.alive() - 1
    }
}

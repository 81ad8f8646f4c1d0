//! The locks, with operations whose wait has a limit.

use crate::tools::Task;
use crate::tools::clock::TestTimer;
use crate::tools::subject::{Case, Subject};
pub(crate) use crate::tools::subject::{Form, Guard, Hidden, Op, Outcome};
use core::fmt::{self, Debug};
use core::future::Future;
use core::ops::Deref;
use core::task::Poll;
use core::time::Duration;
use fifolock_core::rwlock::RwLockPolicy::WriterPreferring;
use fifolock_core::{RwLock, TimeoutError};

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The kind of limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// `…_timeout`
    Timeout,
    /// `…_deadline`
    Deadline,
}
use Limit::{Deadline, Timeout};

pub(crate) type Waiting<'a> = Task<Hidden<'a, Outcome<'a>>>;

/// A lock, and the operation that the rule is about.
pub(crate) struct Fixture<P: TestTimer> {
    pub(crate) op: Op,
    pub(crate) limit: Limit,
    subject: Subject<P>,
}

impl<P: TestTimer> Clone for Fixture<P> {
    /// Another handle of the same lock.
    fn clone(&self) -> Self {
        Self { subject: self.subject.clone(), ..*self }
    }
}

impl<P: TestTimer> Deref for Fixture<P> {
    type Target = Subject<P>;

    fn deref(&self) -> &Subject<P> {
        &self.subject
    }
}

impl<P: TestTimer> Fixture<P> {
    /// A fresh lock.
    pub(crate) fn new(op: Op, form: Form, limit: Limit) -> Self {
        Self::of(Subject::new(WriterPreferring, RwLock::<u32, P>::MAX_READERS, form), op, limit)
    }

    pub(crate) fn of(subject: Subject<P>, op: Op, limit: Limit) -> Self {
        Self { op, limit, subject }
    }

    /// Runs `rule` for every operation that `select` wants, in both forms, each with a fresh lock and clock. At the
    /// end the lock must be free.
    pub(crate) fn each(select: impl Fn(Op, Limit) -> bool, rule: impl Fn(&Self)) {
        for op in Op::ALL {
            for (form, limit) in Self::WAYS {
                if select(op, limit) {
                    let _case = Case((op, form, limit));
                    P::with(|| {
                        let f = Self::new(op, form, limit);
                        rule(&f);
                        f.assert_free();
                    });
                }
            }
        }
    }

    /// All forms with all limits.
    pub(crate) const WAYS: [(Form, Limit); 4] =
        [(Form::Borrowed, Timeout), (Form::Borrowed, Deadline), (Form::Owned, Timeout), (Form::Owned, Deadline)];

    /// Runs `rule` for every operation, form and limit.
    pub(crate) fn every(rule: impl Fn(&Self)) {
        Self::each(|_, _| true, rule);
    }

    /// Runs `rule` for every operation with a duration.
    pub(crate) fn every_timeout(rule: impl Fn(&Self)) {
        Self::each(|_, limit| limit == Timeout, rule);
    }

    /// Runs `rule` for every operation with a point in time.
    pub(crate) fn every_deadline(rule: impl Fn(&Self)) {
        Self::each(|_, limit| limit == Deadline, rule);
    }

    /// Runs `rule` for every operation that excludes all others.
    pub(crate) fn every_exclusive(rule: impl Fn(&Self)) {
        Self::each(|op, _| op.is_exclusive(), rule);
    }

    /// Runs `rule` for every operation, with another future as its limit.
    pub(crate) fn every_until(rule: impl Fn(&Self)) {
        Self::each(|_, limit| limit == Timeout, rule);
    }

    /// The operation with a limit that is counted from now.
    pub(crate) fn timed(&self, limit: Duration) -> Hidden<'_, Outcome<'_>> {
        match self.limit {
            Timeout => self.with_timeout(limit),
            Deadline => self.with_deadline(P::instant_in(limit)),
        }
    }

    pub(crate) fn with_timeout(&self, timeout: Duration) -> Hidden<'_, Outcome<'_>> {
        self.subject.timeout(self.op, P::span(timeout))
    }

    pub(crate) fn with_deadline(&self, deadline: P::Instant) -> Hidden<'_, Outcome<'_>> {
        self.subject.deadline(self.op, deadline)
    }

    /// `run_exclusive_…` or `run_shared_…` with a limit that is counted from now. Upgradable reads have no such method,
    /// so an async block holds their guard instead.
    pub(crate) fn run<'a, F>(&'a self, limit: Duration, f: F) -> Hidden<'a, Result<(), TimeoutError>>
    where
        F: AsyncFnOnce() + 'a,
    {
        let (mutex, rwlock) = (&self.mutex, &self.rwlock);
        if self.limit == Deadline {
            let deadline = P::instant_in(limit);
            return match self.op {
                Op::Lock => Box::pin(mutex.run_exclusive_deadline(deadline, async |_| f().await)),
                Op::Read => Box::pin(rwlock.run_shared_deadline(deadline, async |_| f().await)),
                Op::Write => Box::pin(rwlock.run_exclusive_deadline(deadline, async |_| f().await)),
                Op::Upgradable => self.run_guarded(self.with_deadline(deadline), f),
            };
        }
        let timeout = P::span(limit);
        match self.op {
            Op::Lock => Box::pin(mutex.run_exclusive_timeout(timeout, async |_| f().await)),
            Op::Read => Box::pin(rwlock.run_shared_timeout(timeout, async |_| f().await)),
            Op::Write => Box::pin(rwlock.run_exclusive_timeout(timeout, async |_| f().await)),
            Op::Upgradable => self.run_guarded(self.with_timeout(limit), f),
        }
    }

    #[allow(clippy::unused_self, reason = "it gives the lifetime")]
    fn run_guarded<'a, E: 'a>(
        &'a self,
        acquire: Hidden<'a, Result<Guard<'a>, E>>,
        f: impl AsyncFnOnce() + 'a,
    ) -> Hidden<'a, Result<(), E>> {
        Box::pin(async move {
            let _guard = acquire.await?;
            f().await;
            Ok(())
        })
    }

    /// The operation until another future is ready.
    pub(crate) fn until<'a, F: Future + 'a>(&'a self, other: F) -> Hidden<'a, Result<Guard<'a>, F::Output>> {
        self.subject.until(self.op, other)
    }

    /// `run_exclusive_until` or `run_shared_until`, by the kind of operation.
    pub(crate) fn run_until<'a, E, F>(&'a self, other: E, f: F) -> Hidden<'a, Result<(), E::Output>>
    where
        E: Future + 'a,
        F: AsyncFnOnce() + 'a,
    {
        match self.op {
            Op::Lock => Box::pin(self.mutex.run_exclusive_until(other, async |_| f().await)),
            Op::Read => Box::pin(self.rwlock.run_shared_until(other, async |_| f().await)),
            Op::Write => Box::pin(self.rwlock.run_exclusive_until(other, async |_| f().await)),
            Op::Upgradable => self.run_guarded(self.until(other), f),
        }
    }

    /// The timed operation, after one poll that was pending.
    #[track_caller]
    pub(crate) fn wait(&self, limit: Duration) -> Waiting<'_> {
        queued::<P, _, _>(|| self.timed(limit))
    }

    /// The locks, without the fixture's operation.
    pub(crate) fn subject(&self) -> &Subject<P> {
        &self.subject
    }

    /// The operation that excludes all others.
    fn exclusive(&self) -> Op {
        if self.op == Op::Lock { Op::Lock } else { Op::Write }
    }

    /// The untimed exclusive operation on the same lock.
    pub(crate) fn plain(&self) -> Hidden<'static> {
        self.subject.owned(self.exclusive())
    }

    /// Holds the lock, so that every operation has to wait.
    #[track_caller]
    pub(crate) fn hold(&self) -> Guard<'static> {
        self.try_hold().expect("the lock is free")
    }

    pub(crate) fn try_hold(&self) -> Option<Guard<'static>> {
        self.subject.attempt_owned(self.exclusive())
    }

    /// The number of owners and waiters of the lock.
    pub(crate) fn state(&self) -> State {
        State { owners: self.inside(), waiters: self.waiting() }
    }

    /// Asserts that the lock is free, has no waiters, and can be taken.
    #[track_caller]
    pub(crate) fn assert_free(&self) {
        assert_eq!(self.state(), State { owners: 0, waiters: 0 });
        drop(self.hold());
        assert_eq!(self.state(), State { owners: 0, waiters: 0 });
    }
}

/// A timed operation, after one poll that was pending. On a clock that runs by itself the first attempts may come too
/// late.
#[track_caller]
pub(crate) fn queued<P, G, F>(operation: impl Fn() -> F) -> Task<F>
where
    P: TestTimer,
    F: Future<Output = Result<G, TimeoutError>>,
{
    loop {
        let mut task = Task::new(operation());
        match task.poll() {
            Poll::Pending => return task,
            Poll::Ready(Err(error)) if !P::EXACT && error.is_elapsed() => {}
            Poll::Ready(_) => panic!("expected Pending, found Ready"),
        }
    }
}

/// Asserts that the operation times out now.
#[track_caller]
pub(crate) fn assert_elapsed(waiting: &mut Waiting<'_>) {
    let error = waiting.ready().expect_err("it was not granted");
    assert!(error.is_elapsed(), "{error:?}");
}

/// Asserts the number of sleeps, if the clock counts them.
#[track_caller]
pub(crate) fn assert_armed<P: TestTimer>(count: usize) {
    if let Some(armed) = P::armed() {
        assert_eq!(armed, count, "sleeps");
    }
}

/// Lets nearly `by` pass, asserts on an exact clock that the operation still waits, and lets the rest pass.
#[track_caller]
pub(crate) fn advance_to_the_end<P: TestTimer, F: Future>(by: Duration, waiting: &mut Task<F>) {
    if P::EXACT {
        P::advance(by - ms(1));
        waiting.pending();
        P::advance(ms(1));
    } else {
        P::advance(by);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) owners: usize,
    pub(crate) waiters: usize,
}

impl Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} own, {} wait", self.owners, self.waiters)
    }
}

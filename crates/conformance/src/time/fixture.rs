//! What the rules of time are told of: every way to wait with a limit, behind one face.

use crate::tools::Task;
use crate::tools::clock::TestTimer;
use core::fmt::{self, Debug};
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::Poll;
use core::time::Duration;
use fifolock_core::{Mutex, RwLock, TimeoutError};
use std::sync::Arc;

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A lock operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Lock,
    LockOwned,
    Read,
    ReadOwned,
    Write,
    WriteOwned,
}
use Kind::{Lock, LockOwned, Read, ReadOwned, Write, WriteOwned};

impl Kind {
    const ALL: [Self; 6] = [Lock, LockOwned, Read, ReadOwned, Write, WriteOwned];

    fn is_mutex(self) -> bool {
        matches!(self, Lock | LockOwned)
    }

    pub(crate) fn is_exclusive(self) -> bool {
        !matches!(self, Read | ReadOwned)
    }

    /// What an error calls what was waited for.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Lock | LockOwned => "mutex",
            Read | ReadOwned => "read lock",
            Write | WriteOwned => "write lock",
        }
    }
}

/// How the limit is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// `…_timeout`
    Timeout,
    /// `…_deadline`
    Deadline,
}
use Limit::{Deadline, Timeout};

/// A guard of any kind: only its drop matters.
pub(crate) trait Held: Debug {}
impl<T: Debug> Held for T {}

pub(crate) type Guard<'a> = Box<dyn Held + 'a>;
pub(crate) type Outcome<'a> = Result<Guard<'a>, TimeoutError>;
/// A future whose type is hidden.
pub(crate) type Hidden<'a, O> = Pin<Box<dyn Future<Output = O> + 'a>>;
pub(crate) type Waiting<'a> = Task<Hidden<'a, Outcome<'a>>>;

/// The future itself, which stays alive after it was ready, with its guard's type hidden.
fn hide<'a, F, O, H>(future: F, hide: impl Fn(F::Output) -> H + 'a) -> Hidden<'a, H>
where
    F: Future<Output = O> + 'a,
{
    let mut future = Box::pin(future);
    Box::pin(poll_fn(move |cx| future.as_mut().poll(cx).map(&hide)))
}

fn hide_timed<'a, G, F>(future: F) -> Hidden<'a, Outcome<'a>>
where
    G: Held + 'a,
    F: Future<Output = Result<G, TimeoutError>> + 'a,
{
    hide(future, |result| result.map(|guard| Box::new(guard) as Guard<'a>))
}

fn hide_plain<'a, G, F>(future: F) -> Hidden<'a, Guard<'a>>
where
    G: Held + 'a,
    F: Future<Output = G> + 'a,
{
    hide(future, |guard| Box::new(guard) as Guard<'a>)
}

/// A lock, and the operation that the rule is about.
pub(crate) struct Fixture<P: TestTimer> {
    pub(crate) kind: Kind,
    pub(crate) limit: Limit,
    mutex: Arc<Mutex<u32, P>>,
    pub(crate) rwlock: Arc<RwLock<u32, P>>,
}

impl<P: TestTimer> Clone for Fixture<P> {
    /// The same lock.
    fn clone(&self) -> Self {
        Self { mutex: Arc::clone(&self.mutex), rwlock: Arc::clone(&self.rwlock), ..*self }
    }
}

impl<P: TestTimer> Fixture<P> {
    /// A fresh lock.
    #[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
    pub(crate) fn new(kind: Kind, limit: Limit) -> Self {
        Self { kind, limit, mutex: Arc::new(Mutex::new(0)), rwlock: Arc::new(RwLock::new(0)) }
    }

    /// Runs `rule` for every operation that `select` wants, each with a fresh lock and clock.
    pub(crate) fn each(select: impl Fn(Kind, Limit) -> bool, rule: impl Fn(&Self)) {
        struct Case(Kind, Limit);
        impl Drop for Case {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    std::eprintln!("while testing {:?} with {:?}", self.0, self.1);
                }
            }
        }
        for kind in Kind::ALL {
            for limit in [Timeout, Deadline] {
                if select(kind, limit) {
                    let _case = Case(kind, limit);
                    P::with(|| rule(&Self::new(kind, limit)));
                }
            }
        }
    }

    /// For every operation.
    pub(crate) fn every(rule: impl Fn(&Self)) {
        Self::each(|_, _| true, rule);
    }

    /// For every operation with a duration.
    pub(crate) fn every_timeout(rule: impl Fn(&Self)) {
        Self::each(|_, limit| limit == Timeout, rule);
    }

    /// For every operation with a point in time.
    pub(crate) fn every_deadline(rule: impl Fn(&Self)) {
        Self::each(|_, limit| limit == Deadline, rule);
    }

    /// For every operation that excludes all others.
    pub(crate) fn every_exclusive(rule: impl Fn(&Self)) {
        Self::each(|kind, _| kind.is_exclusive(), rule);
    }

    /// For every operation, with another future as its limit.
    pub(crate) fn every_until(rule: impl Fn(&Self)) {
        Self::each(|_, limit| limit == Timeout, rule);
    }

    /// The operation with a limit, the time being said now.
    pub(crate) fn timed(&self, limit: Duration) -> Hidden<'_, Outcome<'_>> {
        match self.limit {
            Timeout => self.with_timeout(limit),
            Deadline => self.with_deadline(P::instant_in(limit)),
        }
    }

    pub(crate) fn with_timeout(&self, timeout: Duration) -> Hidden<'_, Outcome<'_>> {
        let timeout = P::span(timeout);
        match self.kind {
            Lock => hide_timed(self.mutex.lock_timeout(timeout)),
            LockOwned => hide_timed(Arc::clone(&self.mutex).lock_owned_timeout(timeout)),
            Read => hide_timed(self.rwlock.read_timeout(timeout)),
            ReadOwned => hide_timed(Arc::clone(&self.rwlock).read_owned_timeout(timeout)),
            Write => hide_timed(self.rwlock.write_timeout(timeout)),
            WriteOwned => hide_timed(Arc::clone(&self.rwlock).write_owned_timeout(timeout)),
        }
    }

    pub(crate) fn with_deadline(&self, deadline: P::Instant) -> Hidden<'_, Outcome<'_>> {
        match self.kind {
            Lock => hide_timed(self.mutex.lock_deadline(deadline)),
            LockOwned => hide_timed(Arc::clone(&self.mutex).lock_owned_deadline(deadline)),
            Read => hide_timed(self.rwlock.read_deadline(deadline)),
            ReadOwned => hide_timed(Arc::clone(&self.rwlock).read_owned_deadline(deadline)),
            Write => hide_timed(self.rwlock.write_deadline(deadline)),
            WriteOwned => hide_timed(Arc::clone(&self.rwlock).write_owned_deadline(deadline)),
        }
    }

    /// `run_exclusive_…` or `run_shared_…`, as the kind is, with a limit, the time being said now.
    pub(crate) fn run<'a, F>(&'a self, limit: Duration, f: F) -> Hidden<'a, Result<(), TimeoutError>>
    where
        F: AsyncFnOnce() + 'a,
    {
        match self.limit {
            Timeout => {
                let timeout = P::span(limit);
                match self.kind {
                    Lock | LockOwned => Box::pin(self.mutex.run_exclusive_timeout(timeout, async |_| f().await)),
                    Read | ReadOwned => Box::pin(self.rwlock.run_shared_timeout(timeout, async |_| f().await)),
                    Write | WriteOwned => Box::pin(self.rwlock.run_exclusive_timeout(timeout, async |_| f().await)),
                }
            }
            Deadline => {
                let deadline = P::instant_in(limit);
                match self.kind {
                    Lock | LockOwned => Box::pin(self.mutex.run_exclusive_deadline(deadline, async |_| f().await)),
                    Read | ReadOwned => Box::pin(self.rwlock.run_shared_deadline(deadline, async |_| f().await)),
                    Write | WriteOwned => Box::pin(self.rwlock.run_exclusive_deadline(deadline, async |_| f().await)),
                }
            }
        }
    }

    /// The operation until another future is ready.
    pub(crate) fn until<'a, F: Future + 'a>(&'a self, other: F) -> Hidden<'a, Result<Guard<'a>, F::Output>> {
        fn guard<'a, G: Held + 'a, E>(result: Result<G, E>) -> Result<Guard<'a>, E> {
            result.map(|guard| Box::new(guard) as Guard<'a>)
        }
        match self.kind {
            Lock => hide(self.mutex.lock_until(other), guard),
            LockOwned => hide(Arc::clone(&self.mutex).lock_owned_until(other), guard),
            Read => hide(self.rwlock.read_until(other), guard),
            ReadOwned => hide(Arc::clone(&self.rwlock).read_owned_until(other), guard),
            Write => hide(self.rwlock.write_until(other), guard),
            WriteOwned => hide(Arc::clone(&self.rwlock).write_owned_until(other), guard),
        }
    }

    /// `run_exclusive_until` or `run_shared_until`, as the kind is.
    pub(crate) fn run_until<'a, E, F>(&'a self, other: E, f: F) -> Hidden<'a, Result<(), E::Output>>
    where
        E: Future + 'a,
        F: AsyncFnOnce() + 'a,
    {
        match self.kind {
            Lock | LockOwned => Box::pin(self.mutex.run_exclusive_until(other, async |_| f().await)),
            Read | ReadOwned => Box::pin(self.rwlock.run_shared_until(other, async |_| f().await)),
            Write | WriteOwned => Box::pin(self.rwlock.run_exclusive_until(other, async |_| f().await)),
        }
    }

    /// The timed operation, polled once while it has to wait.
    #[track_caller]
    pub(crate) fn wait(&self, limit: Duration) -> Waiting<'_> {
        queued::<P, _, _>(|| self.timed(limit))
    }

    /// The untimed exclusive operation on the same lock.
    pub(crate) fn plain(&self) -> Hidden<'_, Guard<'_>> {
        if self.kind.is_mutex() { hide_plain(self.mutex.lock()) } else { hide_plain(self.rwlock.write()) }
    }

    /// Holds the lock, so that every operation has to wait.
    #[track_caller]
    pub(crate) fn hold(&self) -> Guard<'static> {
        self.try_hold().expect("the lock is free")
    }

    pub(crate) fn try_hold(&self) -> Option<Guard<'static>> {
        if self.kind.is_mutex() {
            Some(Box::new(Arc::clone(&self.mutex).try_lock_owned().ok()?))
        } else {
            Some(Box::new(Arc::clone(&self.rwlock).try_write_owned().ok()?))
        }
    }

    /// Owners and waiters of the lock.
    pub(crate) fn state(&self) -> State {
        if self.kind.is_mutex() {
            let state = self.mutex.state();
            State { owners: usize::from(state.locked), waiters: state.queued }
        } else {
            let state = self.rwlock.state();
            State {
                owners: state.readers + usize::from(state.writer),
                waiters: state.waiting_readers + state.waiting_writers,
            }
        }
    }

    /// Asserts that nobody holds or waits, and that the lock can be taken.
    #[track_caller]
    pub(crate) fn assert_free(&self) {
        assert_eq!(self.state(), State { owners: 0, waiters: 0 });
        drop(self.hold());
        assert_eq!(self.state(), State { owners: 0, waiters: 0 });
    }
}

/// A timed operation, polled once while it has to wait. A clock that does not stand still may make the first ones late.
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

/// Asserts that the operation ends now, in time-out.
#[track_caller]
pub(crate) fn assert_elapsed(waiting: &mut Waiting<'_>) {
    let error = waiting.ready().expect_err("it was not granted");
    assert!(error.is_elapsed(), "{error:?}");
}

/// Asserts how many sleeps exist, where the clock can tell.
#[track_caller]
pub(crate) fn assert_armed<P: TestTimer>(count: usize) {
    if let Some(armed) = P::armed() {
        assert_eq!(armed, count, "sleeps");
    }
}

/// Lets `by` pass but for a moment, and asserts that the operation still waits, where the clock is exact; then lets the
/// rest pass.
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

//! Every way to take a lock behind one interface: the lock, the operation, borrowed or owned, and the limit of the
//! wait.

use super::{Boxed, Platform, poll_once};
use core::fmt::{self, Debug};
use core::future::{Future, poll_fn};
use core::task::{Poll, Waker};
use fifolock_core::platform::Timer;
use fifolock_core::rwlock::RwLockPolicy::{self, PhaseFair, TaskFair, WriterPreferring};
use fifolock_core::{Mutex, RwLock, TimeoutError};
use std::sync::Arc;

/// The policies of the read-write lock.
pub const POLICIES: [RwLockPolicy; 3] = [WriterPreferring, TaskFair, PhaseFair];

/// A lock operation: the first is that of a mutex, the others are those of a read-write lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `lock`
    Lock,
    /// `read`
    Read,
    /// `upgradable_read`
    Upgradable,
    /// `write`
    Write,
}

impl Op {
    /// All operations.
    pub const ALL: [Self; 4] = [Self::Lock, Self::Read, Self::Upgradable, Self::Write];

    /// Whether a guard of the operation excludes others of its kind.
    #[must_use]
    pub fn is_exclusive(self) -> bool {
        self != Self::Read
    }

    /// The name of the operation in an error.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Lock => "mutex",
            Self::Read => "read lock",
            Self::Upgradable => "upgradable read lock",
            Self::Write => "write lock",
        }
    }
}

/// Whether futures and guards borrow the lock or share in its ownership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// `lock`
    Borrowed,
    /// `lock_owned`
    Owned,
}

impl Form {
    /// Both forms.
    pub const ALL: [Self; 2] = [Self::Borrowed, Self::Owned];
}

/// A guard of any kind, which a test only drops.
pub trait Held: Debug {}
impl<T: Debug> Held for T {}

/// A guard whose type is hidden.
pub type Guard<'a> = Box<dyn Held + 'a>;
/// A future whose type is hidden. The future stays alive after it was ready.
pub type Hidden<'a, O = Guard<'a>> = Boxed<dyn Future<Output = O> + 'a>;
/// How a wait with a limit ends.
pub type Outcome<'a> = Result<Guard<'a>, TimeoutError>;

/// Hides the type of a future, and with `hide` the type of its output.
pub fn hidden<'a, F: Future + 'a, O>(future: F, hide: impl Fn(F::Output) -> O + 'a) -> Hidden<'a, O> {
    let mut future = Box::pin(future);
    Box::pin(poll_fn(move |cx| future.as_mut().poll(cx).map(&hide)))
}

fn guard<'a, G: Held + 'a>(guard: G) -> Guard<'a> {
    Box::new(guard)
}

fn outcome<'a, G: Held + 'a, E>(result: Result<G, E>) -> Result<Guard<'a>, E> {
    result.map(guard)
}

/// A mutex and a read-write lock, of which a rule uses one.
pub struct Subject<P: Platform> {
    /// The form of all futures and guards.
    pub form: Form,
    /// For [`Op::Lock`].
    pub mutex: Arc<Mutex<u32, P>>,
    /// For the other operations.
    pub rwlock: Arc<RwLock<u32, P>>,
}

impl<P: Platform> Debug for Subject<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Subject").field(&self.form).field(&self.mutex).field(&self.rwlock).finish()
    }
}

impl<P: Platform> Clone for Subject<P> {
    /// Another handle of the same locks.
    fn clone(&self) -> Self {
        Self { form: self.form, mutex: Arc::clone(&self.mutex), rwlock: Arc::clone(&self.rwlock) }
    }
}

/// The method of an operation in its form.
macro_rules! in_each_way {
    (
        $subject:expr, $op:expr, $form:expr, $argument:tt, $hide:expr;
        $lock:ident $lock_owned:ident, $read:ident $read_owned:ident,
        $upgradable:ident $upgradable_owned:ident, $write:ident $write_owned:ident
    ) => {{
        let Subject { mutex, rwlock, .. } = $subject;
        match ($op, $form) {
            (Op::Lock, Form::Borrowed) => $hide(mutex.$lock $argument),
            (Op::Lock, Form::Owned) => $hide(Arc::clone(mutex).$lock_owned $argument),
            (Op::Read, Form::Borrowed) => $hide(rwlock.$read $argument),
            (Op::Read, Form::Owned) => $hide(Arc::clone(rwlock).$read_owned $argument),
            (Op::Upgradable, Form::Borrowed) => $hide(rwlock.$upgradable $argument),
            (Op::Upgradable, Form::Owned) => $hide(Arc::clone(rwlock).$upgradable_owned $argument),
            (Op::Write, Form::Borrowed) => $hide(rwlock.$write $argument),
            (Op::Write, Form::Owned) => $hide(Arc::clone(rwlock).$write_owned $argument),
        }
    }};
}

fn hide_plain<'a, G: Held + 'a>(future: impl Future<Output = G> + 'a) -> Hidden<'a> {
    hidden(future, guard)
}

fn hide_result<'a, G: Held + 'a, E: 'a>(
    future: impl Future<Output = Result<G, E>> + 'a,
) -> Hidden<'a, Result<Guard<'a>, E>> {
    hidden(future, outcome)
}

impl<P: Platform> Subject<P> {
    /// Free locks. The read-write lock has room for `most` readers.
    #[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
    #[must_use]
    pub fn new(policy: RwLockPolicy, most: u32, form: Form) -> Self {
        let rwlock = Arc::new(RwLock::with_policy_and_max_readers(0, policy, most));
        Self { form, mutex: Arc::default(), rwlock }
    }

    /// A future of the operation, not polled.
    pub fn op(&self, op: Op) -> Hidden<'_> {
        in_each_way!(
            self, op, self.form, (), hide_plain;
            lock lock_owned, read read_owned, upgradable_read upgradable_read_owned, write write_owned
        )
    }

    /// A future of the operation that owns a share of the lock, whatever the subject's form.
    pub fn owned(&self, op: Op) -> Hidden<'static> {
        let (mutex, rwlock) = (Arc::clone(&self.mutex), Arc::clone(&self.rwlock));
        match op {
            Op::Lock => hide_plain(mutex.lock_owned()),
            Op::Read => hide_plain(rwlock.read_owned()),
            Op::Upgradable => hide_plain(rwlock.upgradable_read_owned()),
            Op::Write => hide_plain(rwlock.write_owned()),
        }
    }

    /// `run_exclusive` or `run_shared`.
    ///
    /// # Panics
    ///
    /// If the operation is an upgradable read, which has no such method.
    pub fn run<'a, O: 'a>(&'a self, op: Op, body: impl AsyncFnOnce() -> O + 'a) -> Hidden<'a, O> {
        match op {
            Op::Lock => Box::pin(self.mutex.run_exclusive(async |_| body().await)),
            Op::Read => Box::pin(self.rwlock.run_shared(async |_| body().await)),
            Op::Write => Box::pin(self.rwlock.run_exclusive(async |_| body().await)),
            Op::Upgradable => panic!("there is no run of an upgradable read"),
        }
    }

    /// The operation, until another future is ready.
    pub fn until<'a, F: Future + 'a>(&'a self, op: Op, other: F) -> Hidden<'a, Result<Guard<'a>, F::Output>> {
        in_each_way!(
            self, op, self.form, (other), hide_result;
            lock_until lock_owned_until, read_until read_owned_until,
            upgradable_read_until upgradable_read_owned_until, write_until write_owned_until
        )
    }

    /// One attempt.
    pub fn attempt(&self, op: Op) -> Option<Guard<'_>> {
        fn found<'a, G: Held + 'a, E>(result: Result<G, E>) -> Option<Guard<'a>> {
            result.ok().map(guard)
        }
        in_each_way!(
            self, op, self.form, (), found;
            try_lock try_lock_owned, try_read try_read_owned,
            try_upgradable_read try_upgradable_read_owned, try_write try_write_owned
        )
    }

    /// One attempt with an owned guard.
    pub fn attempt_owned(&self, op: Op) -> Option<Guard<'static>> {
        let (mutex, rwlock) = (Arc::clone(&self.mutex), Arc::clone(&self.rwlock));
        Some(match op {
            Op::Lock => guard(mutex.try_lock_owned().ok()?),
            Op::Read => guard(rwlock.try_read_owned().ok()?),
            Op::Upgradable => guard(rwlock.try_upgradable_read_owned().ok()?),
            Op::Write => guard(rwlock.try_write_owned().ok()?),
        })
    }

    /// Whether one attempt succeeds.
    pub fn try_op(&self, op: Op) -> bool {
        self.attempt(op).is_some()
    }

    /// A guard, from one poll.
    ///
    /// # Panics
    ///
    /// If the operation has to wait.
    #[track_caller]
    pub fn hold(&self, op: Op) -> Guard<'_> {
        match poll_once(&mut self.op(op), Waker::noop()) {
            Poll::Ready(guard) => guard,
            Poll::Pending => panic!("{op:?} has to wait"),
        }
    }

    /// The number of owners, granted waiters included.
    #[must_use]
    pub fn inside(&self) -> usize {
        let state = self.rwlock.state();
        usize::from(self.mutex.is_locked()) + state.readers + usize::from(state.writer)
    }

    /// The number of waiters.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let state = self.rwlock.state();
        self.mutex.queued() + state.waiting_readers + state.waiting_upgradable + state.waiting_writers
    }

    /// The numbers of owners and waiters.
    #[must_use]
    pub fn state(&self) -> (usize, usize) {
        (self.inside(), self.waiting())
    }

    /// The number of owned futures and guards that share in the ownership of the locks.
    #[must_use]
    pub fn shares(&self) -> usize {
        Arc::strong_count(&self.mutex) + Arc::strong_count(&self.rwlock) - 2
    }

    /// Asserts that the lock is free, has no waiters, and that every operation succeeds.
    ///
    /// # Panics
    ///
    /// If one of these does not hold.
    #[track_caller]
    pub fn assert_free(&self) {
        assert_eq!(self.state(), (0, 0));
        for op in Op::ALL {
            assert!(self.try_op(op), "{op:?} of a free lock fails");
        }
        assert!(!self.rwlock.state().upgradable);
    }

    /// Asserts the same, and that no owned future or guard is left.
    ///
    /// # Panics
    ///
    /// If one of these does not hold.
    #[track_caller]
    pub fn assert_over(&self) {
        self.assert_free();
        assert_eq!(self.shares(), 0, "an owned future or guard is left");
    }
}

impl<P: Timer + 'static> Subject<P> {
    /// The operation with a timeout.
    pub fn timeout(&self, op: Op, timeout: P::Duration) -> Hidden<'_, Outcome<'_>> {
        in_each_way!(
            self, op, self.form, (timeout), hide_result;
            lock_timeout lock_owned_timeout, read_timeout read_owned_timeout,
            upgradable_read_timeout upgradable_read_owned_timeout, write_timeout write_owned_timeout
        )
    }

    /// The operation with a deadline.
    pub fn deadline(&self, op: Op, deadline: P::Instant) -> Hidden<'_, Outcome<'_>> {
        in_each_way!(
            self, op, self.form, (deadline), hide_result;
            lock_deadline lock_owned_deadline, read_deadline read_owned_deadline,
            upgradable_read_deadline upgradable_read_owned_deadline, write_deadline write_owned_deadline
        )
    }
}

/// Names the case under test when a test fails.
#[derive(Debug)]
pub struct Case<T: Debug>(pub T);

impl<T: Debug> Drop for Case<T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::eprintln!("while testing {:?}", self.0);
        }
    }
}

/// The forms in which the `n`th lock is tested: both. Miri takes one of them in turn, since the queue sees no
/// difference.
fn forms(n: usize) -> impl Iterator<Item = Form> {
    Form::ALL.into_iter().cycle().skip(n).take(if cfg!(miri) { 1 } else { 2 })
}

/// Runs the rule for every lock and operation of which one guard at a time may be inside, in both forms. At the
/// end the lock must be free.
pub fn each_serial<P: Platform>(rule: impl Fn(&Subject<P>, Op)) {
    each_serial_left::<P>(|subject, op| {
        rule(subject, op);
        subject.assert_over();
    });
}

/// As [`each_serial`], for a rule that leaves the lock held.
pub fn each_serial_left<P: Platform>(rule: impl Fn(&Subject<P>, Op)) {
    let of_policy = |policy| {
        [(Op::Write, RwLock::<u32, P>::MAX_READERS), (Op::Upgradable, 9), (Op::Read, 1)]
            .map(|(op, most)| (policy, most, op))
    };
    let mutex = (WriterPreferring, 9, Op::Lock);
    for (n, (policy, most, op)) in [mutex].into_iter().chain(POLICIES.into_iter().flat_map(of_policy)).enumerate() {
        for form in forms(n) {
            let _case = Case((policy, most, op, form));
            rule(&Subject::new(policy, most, form), op);
        }
    }
}

/// Runs the rule under every policy on a lock with room for all, in both forms. At the end the lock must be free.
pub fn each_policy<P: Platform>(rule: impl Fn(&Subject<P>, RwLockPolicy)) {
    each_policy_with(RwLock::<u32, P>::MAX_READERS, rule);
}

/// Runs the rule under every policy on a lock with room for `most` readers, in both forms. At the end the lock must
/// be free.
pub fn each_policy_with<P: Platform>(most: u32, rule: impl Fn(&Subject<P>, RwLockPolicy)) {
    for (n, policy) in POLICIES.into_iter().enumerate() {
        for form in forms(n) {
            let _case = Case((policy, form, most));
            let subject = Subject::new(policy, most, form);
            rule(&subject, policy);
            subject.assert_over();
        }
    }
}

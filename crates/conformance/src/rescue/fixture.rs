//! What the rules of the rescue are told of: every lock and operation behind one face, and tasks with many futures.

use crate::tools::{Boxed, Count, Hooks, hooked_waker, poll_once};
use core::cell::Cell;
use core::fmt::Debug;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Poll, Waker};
use fifolock_core::platform::Platform;
use fifolock_core::rwlock::RwLockPolicy::{self, PhaseFair, TaskFair, WriterPreferring};
use fifolock_core::{Mutex, RwLock};
use std::sync::Arc;

pub(crate) const POLICIES: [RwLockPolicy; 3] = [WriterPreferring, TaskFair, PhaseFair];

/// How many polls in a row suspect the task before the one that steals: the third steals (R1).
pub(crate) const SUSPICIONS: usize = 2;

/// What is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Mutex,
    /// With its policy, and its most readers.
    RwLock(RwLockPolicy, u32),
}

/// A lock operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Lock,
    Read,
    Upgradable,
    Write,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Borrowed,
    Owned,
}

/// A guard of any kind: only its drop matters.
pub(crate) trait Held: Debug {}
impl<T: Debug> Held for T {}

pub(crate) type Guard<'a> = Box<dyn Held + 'a>;
/// A lock future whose type is hidden. It stays alive after it was ready.
pub(crate) type Hidden<'a> = Pin<Box<dyn Future<Output = Guard<'a>> + 'a>>;

fn hide<'a, G: Held + 'a>(future: impl Future<Output = G> + 'a) -> Hidden<'a> {
    let mut future = Box::pin(future);
    Box::pin(poll_fn(move |cx| future.as_mut().poll(cx).map(|guard| Box::new(guard) as Guard<'a>)))
}

/// A lock.
pub(crate) struct Fixture<P: Platform> {
    form: Form,
    mutex: Arc<Mutex<u32, P>>,
    pub(crate) rwlock: Arc<RwLock<u32, P>>,
    target: Target,
}

impl<P: Platform> Fixture<P> {
    #[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
    pub(crate) fn new(target: Target, form: Form) -> Self {
        let (policy, most) = match target {
            Target::Mutex => (WriterPreferring, 1),
            Target::RwLock(policy, most) => (policy, most),
        };
        let rwlock = Arc::new(RwLock::with_policy_and_max_readers(0, policy, most));
        Self { form, mutex: Arc::default(), rwlock, target }
    }

    /// A future of the operation, not polled.
    pub(crate) fn op(&self, op: Op) -> Hidden<'_> {
        let (mutex, rwlock) = (&self.mutex, &self.rwlock);
        match (op, self.form) {
            (Op::Lock, Form::Borrowed) => hide(mutex.lock()),
            (Op::Lock, Form::Owned) => hide(Arc::clone(mutex).lock_owned()),
            (Op::Read, Form::Borrowed) => hide(rwlock.read()),
            (Op::Read, Form::Owned) => hide(Arc::clone(rwlock).read_owned()),
            (Op::Upgradable, Form::Borrowed) => hide(rwlock.upgradable_read()),
            (Op::Upgradable, Form::Owned) => hide(Arc::clone(rwlock).upgradable_read_owned()),
            (Op::Write, Form::Borrowed) => hide(rwlock.write()),
            (Op::Write, Form::Owned) => hide(Arc::clone(rwlock).write_owned()),
        }
    }

    /// A guard at once.
    #[track_caller]
    pub(crate) fn hold(&self, op: Op) -> Guard<'_> {
        match poll_once(&mut self.op(op), Waker::noop()) {
            Poll::Ready(guard) => guard,
            Poll::Pending => panic!("{op:?} has to wait"),
        }
    }

    /// One attempt. Whether it succeeded.
    pub(crate) fn try_op(&self, op: Op) -> bool {
        match op {
            Op::Lock => self.mutex.try_lock().is_ok(),
            Op::Read => self.rwlock.try_read().is_ok(),
            Op::Upgradable => self.rwlock.try_upgradable_read().is_ok(),
            Op::Write => self.rwlock.try_write().is_ok(),
        }
    }

    /// Whoever is inside, granted ones too.
    pub(crate) fn inside(&self) -> usize {
        match self.target {
            Target::Mutex => usize::from(self.mutex.state().locked),
            Target::RwLock(..) => self.rwlock.state().readers + usize::from(self.rwlock.state().writer),
        }
    }

    /// Whoever waits.
    pub(crate) fn waiting(&self) -> usize {
        match self.target {
            Target::Mutex => self.mutex.queued(),
            Target::RwLock(..) => {
                let state = self.rwlock.state();
                state.waiting_readers + state.waiting_upgradable + state.waiting_writers
            }
        }
    }

    /// Nobody is inside or waits, and every way in is open.
    #[track_caller]
    pub(crate) fn assert_free(&self) {
        assert_eq!((self.inside(), self.waiting()), (0, 0));
        for op in [Op::Lock, Op::Read, Op::Upgradable, Op::Write] {
            assert!(self.try_op(op), "{op:?} of a free lock fails");
        }
        assert!(!self.rwlock.state().upgradable);
        assert_eq!(Arc::strong_count(&self.mutex), 1, "an owned form is left behind");
        assert_eq!(Arc::strong_count(&self.rwlock), 1, "an owned form is left behind");
    }
}

/// Names what was tested when a test fails.
pub(crate) struct Case<T: Debug>(pub(crate) T);

impl<T: Debug> Drop for Case<T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::eprintln!("while testing {:?}", self.0);
        }
    }
}

/// Every lock with an operation of which one at a time may be inside, in both forms.
pub(crate) fn each_serial<P: Platform>(rule: impl Fn(&Fixture<P>, Op)) {
    let of_policy = |policy| {
        [(Op::Write, RwLock::<u32, P>::MAX_READERS), (Op::Upgradable, 9), (Op::Read, 1)]
            .map(|(op, most)| (Target::RwLock(policy, most), op))
    };
    for (target, op) in [(Target::Mutex, Op::Lock)].into_iter().chain(POLICIES.into_iter().flat_map(of_policy)) {
        for form in [Form::Borrowed, Form::Owned] {
            let _case = Case((target, op, form));
            rule(&Fixture::new(target, form), op);
        }
    }
}

/// Every policy of a read-write lock with room for all, in both forms.
pub(crate) fn each_policy<P: Platform>(rule: impl Fn(&Fixture<P>, RwLockPolicy)) {
    each_policy_with(RwLock::<u32, P>::MAX_READERS, rule);
}

/// Every policy of a read-write lock with so much room, in both forms.
pub(crate) fn each_policy_with<P: Platform>(most: u32, rule: impl Fn(&Fixture<P>, RwLockPolicy)) {
    for policy in POLICIES {
        for form in [Form::Borrowed, Form::Owned] {
            let _case = Case((policy, form, most));
            rule(&Fixture::new(Target::RwLock(policy, most), form), policy);
        }
    }
}

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

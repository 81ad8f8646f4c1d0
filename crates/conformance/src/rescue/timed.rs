//! The rescue of waiters with a limit (R9), on the manual clock.

use crate::rescue::fixture::{Actor, POLICIES, SUSPICIONS};
use crate::rules;
use crate::tools::Boxed;
use crate::tools::clock::ManualTimer;
use core::fmt::Debug;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::time::Duration;
use fifolock_core::rwlock::RwLockPolicy;
use fifolock_core::{Mutex, RwLock, TimeoutError};
use std::sync::Arc;

rules! { ($) rescue_timed_rules in rescue::timed where ManualTimer:
    r9_robbed_and_then_out_of_time,
    r9_robbed_after_its_deadline,
    r9_robbed_and_then_granted,
    r9_robbed_and_granted_again_before_the_deadline_is_seen,
    r9_dropped_after_it_was_robbed,
    r9_a_timed_robber_has_its_guard,
    r9_a_timed_robber_may_run_out_of_time_before_it_robs,
    r9_until_gives_up_after_it_was_robbed,
}

const LIMIT: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Lock,
    /// The lock has room for one reader.
    Read,
    Upgradable,
    Write,
}

/// How an operation is limited.
#[derive(Clone, Copy, Debug)]
enum Limit {
    Timeout,
    Deadline,
    OwnedTimeout,
    OwnedDeadline,
}

trait Held: Debug {}
impl<T: Debug> Held for T {}

type Guard<'a> = Box<dyn Held + 'a>;
type Outcome<'a> = Result<Guard<'a>, TimeoutError>;
type Timed<'a> = Pin<Box<dyn Future<Output = Outcome<'a>> + 'a>>;

fn hide<'a, G: Held + 'a>(future: impl Future<Output = Result<G, TimeoutError>> + 'a) -> Timed<'a> {
    let mut future = Box::pin(future);
    Box::pin(poll_fn(move |cx| {
        future.as_mut().poll(cx).map(|outcome| outcome.map(|guard| Box::new(guard) as Guard<'a>))
    }))
}

/// A lock and the operation that a rule is about.
struct Case<P: ManualTimer> {
    op: Op,
    limit: Limit,
    mutex: Arc<Mutex<u32, P>>,
    rwlock: Arc<RwLock<u32, P>>,
}

impl<P: ManualTimer> Case<P> {
    #[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
    fn new(op: Op, limit: Limit, policy: RwLockPolicy) -> Self {
        let rwlock = Arc::new(RwLock::with_policy_and_max_readers(0, policy, if op == Op::Read { 1 } else { 9 }));
        Self { op, limit, mutex: Arc::default(), rwlock }
    }

    /// For every operation, limit and policy, each with a clock of its own.
    fn each(rule: impl Fn(&Self)) {
        for op in [Op::Lock, Op::Read, Op::Upgradable, Op::Write] {
            for limit in [Limit::Timeout, Limit::Deadline, Limit::OwnedTimeout, Limit::OwnedDeadline] {
                for policy in POLICIES {
                    let _case = crate::rescue::fixture::Case((op, limit, policy));
                    P::with(|| {
                        let case = Self::new(op, limit, policy);
                        rule(&case);
                        case.assert_over();
                    });
                }
            }
        }
    }

    /// The limit counts from now.
    fn timed(&self, limit: Duration) -> Timed<'_> {
        let (span, instant) = (P::span(limit), P::instant_in(limit));
        let (mutex, rwlock) = (&self.mutex, &self.rwlock);
        match (self.op, self.limit) {
            (Op::Lock, Limit::Timeout) => hide(mutex.lock_timeout(span)),
            (Op::Lock, Limit::Deadline) => hide(mutex.lock_deadline(instant)),
            (Op::Lock, Limit::OwnedTimeout) => hide(Arc::clone(mutex).lock_owned_timeout(span)),
            (Op::Lock, Limit::OwnedDeadline) => hide(Arc::clone(mutex).lock_owned_deadline(instant)),
            (Op::Read, Limit::Timeout) => hide(rwlock.read_timeout(span)),
            (Op::Read, Limit::Deadline) => hide(rwlock.read_deadline(instant)),
            (Op::Read, Limit::OwnedTimeout) => hide(Arc::clone(rwlock).read_owned_timeout(span)),
            (Op::Read, Limit::OwnedDeadline) => hide(Arc::clone(rwlock).read_owned_deadline(instant)),
            (Op::Upgradable, Limit::Timeout) => hide(rwlock.upgradable_read_timeout(span)),
            (Op::Upgradable, Limit::Deadline) => hide(rwlock.upgradable_read_deadline(instant)),
            (Op::Upgradable, Limit::OwnedTimeout) => hide(Arc::clone(rwlock).upgradable_read_owned_timeout(span)),
            (Op::Upgradable, Limit::OwnedDeadline) => hide(Arc::clone(rwlock).upgradable_read_owned_deadline(instant)),
            (Op::Write, Limit::Timeout) => hide(rwlock.write_timeout(span)),
            (Op::Write, Limit::Deadline) => hide(rwlock.write_deadline(instant)),
            (Op::Write, Limit::OwnedTimeout) => hide(Arc::clone(rwlock).write_owned_timeout(span)),
            (Op::Write, Limit::OwnedDeadline) => hide(Arc::clone(rwlock).write_owned_deadline(instant)),
        }
    }

    /// The same operation with no limit to speak of.
    fn plain(&self) -> Timed<'_> {
        match self.op {
            Op::Lock => hide(async { Ok(self.mutex.lock().await) }),
            Op::Read => hide(async { Ok(self.rwlock.read().await) }),
            Op::Upgradable => hide(async { Ok(self.rwlock.upgradable_read().await) }),
            Op::Write => hide(async { Ok(self.rwlock.write().await) }),
        }
    }

    fn hold(&self) -> Guard<'_> {
        Actor::new().ready(&mut self.plain()).expect("free")
    }

    fn waiting(&self) -> usize {
        let state = self.rwlock.state();
        self.mutex.queued() + state.waiting_readers + state.waiting_upgradable + state.waiting_writers
    }

    fn assert_over(&self) {
        assert!(self.mutex.try_lock().is_ok() && self.rwlock.try_write().is_ok());
        assert_eq!(self.waiting(), 0);
        assert_eq!(P::armed(), Some(0), "a sleep is left behind");
        assert_eq!((Arc::strong_count(&self.mutex), Arc::strong_count(&self.rwlock)), (1, 1));
    }

    /// The first future, timed, was granted and then robbed by the second, which holds.
    fn robbed(&self, task: &Actor) -> (Timed<'_>, Timed<'_>, Guard<'_>) {
        let held = self.hold();
        let first = task.queue(self.timed(LIMIT));
        assert_eq!(P::armed(), Some(1));
        drop(held);
        task.woken();
        let mut second = self.plain();
        let guard = task.rescue(&mut second).expect("plain");
        assert_eq!((self.waiting(), P::armed()), (1, Some(1)), "it keeps its sleep until its claim");
        (first, second, guard)
    }
}

#[track_caller]
fn elapsed(task: &Actor, future: &mut Boxed<dyn Future<Output = Outcome<'_>> + '_>) {
    let error = task.ready(future).expect_err("its time is over");
    assert!(error.is_elapsed(), "{error}");
}

fn r9_robbed_and_then_out_of_time<P: ManualTimer>() {
    Case::<P>::each(|case| {
        let task = Actor::new();
        let (mut first, second, guard) = case.robbed(&task);
        task.pending(&mut first);
        P::advance(LIMIT);
        assert_eq!(task.woken(), 1);
        elapsed(&task, &mut first);
        assert_eq!((case.waiting(), P::armed()), (0, Some(0)));
        drop(guard);
        assert_eq!(task.woken(), 0, "who has left is not woken");
        drop((first, second));
    });
}

fn r9_robbed_after_its_deadline<P: ManualTimer>() {
    Case::<P>::each(|case| {
        let task = Actor::new();
        let held = case.hold();
        let mut first = task.queue(case.timed(LIMIT));
        drop(held);
        task.woken();
        // It was granted in time, and would have had its guard.
        P::advance(2 * LIMIT);
        assert_eq!(task.woken(), 1);
        let mut second = case.plain();
        let guard = task.rescue(&mut second);
        elapsed(&task, &mut first);
        assert_eq!((case.waiting(), P::armed()), (0, Some(0)));
        drop(guard);
        drop((first, second));
    });
}

fn r9_robbed_and_then_granted<P: ManualTimer>() {
    Case::<P>::each(|case| {
        let task = Actor::new();
        let (mut first, second, guard) = case.robbed(&task);
        task.pending(&mut first);
        drop(guard);
        assert_eq!(task.woken(), 1);
        let guard = task.ready(&mut first).expect("granted");
        assert_eq!((case.waiting(), P::armed()), (0, Some(0)));
        P::advance(2 * LIMIT);
        assert_eq!(task.woken(), 0);
        drop(guard);
        drop((first, second));
    });
}

fn r9_robbed_and_granted_again_before_the_deadline_is_seen<P: ManualTimer>() {
    Case::<P>::each(|case| {
        let task = Actor::new();
        let (mut first, second, guard) = case.robbed(&task);
        P::advance(2 * LIMIT);
        drop(guard);
        // T4: granted, however late it is polled.
        drop(task.ready(&mut first).expect("granted"));
        drop((first, second));
    });
}

fn r9_dropped_after_it_was_robbed<P: ManualTimer>() {
    Case::<P>::each(|case| {
        let task = Actor::new();
        let (first, second, guard) = case.robbed(&task);
        drop(first);
        assert_eq!((case.waiting(), P::armed()), (0, Some(0)));
        drop(guard);
        drop(second);
        assert_eq!(task.kept(), 0);
    });
}

fn r9_a_timed_robber_has_its_guard<P: ManualTimer>() {
    Case::<P>::each(|case| {
        let task = Actor::new();
        let held = case.hold();
        let mut first = task.queue(case.plain());
        drop(held);
        task.woken();
        let mut second = case.timed(LIMIT);
        for _ in 0..SUSPICIONS {
            task.pending(&mut second);
            assert_eq!(task.woken(), 1);
        }
        // Its deadline is not asked for: the rescue comes first.
        P::advance(2 * LIMIT);
        task.woken();
        let guard = task.ready(&mut second).expect("rescued");
        assert_eq!(P::armed(), Some(0));
        drop(guard);
        drop(task.ready(&mut first));
        drop((first, second));
    });
}

fn r9_a_timed_robber_may_run_out_of_time_before_it_robs<P: ManualTimer>() {
    Case::<P>::each(|case| {
        let (task, other) = (Actor::new(), Actor::new());
        let held = case.hold();
        let mut first = other.queue(case.plain());
        drop(held);
        // Another task's is never robbed: so F24's promise to a timed waiter is the error.
        let mut second = task.queue(case.timed(LIMIT));
        P::advance(LIMIT);
        assert_eq!(task.woken(), 1);
        elapsed(&task, &mut second);
        drop(other.served(&mut first));
        drop((first, second));
    });
}

fn r9_until_gives_up_after_it_was_robbed<P: ManualTimer>() {
    for policy in POLICIES {
        let lock = RwLock::<u32, P>::with_policy(0, policy);
        let mutex = Mutex::<u32, P>::new(0);
        let over = core::cell::Cell::new(false);
        let ends = || poll_fn(|_| if over.get() { core::task::Poll::Ready(()) } else { core::task::Poll::Pending });
        let task = Actor::new();

        let held = mutex.try_lock().expect("free");
        let mut first = task.queue(Box::pin(mutex.lock_until(ends())));
        drop(held);
        task.woken();
        let mut second = Box::pin(mutex.lock());
        let guard = task.rescue(&mut second);
        task.pending(&mut first);
        over.set(true);
        assert!(task.ready(&mut first).is_err());
        drop(guard);
        assert!(mutex.try_lock().is_ok());
        drop(first);

        over.set(false);
        let held = lock.try_write().expect("free");
        let mut first = task.queue(Box::pin(lock.write_until(ends())));
        let mut share = task.queue(Box::pin(lock.upgradable_read_until(ends())));
        drop(held);
        task.woken();
        let guard = task.rescue(&mut share).expect("rescued");
        task.pending(&mut first);
        over.set(true);
        assert!(task.ready(&mut first).is_err());
        drop(guard);
        assert!(lock.try_write().is_ok());
        drop((first, share, second));
        assert_eq!(task.kept(), 0);
    }
}

//! Two operations on one lock, each in a thread of its own, and what must be so whichever comes first.
//!
//! Whoever gets the lock touches the data, a loom cell. What is left when both threads have ended is settled as an
//! executor would: guards are dropped, and a future is polled once its waker was woken. So a lost wake, a lost grant or a
//! second owner shows in any pair.

use super::{Data, Woken, model, poll};
use crate::platform::{Platform, Timer};
use crate::queue::Mode;
use crate::raw::RawLock;
use crate::rwlock::{OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard};
use crate::{Mutex, RwLock, mutex::OwnedMutexGuard};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use loom::thread;

/// What a thread does. All but the first three begin before the threads do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// The first poll of a new future.
    First(Mode),
    Try(Mode),
    /// Looks at the state.
    Look,
    /// A queued future is polled, with the waker that it has.
    Again(Mode),
    /// A queued future is polled with another waker.
    AnotherWaker(Mode),
    /// A queued future is dropped.
    Drop(Mode),
    /// A queued future whose time is over is polled.
    Expire(Mode),
    /// A granted future is polled.
    Claim(Mode),
    /// A granted future is dropped.
    DropGranted(Mode),
    /// A future of this kind steals from one of its own task and of that kind, which was granted.
    Rescue(Mode, Mode),
    /// A guard is dropped.
    Release(Mode),
    /// A guard becomes another one.
    Convert(Mode, To),
    /// The upgradable reader begins to upgrade.
    Upgrade,
    /// It waits for that, and gives up.
    DropUpgrade,
}

/// What a guard becomes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum To {
    Read,
    Upgradable,
    /// If that can be without a wait.
    Write,
}

/// What else there is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Beside {
    /// A guard that is dropped when both threads have ended.
    Held(Mode),
    /// A waiter that stands before those of the threads.
    Ahead(Mode),
    /// One that stands behind them.
    Behind(Mode),
}

type Turn<G> = Pin<Box<dyn Future<Output = Option<G>> + Send>>;

/// A lock under test.
pub(crate) trait Subject: Send + Sync + Sized + 'static {
    type Guard: Send + 'static;

    fn make() -> Self;
    fn try_now(self: &Arc<Self>, kind: Mode) -> Option<Self::Guard>;
    /// A future; a timed one is over at its second poll.
    fn turn(self: &Arc<Self>, kind: Mode, timed: bool) -> Turn<Self::Guard>;
    /// Uses the data as the guard allows it; returns how much was added to it.
    fn touch(guard: &Self::Guard) -> u32;
    fn convert(guard: Self::Guard, to: To) -> Self::Guard;
    fn upgrade(guard: Self::Guard) -> Turn<Self::Guard>;
    fn look(&self);
    fn assert_free(self: &Arc<Self>, sum: u32);
}

/// A platform whose sleeps are over at their second poll.
#[derive(Debug)]
pub(crate) struct Later<R>(PhantomData<R>);

impl<R: RawLock + 'static> Platform for Later<R> {
    type Raw = R;
}

#[derive(Debug, Default)]
pub(crate) struct SecondPoll(bool);

impl Future for SecondPoll {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if core::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl<R: RawLock + 'static> Timer for Later<R> {
    type Duration = Duration;
    type Instant = Duration;
    type Sleep = SecondPoll;

    fn sleep(_: Duration) -> Option<SecondPoll> {
        Some(SecondPoll::default())
    }

    fn sleep_until(_: Duration) -> Option<SecondPoll> {
        Some(SecondPoll::default())
    }

    fn now() -> Duration {
        Duration::ZERO
    }

    fn to_core(duration: Duration) -> Duration {
        duration
    }
}

const TIMEOUT: Duration = Duration::from_millis(1);

impl<R: RawLock + Send + Sync + 'static> Subject for Mutex<Data, Later<R>> {
    type Guard = OwnedMutexGuard<Data, Later<R>>;

    fn make() -> Self {
        Self::new(Data::new())
    }

    fn try_now(self: &Arc<Self>, _: Mode) -> Option<Self::Guard> {
        Arc::clone(self).try_lock_owned().ok()
    }

    fn turn(self: &Arc<Self>, _: Mode, timed: bool) -> Turn<Self::Guard> {
        let lock = Arc::clone(self);
        if timed {
            return Box::pin(async move { lock.lock_owned_timeout(TIMEOUT).await.ok() });
        }
        Box::pin(async move { Some(lock.lock_owned().await) })
    }

    fn touch(guard: &Self::Guard) -> u32 {
        guard.add(1);
        1
    }

    fn convert(guard: Self::Guard, _: To) -> Self::Guard {
        guard
    }

    fn upgrade(_: Self::Guard) -> Turn<Self::Guard> {
        unreachable!("a mutex has no upgrade")
    }

    fn look(&self) {
        let state = self.state();
        assert!(state.locked || state.queued == 0);
        let _ = self.is_locked();
    }

    fn assert_free(self: &Arc<Self>, sum: u32) {
        assert_eq!(self.queued(), 0);
        assert_eq!(self.try_now(Mode::Write).expect("free").read(), sum);
    }
}

/// A guard of a read-write lock.
pub(crate) enum RwGuard<R: RawLock + 'static> {
    Read(OwnedRwLockReadGuard<Data, Data, Later<R>>),
    Upgradable(OwnedRwLockUpgradableReadGuard<Data, Later<R>>),
    Write(OwnedRwLockWriteGuard<Data, Later<R>>),
}

impl<R: RawLock + Send + Sync + 'static> Subject for RwLock<Data, Later<R>> {
    type Guard = RwGuard<R>;

    fn make() -> Self {
        Self::new(Data::new())
    }

    fn try_now(self: &Arc<Self>, kind: Mode) -> Option<Self::Guard> {
        let lock = Arc::clone(self);
        match kind {
            Mode::Read => lock.try_read_owned().ok().map(RwGuard::Read),
            Mode::Upgradable => lock.try_upgradable_read_owned().ok().map(RwGuard::Upgradable),
            Mode::Write | Mode::Upgrade => lock.try_write_owned().ok().map(RwGuard::Write),
        }
    }

    fn turn(self: &Arc<Self>, kind: Mode, timed: bool) -> Turn<Self::Guard> {
        let lock = Arc::clone(self);
        match (kind, timed) {
            (Mode::Read, false) => Box::pin(async move { Some(RwGuard::Read(lock.read_owned().await)) }),
            (Mode::Upgradable, false) => {
                Box::pin(async move { Some(RwGuard::Upgradable(lock.upgradable_read_owned().await)) })
            }
            (_, false) => Box::pin(async move { Some(RwGuard::Write(lock.write_owned().await)) }),
            (Mode::Read, true) => {
                Box::pin(async move { lock.read_owned_timeout(TIMEOUT).await.ok().map(RwGuard::Read) })
            }
            (Mode::Upgradable, true) => {
                Box::pin(async move { lock.upgradable_read_owned_timeout(TIMEOUT).await.ok().map(RwGuard::Upgradable) })
            }
            (_, true) => Box::pin(async move { lock.write_owned_timeout(TIMEOUT).await.ok().map(RwGuard::Write) }),
        }
    }

    fn touch(guard: &Self::Guard) -> u32 {
        let data: &Data = match guard {
            RwGuard::Read(guard) => guard,
            RwGuard::Upgradable(guard) => guard,
            RwGuard::Write(guard) => {
                guard.add(1);
                return 1;
            }
        };
        data.read();
        0
    }

    fn convert(guard: Self::Guard, to: To) -> Self::Guard {
        match (guard, to) {
            (RwGuard::Write(guard), To::Read) => RwGuard::Read(guard.downgrade()),
            (RwGuard::Write(guard), To::Upgradable) => {
                RwGuard::Upgradable(OwnedRwLockWriteGuard::downgrade_to_upgradable(guard))
            }
            (RwGuard::Upgradable(guard), To::Read) => RwGuard::Read(OwnedRwLockUpgradableReadGuard::downgrade(guard)),
            (RwGuard::Upgradable(guard), To::Write) => match OwnedRwLockUpgradableReadGuard::try_upgrade(guard) {
                Ok(guard) => RwGuard::Write(guard),
                Err(guard) => RwGuard::Upgradable(guard),
            },
            _ => unreachable!("there is no such conversion"),
        }
    }

    fn upgrade(guard: Self::Guard) -> Turn<Self::Guard> {
        let RwGuard::Upgradable(guard) = guard else { unreachable!("only the upgradable reader upgrades") };
        Box::pin(async move { Some(RwGuard::Write(OwnedRwLockUpgradableReadGuard::upgrade(guard).await)) })
    }

    fn look(&self) {
        let state = self.state();
        let waiting = state.waiting_readers + state.waiting_upgradable + state.waiting_writers;
        assert!(!state.writer || state.readers == 0);
        assert!(state.writer || state.readers > 0 || waiting == 0, "free, and somebody waits");
    }

    fn assert_free(self: &Arc<Self>, sum: u32) {
        let state = self.state();
        assert_eq!((state.readers, state.upgradable, state.writer), (0, false, false));
        assert_eq!((state.waiting_readers, state.waiting_upgradable, state.waiting_writers), (0, 0, 0));
        let Some(RwGuard::Write(guard)) = self.try_now(Mode::Write) else { panic!("not free") };
        assert_eq!(guard.read(), sum);
    }
}

/// A future, and the waker that it was last polled with.
struct Waiting<S: Subject> {
    turn: Turn<S::Guard>,
    woken: Woken,
    /// How often it had been woken before the last poll; `None` if it may be polled without a wake.
    seen: Option<usize>,
}

impl<S: Subject> Waiting<S> {
    fn new(turn: Turn<S::Guard>) -> Self {
        Self { turn, woken: Woken::new(), seen: None }
    }

    fn poll(&mut self) -> Poll<Option<S::Guard>> {
        self.seen = Some(self.woken.count());
        poll(self.turn.as_mut(), &self.woken)
    }

    #[track_caller]
    fn queued(turn: Turn<S::Guard>) -> Self {
        let mut waiting = Self::new(turn);
        assert!(waiting.poll().is_pending(), "it has nothing to wait for");
        waiting
    }

    fn is_to_be_polled(&self) -> bool {
        self.seen != Some(self.woken.count())
    }
}

/// What a thread begins with.
enum Actor<S: Subject> {
    Poll(Waiting<S>),
    /// The second one has been granted, and is left alone.
    Rescue(Waiting<S>, Waiting<S>),
    Drop(Waiting<S>),
    Release(S::Guard),
    Convert(S::Guard, To),
    Upgrade(S::Guard),
    Try(Mode),
    Look,
}

/// What is left when it has ended.
struct Rest<S: Subject> {
    guards: Vec<S::Guard>,
    waiting: Vec<Waiting<S>>,
    added: u32,
}

impl<S: Subject> Rest<S> {
    const fn new() -> Self {
        Self { guards: Vec::new(), waiting: Vec::new(), added: 0 }
    }

    fn keep(&mut self, guard: S::Guard) {
        self.added += S::touch(&guard);
        self.guards.push(guard);
    }

    fn poll(&mut self, mut waiting: Waiting<S>) {
        match waiting.poll() {
            Poll::Ready(Some(guard)) => self.keep(guard),
            Poll::Ready(None) => {}
            Poll::Pending => self.waiting.push(waiting),
        }
    }
}

impl<S: Subject> Actor<S> {
    fn act(self, lock: &Arc<S>) -> Rest<S> {
        let mut rest = Rest::new();
        match self {
            Self::Poll(waiting) => rest.poll(waiting),
            Self::Rescue(thief, granted) => {
                rest.poll(thief);
                rest.waiting.push(granted);
            }
            Self::Drop(waiting) => drop(waiting),
            Self::Release(guard) => {
                rest.added += S::touch(&guard);
                drop(guard);
            }
            Self::Convert(guard, to) => {
                rest.added += S::touch(&guard);
                rest.keep(S::convert(guard, to));
            }
            Self::Upgrade(guard) => rest.poll(Waiting::new(S::upgrade(guard))),
            Self::Try(kind) => {
                if let Some(guard) = lock.try_now(kind) {
                    rest.keep(guard);
                }
            }
            Self::Look => lock.look(),
        }
        rest
    }
}

impl Op {
    fn is_of_a_granted(self) -> bool {
        matches!(self, Self::Claim(_) | Self::DropGranted(_) | Self::Rescue(..))
    }

    /// The share that it holds from the start.
    fn share(self) -> Option<To> {
        match self {
            Self::Release(Mode::Read) => Some(To::Read),
            Self::Release(Mode::Upgradable)
            | Self::Convert(Mode::Upgradable, _)
            | Self::Upgrade
            | Self::DropUpgrade => Some(To::Upgradable),
            _ => None,
        }
    }

    /// What holds the lock from the start; `gate` is the guard that kept others out until now.
    fn hold<S: Subject>(self, lock: &Arc<S>, gate: &mut Option<S::Guard>) -> Option<Actor<S>> {
        let mut take = |kind| match (gate.take(), self.share()) {
            (Some(gate), Some(share)) => S::convert(gate, share),
            _ => lock.try_now(kind).expect("it can be held"),
        };
        match self {
            Self::Release(kind) => Some(Actor::Release(take(kind))),
            Self::Convert(kind, to) => Some(Actor::Convert(take(kind), to)),
            Self::Upgrade => Some(Actor::Upgrade(take(Mode::Upgradable))),
            Self::DropUpgrade => Some(Actor::Drop(Waiting::queued(S::upgrade(take(Mode::Upgradable))))),
            _ => None,
        }
    }

    /// What is queued now, and is to be granted.
    fn queue_granted<S: Subject>(self, lock: &Arc<S>) -> Option<Waiting<S>> {
        match self {
            Self::Claim(kind) | Self::DropGranted(kind) | Self::Rescue(_, kind) => {
                Some(Waiting::queued(lock.turn(kind, false)))
            }
            _ => None,
        }
    }

    /// The others.
    fn begin<S: Subject>(self, lock: &Arc<S>, granted: Option<Waiting<S>>) -> Actor<S> {
        let queued = |kind, timed| Waiting::queued(lock.turn(kind, timed));
        match (self, granted) {
            (Self::Claim(_), Some(waiting)) => Actor::Poll(waiting),
            (Self::DropGranted(_), Some(waiting)) => Actor::Drop(waiting),
            (Self::Rescue(kind, _), Some(mut granted)) => {
                let mut thief = Waiting { woken: granted.woken.clone(), ..Waiting::new(lock.turn(kind, false)) };
                for _ in 0..2 {
                    assert!(thief.poll().is_pending(), "suspected, not stolen");
                }
                granted.seen = None;
                Actor::Rescue(thief, granted)
            }
            (Self::First(kind), _) => Actor::Poll(Waiting::new(lock.turn(kind, false))),
            (Self::Again(kind), _) => Actor::Poll(queued(kind, false)),
            (Self::AnotherWaker(kind), _) => Actor::Poll(Waiting { woken: Woken::new(), ..queued(kind, false) }),
            (Self::Drop(kind), _) => Actor::Drop(queued(kind, false)),
            (Self::Expire(kind), _) => Actor::Poll(queued(kind, true)),
            (Self::Try(kind), _) => Actor::Try(kind),
            (Self::Look, _) => Actor::Look,
            _ => unreachable!("it holds the lock"),
        }
    }
}

/// Explores a pair.
pub(crate) fn check<S: Subject>(beside: &'static [Beside], ops: [Op; 2]) {
    model(move || {
        let lock = Arc::new(S::make());
        let mut rest = Rest::<S>::new();
        let queue = |kind| Waiting::<S>::queued(lock.turn(kind, false));

        let mut gate = ops.iter().any(|op| op.is_of_a_granted()).then(|| lock.try_now(Mode::Write).expect("free"));
        for beside in beside {
            if let Beside::Held(kind) = *beside {
                rest.keep(lock.try_now(kind).expect("it can be held"));
            }
        }
        let mut granted = ops.map(|op| op.queue_granted(&lock));
        // Who holds a share has it from the gate's guard, so that readers are granted beside it.
        let mut holders = ops.map(|op| op.hold(&lock, &mut gate));
        drop(gate);
        rest.waiting.extend(beside.iter().filter_map(|beside| match *beside {
            Beside::Ahead(kind) => Some(queue(kind)),
            _ => None,
        }));
        let [one, other] =
            core::array::from_fn(|i| holders[i].take().unwrap_or_else(|| ops[i].begin(&lock, granted[i].take())));
        rest.waiting.extend(beside.iter().filter_map(|beside| match *beside {
            Beside::Behind(kind) => Some(queue(kind)),
            _ => None,
        }));

        let there = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || other.act(&lock))
        };
        let here = one.act(&lock);
        for ended in [here, there.join().unwrap()] {
            rest.added += ended.added;
            rest.guards.extend(ended.guards);
            rest.waiting.extend(ended.waiting);
        }
        if beside.is_empty() && matches!(ops, [Op::Try(_), Op::Look]) {
            assert_eq!(rest.guards.len(), 1, "a look keeps a try out");
        }
        settle(&lock, rest);
    });
}

/// Ends what is left: only who was woken is polled.
fn settle<S: Subject>(lock: &Arc<S>, mut rest: Rest<S>) {
    loop {
        rest.guards.clear();
        let (to_poll, waiting): (Vec<_>, Vec<_>) = rest.waiting.drain(..).partition(Waiting::is_to_be_polled);
        rest.waiting = waiting;
        if to_poll.is_empty() {
            break;
        }
        for waiting in to_poll {
            rest.poll(waiting);
        }
    }
    assert!(rest.waiting.is_empty(), "somebody waits, and nobody will wake it");
    lock.assert_free(rest.added);
}

/// Models of pairs: `fn NAME: [beside], one, other;`.
macro_rules! pairs {
    ($subject:ty: $($(#[$meta:meta])* fn $name:ident: [$($beside:expr),*], $one:expr, $other:expr;)+) => {
        $(
            $(#[$meta])*
            #[test]
            fn $name() {
                $crate::test_tools::pairs::check::<$subject>(&[$($beside),*], [$one, $other]);
            }
        )+
    };
}
pub(crate) use pairs;

//! What the rescue must not do to other tasks (R7, P3, W4, W5), and a platform without the rescue (R11).

use super::fixture::{Actor, Case, Op, POLICIES, SUSPICIONS, each_policy, each_serial};
use crate::tools::{Boxed, Hooks, Platform, Slot, Task, hook};
use core::cell::Cell;
use core::future::Future;
use core::marker::PhantomData;
use core::ptr;
use core::task::{Poll, RawWaker, RawWakerVTable, Waker};
use fifolock_core::rwlock::OwnedRwLockUpgradableReadGuard;
use fifolock_core::rwlock::RwLockPolicy::{self, PhaseFair, WriterPreferring};
use fifolock_core::{Mutex, RwLock, platform};
use std::rc::Rc;
use std::sync::Arc;

/// The raw lock of another platform, on a platform without the rescue.
#[derive(Debug)]
struct Without<P>(PhantomData<P>);

impl<P: platform::Platform> platform::Platform for Without<P> {
    type Raw = P::Raw;

    const RESCUE: bool = false;
}

/// Whether the policy has separate queues for readers and writers.
fn queues_apart(policy: RwLockPolicy) -> bool {
    matches!(policy, WriterPreferring | PhaseFair)
}

type Upgradable<P> = OwnedRwLockUpgradableReadGuard<u32, P>;

/// Readers that stand next to each other enter together, although the first one upgrades during its wake.
pub(super) fn p3_adjacent_readers_enter_although_the_first_upgrades_in_its_wake<P: Platform>() {
    for policy in POLICIES {
        for readers in [31, 32, 60] {
            let _case = Case((policy, readers));
            #[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
            let lock = Arc::new(RwLock::<u32, P>::with_policy(0, policy));
            let held = lock.try_write().expect("free");
            let (asking, upgrading) = (Slot::<Boxed<_>>::new(), Slot::new());
            let upgrader = Rc::new(Actor::new());
            let in_wake = {
                let (asking, upgrading, upgrader) = (asking.clone(), upgrading.clone(), Rc::clone(&upgrader));
                move || {
                    let mut share = asking.take().expect("woken once");
                    let share: Upgradable<P> = upgrader.ready(&mut share);
                    let mut upgrade = Box::pin(Upgradable::<P>::upgrade(share));
                    upgrader.pending(&mut upgrade);
                    upgrading.put(upgrade);
                }
            };
            let first = Actor::with_hooks(Hooks { on_wake: hook(in_wake), ..Hooks::default() });
            asking.put(first.queue(Box::pin(Arc::clone(&lock).upgradable_read_owned())));
            let others = Actor::many(readers);
            let mut all: Vec<_> = others.iter().map(|other| other.queue(Box::pin(lock.read()))).collect();
            drop(held);
            let served = |(other, reader): (&Actor, &mut Boxed<_>)| other.served(reader);
            let guards: Vec<_> = others.iter().zip(&mut all).map(served).collect();
            let mut upgrade = upgrading.take().expect("the first was woken");
            upgrader.pending(&mut upgrade);
            drop(guards);
            drop(upgrader.served(&mut upgrade));
            drop((upgrade, all));
            assert!(lock.try_write().is_ok());
        }
    }
}

/// The way in which a writer that keeps readers waiting leaves.
#[derive(Clone, Copy, Debug)]
enum Writer {
    Waits,
    Holds,
}

/// What the waker of the first reader does between two sections of the batch.
#[derive(Clone, Copy, Debug)]
enum Amid {
    /// Claims a parked grant with another waker than the one that queued.
    ClaimsParked,
    DropsParked,
    /// Polls an upgradable read of the task that parks a grant, until the read steals the grant.
    Asks,
    PollsTheLast,
    DropsTheLast,
    /// Queues a writer.
    Writes,
}

const AMID: [Amid; 6] =
    [Amid::ClaimsParked, Amid::DropsParked, Amid::Asks, Amid::PollsTheLast, Amid::DropsTheLast, Amid::Writes];

/// A waker polls in the middle of a batch. Each reader of the batch must be woken before the release returns.
fn woken_all<P: Platform>(policy: RwLockPolicy, by: Writer, amid: Amid) {
    let _case = Case((policy, by, amid));
    #[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
    let lock = &Arc::new(RwLock::<u32, P>::with_policy(0, policy));
    let read = || Box::pin(Arc::clone(lock).read_owned());
    let task = Rc::new(Actor::new());
    // A task parks a granted read beside an upgradable read; another task has the upgradable share.
    let upgradable = lock.try_upgradable_read().expect("free");
    let mut before = Task::queued(lock.write());
    let parked = task.queue(read());
    before.cancel();
    assert_eq!(task.woken(), 1);
    let mut asks = Box::pin(Arc::clone(lock).upgradable_read_owned());
    for _ in 0..=SUSPICIONS {
        task.pending(&mut asks);
    }
    if !queues_apart(policy) {
        // In the one queue of this policy `asks` would stand before the readers, and keep them out.
        asks = Box::pin(Arc::clone(lock).upgradable_read_owned());
    }
    // The writer, in one of the ways, and readers behind it.
    let mut waiting = Task::new(lock.write());
    let mut holding = None;
    let (parked, upgradable) = match by {
        Writer::Waits => {
            waiting.pending();
            (Some(parked), Some(upgradable))
        }
        Writer::Holds => {
            drop((parked, upgradable));
            // `asks` may have been granted now, so the test makes a new one.
            asks = Box::pin(Arc::clone(lock).upgradable_read_owned());
            task.woken();
            holding = Some(lock.try_write().expect("free"));
            (Some(task.queue(read())), None)
        }
    };
    task.woken();
    let (places, last) = (Slot::new(), Slot::new());
    let kept = Slot::new();
    let ran = Rc::new(Cell::new(false));
    let in_wake = {
        let (places, last, kept, ran, task) =
            (places.clone(), last.clone(), kept.clone(), Rc::clone(&ran), Rc::clone(&task));
        let lock = Arc::clone(lock);
        move || {
            ran.set(true);
            let (mut parked, mut asks): (Boxed<_>, Boxed<_>) = places.take().expect("woken once");
            let mut late: Boxed<_> = last.take().expect("woken once");
            let other = Actor::new();
            let mut writing = Box::pin(Arc::clone(&lock).write_owned());
            let mut guards = Vec::new();
            match amid {
                Amid::ClaimsParked => guards.push(other.ready(&mut parked)),
                Amid::DropsParked => drop(core::mem::replace(&mut parked, Box::pin(Arc::clone(&lock).read_owned()))),
                Amid::Asks => {
                    for _ in 0..=SUSPICIONS {
                        if task.poll(&mut asks).is_ready() {
                            asks = Box::pin(Arc::clone(&lock).upgradable_read_owned());
                        }
                    }
                }
                Amid::PollsTheLast => {
                    for _ in 0..=SUSPICIONS {
                        if let Poll::Ready(guard) = other.poll(&mut late) {
                            guards.push(guard);
                            break;
                        }
                    }
                }
                Amid::DropsTheLast => drop(core::mem::replace(&mut late, Box::pin(Arc::clone(&lock).read_owned()))),
                Amid::Writes => other.pending(&mut writing),
            }
            kept.put((parked, asks, late, guards, writing));
        }
    };
    let first = Actor::with_hooks(Hooks { on_wake: hook(in_wake), ..Hooks::default() });
    let mut reader = first.queue(read());
    let others = Actor::many(100);
    let mut all: Vec<_> = others.iter().map(|other| other.queue(read())).collect();
    let late = Actor::new();
    last.put(late.queue(read()));
    places.put((parked.expect("granted, or waiting"), asks));
    drop(holding);
    waiting.cancel();
    assert!(ran.get(), "the first reader is woken");
    let unwoken = others.iter().filter(|other| !other.is_woken()).count();
    assert_eq!(unwoken, 0, "readers that were not woken");
    drop(first.ready(&mut reader));
    for (other, reader) in others.iter().zip(&mut all) {
        drop(other.served(reader));
    }
    drop((kept.take(), upgradable, all, reader));
    assert!(lock.try_write().is_ok());
    assert!(others.iter().all(|other| other.kept() == 0), "a waker is leaked");
}

pub(super) fn w5_all_readers_are_woken_although_a_waker_polls_amid_the_batch<P: Platform>() {
    POLICIES
        .into_iter()
        .for_each(|policy| AMID.into_iter().for_each(|amid| woken_all::<P>(policy, Writer::Waits, amid)));
}

pub(super) fn w4_all_readers_are_woken_although_a_waker_polls_amid_the_batch<P: Platform>() {
    POLICIES
        .into_iter()
        .for_each(|policy| AMID.into_iter().for_each(|amid| woken_all::<P>(policy, Writer::Holds, amid)));
}

std::thread_local! {
    /// How many wakers stand at [`PLACE`].
    static ALIVE: Cell<usize> = const { Cell::new(0) };
}

static PLACE: u8 = 0;

static AT_PLACE: RawWakerVTable = RawWakerVTable::new(
    |_| {
        ALIVE.set(ALIVE.get() + 1);
        RawWaker::new(ptr::from_ref(&PLACE).cast(), &AT_PLACE)
    },
    |_| ALIVE.set(ALIVE.get() - 1),
    |_| {},
    |_| ALIVE.set(ALIVE.get() - 1),
);

/// A new waker at one fixed address, as when an allocator reuses an address.
fn waker_at_place() -> Waker {
    assert_eq!(ALIVE.replace(1), 0, "the place is free");
    // SAFETY: the functions only count, so the data may be anything. The rules wake on one thread.
    unsafe { Waker::new(ptr::from_ref(&PLACE).cast(), &AT_PLACE) }
}

/// The documented limit: the wake has freed the waker of a granted future, and another task has a new waker at the same
/// address. The other task may steal the grant. The victim is served next, and a third task keeps its place.
pub(super) fn r10_a_new_waker_at_the_address_of_one_that_is_gone_may_steal<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let (first, third) = (Actor::new(), Actor::new());
        let held = subject.hold(op);
        let mut granted = subject.op(op);
        let waker = waker_at_place();
        assert!(crate::tools::poll_once(&mut granted, &waker).is_pending());
        drop(waker);
        let mut second = subject.op(op);
        let (early, count) = crate::tools::counting_waker();
        assert!(crate::tools::poll_once(&mut second, &early).is_pending());
        let mut waits = third.queue(subject.op(op));
        drop(held);
        // The wake has freed the waker of `granted`.
        let waker = waker_at_place();
        for _ in 0..SUSPICIONS {
            assert!(crate::tools::poll_once(&mut second, &waker).is_pending());
        }
        let Poll::Ready(guard) = crate::tools::poll_once(&mut second, &waker) else {
            panic!("R10: the limit does not exist; remove it from the contract");
        };
        drop(waker);
        assert_eq!(count.wakes(), 0);
        first.pending(&mut granted);
        drop(guard);
        drop(first.served(&mut granted));
        drop(third.served(&mut waits));
    });
}

/// More polls than a theft needs, even after the largest number of wrong thefts.
const WAITS: usize = if cfg!(miri) { 10 } else { 200 };

/// A task parks a grant. However often the task polls its other future, that future waits for the grant.
pub(super) fn r11_without_the_rescue_a_parked_grant_is_waited_for<P: Platform>() {
    each_serial::<Without<P>>(|subject, op| {
        let task = Actor::new();
        let held = subject.hold(op);
        let mut parked = task.queue(subject.op(op));
        let mut waits = task.queue(subject.op(op));
        drop(held);
        assert_eq!(task.woken(), 1);
        for _ in 0..WAITS {
            task.pending(&mut waits);
            assert_eq!(
                (task.woken(), subject.inside(), subject.waiting()),
                (0, 1, 1),
                "no future is robbed, and no task woken"
            );
        }
        drop(task.ready(&mut parked));
        drop(task.served(&mut waits));
    });
    // Operations of other kinds.
    each_policy::<Without<P>>(|subject, _| {
        for (parks, asks) in [(Op::Write, Op::Read), (Op::Read, Op::Write), (Op::Upgradable, Op::Write)] {
            let task = Actor::new();
            let held = subject.hold(Op::Write);
            let mut parked = task.queue(subject.op(parks));
            drop(held);
            assert_eq!(task.woken(), 1);
            let mut waits = subject.op(asks);
            for _ in 0..WAITS {
                task.pending(&mut waits);
                assert_eq!(
                    (task.woken(), subject.inside(), subject.waiting()),
                    (0, 1, 1),
                    "no future is robbed, and no task woken"
                );
            }
            drop(task.ready(&mut parked));
            drop(task.served(&mut waits));
            drop((parked, waits));
            subject.assert_over();
        }
    });
}

/// Two platforms share one lock. Futures of one platform steal and those of the other don't, whichever platform has the
/// grant.
pub(super) fn r11_two_platforms_on_one_lock<P: Platform>() {
    let mutex = Mutex::<u32, P>::new(0);
    two_platforms(|| mutex.lock(), || mutex.on::<Without<P>>().lock());
    assert!(mutex.try_lock().is_ok());
    for policy in POLICIES {
        let _case = Case(policy);
        let lock = RwLock::<u32, P>::with_policy(0, policy);
        let without = lock.on::<Without<P>>();
        two_platforms(|| lock.write(), || without.write());
        two_platforms(|| lock.upgradable_read(), || without.upgradable_read());
        assert!(lock.try_write().is_ok());
        let lock = RwLock::<u32, P>::with_policy_and_max_readers(0, policy, 1);
        let without = lock.on::<Without<P>>();
        two_platforms(|| lock.read(), || without.read());
        assert!(lock.try_write().is_ok());
    }
}

/// The futures of both platforms exclude each other.
fn two_platforms<A: Future, B: Future>(with: impl Fn() -> A, without: impl Fn() -> B) {
    // The platform without the rescue has the grant.
    let task = Actor::new();
    let holder = Actor::new();
    let held = holder.ready(&mut Box::pin(with()));
    let mut parked = task.queue(Box::pin(without()));
    let (mut never, mut steals) = (task.queue(Box::pin(without())), task.queue(Box::pin(with())));
    drop(held);
    assert_eq!(task.woken(), 1);
    for _ in 0..20 {
        task.pending(&mut never);
        assert_eq!(task.woken(), 0);
    }
    let stolen = task.rescue(&mut steals);
    task.pending(&mut parked);
    assert_eq!(task.woken(), 0);
    drop(stolen);
    // R3: the victim stands where the thief stood.
    drop(task.served(&mut never));
    drop(task.served(&mut parked));
    // The platform with the rescue has the grant.
    let held = holder.ready(&mut Box::pin(without()));
    let mut parked = task.queue(Box::pin(with()));
    let (mut never, mut steals) = (task.queue(Box::pin(without())), task.queue(Box::pin(with())));
    drop(held);
    assert_eq!(task.woken(), 1);
    for _ in 0..20 {
        task.pending(&mut never);
        assert_eq!(task.woken(), 0);
    }
    drop(task.rescue(&mut steals));
    drop(task.served(&mut never));
    drop(task.served(&mut parked));
}

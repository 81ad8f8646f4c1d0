//! No harm (R0): a task that polls all its futures in each of its rounds; the turns of other tasks (R7, P3, W4, W5); and a
//! platform without the rescue (R11).

use super::fixture::{Actor, Case, Fixture, Form, Op, POLICIES, SUSPICIONS, Target, each_policy, each_serial};
use crate::tools::{Boxed, Hooks, Platform, Random, Slot, Task, hook};
use core::cell::{Cell, RefCell};
use core::future::{Future, poll_fn};
use core::marker::PhantomData;
use core::pin::{Pin, pin};
use core::ptr;
use core::task::{Poll, RawWaker, RawWakerVTable, Waker};
use fifolock_core::rwlock::RwLockPolicy::{self, PhaseFair, WriterPreferring};
use fifolock_core::rwlock::{OwnedRwLockUpgradableReadGuard, RwLockUpgradableReadGuard};
use fifolock_core::{Mutex, RwLock, platform};
use std::rc::Rc;
use std::sync::Arc;

/// The raw lock of another platform, without the rescue.
#[derive(Debug)]
struct Without<P>(PhantomData<P>);

impl<P: platform::Platform> platform::Platform for Without<P> {
    type Raw = P::Raw;

    const RESCUE: bool = false;
}

/// What a child of a join asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    For(Op),
    /// An upgradable read, and its upgrade a round later.
    Upgrade,
}

const READ: Asks = Asks::For(Op::Read);
const UPGRADABLE: Asks = Asks::For(Op::Upgradable);
const WRITE: Asks = Asks::For(Op::Write);
const OF_A_READ_WRITE_LOCK: [Asks; 4] = [READ, UPGRADABLE, Asks::Upgrade, WRITE];

/// A child asks for the lock in a loop, and keeps each guard for so many rounds.
#[derive(Clone, Copy, Debug)]
struct Child {
    asks: Asks,
    hold: usize,
    /// How often the child polls its lock future in a round. A `select!` in a loop, with other work, polls more than once.
    polls: usize,
}

/// In which order a task polls its children.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// As `join!(biased; …)`.
    Biased,
    /// As `tokio::join!`: each round begins with the next child.
    Rotating,
    /// Another order in each round.
    Shuffled,
}

/// A task polls its children in each round, from the round `start` on.
#[derive(Clone, Debug)]
struct Join {
    children: Vec<Child>,
    order: Order,
    start: usize,
}

impl Join {
    fn alone(asks: Asks, start: usize) -> Self {
        Self { children: vec![Child { asks, hold: 1, polls: 1 }], order: Order::Biased, start }
    }
}

async fn rounds(n: usize) {
    for _ in 0..n {
        let mut is_first = true;
        poll_fn(|_| if core::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }).await;
    }
}

/// Polls a future so many times in each round.
async fn polled<F: Future>(polls: usize, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        for _ in 0..polls {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(output);
            }
        }
        Poll::Pending
    })
    .await
}

async fn asking<P: Platform>(fixture: &Fixture<P>, child: Child, name: usize, turns: &RefCell<Vec<usize>>) {
    let Child { asks, hold, polls } = child;
    loop {
        match asks {
            Asks::For(op) => {
                let _guard = polled(polls, fixture.op(op)).await;
                turns.borrow_mut().push(name);
                rounds(hold).await;
            }
            Asks::Upgrade => {
                let share = polled(polls, fixture.rwlock.upgradable_read()).await;
                rounds(1).await;
                let _guard = polled(polls, RwLockUpgradableReadGuard::upgrade(share)).await;
                turns.borrow_mut().push(name);
                rounds(hold).await;
            }
        }
    }
}

/// Runs tasks for so many rounds. Returns the children, numbered through all tasks, in the order of their guards.
fn turns<P: Platform>(target: Target, joins: &[Join], length: usize) -> Vec<usize> {
    let fixture = Fixture::<P>::new(target, Form::Borrowed);
    let turns = RefCell::new(Vec::new());
    let mut random = Random::new(7);
    let mut names = 0..;
    let mut tasks: Vec<_> = joins
        .iter()
        .map(|join| {
            let child = |of: &Child| -> Pin<Box<dyn Future<Output = ()> + '_>> {
                Box::pin(asking(&fixture, *of, names.next().expect("endless"), &turns))
            };
            (Actor::new(), join.children.iter().map(child).collect::<Vec<_>>())
        })
        .collect();
    for round in 0..length {
        for (join, (task, children)) in joins.iter().zip(&mut tasks).filter(|(join, _)| round >= join.start) {
            let len = children.len();
            let mut order: Vec<_> = (0..len).collect();
            match join.order {
                Order::Biased => {}
                Order::Rotating => order.rotate_left(round % len),
                Order::Shuffled => (1..len).for_each(|n| order.swap(n, random.below(n + 1))),
            }
            for n in order {
                task.pending(&mut children[n]);
            }
        }
    }
    drop(tasks);
    fixture.assert_free();
    turns.into_inner()
}

fn served(turns: &[usize], child: usize) -> usize {
    turns.iter().filter(|name| **name == child).count()
}

/// How many rounds a program runs.
const ROUNDS: usize = if cfg!(miri) { 60 } else { 300 };

/// Two children that exclude each other and ask for the same have the same number of turns, but for the last ones.
pub(super) fn r0_children_of_a_join_that_ask_for_the_same_are_served_equally<P: Platform>() {
    let serial = POLICIES
        .into_iter()
        .flat_map(|policy| [WRITE, UPGRADABLE, Asks::Upgrade].map(|asks| (Target::RwLock(policy, 9), asks)));
    for (target, asks) in serial.chain([(Target::Mutex, Asks::For(Op::Lock))]) {
        for order in [Order::Biased, Order::Rotating, Order::Shuffled] {
            for hold in 1..4 {
                let _case = Case((target, asks, order, hold));
                let children = vec![Child { asks, hold, polls: 1 }; 2];
                let turns = turns::<P>(target, &[Join { children, order, start: 0 }], ROUNDS);
                let (one, other) = (served(&turns, 0), served(&turns, 1));
                assert!(one.abs_diff(other) <= 1, "{one} turns and {other}");
                assert!(one + other >= ROUNDS / (2 * hold + 4), "{one} turns and {other}");
            }
        }
    }
}

/// Whatever the two children and another task ask for, each has at least half of the turns that it has without the rescue.
pub(super) fn r0_children_of_a_join_and_another_task_keep_their_turns<P: Platform>() {
    let mut programs: Vec<_> = [0, 20].map(|start| (Target::Mutex, [Asks::For(Op::Lock); 3], start)).into();
    for policy in POLICIES {
        for a in OF_A_READ_WRITE_LOCK {
            for b in OF_A_READ_WRITE_LOCK {
                let by = if cfg!(miri) { &[WRITE][..] } else { &OF_A_READ_WRITE_LOCK };
                programs.extend(by.iter().map(|by| (Target::RwLock(policy, 9), [a, b, *by], 20)));
            }
        }
    }
    for (target, [a, b, by], start) in programs {
        for order in [Order::Biased, Order::Rotating] {
            for hold in if cfg!(miri) { &[[1, 1]][..] } else { &[[1, 1], [1, 2], [2, 1], [2, 3]] } {
                let _case = Case((target, [a, b, by], order, hold));
                let child = |asks, hold| Child { asks, hold, polls: 1 };
                let children = vec![child(a, hold[0]), child(b, hold[1])];
                let joins = [Join { children, order, start: 0 }, Join::alone(by, start)];
                let (with, without) = (turns::<P>(target, &joins, ROUNDS), turns::<Without<P>>(target, &joins, ROUNDS));
                for name in 0..3 {
                    let (with, without) = (served(&with, name), served(&without, name));
                    assert!(with * 2 >= without, "child {name}: {with} turns, and {without} without the rescue");
                }
            }
        }
    }
}

/// A child polls its future more often than its sibling does, again and again. The sibling has an eighth of the turns.
pub(super) fn r0_a_select_loop_leaves_its_sibling_an_eighth_of_the_turns<P: Platform>() {
    let serial =
        POLICIES.into_iter().flat_map(|policy| [WRITE, UPGRADABLE].map(|asks| (Target::RwLock(policy, 9), asks)));
    for (target, asks) in serial.chain([(Target::Mutex, Asks::For(Op::Lock))]) {
        for polls in if cfg!(miri) { &[2, 6][..] } else { &[1, 2, 3, 6, 20, 100] } {
            for order in [Order::Biased, Order::Rotating] {
                for is_first in [true, false] {
                    let _case = Case((target, asks, polls, order, is_first));
                    let mut children = vec![Child { asks, hold: 1, polls: *polls }, Child { asks, hold: 1, polls: 1 }];
                    if !is_first {
                        children.reverse();
                    }
                    let turns = turns::<P>(target, &[Join { children, order, start: 0 }], 4 * ROUNDS);
                    for name in 0..2 {
                        let served = served(&turns, name);
                        assert!(served * 8 >= turns.len(), "child {name}: {served} turns of {}", turns.len());
                    }
                }
            }
        }
    }
}

/// Each future is polled once a round: the guards come in the order of a platform without the rescue.
pub(super) fn r0_with_one_poll_a_round_the_order_of_guards_is_that_without_the_rescue<P: Platform>() {
    let of_policy = |policy| [9, 2, 1].map(|most| Target::RwLock(policy, most));
    for target in POLICIES.into_iter().flat_map(of_policy).chain([Target::Mutex]) {
        for seed in 0..if cfg!(miri) { 2 } else { 40 } {
            let mut random = Random::new(seed);
            let joins: Vec<_> = (0..1 + random.below(3)).map(|_| join(target, &mut random)).collect();
            let _case = Case((target, seed, &joins));
            let (with, without) = (turns::<P>(target, &joins, ROUNDS), turns::<Without<P>>(target, &joins, ROUNDS));
            assert_eq!(with, without);
        }
    }
}

/// A task with one to three children that are polled once a round.
fn join(target: Target, random: &mut Random) -> Join {
    let child = |random: &mut Random| {
        let asks = match target {
            Target::Mutex => Asks::For(Op::Lock),
            Target::RwLock(..) => OF_A_READ_WRITE_LOCK[random.below(4)],
        };
        Child { asks, hold: 1 + random.below(3), polls: 1 }
    };
    let children = (0..1 + random.below(3)).map(|_| child(random)).collect();
    let order = [Order::Biased, Order::Rotating, Order::Shuffled][random.below(3)];
    Join { children, order, start: random.below(9) }
}

/// A task parks a granted write, and then takes one guard after the other. A reader of another task waits.
pub(super) fn r7_a_parked_write_and_a_loop_let_a_waiting_reader_in<P: Platform>() {
    each_policy::<P>(|fixture, policy| {
        if !queues_apart(policy) {
            return;
        }
        for looped in [Op::Read, Op::Upgradable, Op::Write] {
            let _case = Case(looped);
            let (task, other) = (Actor::new(), Actor::new());
            let held = fixture.hold(Op::Write);
            let mut parked = task.queue(fixture.op(Op::Write));
            let mut reader = other.queue(fixture.op(Op::Read));
            drop(held);
            let mut turn = 0;
            while other.woken() == 0 {
                turn += 1;
                assert!(turn <= 3, "{turn} turns, and the reader still waits");
                task.woken();
                let (_, guard) = task.drive(&mut fixture.op(looped));
                drop(guard.expect("the task does not stand still"));
            }
            drop(other.ready(&mut reader));
            drop(task.drive(&mut parked).1.expect("robbed, the write has its turn"));
            drop((parked, reader));
            fixture.assert_free();
        }
    });
}

/// Whether the policy has a queue for readers and one for writers.
fn queues_apart(policy: RwLockPolicy) -> bool {
    matches!(policy, WriterPreferring | PhaseFair)
}

type Upgradable<P> = OwnedRwLockUpgradableReadGuard<u32, P>;

/// Readers that stand next to each other enter together, although the first one upgrades in its wake.
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

/// How a writer leaves that keeps readers waiting.
#[derive(Clone, Copy, Debug)]
enum Writer {
    Waits,
    Holds,
}

/// What the waker of the first reader does between two sections of the batch.
#[derive(Clone, Copy, Debug)]
enum Amid {
    /// Claims a grant that was parked before, with another waker than the one it queued with.
    ClaimsParked,
    DropsParked,
    /// Polls an upgradable read of the task that parks a grant, until that poll steals.
    Asks,
    PollsTheLast,
    DropsTheLast,
    /// A writer comes.
    Writes,
}

const AMID: [Amid; 6] =
    [Amid::ClaimsParked, Amid::DropsParked, Amid::Asks, Amid::PollsTheLast, Amid::DropsTheLast, Amid::Writes];

/// A waker polls amid a batch. Each reader of the batch is woken before the release returns.
fn woken_all<P: Platform>(policy: RwLockPolicy, by: Writer, amid: Amid) {
    let _case = Case((policy, by, amid));
    #[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
    let lock = &Arc::new(RwLock::<u32, P>::with_policy(0, policy));
    let read = || Box::pin(Arc::clone(lock).read_owned());
    let task = Rc::new(Actor::new());
    // A granted read that its task parks beside an upgradable read; another task has the upgradable share.
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
        // In the one queue of the policy `asks` would stand before the readers, and keep the readers out.
        asks = Box::pin(Arc::clone(lock).upgradable_read_owned());
    }
    // A writer, in one way or the other, and readers behind.
    let mut waiting = Task::new(lock.write());
    let mut holding = None;
    let (parked, upgradable) = match by {
        Writer::Waits => {
            waiting.pending();
            (Some(parked), Some(upgradable))
        }
        Writer::Holds => {
            drop((parked, upgradable));
            // `asks` may have been granted now.
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
    assert_eq!(unwoken, 0, "readers that nobody has woken");
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

/// A new waker at one place: as an allocator gives an address again.
fn waker_at_place() -> Waker {
    assert_eq!(ALIVE.replace(1), 0, "the place is free");
    // SAFETY: the functions only count, so the data may be anything. The rules wake on one thread.
    unsafe { Waker::new(ptr::from_ref(&PLACE).cast(), &AT_PLACE) }
}

/// The documented limit: a granted future's waker is gone with its wake, and another task's waker stands at that address.
/// The other task may steal. The robbed future has its turn after that, and a third task keeps its place.
pub(super) fn r10_a_new_waker_at_the_address_of_one_that_is_gone_may_steal<P: Platform>() {
    each_serial::<P>(|fixture, op| {
        let (first, third) = (Actor::new(), Actor::new());
        let held = fixture.hold(op);
        let mut granted = fixture.op(op);
        let waker = waker_at_place();
        assert!(crate::tools::poll_once(&mut granted, &waker).is_pending());
        drop(waker);
        let mut second = fixture.op(op);
        let (early, count) = crate::tools::counting_waker();
        assert!(crate::tools::poll_once(&mut second, &early).is_pending());
        let mut waits = third.queue(fixture.op(op));
        drop(held);
        // The wake has freed the waker of `granted`.
        let waker = waker_at_place();
        for _ in 0..SUSPICIONS {
            assert!(crate::tools::poll_once(&mut second, &waker).is_pending());
        }
        let Poll::Ready(guard) = crate::tools::poll_once(&mut second, &waker) else {
            panic!("R10: the limit is gone, and its docs must change");
        };
        drop(waker);
        assert_eq!(count.wakes(), 0);
        first.pending(&mut granted);
        drop(guard);
        drop(first.served(&mut granted));
        drop(third.served(&mut waits));
        drop((granted, second, waits));
        fixture.assert_free();
    });
}

/// A task parks a grant. The other future of the task waits for that grant, however often the task polls that future.
pub(super) fn r11_without_the_rescue_a_parked_grant_is_waited_for<P: Platform>() {
    each_serial::<Without<P>>(|fixture, op| {
        let task = Actor::new();
        let held = fixture.hold(op);
        let mut parked = task.queue(fixture.op(op));
        let mut waits = task.queue(fixture.op(op));
        drop(held);
        assert_eq!(task.woken(), 1);
        for _ in 0..200 {
            task.pending(&mut waits);
            assert_eq!((task.woken(), fixture.inside(), fixture.waiting()), (0, 1, 1), "nobody is robbed, or woken");
        }
        drop(task.ready(&mut parked));
        drop(task.served(&mut waits));
        drop((parked, waits));
        fixture.assert_free();
    });
    // Of other kinds.
    each_policy::<Without<P>>(|fixture, _| {
        for (parks, asks) in [(Op::Write, Op::Read), (Op::Read, Op::Write), (Op::Upgradable, Op::Write)] {
            let task = Actor::new();
            let held = fixture.hold(Op::Write);
            let mut parked = task.queue(fixture.op(parks));
            drop(held);
            assert_eq!(task.woken(), 1);
            let mut waits = fixture.op(asks);
            for _ in 0..200 {
                task.pending(&mut waits);
                assert_eq!(
                    (task.woken(), fixture.inside(), fixture.waiting()),
                    (0, 1, 1),
                    "nobody is robbed, or woken"
                );
            }
            drop(task.ready(&mut parked));
            drop(task.served(&mut waits));
            drop((parked, waits));
            fixture.assert_free();
        }
    });
}

/// Two platforms on one lock: futures of the one steal, those of the other don't, whichever platform has the grant.
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

/// The futures of both exclude each other.
fn two_platforms<A: Future, B: Future>(with: impl Fn() -> A, without: impl Fn() -> B) {
    // The grant is of the platform without.
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
    // R3: the robbed one stands where the thief stood.
    drop(task.served(&mut never));
    drop(task.served(&mut parked));
    // The grant is of the platform with.
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

//! Scenes for R7 and R8: a task that parks futures and goes on, and many unclaimed readers.

use super::Raw;
use crate::reference::Kind;
use core::task::{Poll, Waker};
use fifolock_conformance::tools::clock::Manual;
use fifolock_conformance::tools::{Boxed, Count, Hooks, counting_waker, hooked_waker, poll_once, sections};
use fifolock_core::RwLock;
use fifolock_core::raw::{CriticalSectionLock, LocalLock, RawLock, SpinLock, StdLock};
use fifolock_core::rwlock::{Read, RwLockPolicy, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};

type Lock<R> = RwLock<u64, Manual<R>>;

/// A guard of any kind, which is only dropped.
enum Guard<'a, R: RawLock + 'static> {
    Read(#[allow(dead_code, reason = "kept for its drop")] RwLockReadGuard<'a, u64, Manual<R>>),
    Upgradable(#[allow(dead_code, reason = "kept for its drop")] RwLockUpgradableReadGuard<'a, u64, Manual<R>>),
    Write(#[allow(dead_code, reason = "kept for its drop")] RwLockWriteGuard<'a, u64, Manual<R>>),
}

type Acquiring<'a, R> = Boxed<dyn Future<Output = Guard<'a, R>> + 'a>;

fn acquire<R: RawLock + 'static>(lock: &Lock<R>, kind: Kind) -> Acquiring<'_, R> {
    match kind {
        Kind::Read => Box::pin(async { Guard::Read(lock.read().await) }),
        Kind::Upgradable => Box::pin(async { Guard::Upgradable(lock.upgradable_read().await) }),
        Kind::Write | Kind::Upgrade => Box::pin(async { Guard::Write(lock.write().await) }),
    }
}

/// A task that its executor polls after a wake.
struct Actor {
    waker: Waker,
    count: Arc<Count>,
    seen: usize,
}

impl Actor {
    fn new() -> Self {
        let (waker, count) = counting_waker();
        Self { waker, count, seen: 0 }
    }

    fn was_woken(&mut self) -> bool {
        core::mem::replace(&mut self.seen, self.count.wakes()) != self.count.wakes()
    }
}

/// A task that parks, and its bystander: see [`turns_before`].
#[derive(Clone, Copy, Debug)]
pub struct Parking {
    /// The policy of the read-write lock.
    pub policy: RwLockPolicy,
    /// The kind of the futures that are granted, and that the task never polls again.
    pub parked: Kind,
    /// The number of parked futures.
    pub parked_count: usize,
    /// The kind that the task asks for in a loop.
    pub looped: Kind,
    /// The kind that the other task waits for.
    pub bystander: Kind,
}

/// After this many turns of the loop, the bystander counts as locked out.
const TURNS_MAX: usize = 200;

/// The largest number of polls of one turn of the loop.
const POLLS_MAX: usize = 600;

/// R7: a task parks futures and asks for the lock in a loop. Another task queued after the parked futures, and is
/// polled after a wake. Returns the number of turns of the loop before the turn of the other task. Returns an error if
/// either of them hangs.
pub fn turns_before(raw: Raw, scene: Parking) -> Result<usize, String> {
    match raw {
        Raw::Std => turns_on::<StdLock>(scene),
        Raw::CriticalSection => turns_on::<CriticalSectionLock>(scene),
        Raw::Local => turns_on::<LocalLock>(scene),
        Raw::Spin => turns_on::<SpinLock>(scene),
    }
}

fn turns_on<R: RawLock + 'static>(scene: Parking) -> Result<usize, String> {
    let lock = Lock::<R>::with_policy(0, scene.policy);
    let (task, mut other) = (Actor::new(), Actor::new());
    let holder = lock.try_write().expect("the lock is free");
    let mut parked: Vec<_> = (0..scene.parked_count).map(|_| acquire(&lock, scene.parked)).collect();
    for future in &mut parked {
        assert!(poll_once(future, &task.waker).is_pending());
    }
    let mut bystander = acquire(&lock, scene.bystander);
    assert!(poll_once(&mut bystander, &other.waker).is_pending());
    drop(holder);
    let mut is_served = || other.was_woken() && poll_once(&mut bystander, &other.waker).is_ready();
    for turn in 0..TURNS_MAX {
        if is_served() {
            return Ok(turn);
        }
        let mut future = acquire(&lock, scene.looped);
        let mut polls = 0;
        while poll_once(&mut future, &task.waker).is_pending() {
            polls += 1;
            if is_served() {
                return Ok(turn);
            }
            if polls == POLLS_MAX {
                return Err(format!("the loop stands still in turn {turn}"));
            }
        }
    }
    Err(format!("the other task has no turn in {TURNS_MAX} turns of the loop"))
}

/// A future, and the waker of its task.
type Reader<'a, R> = (Boxed<Read<'a, u64, Manual<R>>>, Waker);

/// Readers that were granted at once and have not claimed. Each belongs to a task of its own, except those in `own`.
fn unclaimed<'a, R: RawLock + 'static>(
    lock: &'a Lock<R>,
    readers: usize,
    own: &[(usize, &Waker)],
) -> Vec<Reader<'a, R>> {
    let holder = lock.try_write().expect("the lock is free");
    let reads = (0..readers).map(|n| {
        let mut read = Box::pin(lock.read());
        let own = own.iter().find(|(at, _)| *at == n).map(|(_, waker)| (*waker).clone());
        let waker = own.unwrap_or_else(|| counting_waker().0);
        assert!(poll_once(&mut read, &waker).is_pending());
        (read, waker)
    });
    let reads = reads.collect();
    drop(holder);
    reads
}

/// The result of two tasks that scan for their own shares in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether both have had the lock at the end.
    pub served: bool,
    /// The number of polls of each task until it was not woken any more.
    pub polls: [usize; 2],
}

/// R8: one of many unclaimed readers belongs to the first task and, if `at` says so, another one to the second task.
/// Both tasks wait to write, and each is polled after a wake. Then the other readers claim and release. Both tasks must
/// be served, since nothing else keeps them out.
/// served, since nothing else keeps them out.
#[must_use]
pub fn two_looks<R: RawLock + 'static>(readers: usize, at: [Option<usize>; 2]) -> Look {
    let lock = Lock::<R>::new(0);
    let mut tasks = [Actor::new(), Actor::new()];
    let wakers = tasks.each_ref().map(|task| task.waker.clone());
    let own: Vec<(usize, &Waker)> = at.iter().zip(&wakers).filter_map(|(at, waker)| at.map(|at| (at, waker))).collect();
    let mut reads = unclaimed(&lock, readers, &own);
    let mut writes = [Some(Box::pin(lock.write())), Some(Box::pin(lock.write()))];
    let mut polls = [0; 2];
    let mut look = |first: bool, writes: &mut [Option<Boxed<_>>; 2]| {
        let mut served = 0;
        for _ in 0..ROUNDS_MAX {
            let mut idle = true;
            for ((task, write), polls) in tasks.iter_mut().zip(writes.iter_mut()).zip(&mut polls) {
                let is_new = first && *polls == 0;
                if !task.was_woken() && !is_new {
                    continue;
                }
                idle = false;
                *polls += usize::from(first);
                if let Some(future) = write
                    && let Poll::Ready(guard) = poll_once(future, &task.waker)
                {
                    drop(guard);
                    *write = None;
                    served += 1;
                }
            }
            if idle {
                break;
            }
        }
        served
    };
    let early = look(true, &mut writes);
    for (n, (read, waker)) in reads.iter_mut().enumerate() {
        if !at.contains(&Some(n)) {
            assert!(poll_once(read, waker).is_ready(), "reader {n} was granted and not robbed");
        }
    }
    let late = look(false, &mut writes);
    Look { served: early + late == 2, polls }
}

/// More rounds than two scans take.
const ROUNDS_MAX: usize = 5_000;

/// The cost for the waiters of other tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The number of guards.
    pub guards: usize,
    /// The number of polls of tasks.
    pub polls: usize,
}

/// R8: beside many unclaimed readers, ten others at a time come and go. Each waits in a task of its own, and is polled
/// after a wake.
#[must_use]
pub fn queue_beside<R: RawLock + 'static>(readers: usize, waiting: usize) -> Cost {
    const ROOM: usize = 10;
    let most = u32::try_from(readers + ROOM).expect("a small number");
    let lock = Lock::<R>::with_policy_and_max_readers(0, RwLockPolicy::WriterPreferring, most);
    let _reads = unclaimed(&lock, readers, &[]);
    let mut inside: VecDeque<_> = (0..ROOM).map(|_| lock.try_read().expect("there is room")).collect();
    let queue: Arc<StdMutex<VecDeque<usize>>> = Arc::default();
    let mut tasks: Vec<_> = (0..waiting)
        .map(|n| {
            let queue = Arc::clone(&queue);
            let on_wake = move || queue.lock().unwrap_or_else(PoisonError::into_inner).push_back(n);
            let waker = hooked_waker(Hooks { on_wake: Some(Box::new(on_wake)), ..Hooks::default() }).0;
            waker.wake_by_ref();
            Some((Box::pin(lock.read()), waker))
        })
        .collect();
    let mut cost = Cost { guards: 0, polls: 0 };
    while cost.guards < waiting && cost.polls < POLLS_PER_WAITER * waiting {
        let woken = core::mem::take(&mut *queue.lock().unwrap_or_else(PoisonError::into_inner));
        if woken.is_empty() {
            drop(inside.pop_front());
        }
        for n in woken {
            let Some((read, waker)) = &mut tasks[n] else { continue };
            cost.polls += 1;
            if let Poll::Ready(guard) = poll_once(read, waker) {
                inside.push_back(guard);
                cost.guards += 1;
                tasks[n] = None;
            }
        }
    }
    cost
}

/// A run that needs more polls ends here.
const POLLS_PER_WAITER: usize = 20;

/// The cost of the polls of a waiter whose scans find nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polls {
    /// The number of sections of each poll.
    pub sections: Vec<usize>,
    /// The number of wakes of the waiter.
    pub wakes: usize,
}

/// R8: polls a waiter repeatedly beside many unclaimed readers of other tasks.
#[must_use]
pub fn polled_again<R: RawLock + 'static>(readers: usize, polls: usize) -> Polls {
    let lock = Lock::<R>::new(0);
    let _reads = unclaimed(&lock, readers, &[]);
    let task = Actor::new();
    let mut write = Box::pin(lock.write());
    let mut poll = || {
        let before = sections();
        assert!(poll_once(&mut write, &task.waker).is_pending());
        sections() - before
    };
    Polls { sections: (0..polls).map(|_| poll()).collect(), wakes: task.count.wakes() }
}

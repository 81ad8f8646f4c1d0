//! The programs. At the end of each, the locks are free, no task is queued and no sleep is armed.

use super::clock::{OnEmbassy, Ticks, World};
use super::{Inside, below, explore, give_up_after, pause};
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::Poll;
use fifolock::tokio::Tokio;
use fifolock_core::raw::{SpinLock, StdLock};
use fifolock_core::rwlock::{RwLockPolicy, RwLockUpgradableReadGuard, RwLockWriteGuard};
use fifolock_core::{Mutex, RwLock};
use shuttle::future::{self, JoinHandle};
use std::sync::Arc;

const TASKS: usize = 8;
const TICKS: u32 = 4;

type TestMutex<P> = Mutex<Inside, P>;
type TestRwLock<P> = RwLock<Inside, P>;

type OnStd = Ticks<StdLock>;
type OnSpin = Ticks<SpinLock>;

/// Runs the tasks and the clock.
fn run<P: World>(tasks: Vec<JoinHandle<()>>) {
    let clock = future::spawn(async {
        for _ in 0..TICKS {
            P::tick();
            pause().await;
        }
    });
    future::block_on(async {
        for task in tasks {
            task.await.expect("no task panics");
        }
        clock.await.expect("the clock does not panic");
    });
    P::settle();
}

fn assert_free<P: World>(mutex: &TestMutex<P>) {
    let state = mutex.state();
    assert_eq!((state.locked, state.queued), (false, 0));
}

fn assert_unlocked<P: World>(lock: &TestRwLock<P>) {
    let state = lock.state();
    assert_eq!((state.readers, state.upgradable, state.writer), (0, false, false));
    assert_eq!((state.waiting_readers, state.waiting_upgradable, state.waiting_writers), (0, 0, 0));
}

/// Locks the mutex in a random way; returns whether the task had its turn.
async fn mutex_turn<P: World>(mutex: &TestMutex<P>) -> bool {
    match below(5) {
        0 => match mutex.try_lock() {
            Ok(guard) => guard.write().await,
            Err(_) => return false,
        },
        1 => match mutex.lock_timeout(P::ticks(1 + below(TICKS))).await {
            Ok(guard) => guard.write().await,
            Err(error) => {
                assert!(error.is_elapsed());
                return false;
            }
        },
        2 => match give_up_after(below(3), mutex.lock()).await {
            Some(guard) => guard.write().await,
            None => return false,
        },
        3 => match mutex.lock_until(future::yield_now()).await {
            Ok(guard) => guard.write().await,
            Err(()) => return false,
        },
        _ => mutex.lock().await.write().await,
    }
    true
}

/// Locks the read-write lock in a random way.
async fn rwlock_turn<P: World>(lock: &TestRwLock<P>) {
    match below(9) {
        0 => {
            if let Ok(guard) = lock.try_read() {
                guard.read().await;
            }
        }
        1 => {
            if let Ok(guard) = lock.write_timeout(P::ticks(1 + below(TICKS))).await {
                guard.write().await;
            }
        }
        2 => {
            if let Some(guard) = give_up_after(below(3), lock.write()).await {
                guard.write().await;
            }
        }
        3 => {
            if let Ok(guard) = lock.read_timeout(P::ticks(1 + below(TICKS))).await {
                guard.read().await;
            }
        }
        4 => {
            let guard = lock.write().await;
            guard.write().await;
            guard.downgrade().read().await;
        }
        5 => {
            let guard = lock.upgradable_read().await;
            guard.read().await;
            if let Some(guard) = give_up_after(below(4), RwLockUpgradableReadGuard::upgrade(guard)).await {
                guard.write().await;
                RwLockWriteGuard::downgrade_to_upgradable(guard).read().await;
            }
        }
        6 => {
            let guard = lock.upgradable_read().await;
            match RwLockUpgradableReadGuard::try_upgrade(guard) {
                Ok(guard) => guard.write().await,
                Err(guard) => RwLockUpgradableReadGuard::downgrade(guard).read().await,
            }
        }
        7 => lock.read().await.read().await,
        _ => lock.write().await.write().await,
    }
}

fn mutex<P: World>() {
    let mutex = Arc::new(TestMutex::<P>::new(Inside::default()));
    let turns = Arc::new(AtomicUsize::new(0));
    let tasks = (0..TASKS).map(|_| {
        let (mutex, turns) = (Arc::clone(&mutex), Arc::clone(&turns));
        future::spawn(async move {
            for _ in 0..2 {
                if mutex_turn(&mutex).await {
                    turns.fetch_add(1, Ordering::Relaxed);
                }
            }
        })
    });
    run::<P>(tasks.collect());
    assert_free(&mutex);
    let turns = turns.load(Ordering::Relaxed);
    assert_eq!(mutex.try_lock().expect("free").turns.load(Ordering::Relaxed), turns);
}

/// F08, M5 and M6: timeouts, cancellations, attempts.
#[test]
fn shuttle_mutex() {
    explore::<OnStd>(mutex::<OnStd>);
}

#[test]
fn shuttle_mutex_spin() {
    explore::<OnSpin>(mutex::<OnSpin>);
}

fn rwlock<P: World>(policy: RwLockPolicy, max_readers: u32) {
    let lock = Arc::new(TestRwLock::<P>::with_policy_and_max_readers(Inside::default(), policy, max_readers));
    let tasks = (0..TASKS).map(|_| {
        let lock = Arc::clone(&lock);
        future::spawn(async move {
            for _ in 0..2 {
                rwlock_turn(&lock).await;
            }
        })
    });
    run::<P>(tasks.collect());
    assert_unlocked(&lock);
}

/// W and U: all operations.
#[test]
fn shuttle_rwlock_writer_preferring() {
    explore::<OnStd>(|| rwlock::<OnStd>(RwLockPolicy::WriterPreferring, 100));
}

#[test]
fn shuttle_rwlock_task_fair() {
    explore::<OnStd>(|| rwlock::<OnStd>(RwLockPolicy::TaskFair, 100));
}

#[test]
fn shuttle_rwlock_phase_fair() {
    explore::<OnStd>(|| rwlock::<OnStd>(RwLockPolicy::PhaseFair, 100));
}

/// W7: at most two readers.
#[test]
fn shuttle_rwlock_with_little_room() {
    explore::<OnStd>(|| {
        rwlock::<OnStd>([RwLockPolicy::WriterPreferring, RwLockPolicy::PhaseFair][below(2) as usize], 2)
    });
}

#[test]
fn shuttle_rwlock_spin() {
    explore::<OnSpin>(|| rwlock::<OnSpin>(RwLockPolicy::WriterPreferring, 100));
}

/// Several locks, which all tasks take in one order. Guards move to other tasks, and tasks are aborted.
#[test]
fn shuttle_several_locks() {
    explore::<OnStd>(|| {
        let first = Arc::new(TestMutex::<OnStd>::new(Inside::default()));
        let second = Arc::new(TestRwLock::<OnStd>::new(Inside::default()));
        let aborted = future::spawn({
            let (first, second) = (Arc::clone(&first), Arc::clone(&second));
            async move {
                let _outer = first.lock_owned().await;
                let _inner = second.write_owned().await;
                pause().await;
            }
        });
        let tasks = (0..TASKS - 1).map(|_| {
            let (first, second) = (Arc::clone(&first), Arc::clone(&second));
            future::spawn(async move {
                let outer = first.lock_owned().await;
                outer.write().await;
                let inner = Arc::clone(&second).read_owned().await;
                inner.read().await;
                let elsewhere = future::spawn(async move {
                    pause().await;
                    drop(outer);
                });
                rwlock_turn_after(inner, &second).await;
                elsewhere.await.expect("the other task does not panic");
            })
        });
        let tasks = tasks.collect();
        aborted.abort();
        run::<OnStd>(tasks);
        drop(future::block_on(aborted));
        assert_free(&first);
        assert_unlocked(&second);
    });
}

/// Drops the guard first: a task that asks again for a lock that it holds waits for itself.
async fn rwlock_turn_after<G, P: World>(guard: G, lock: &TestRwLock<P>) {
    drop(guard);
    rwlock_turn(lock).await;
}

/// Polls both futures to their end, in one order or the other, as a `join` does.
async fn join<A: Future<Output = ()>, B: Future<Output = ()>>(one: A, other: B) {
    let (mut one, mut other) = (Box::pin(one), Box::pin(other));
    let mut ended = [false, false];
    poll_fn(move |cx| {
        let turn = below(2) as usize;
        for which in [turn, 1 - turn] {
            if !ended[which] {
                let polled = if which == 0 { one.as_mut().poll(cx) } else { other.as_mut().poll(cx) };
                ended[which] = polled.is_ready();
            }
        }
        if ended == [true, true] { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// R1 to R6: tasks that wait for one lock in two futures, and stop polling one of them.
fn rescue<P: World>() {
    let mutex = Arc::new(TestMutex::<P>::new(Inside::default()));
    let lock = Arc::new(TestRwLock::<P>::new(Inside::default()));
    let tasks = (0..TASKS / 2).map(|_| {
        let (mutex, lock) = (Arc::clone(&mutex), Arc::clone(&lock));
        future::spawn(async move {
            match below(3) {
                0 => join(async { mutex.lock().await.write().await }, async { mutex.lock().await.write().await }).await,
                1 => join(async { lock.read().await.read().await }, async { lock.write().await.write().await }).await,
                _ => {
                    // As in `select!`: the task stops polling the first future and locks again.
                    let mut left = pin!(mutex.lock());
                    let first = poll_fn(|cx| Poll::Ready(left.as_mut().poll(cx))).await;
                    match first {
                        Poll::Ready(guard) => guard.write().await,
                        Poll::Pending => {
                            mutex.lock().await.write().await;
                            if below(2) == 0 {
                                left.await.write().await;
                            }
                        }
                    }
                }
            }
        })
    });
    run::<P>(tasks.collect());
    assert_free(&mutex);
    assert_unlocked(&lock);
}

#[test]
fn shuttle_rescue() {
    explore::<OnStd>(rescue::<OnStd>);
}

#[test]
fn shuttle_rescue_spin() {
    explore::<OnSpin>(rescue::<OnSpin>);
}

/// The programs through an adapter, with the adapter's timer.
macro_rules! adapters {
    ($($name:ident: $world:ty),+ $(,)?) => {
        $(
            mod $name {
                use super::*;

                #[test]
                fn shuttle_mutex() {
                    explore::<$world>(mutex::<$world>);
                }

                #[test]
                fn shuttle_rwlock() {
                    explore::<$world>(|| rwlock::<$world>(RwLockPolicy::WriterPreferring, 100));
                }

                #[test]
                fn shuttle_rescue() {
                    explore::<$world>(rescue::<$world>);
                }
            }
        )+
    };
}

adapters!(tokio: Tokio, embassy: OnEmbassy);

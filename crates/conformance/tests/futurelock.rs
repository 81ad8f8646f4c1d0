//! Futurelock: a task polls a lock future in `select!` by `&mut`, stops polling the future, and locks again in the
//! other branch. A fair lock grants to the first future, which the task does not poll. These locks go on; tokio's
//! hangs, as the last tests show.
#![cfg(not(miri))]

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use core::time::Duration;
use fifolock_core::platform::Platform;
use fifolock_core::rwlock::RwLockPolicy;
use fifolock_core::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

/// Runs a program on a thread of its own, and fails unless the program ends within five seconds.
#[track_caller]
fn in_time(program: impl FnOnce() + Send + 'static) {
    let (done, ended) = channel();
    let thread = thread::spawn(move || {
        program();
        let _ = done.send(());
    });
    match ended.recv_timeout(Duration::from_secs(5)) {
        Ok(()) => thread.join().expect("no panic"),
        Err(RecvTimeoutError::Disconnected) => thread.join().expect("no panic"),
        Err(RecvTimeoutError::Timeout) => panic!("futurelock: it hangs"),
    }
}

async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Does as `select!` by `&mut` does: polls `first` until `second` is ready.
async fn first_or<A>(first: &mut Pin<&mut impl Future<Output = A>>, second: impl Future<Output = ()>) -> Option<A> {
    let mut second = pin!(second);
    poll_fn(|cx: &mut Context<'_>| {
        if let Poll::Ready(a) = first.as_mut().poll(cx) {
            return Poll::Ready(Some(a));
        }
        second.as_mut().poll(cx).map(|()| None)
    })
    .await
}

/// The reported program. A background task holds the lock for a while. `park` waits for the lock in a select with a
/// tick, and the branch of the tick locks again.
///
/// `hold`, `park` and `again` are the operations. The holder releases while `park` is not polled.
async fn futurelock<H, K, A>(
    hold: impl Future<Output = H>,
    park: impl Future<Output = K>,
    again: impl Future<Output = A>,
) {
    let held = hold.await;
    let mut park = pin!(park);
    let ticked = first_or(&mut park, yield_now()).await;
    assert!(ticked.is_none(), "the lock is held");
    drop(held);
    // The release has granted the lock to `park`.
    let again = again.await;
    drop(again);
    // Then `park` has its turn.
    drop(park.await);
}

/// Runs the program on the mutex, and on both sides of the read-write lock under each policy.
async fn on_every_lock<P: Platform>() {
    let mutex = Mutex::<u32, P>::new(0);
    futurelock(mutex.lock(), mutex.lock(), mutex.lock()).await;
    assert!(mutex.try_lock().is_ok());
    let mutex = Arc::new(mutex);
    let owned = || Arc::clone(&mutex).lock_owned();
    futurelock(owned(), owned(), owned()).await;
    for policy in [RwLockPolicy::WriterPreferring, RwLockPolicy::TaskFair, RwLockPolicy::PhaseFair] {
        let lock = RwLock::<u32, P>::with_policy(0, policy);
        futurelock(lock.write(), lock.write(), lock.write()).await;
        futurelock(lock.write(), lock.write(), lock.read()).await;
        futurelock(lock.write(), lock.read(), lock.write()).await;
        futurelock(lock.read(), lock.write(), lock.read()).await;
        futurelock(lock.read(), lock.write(), lock.write()).await;
        futurelock(lock.write(), lock.write(), lock.upgradable_read()).await;
        futurelock(lock.write(), lock.upgradable_read(), lock.write()).await;
        futurelock(lock.upgradable_read(), lock.upgradable_read(), lock.upgradable_read()).await;
        assert!(lock.try_write().is_ok());
        // A read parks, and the same task reads again: with room for one reader, and with a writer of the task queued
        // in between.
        let lock = RwLock::<u32, P>::with_policy_and_max_readers(0, policy, 1);
        futurelock(lock.read(), lock.read(), lock.read()).await;
        futurelock(lock.write(), lock.read(), lock.read()).await;
        assert!(lock.try_write().is_ok());
    }
}

/// A task parks two reads, and then writes.
async fn two_parked<P: Platform>() {
    for policy in [RwLockPolicy::WriterPreferring, RwLockPolicy::TaskFair, RwLockPolicy::PhaseFair] {
        let lock = RwLock::<u32, P>::with_policy(0, policy);
        let held = lock.write().await;
        let (mut one, mut two) = (pin!(lock.read()), pin!(lock.read()));
        assert!(first_or(&mut one, yield_now()).await.is_none());
        assert!(first_or(&mut two, yield_now()).await.is_none());
        drop(held);
        drop(lock.write().await);
        drop((one.await, two.await));
    }
}

#[test]
fn r5_two_parked_reads_and_a_write() {
    in_time(|| smol::block_on(two_parked::<fifolock::smol::Smol>()));
    in_time(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(two_parked::<fifolock::tokio::Tokio>());
    });
}

#[test]
fn r1_tokio_current_thread() {
    in_time(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(on_every_lock::<fifolock::tokio::Tokio>());
        runtime.block_on(async { tokio::spawn(on_every_lock::<fifolock::tokio::Tokio>()).await }).expect("no panic");
    });
}

#[test]
fn r1_tokio_multi_thread() {
    in_time(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
        runtime.block_on(on_every_lock::<fifolock::tokio::Tokio>());
        let tasks: Vec<_> = (0..4).map(|_| runtime.spawn(on_every_lock::<fifolock::tokio::Tokio>())).collect();
        for task in tasks {
            runtime.block_on(task).expect("no panic");
        }
    });
}

#[test]
fn r1_smol() {
    in_time(|| {
        smol::block_on(on_every_lock::<fifolock::smol::Smol>());
        smol::block_on(smol::spawn(on_every_lock::<fifolock::smol::Smol>()));
    });
}

#[test]
fn r1_async_std() {
    in_time(|| {
        async_std::task::block_on(on_every_lock::<fifolock::async_std::AsyncStd>());
        async_std::task::block_on(async_std::task::spawn(on_every_lock::<fifolock::async_std::AsyncStd>()));
    });
}

/// The unusual ways in which a runtime can run a task.
#[test]
fn r1_tokio_in_other_ways() {
    use fifolock::tokio::Tokio;
    use tokio::task::{JoinSet, LocalSet, spawn_blocking};

    in_time(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        LocalSet::new().block_on(&runtime, async {
            tokio::task::spawn_local(on_every_lock::<Tokio>()).await.expect("no panic");
        });
        runtime.block_on(async {
            let handle = tokio::runtime::Handle::current();
            spawn_blocking(move || handle.block_on(on_every_lock::<Tokio>())).await.expect("no panic");
            let mut set = JoinSet::new();
            set.spawn(on_every_lock::<Tokio>());
            set.spawn(on_every_lock::<Tokio>());
            while let Some(ended) = set.join_next().await {
                ended.expect("no panic");
            }
        });
    });
}

#[test]
fn r1_smol_executors() {
    use fifolock::smol::Smol;

    in_time(|| {
        let executor = smol::Executor::new();
        smol::block_on(executor.run(executor.spawn(on_every_lock::<Smol>())));
        let executor = smol::LocalExecutor::new();
        smol::block_on(executor.run(executor.spawn(on_every_lock::<Smol>())));
    });
}

#[test]
fn r1_executors_of_futures_and_pollster() {
    use fifolock::platform::Std;
    use futures::executor::{LocalPool, ThreadPool, block_on};
    use futures::future::{AbortHandle, Abortable, FutureExt as _};
    use futures::stream::{FuturesUnordered, StreamExt as _};
    use futures::task::SpawnExt as _;

    in_time(|| {
        block_on(on_every_lock::<Std>());
        LocalPool::new().run_until(on_every_lock::<Std>());
        let pool = ThreadPool::builder().pool_size(1).create().expect("a pool");
        block_on(pool.spawn_with_handle(on_every_lock::<Std>()).expect("it runs"));
        pollster::block_on(on_every_lock::<Std>());
        block_on(on_every_lock::<Std>().boxed_local().shared());
        let (_handle, registration) = AbortHandle::new_pair();
        block_on(Abortable::new(on_every_lock::<Std>(), registration)).expect("it is not aborted");
        // Each child has a waker of its own, which polls both of its futures.
        let mut children: FuturesUnordered<_> = (0..3).map(|_| on_every_lock::<Std>().boxed_local()).collect();
        block_on(async { while children.next().await.is_some() {} });
    });
}

/// Embassy's locks on a thread that parks. The test uses no clock.
#[test]
fn r1_embassy() {
    use embassy_sync::blocking_mutex::raw::{CriticalSectionRawMutex, NoopRawMutex};
    in_time(|| {
        smol::block_on(on_every_lock::<fifolock::embassy::Embassy<CriticalSectionRawMutex>>());
        smol::block_on(on_every_lock::<fifolock::embassy::Embassy<NoopRawMutex>>());
    });
}

/// The program as it was reported, with tokio's `select!`: a background task holds the lock, and the other branch is a
/// tick.
macro_rules! reported {
    ($mutex:ty) => {
        async {
            let mutex = Arc::new(<$mutex>::new(()));
            let held = Arc::clone(&mutex).lock_owned().await;
            let background = tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(50)).await;
                drop(held);
            });
            let mut first = pin!(mutex.lock());
            tokio::select! {
                _guard = &mut first => unreachable!("the lock is held"),
                () = tokio::time::sleep(Duration::from_millis(5)) => {
                    let _guard = mutex.lock().await;
                }
            }
            background.await.expect("no panic");
        }
    };
}

/// The same program on the write side of a read-write lock.
macro_rules! reported_write {
    ($lock:ty) => {
        async {
            let lock = Arc::new(<$lock>::new(()));
            let held = Arc::clone(&lock).read_owned().await;
            let background = tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(50)).await;
                drop(held);
            });
            let mut first = pin!(lock.write());
            tokio::select! {
                _guard = &mut first => unreachable!("the lock is held"),
                () = tokio::time::sleep(Duration::from_millis(5)) => {
                    let _guard = lock.read().await;
                }
            }
            background.await.expect("no panic");
        }
    };
}

/// Whether the program ends within an hour of the paused clock, which only sleeps advance.
fn ends(program: impl Future<Output = ()>) -> bool {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(3600), program).await.is_ok() })
}

/// Tokio's mutex hangs until the timeout. This project's mutex goes on.
#[test]
fn r1_the_report_beside_tokios_locks() {
    assert!(!ends(reported!(tokio::sync::Mutex<()>)), "tokio's mutex does not hang, so the docs must change");
    assert!(ends(reported!(fifolock::tokio::Mutex<()>)));
    assert!(!ends(reported_write!(tokio::sync::RwLock<()>)), "tokio's lock does not hang, so the docs must change");
    assert!(ends(reported_write!(fifolock::tokio::RwLock<()>)));
}

/// F24: a timed future has its turn as well, long before its limit.
#[test]
fn r1_the_report_with_a_timeout() {
    assert!(ends(async {
        let mutex = Arc::new(fifolock::tokio::Mutex::new(()));
        let held = Arc::clone(&mutex).lock_owned().await;
        let mut first = pin!(mutex.lock_timeout(Duration::from_secs(1)));
        tokio::select! {
            _ = &mut first => unreachable!("the lock is held"),
            () = tokio::time::sleep(Duration::from_millis(5)) => {
                drop(held);
                let before = tokio::time::Instant::now();
                let _guard = mutex.lock_timeout(Duration::from_secs(1)).await.expect("rescued");
                assert_eq!(before.elapsed(), Duration::ZERO);
            }
        }
        // The victim has its turn within its limit.
        drop(first.await.expect("granted again"));
    }));
}

/// R6: a `join!` that polls its children in one order sees them served in that order. The lock is released before,
/// among and after them.
/// after them.
#[test]
fn r6_join_keeps_the_order_on_tokio() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    for yields in 0..8 {
        let order = std::sync::Mutex::new(Vec::new());
        let mutex = Mutex::<(), fifolock::tokio::Tokio>::new(());
        let child = async |n: usize| {
            let guard = mutex.lock().await;
            order.lock().expect("no panic").push(n);
            yield_now().await;
            drop(guard);
        };
        let release = async |held| {
            for _ in 0..yields {
                yield_now().await;
            }
            drop(held);
        };
        runtime.block_on(async {
            let held = mutex.lock().await;
            tokio::join!(biased; child(0), child(1), release(held));
            let held = mutex.lock().await;
            tokio::join!(biased; child(2), release(held), child(3));
            let held = mutex.lock().await;
            tokio::join!(biased; release(held), child(4), child(5), child(6));
        });
        let mut order = order.into_inner().expect("no panic");
        // The last three may start with a free lock, or with the future that `join!` polls first.
        let last = order.split_off(4);
        assert_eq!(order, [0, 1, 2, 3], "after {yields} yields");
        assert_eq!(last.len(), 3);
    }
}

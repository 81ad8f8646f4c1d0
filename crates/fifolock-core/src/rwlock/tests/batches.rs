//! A batch of readers in several sections, each of one reader, against all that changes its rest meanwhile.

use crate::platform::Std;
use crate::rwlock::{OwnedRwLockUpgradableReadGuard, RwLockPolicy};
use crate::test_tools::{Data, Woken, finish, model, poll};
use alloc::boxed::Box;
use core::future::Future;
use core::pin::{Pin, pin};
use core::task::Poll;
use loom::thread;
use std::sync::Arc;

type RwLock = crate::RwLock<Data, Std>;
type Turn = Pin<Box<dyn Future<Output = ()> + Send>>;

fn read(lock: &Arc<RwLock>) -> Turn {
    let lock = Arc::clone(lock);
    Box::pin(async move {
        lock.read().await.read();
    })
}

#[track_caller]
fn assert_free(lock: &RwLock, sum: u32) {
    let state = lock.state();
    assert_eq!((state.readers, state.upgradable, state.writer), (0, false, false));
    assert_eq!((state.waiting_readers, state.waiting_upgradable, state.waiting_writers), (0, 0, 0));
    assert_eq!(lock.try_write().expect("free").read(), sum);
}

/// P3: the first of a task-fair run upgrades while the rest is marked: all of the run are in before the release returns.
#[test]
fn loom_p3_run_against_an_upgrade() {
    model(|| {
        let lock = Arc::new(RwLock::with_policy(Data::new(), RwLockPolicy::TaskFair));
        let woken: [_; 3] = core::array::from_fn(|_| Woken::new());
        let guard = Arc::clone(&lock).try_write_owned().unwrap();
        let mut first = Box::pin(Arc::clone(&lock).upgradable_read_owned());
        assert!(poll(first.as_mut(), &woken[0]).is_pending());
        let mut run = [1, 2].map(|i| {
            let mut turn = read(&lock);
            assert!(poll(turn.as_mut(), &woken[i]).is_pending());
            turn
        });
        let upgrader = {
            let woken = woken[0].clone();
            thread::spawn(move || {
                let mut upgrade = Box::pin(async move {
                    let guard = first.await;
                    OwnedRwLockUpgradableReadGuard::upgrade(guard).await.add(1);
                });
                assert!(poll(upgrade.as_mut(), &woken).is_pending(), "the run is before it");
                upgrade
            })
        };
        drop(guard);
        assert_eq!([woken[1].count(), woken[2].count()], [1, 1], "the run has ended early");
        let mut upgrade = upgrader.join().unwrap();
        run.iter_mut().zip(&woken[1..]).for_each(|(turn, woken)| assert!(poll(turn.as_mut(), woken).is_ready()));
        finish(upgrade.as_mut(), &woken[0]);
        assert_free(&lock, 1);
    });
}

/// P3, U3: the rest of the run is gone, and the upgrade that has come meanwhile is alone: it is let in.
#[test]
fn loom_p3_upgrade_against_a_run_that_is_gone() {
    model(|| {
        let lock = Arc::new(RwLock::with_policy(Data::new(), RwLockPolicy::TaskFair));
        let woken: [_; 2] = core::array::from_fn(|_| Woken::new());
        let guard = Arc::clone(&lock).try_write_owned().unwrap();
        let mut first = Box::pin(Arc::clone(&lock).upgradable_read_owned());
        assert!(poll(first.as_mut(), &woken[0]).is_pending());
        let mut rest = read(&lock);
        assert!(poll(rest.as_mut(), &woken[1]).is_pending());
        let upgrader = {
            let woken = woken[0].clone();
            thread::spawn(move || {
                let Poll::Ready(guard) = poll(first.as_mut(), &woken) else {
                    drop(rest);
                    return None;
                };
                let mut upgrade = Box::pin(OwnedRwLockUpgradableReadGuard::upgrade(guard));
                assert!(poll(upgrade.as_mut(), &woken).is_pending(), "the run is before it");
                let wakes = woken.count();
                drop(rest);
                Some((upgrade, wakes))
            })
        };
        drop(guard);
        if let Some((mut upgrade, wakes)) = upgrader.join().unwrap() {
            assert!(woken[0].count() > wakes, "it waits, and nobody will wake it");
            finish(upgrade.as_mut(), &woken[0]).add(1);
            drop(upgrade);
            assert_free(&lock, 1);
        }
    });
}

/// P3: the rest of a task-fair run is dropped while it is marked: the writer behind it has its turn.
#[test]
fn loom_p3_run_against_its_drop() {
    model(|| {
        let lock = Arc::new(RwLock::with_policy(Data::new(), RwLockPolicy::TaskFair));
        let woken: [_; 3] = core::array::from_fn(|_| Woken::new());
        let guard = lock.try_write().unwrap();
        let [first, second] = [0, 1].map(|i| {
            let mut turn = read(&lock);
            assert!(poll(turn.as_mut(), &woken[i]).is_pending());
            turn
        });
        let mut writer = pin!(lock.write());
        assert!(poll(writer.as_mut(), &woken[2]).is_pending());
        let dropper = thread::spawn(move || drop((first, second)));
        drop(guard);
        dropper.join().unwrap();
        assert_eq!(woken[2].count(), 1, "the writer waits, and nobody will wake it");
        let Poll::Ready(guard) = poll(writer.as_mut(), &woken[2]) else { panic!("the grant was lost") };
        guard.add(1);
        drop(guard);
        assert_free(&lock, 1);
    });
}

/// P2: nobody gets between the readers of a run, and who comes meanwhile is not forgotten.
#[test]
fn loom_p2_run_against_a_first_poll() {
    model(|| {
        let lock = Arc::new(RwLock::with_policy(Data::new(), RwLockPolicy::TaskFair));
        let woken: [_; 3] = core::array::from_fn(|_| Woken::new());
        let guard = lock.try_write().unwrap();
        let mut run = [0, 1].map(|i| {
            let mut turn = read(&lock);
            assert!(poll(turn.as_mut(), &woken[i]).is_pending());
            turn
        });
        let newcomer = {
            let (lock, woken) = (Arc::clone(&lock), woken[2].clone());
            thread::spawn(move || {
                let mut turn = Box::pin(async move { lock.write().await.add(1) });
                assert!(poll(turn.as_mut(), &woken).is_pending(), "the run is before it");
                turn
            })
        };
        drop(guard);
        let mut newcomer = newcomer.join().unwrap();
        run.iter_mut().zip(&woken).for_each(|(turn, woken)| assert!(poll(turn.as_mut(), woken).is_ready()));
        assert_eq!(woken[2].count(), 1);
        finish(newcomer.as_mut(), &woken[2]);
        assert_free(&lock, 1);
    });
}

/// W4: two threads mark one batch: one opens it, the other adds to it. When both have returned all are woken.
#[test]
fn loom_w4_two_threads_that_mark_one_batch() {
    model(|| {
        let lock = Arc::new(RwLock::with_max_readers(Data::new(), 2));
        let woken: [_; 4] = core::array::from_fn(|_| Woken::new());
        let guard = lock.try_write().unwrap();
        let [first, rest @ ..] = [0, 1, 2].map(|i| {
            let mut turn = read(&lock);
            assert!(poll(turn.as_mut(), &woken[i]).is_pending());
            turn
        });
        let other = thread::spawn(move || drop(first));
        drop(guard);
        other.join().unwrap();
        assert_eq!([woken[1].count(), woken[2].count()], [1, 1], "one is granted, and nobody will wake it");
        for (mut turn, woken) in rest.into_iter().zip(&woken[1..]) {
            assert!(poll(turn.as_mut(), woken).is_ready());
        }
        assert_free(&lock, 0);
    });
}

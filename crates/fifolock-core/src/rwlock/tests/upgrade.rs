//! The upgrade against readers and writers.

use crate::platform::Std;
use crate::rwlock::RwLockUpgradableReadGuard as Upgradable;
use crate::test_tools::{Data, Woken, finish, model, poll};
use core::pin::pin;
use core::task::Poll;
use loom::future::block_on;
use loom::sync::Arc;
use loom::thread;
use std::boxed::Box;

type RwLock = crate::RwLock<Data, Std>;

fn lock() -> Arc<RwLock> {
    Arc::new(RwLock::new(Data::new()))
}

#[track_caller]
fn assert_free(lock: &RwLock, sum: u32) {
    let state = lock.state();
    assert_eq!((state.readers, state.upgradable, state.writer), (0, false, false));
    assert_eq!((state.waiting_readers, state.waiting_upgradable, state.waiting_writers), (0, 0, 0));
    assert_eq!(lock.try_write().expect("free").read(), sum);
}

/// U3: an upgrade is never missed by the last other reader that leaves.
#[test]
fn loom_u3_upgrade_against_a_reader_leaving() {
    model(|| {
        let lock = lock();
        let reader = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || block_on(lock.read()).read())
        };
        let guard = block_on(lock.upgradable_read());
        assert_eq!(guard.read(), 0);
        block_on(Upgradable::upgrade(guard)).add(1);
        assert!(reader.join().unwrap() <= 1);
        assert_free(&lock, 1);
    });
}

/// U4: an upgrade that is cancelled gives its share and its place back, whether it had been granted or not.
#[test]
fn loom_u4_cancelled_upgrade_against_a_reader_leaving() {
    model(|| {
        let lock = lock();
        let woken = [Woken::new(), Woken::new()];
        let inside = lock.try_read().unwrap();
        let shared = Arc::clone(&lock);
        let mut upgrade = Box::pin(async move {
            let guard = shared.upgradable_read().await;
            Upgradable::upgrade(guard).await.add(1);
        });
        assert!(poll(upgrade.as_mut(), &woken[0]).is_pending());
        let mut writer = pin!(lock.write());
        assert!(poll(writer.as_mut(), &woken[1]).is_pending());
        let canceller = thread::spawn(move || drop(upgrade));
        assert_eq!(inside.read(), 0);
        drop(inside);
        canceller.join().unwrap();
        assert_eq!(woken[1].count(), 1, "the writer has its turn");
        finish(writer.as_mut(), &woken[1]).add(1);
        assert_free(&lock, 1);
    });
}

/// U7: an upgrade that gives up while the last other reader leaves has the lock or its share, and keeps nobody out.
#[test]
fn loom_u7_upgrade_that_gives_up_against_a_reader_leaving() {
    model(|| {
        let lock = lock();
        let woken = [Woken::new(), Woken::new()];
        let inside = lock.try_read().unwrap();
        let shared = Arc::clone(&lock);
        let mut polls = 0;
        let other = core::future::poll_fn(move |_| {
            polls += 1;
            if polls > 1 { Poll::Ready(()) } else { Poll::Pending }
        });
        let mut upgrade = Box::pin(async move {
            let guard = shared.upgradable_read().await;
            match Upgradable::upgrade_until(guard, other).await {
                Ok(guard) => guard.add(1),
                Err(failed) => assert_eq!(failed.guard.read(), 0, "nobody wrote in between"),
            }
        });
        assert!(poll(upgrade.as_mut(), &woken[0]).is_pending());
        let mut reader = pin!(lock.read());
        assert!(poll(reader.as_mut(), &woken[1]).is_pending());
        let giver = thread::spawn(move || assert!(poll(upgrade.as_mut(), &Woken::new()).is_ready()));
        assert_eq!(inside.read(), 0);
        drop(inside);
        giver.join().unwrap();
        assert_eq!(woken[1].count(), 1, "the reader is in");
        let value = finish(reader.as_mut(), &woken[1]).read();
        assert_free(&lock, value);
    });
}

/// U3: an upgrade goes before a writer that is queued, whenever it comes.
#[test]
fn loom_u3_upgrade_against_a_queued_writer() {
    model(|| {
        let lock = lock();
        let guard = block_on(lock.upgradable_read());
        let writer = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || {
                let guard = block_on(lock.write());
                assert_eq!(guard.read(), 1, "the upgrade was first");
                guard.add(1);
            })
        };
        assert_eq!(guard.read(), 0);
        block_on(Upgradable::upgrade(guard)).add(1);
        writer.join().unwrap();
        assert_free(&lock, 2);
    });
}

/// U1: two that want the upgradable share: one after the other, and nobody is missed.
#[test]
fn loom_u1_two_upgradable_readers() {
    model(|| {
        let lock = lock();
        let upgrade = |lock: &RwLock| {
            let guard = block_on(lock.upgradable_read());
            let before = guard.read();
            let guard = block_on(Upgradable::upgrade(guard));
            assert_eq!(guard.read(), before, "nobody wrote in between");
            guard.add(1);
        };
        let other = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || upgrade(&lock))
        };
        upgrade(&lock);
        other.join().unwrap();
        assert_free(&lock, 2);
    });
}

/// U5: a writer that becomes the upgradable reader, against a reader's first poll.
#[test]
fn loom_u5_downgrade_to_upgradable_against_a_first_poll() {
    model(|| {
        let lock = lock();
        let guard = lock.try_write().unwrap();
        guard.add(1);
        let reader = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || block_on(lock.read()).read())
        };
        let guard = crate::rwlock::RwLockWriteGuard::downgrade_to_upgradable(guard);
        assert_eq!(guard.read(), 1);
        drop(Upgradable::downgrade(guard));
        assert_eq!(reader.join().unwrap(), 1);
        assert_free(&lock, 1);
    });
}

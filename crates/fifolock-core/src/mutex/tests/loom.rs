//! Every interleaving of small programs; the data is a loom cell, so that a missing ordering shows.

use crate::platform::{Platform, Std, Timer};
use crate::test_tools::{Data, Woken, model, model_of_three, poll};
use core::future::Ready;
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;
use loom::future::block_on;
use loom::sync::Arc;
use loom::thread;
use std::boxed::Box;

type Mutex = crate::Mutex<Data, Std>;

fn mutex() -> Arc<Mutex> {
    Arc::new(Mutex::new(Data::new()))
}

/// F20, M3, K7: a waiter is never missed by the fast release.
#[test]
fn loom_m3_release_against_first_poll() {
    model(|| {
        let mutex = mutex();
        let guard = mutex.try_lock().unwrap();
        guard.add(1);
        let other = {
            let mutex = Arc::clone(&mutex);
            thread::spawn(move || block_on(mutex.lock()).add(1))
        };
        drop(guard);
        other.join().unwrap();
        assert_eq!(mutex.try_lock().unwrap().read(), 2);
        assert_eq!(mutex.queued(), 0);
    });
}

/// M2, M3: three threads, each locks once.
#[test]
fn loom_m3_three_lockers_each_get_their_turn() {
    model_of_three(|| {
        let mutex = mutex();
        let others: [_; 2] = core::array::from_fn(|_| {
            let mutex = Arc::clone(&mutex);
            thread::spawn(move || block_on(mutex.lock()).add(1))
        });
        block_on(mutex.lock()).add(1);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(mutex.try_lock().unwrap().read(), 3);
    });
}

/// M6, F01: whether the dropped waiter had been granted or not, the next one gets the mutex.
#[test]
fn loom_m6_release_against_cancel_of_the_granted() {
    model(|| {
        let mutex = mutex();
        let guard = mutex.try_lock().unwrap();
        let woken = [Woken::new(), Woken::new()];
        let shared = Arc::clone(&mutex);
        let mut first = Box::pin(async move { shared.lock().await.add(1) });
        assert!(poll(first.as_mut(), &woken[0]).is_pending());
        let mut second = pin!(mutex.lock());
        assert!(poll(second.as_mut(), &woken[1]).is_pending());
        let canceller = thread::spawn(move || drop(first));
        guard.add(1);
        drop(guard);
        canceller.join().unwrap();
        assert_eq!(woken[1].count(), 1, "the grant was passed on, with one wake");
        let Poll::Ready(guard) = poll(second.as_mut(), &woken[1]) else { panic!("the grant was lost") };
        assert_eq!(guard.read(), 1);
        drop(guard);
        assert!(!mutex.is_locked());
    });
}

/// A platform whose time is always over.
enum Over {}

impl Platform for Over {
    type Raw = <Std as Platform>::Raw;
}

impl Timer for Over {
    type Duration = Duration;
    type Instant = Duration;
    type Sleep = Ready<()>;

    fn sleep(_: Duration) -> Option<Ready<()>> {
        Some(core::future::ready(()))
    }

    fn sleep_until(_: Duration) -> Option<Ready<()>> {
        Some(core::future::ready(()))
    }

    fn now() -> Duration {
        Duration::ZERO
    }

    fn to_core(duration: Duration) -> Duration {
        duration
    }
}

/// T4, F08: one outcome, and in the case of an error the next waiter has the mutex.
#[test]
fn loom_t4_release_against_timeout() {
    model(|| {
        let mutex = mutex();
        let guard = mutex.try_lock().unwrap();
        let woken = Woken::new();
        let timed = {
            let mutex = Arc::clone(&mutex);
            thread::spawn(move || {
                let outcome = block_on(mutex.on::<Over>().lock_timeout(Duration::from_millis(1)));
                outcome.map(|guard| guard.add(1)).is_ok()
            })
        };
        let mut next = pin!(mutex.lock());
        let first = poll(next.as_mut(), &woken);
        assert!(first.is_pending());
        guard.add(1);
        drop(guard);
        let acquired = timed.join().unwrap();
        let Poll::Ready(guard) = poll(next.as_mut(), &woken) else { panic!("the grant was lost") };
        assert_eq!(guard.read(), 1 + u32::from(acquired));
        drop(guard);
        assert!(!mutex.is_locked());
        assert_eq!(mutex.queued(), 0);
    });
}

/// M4: a try never gets between a release and the claim of a waiter, and leaves no trace.
#[test]
fn loom_m4_try_lock_against_hand_off() {
    model(|| {
        let mutex = mutex();
        let guard = mutex.try_lock().unwrap();
        let woken = Woken::new();
        let mut waiter = pin!(mutex.lock());
        assert!(poll(waiter.as_mut(), &woken).is_pending());
        let other = {
            let mutex = Arc::clone(&mutex);
            thread::spawn(move || mutex.try_lock().is_err())
        };
        drop(guard);
        assert!(other.join().unwrap(), "barged in");
        assert!(poll(waiter.as_mut(), &woken).is_ready());
    });
}

/// K1: a waker that is replaced while the release is under way: one of the two is woken, and the claim succeeds.
#[test]
fn loom_k1_release_against_another_waker() {
    model(|| {
        let mutex = mutex();
        let guard = mutex.try_lock().unwrap();
        let shared = Arc::clone(&mutex);
        let woken = [Woken::new(), Woken::new()];
        let mut waiter = Box::pin(async move { shared.lock().await.add(1) });
        assert!(poll(waiter.as_mut(), &woken[0]).is_pending());
        let poller = {
            let woken = woken.clone();
            thread::spawn(move || {
                let ready = poll(waiter.as_mut(), &woken[1]).is_ready();
                (waiter, ready)
            })
        };
        drop(guard);
        let (mut waiter, ready) = poller.join().unwrap();
        if !ready {
            assert_eq!(woken[1].count(), 1, "the newest waker is the one woken");
            assert!(poll(waiter.as_mut(), &woken[1]).is_ready());
        }
        assert!(!mutex.is_locked());
    });
}

/// M10: a look never disturbs a hand-off, and sees a mutex that is held or free, never one with a waiter that is free.
#[test]
fn loom_m10_looking_against_release_and_first_poll() {
    model_of_three(|| {
        let mutex = mutex();
        let guard = mutex.try_lock().unwrap();
        let waiter = {
            let mutex = Arc::clone(&mutex);
            thread::spawn(move || block_on(mutex.lock()).add(1))
        };
        let looker = {
            let mutex = Arc::clone(&mutex);
            thread::spawn(move || {
                let state = mutex.state();
                assert!(state.locked || state.queued == 0);
            })
        };
        drop(guard);
        waiter.join().unwrap();
        looker.join().unwrap();
        assert!(!mutex.is_locked());
    });
}

//! The rescue against the claim and the drop of the future that it robs: whoever wins the step on the word, one of them
//! owns the mutex, and the other one's turn comes.

use crate::platform::Std;
use crate::test_tools::{Data, Woken, finish, model, poll};
use core::pin::Pin;
use loom::sync::Arc;
use loom::thread;
use std::boxed::Box;
use std::vec::Vec;

type Mutex = crate::Mutex<Data, Std>;
type Turn = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Locks once, and adds one.
fn turn(mutex: &Arc<Mutex>) -> Turn {
    let mutex = Arc::clone(mutex);
    Box::pin(async move { mutex.lock().await.add(1) })
}

/// A task has two futures; the first was granted and not polled since, the second has noticed it.
fn abandoned(woken: &Woken) -> (Arc<Mutex>, Turn, Turn) {
    let mutex = Arc::new(Mutex::new(Data::new()));
    let guard = mutex.try_lock().unwrap();
    let (mut granted, mut other) = (turn(&mutex), turn(&mutex));
    assert!(poll(granted.as_mut(), woken).is_pending());
    guard.add(1);
    drop(guard);
    let wakes = woken.count();
    assert!(poll(other.as_mut(), woken).is_pending(), "noticed, not robbed");
    assert_eq!(woken.count(), wakes + 1, "the task is woken once more");
    (mutex, granted, other)
}

#[track_caller]
fn assert_over(mutex: &Mutex, sum: u32) {
    assert_eq!(mutex.try_lock().expect("free").read(), sum);
    assert_eq!(mutex.queued(), 0);
}

/// R1: without anybody else: the second future has its turn, then the first.
#[test]
fn loom_r1_rescue() {
    model(|| {
        let woken = Woken::new();
        let (mutex, granted, mut other) = abandoned(&woken);
        assert!(poll(other.as_mut(), &woken).is_ready(), "rescued");
        finish({ granted }.as_mut(), &woken);
        assert_over(&mutex, 3);
    });
}

/// R2: the claim and the rescue.
#[test]
fn loom_r2_claim_against_rescue() {
    model(|| {
        let woken = Woken::new();
        let (mutex, mut granted, mut other) = abandoned(&woken);
        let claimer = {
            let woken = woken.clone();
            thread::spawn(move || {
                let ready = poll(granted.as_mut(), &woken).is_ready();
                (granted, ready)
            })
        };
        let rescued = poll(other.as_mut(), &woken).is_ready();
        let (granted, claimed) = claimer.join().unwrap();
        assert!(claimed || rescued, "nobody owns it");
        if !claimed {
            finish({ granted }.as_mut(), &woken);
        }
        if !rescued {
            finish(other.as_mut(), &woken);
        }
        assert_over(&mutex, 3);
    });
}

/// R2: the claim with another waker, which is the one to be woken if the rescue wins.
#[test]
fn loom_r2_claim_with_another_waker_against_rescue() {
    model(|| {
        let (woken, newest) = (Woken::new(), Woken::new());
        let (mutex, mut granted, mut other) = abandoned(&woken);
        let claimer = {
            let newest = newest.clone();
            thread::spawn(move || {
                let ready = poll(granted.as_mut(), &newest).is_ready();
                (granted, ready)
            })
        };
        let rescued = poll(other.as_mut(), &woken).is_ready();
        let (granted, claimed) = claimer.join().unwrap();
        if !claimed {
            assert!(rescued);
            assert_eq!(newest.count(), 1, "the newest waker is the one woken");
            finish({ granted }.as_mut(), &newest);
        }
        if !rescued {
            finish(other.as_mut(), &woken);
        }
        assert_over(&mutex, 3);
    });
}

/// R2: the drop and the rescue.
#[test]
fn loom_r2_drop_against_rescue() {
    model(|| {
        let woken = Woken::new();
        let (mutex, granted, mut other) = abandoned(&woken);
        let dropper = thread::spawn(move || drop(granted));
        let rescued = poll(other.as_mut(), &woken).is_ready();
        dropper.join().unwrap();
        if !rescued {
            finish(other.as_mut(), &woken);
        }
        assert_over(&mutex, 2);
    });
}

/// R2: a poll and then the drop, and the rescue.
#[test]
fn loom_r2_claim_and_drop_against_rescue() {
    model(|| {
        let woken = Woken::new();
        let (mutex, mut granted, mut other) = abandoned(&woken);
        let claimer = {
            let woken = woken.clone();
            thread::spawn(move || {
                let claimed = poll(granted.as_mut(), &woken).is_ready();
                drop(granted);
                claimed
            })
        };
        let rescued = poll(other.as_mut(), &woken).is_ready();
        let claimed = claimer.join().unwrap();
        if !rescued {
            finish(other.as_mut(), &woken);
        }
        assert_over(&mutex, 2 + u32::from(claimed));
    });
}

/// R2: the claim, and two of the task's other futures that have noticed the same grant.
#[test]
fn loom_r2_claim_against_two_rescues() {
    model(|| {
        let woken = Woken::new();
        let (mutex, mut granted, mut other) = abandoned(&woken);
        let mut another = turn(&mutex);
        assert!(poll(another.as_mut(), &woken).is_pending(), "noticed, not robbed");
        let claimer = {
            let woken = woken.clone();
            thread::spawn(move || {
                let claimed = poll(granted.as_mut(), &woken).is_ready();
                (!claimed).then_some(granted)
            })
        };
        let rescued = [&mut other, &mut another].map(|turn| poll(turn.as_mut(), &woken).is_ready());
        let mut waiting: Vec<Turn> = claimer.join().unwrap().into_iter().collect();
        assert!(waiting.is_empty() || rescued[0], "nobody owns it");
        waiting.extend([other, another].into_iter().zip(rescued).filter(|(_, ready)| !ready).map(|(turn, _)| turn));
        // In whatever order they stand now, each is served.
        for _ in 0..3 {
            waiting.retain_mut(|turn| poll(turn.as_mut(), &woken).is_pending());
        }
        assert!(waiting.is_empty(), "a turn was lost");
        assert_over(&mutex, 4);
    });
}

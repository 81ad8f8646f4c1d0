//! The rescue against the claim, the drop and the timeout of its victim: whichever comes first, one of the two owns the
//! mutex, and the other one's turn comes.

use crate::platform::Std;
use crate::raw::StdLock;
use crate::test_tools::{Data, Woken, finish, model, poll};
use core::pin::Pin;
use core::task::Poll;
use core::time::Duration;
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

/// A task has two futures; the first was granted and not polled since, the second suspects it at its second poll.
fn abandoned(woken: &Woken) -> (Arc<Mutex>, Turn, Turn) {
    let mutex = Arc::new(Mutex::new(Data::new()));
    let guard = mutex.try_lock().unwrap();
    let (mut granted, mut other) = (turn(&mutex), turn(&mutex));
    assert!(poll(granted.as_mut(), woken).is_pending());
    guard.add(1);
    drop(guard);
    suspect(other.as_mut(), woken);
    (mutex, granted, other)
}

/// The next poll steals.
#[track_caller]
fn suspect<F: Future + ?Sized>(mut thief: Pin<&mut F>, woken: &Woken) {
    let wakes = woken.count();
    for polls in 1..3 {
        assert!(poll(thief.as_mut(), woken).is_pending(), "suspected, not stolen");
        assert_eq!(woken.count(), wakes + polls, "the task is woken once more");
    }
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

/// R2: the claim, and two of the task's other futures that suspect the same grant.
#[test]
fn loom_r2_claim_against_two_rescues() {
    model(|| {
        let woken = Woken::new();
        let (mutex, mut granted, mut other) = abandoned(&woken);
        let mut another = turn(&mutex);
        suspect(another.as_mut(), &woken);
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
        for _ in 0..9 {
            waiting.retain_mut(|turn| poll(turn.as_mut(), &woken).is_pending());
        }
        assert!(waiting.is_empty(), "a turn was lost");
        assert_over(&mutex, 4);
    });
}

/// R2, R9: the victim's time is over. It claims, or was robbed, and then its wait ends in an error.
#[test]
fn loom_r2_timeout_of_the_victim_against_rescue() {
    use crate::test_tools::pairs::Later;
    type Mutex = crate::Mutex<Data, Later<StdLock>>;
    model(|| {
        let woken = Woken::new();
        let mutex = Arc::new(Mutex::new(Data::new()));
        let guard = mutex.try_lock().unwrap();
        let shared = Arc::clone(&mutex);
        // Its sleep is over at the second poll.
        let mut victim = Box::pin(async move {
            let outcome = shared.lock_timeout(Duration::from_millis(1)).await;
            outcome.map(|guard| guard.add(1)).is_ok()
        });
        let shared = Arc::clone(&mutex);
        let mut thief = Box::pin(async move { shared.lock().await.add(1) });
        assert!(poll(victim.as_mut(), &woken).is_pending());
        drop(guard);
        suspect(thief.as_mut(), &woken);
        let claimer = {
            let woken = woken.clone();
            thread::spawn(move || match poll(victim.as_mut(), &woken) {
                Poll::Ready(acquired) => acquired,
                Poll::Pending => panic!("its time is over"),
            })
        };
        let stolen = poll(thief.as_mut(), &woken).is_ready();
        let acquired = claimer.join().unwrap();
        assert!(stolen || acquired, "nobody owned it");
        if !stolen {
            finish(thief.as_mut(), &woken);
        }
        assert_eq!(mutex.try_lock().expect("free").read(), 1 + u32::from(acquired));
        assert_eq!(mutex.queued(), 0);
    });
}

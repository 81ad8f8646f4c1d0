//! The rescue against the claim and the drop of its victim, on both sides of the lock.

use crate::platform::Std;
use crate::test_tools::{Data, Woken, finish, model, poll};
use core::pin::Pin;
use loom::sync::Arc;
use loom::thread;
use std::boxed::Box;

type RwLock = crate::RwLock<Data, Std>;
type Turn = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Reads once; the data is checked by loom.
fn read(lock: &Arc<RwLock>) -> Turn {
    let lock = Arc::clone(lock);
    Box::pin(async move {
        lock.read().await.read();
    })
}

/// Writes once, and adds one.
fn write(lock: &Arc<RwLock>) -> Turn {
    let lock = Arc::clone(lock);
    Box::pin(async move { lock.write().await.add(1) })
}

/// A task has two futures; the first was granted and not polled since, the second suspects it at its second poll. A writer of another task
/// waits in between, if it is asked for.
fn abandoned(
    woken: &Woken,
    first: fn(&Arc<RwLock>) -> Turn,
    bystander: Option<&Woken>,
    second: fn(&Arc<RwLock>) -> Turn,
) -> (Arc<RwLock>, Turn, Option<Turn>, Turn) {
    let lock = Arc::new(RwLock::new(Data::new()));
    let guard = lock.try_write().unwrap();
    let (mut granted, mut other) = (first(&lock), second(&lock));
    assert!(poll(granted.as_mut(), woken).is_pending());
    drop(guard);
    let bystander = bystander.map(|woken| {
        let mut turn = write(&lock);
        assert!(poll(turn.as_mut(), woken).is_pending());
        turn
    });
    for _ in 0..2 {
        assert!(poll(other.as_mut(), woken).is_pending(), "suspected, not stolen");
    }
    (lock, granted, bystander, other)
}

/// The granted future is polled and dropped on another thread, while the other one is polled.
fn claim_against_rescue(
    first: fn(&Arc<RwLock>) -> Turn,
    bystander: bool,
    second: fn(&Arc<RwLock>) -> Turn,
    keep: bool,
) {
    model(move || {
        let (woken, theirs) = (Woken::new(), Woken::new());
        let (lock, mut granted, bystander, mut other) = abandoned(&woken, first, bystander.then_some(&theirs), second);
        let claimer = {
            let woken = woken.clone();
            thread::spawn(move || {
                if keep && poll(granted.as_mut(), &woken).is_ready() {
                    return None;
                }
                keep.then_some(granted)
            })
        };
        let rescued = poll(other.as_mut(), &woken).is_ready();
        let granted = claimer.join().unwrap();
        if let Some(mut bystander) = bystander {
            if !rescued {
                // It waits its turn, or the bystander has been granted already.
                let ready = poll(other.as_mut(), &woken).is_ready();
                finish(bystander.as_mut(), &theirs);
                if !ready {
                    finish(other.as_mut(), &woken);
                }
            } else {
                finish(bystander.as_mut(), &theirs);
            }
        } else if !rescued {
            finish(other.as_mut(), &woken);
        }
        if let Some(mut granted) = granted {
            finish(granted.as_mut(), &woken);
        }
        let state = lock.state();
        assert_eq!((state.readers, state.writer, state.waiting_readers, state.waiting_writers), (0, false, 0, 0));
        drop(lock.try_write().expect("free"));
    });
}

/// R2: write by write: the two change places.
#[test]
fn loom_r2_write_robbed_by_write() {
    claim_against_rescue(write, false, write, true);
}

/// R2: the same against a drop.
#[test]
fn loom_r2_dropped_write_robbed_by_write() {
    claim_against_rescue(write, false, write, false);
}

/// R3: a read that waits behind another task's writer robs a read.
#[test]
fn loom_r3_read_robbed_by_read() {
    claim_against_rescue(read, true, read, true);
}

/// R3: the same against a drop.
#[test]
fn loom_r3_dropped_read_robbed_by_read() {
    claim_against_rescue(read, true, read, false);
}

/// R4: a read takes a write's place; the write waits again.
#[test]
fn loom_r4_write_robbed_by_read() {
    claim_against_rescue(write, false, read, true);
}

/// R4: the same against a drop.
#[test]
fn loom_r4_dropped_write_robbed_by_read() {
    claim_against_rescue(write, false, read, false);
}

/// R5: a write lets a read's share be given back; the read waits again.
#[test]
fn loom_r5_read_robbed_by_write() {
    claim_against_rescue(read, false, write, true);
}

/// R5: the same against a drop.
#[test]
fn loom_r5_dropped_read_robbed_by_write() {
    claim_against_rescue(read, false, write, false);
}

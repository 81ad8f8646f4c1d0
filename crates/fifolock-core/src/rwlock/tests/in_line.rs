//! A read that a rescue puts in line behind an upgradable read of its task, and what others do meanwhile.

use crate::platform::Std;
use crate::rwlock::OwnedRwLockUpgradableReadGuard;
use crate::test_tools::{Data, Woken, finish, model, model_of_three, poll};
use core::pin::Pin;
use loom::thread;
use std::boxed::Box;
use std::sync::Arc;

type RwLock = crate::RwLock<Data, Std>;
type Turn = Pin<Box<dyn Future<Output = ()> + Send>>;

fn read(lock: &Arc<RwLock>) -> Turn {
    let lock = Arc::clone(lock);
    Box::pin(async move {
        lock.read().await.read();
    })
}

fn upgradable_read(lock: &Arc<RwLock>) -> Turn {
    let lock = Arc::clone(lock);
    Box::pin(async move {
        lock.upgradable_read().await.read();
    })
}

fn write(lock: &Arc<RwLock>) -> Turn {
    let lock = Arc::clone(lock);
    Box::pin(async move { lock.write().await.add(1) })
}

/// A task whose read was granted, and whose upgradable read waits for another one, and has noticed the grant.
struct Parked {
    lock: Arc<RwLock>,
    woken: Woken,
    parked: Turn,
    robber: Turn,
    other: OwnedRwLockUpgradableReadGuard<Data, Std>,
}

impl Parked {
    fn new() -> Self {
        let (lock, woken) = (Arc::new(RwLock::new(Data::new())), Woken::new());
        let held = lock.try_write().unwrap();
        let mut parked = read(&lock);
        assert!(poll(parked.as_mut(), &woken).is_pending());
        drop(held);
        let other = Arc::clone(&lock).try_upgradable_read_owned().unwrap();
        let mut robber = upgradable_read(&lock);
        assert!(poll(robber.as_mut(), &woken).is_pending(), "noticed, not robbed");
        Self { lock, woken, parked, robber, other }
    }

    /// The read is robbed.
    fn in_line() -> Self {
        let mut parked = Self::new();
        assert!(poll(parked.robber.as_mut(), &parked.woken).is_pending());
        assert_eq!((parked.lock.state().readers, parked.lock.state().waiting_upgradable), (1, 2));
        parked
    }
}

fn assert_free(lock: &RwLock) {
    let state = lock.state();
    assert_eq!((state.readers, state.upgradable, state.writer), (0, false, false));
    assert_eq!((state.waiting_readers, state.waiting_upgradable, state.waiting_writers), (0, 0, 0));
    drop(lock.try_write().expect("free"));
}

/// While the read is robbed, it is polled with another waker, or dropped; the other upgradable reader leaves at that time, or
/// later.
fn robbed(act: fn(Turn, &Woken) -> Option<Turn>, leaves: bool) {
    let run = move || {
        let Parked { lock, woken, parked, mut robber, other } = Parked::new();
        let theirs = Woken::new();
        let actor = thread::spawn({
            let theirs = theirs.clone();
            move || act(parked, &theirs)
        });
        let (leaver, other) =
            if leaves { (Some(thread::spawn(move || drop(other))), None) } else { (None, Some(other)) };
        let is_ready = poll(robber.as_mut(), &woken).is_ready();
        let parked = actor.join().unwrap();
        if let Some(leaver) = leaver {
            leaver.join().unwrap();
        }
        drop(other);
        if !is_ready {
            finish(robber.as_mut(), &woken);
        }
        if let Some(mut parked) = parked {
            finish(parked.as_mut(), &theirs);
        }
        assert_free(&lock);
    };
    if leaves { model_of_three(run) } else { model(run) }
}

fn claims(mut turn: Turn, woken: &Woken) -> Option<Turn> {
    poll(turn.as_mut(), woken).is_pending().then_some(turn)
}

fn drops(turn: Turn, _: &Woken) -> Option<Turn> {
    drop(turn);
    None
}

#[test]
fn loom_r5_claim_against_robbing_into_the_line() {
    robbed(claims, false);
}

#[test]
fn loom_r5_drop_against_robbing_into_the_line() {
    robbed(drops, false);
}

#[test]
fn loom_r5_claim_against_robbing_into_the_line_and_a_release() {
    robbed(claims, true);
}

#[test]
fn loom_r5_drop_against_robbing_into_the_line_and_a_release() {
    robbed(drops, true);
}

/// The read in line is polled, and so leaves the line, while the other upgradable reader leaves.
#[test]
fn loom_r5_second_poll_in_line_against_release() {
    model(|| {
        let Parked { lock, woken, mut parked, mut robber, other } = Parked::in_line();
        let leaver = thread::spawn(move || drop(other));
        assert!(poll(parked.as_mut(), &woken).is_ready(), "nothing keeps plain readers out");
        leaver.join().unwrap();
        finish(robber.as_mut(), &woken);
        assert_free(&lock);
    });
}

/// The same while a writer queues.
#[test]
fn loom_r5_second_poll_in_line_against_first_write() {
    model(|| {
        let Parked { lock, woken, mut parked, mut robber, other } = Parked::in_line();
        let (mut writer, theirs) = (write(&lock), Woken::new());
        let writer = thread::spawn({
            let theirs = theirs.clone();
            move || {
                assert!(poll(writer.as_mut(), &theirs).is_pending());
                writer
            }
        });
        let is_ready = poll(parked.as_mut(), &woken).is_ready();
        let mut writer = writer.join().unwrap();
        drop(other);
        finish(robber.as_mut(), &woken);
        finish(writer.as_mut(), &theirs);
        if !is_ready {
            finish(parked.as_mut(), &woken);
        }
        assert_free(&lock);
    });
}

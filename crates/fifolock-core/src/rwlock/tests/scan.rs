//! A scan of several sections, each of one reader, against all that changes the set meanwhile.

use crate::platform::Std;
use crate::test_tools::{Data, Woken, model, poll};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::future::Future;
use core::pin::Pin;
use loom::sync::Arc;
use loom::thread;

type RwLock = crate::RwLock<Data, Std>;
type Turn = Pin<Box<dyn Future<Output = ()> + Send>>;

fn read(lock: &Arc<RwLock>) -> Turn {
    let lock = Arc::clone(lock);
    Box::pin(async move {
        lock.read().await.read();
    })
}

fn write(lock: &Arc<RwLock>) -> Turn {
    let lock = Arc::clone(lock);
    Box::pin(async move { lock.write().await.add(1) })
}

/// A future and its task.
struct Of(Turn, Woken);

impl Of {
    #[track_caller]
    fn queued(turn: Turn, woken: &Woken) -> Self {
        let mut queued = Self(turn, woken.clone());
        assert!(!queued.poll(), "it has nothing to wait for");
        queued
    }

    fn poll(&mut self) -> bool {
        poll(self.0.as_mut(), &self.1).is_ready()
    }

    #[track_caller]
    fn finish(mut self) {
        assert!(self.poll(), "nobody else is there, and it waits");
    }
}

/// Readers of these tasks, granted in this order and not polled since.
fn granted(lock: &Arc<RwLock>, tasks: &[&Woken]) -> Vec<Of> {
    let guard = lock.try_write().unwrap();
    let granted = tasks.iter().map(|woken| Of::queued(read(lock), woken)).collect();
    drop(guard);
    granted
}

#[track_caller]
fn assert_free(lock: &RwLock, sum: u32) {
    let state = lock.state();
    assert_eq!((state.readers, state.writer, state.waiting_readers, state.waiting_writers), (0, false, 0, 0));
    assert_eq!(lock.try_write().expect("free").read(), sum);
}

/// `thief` has been polled once while the own grant was there: that was seen. Two polls later it is stolen.
#[track_caller]
fn steals(mut thief: Of, wakes: usize) {
    assert_eq!(thief.1.count(), wakes + 1, "the own grant was missed");
    assert!(!thief.poll());
    assert_eq!(thief.1.count(), wakes + 2);
    assert!(thief.poll(), "the task waits for itself");
}

/// The first of three granted readers is the task's own; behind a writer its next reader waits, and is polled while one of
/// the others claims, leaves, or both do.
fn scan_against(act: fn([Of; 2]) -> Vec<Of>) {
    model(move || {
        let [own, others, writer] = core::array::from_fn(|_| Woken::new());
        let lock = Arc::new(RwLock::new(Data::new()));
        let mut set = granted(&lock, &[&own, &others, &others]);
        let writer = Of::queued(write(&lock), &writer);
        let (wakes, mut thief) = (own.count(), Of(read(&lock), own.clone()));
        let two = [set.remove(1), set.remove(1)];
        let other = thread::spawn(move || act(two));
        assert!(!thief.poll(), "it passes a writer");
        let left = other.join().unwrap();
        steals(thief, wakes);
        left.into_iter().for_each(Of::finish);
        assert_eq!(writer.1.count(), 1);
        writer.finish();
        set.remove(0).finish();
        assert_free(&lock, 1);
    });
}

#[test]
fn loom_r8_cursor_against_claim() {
    scan_against(|[one, other]| {
        one.finish();
        Vec::from([other])
    });
}

#[test]
fn loom_r8_cursor_against_two_claims() {
    scan_against(|[one, other]| {
        other.finish();
        one.finish();
        Vec::new()
    });
}

#[test]
fn loom_r8_cursor_against_drop_of_a_granted_reader() {
    scan_against(|[one, other]| {
        drop(one);
        Vec::from([other])
    });
}

#[test]
fn loom_r8_cursor_against_drop_of_both_neighbours() {
    scan_against(|[one, other]| {
        drop((one, other));
        Vec::new()
    });
}

/// All of the set are gone, and a writer is granted, while the cursor is alone.
#[test]
fn loom_r8_cursor_against_the_end_of_the_set() {
    model(|| {
        let [own, others, writer] = core::array::from_fn(|_| Woken::new());
        let lock = Arc::new(RwLock::new(Data::new()));
        let set = granted(&lock, &[&others, &others]);
        let writer = Of::queued(write(&lock), &writer);
        let mut waits = Of(read(&lock), own);
        let other = thread::spawn(move || drop(set));
        assert!(!waits.poll(), "it passes a writer");
        other.join().unwrap();
        assert_eq!((writer.1.count(), waits.1.count()), (1, 0));
        writer.finish();
        waits.finish();
        assert_free(&lock, 1);
    });
}

/// The writer that it waits behind leaves: the waiter that scans is granted, and owns.
#[test]
fn loom_r8_cursor_against_the_own_grant() {
    model(|| {
        let [own, others, writer] = core::array::from_fn(|_| Woken::new());
        let lock = Arc::new(RwLock::new(Data::new()));
        let set = granted(&lock, &[&others, &others]);
        let writer = Of::queued(write(&lock), &writer);
        let mut waits = Of(read(&lock), own);
        let other = thread::spawn(move || drop(writer));
        let entered = waits.poll();
        other.join().unwrap();
        if !entered {
            assert_eq!(waits.1.count(), 1);
            waits.finish();
        }
        set.into_iter().for_each(Of::finish);
        assert_free(&lock, 0);
    });
}

/// A release lets a reader into the set, behind the cursor.
#[test]
fn loom_r8_cursor_against_a_release_that_grants_more() {
    model(|| {
        let [own, other, waiting] = core::array::from_fn(|_| Woken::new());
        let lock = Arc::new(RwLock::with_max_readers(Data::new(), 3));
        let mut set = granted(&lock, &[&own, &other, &other]);
        // In the set too, and dropped there: that is a release.
        let inside = set.remove(2);
        let next = Of::queued(read(&lock), &waiting);
        let (wakes, mut thief) = (own.count(), Of(read(&lock), own.clone()));
        let releaser = thread::spawn(move || drop(inside));
        assert!(!thief.poll(), "there is no room");
        releaser.join().unwrap();
        assert_eq!(next.1.count(), 1);
        steals(thief, wakes);
        next.finish();
        set.remove(1).finish();
        set.remove(0).finish();
        assert_free(&lock, 0);
    });
}

/// Two tasks scan at the same time: each finds its own.
#[test]
fn loom_r8_cursor_against_a_second_scan() {
    model(|| {
        let [one, two, writer] = core::array::from_fn(|_| Woken::new());
        let lock = Arc::new(RwLock::new(Data::new()));
        let mut set = granted(&lock, &[&one, &two]);
        let writer = Of::queued(write(&lock), &writer);
        let wakes = [one.count(), two.count()];
        let [mut here, mut there] = [one, two].map(|woken| Of(read(&lock), woken));
        let scans = thread::spawn(move || {
            assert!(!there.poll());
            there
        });
        assert!(!here.poll());
        let there = scans.join().unwrap();
        steals(here, wakes[0]);
        steals(there, wakes[1]);
        writer.finish();
        set.drain(..).for_each(Of::finish);
        assert_free(&lock, 1);
    });
}

/// Two tasks steal at the same time, each its own.
#[test]
fn loom_r8_two_thefts_of_two_tasks() {
    model(|| {
        let [one, two, writer] = core::array::from_fn(|_| Woken::new());
        let lock = Arc::new(RwLock::new(Data::new()));
        let mut set = granted(&lock, &[&one, &two]);
        let writer = Of::queued(write(&lock), &writer);
        let [mut here, mut there] = [one, two].map(|woken| Of::queued(read(&lock), &woken));
        assert!(!here.poll() && !there.poll());
        let steals = thread::spawn(move || there.poll());
        assert!(here.poll());
        assert!(steals.join().unwrap());
        writer.finish();
        set.drain(..).for_each(Of::finish);
        assert_free(&lock, 1);
    });
}

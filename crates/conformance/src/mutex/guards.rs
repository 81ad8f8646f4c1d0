//! Guards of the mutex (M7, M10): each releases once.

use super::{assert_free, state};
use crate::tools::{Platform, Task, panics};
use fifolock_core::Mutex;
use fifolock_core::mutex::{MappedMutexGuard, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
use std::sync::Arc;

/// Two tasks wait. The release must reach the first task only; a second release would reach the other.
#[track_caller]
fn releases_once<T, P: Platform, G>(mutex: &Mutex<T, P>, guard: G, release: impl FnOnce(G)) {
    assert_eq!(state(mutex), (true, 0));
    let mut first = Task::queued(mutex.lock());
    let mut second = Task::queued(mutex.lock());
    release(guard);
    assert_eq!((first.wakes(), second.wakes()), (1, 0));
    assert_eq!(state(mutex), (true, 1));
    drop(first.ready());
    drop(second.ready());
    assert_free(mutex);
}

type Pair = (u8, [u8; 2]);

fn a_pair<P: Platform>() -> Arc<Mutex<Pair, P>> {
    Arc::new(Mutex::new((1, [2, 3])))
}

fn locked<P: Platform>(mutex: &Mutex<Pair, P>) -> MutexGuard<'_, Pair, P> {
    mutex.try_lock().expect("free")
}

fn locked_mapped<P: Platform>(mutex: &Mutex<Pair, P>) -> MappedMutexGuard<'_, [u8; 2], P> {
    MutexGuard::map(locked(mutex), |pair| &mut pair.1)
}

fn locked_owned<P: Platform>(mutex: &Arc<Mutex<Pair, P>>) -> OwnedMutexGuard<Pair, P> {
    Arc::clone(mutex).try_lock_owned().expect("free")
}

fn locked_owned_mapped<P: Platform>(mutex: &Arc<Mutex<Pair, P>>) -> OwnedMappedMutexGuard<Pair, [u8; 2], P> {
    OwnedMutexGuard::map(locked_owned(mutex), |pair| &mut pair.1)
}

pub(super) fn m7_a_guard_releases_once_when_dropped<P: Platform>() {
    let mutex = a_pair::<P>();
    releases_once(&mutex, locked(&mutex), drop);
    releases_once(&mutex, locked_mapped(&mutex), drop);
    releases_once(&mutex, locked_owned(&mutex), drop);
    releases_once(&mutex, locked_owned_mapped(&mutex), drop);
}

pub(super) fn m7_a_guard_releases_once_on_a_panic<P: Platform>() {
    fn fail<G>(guard: G) {
        let message = panics(move || {
            let _guard = guard;
            panic!("the owner panics");
        });
        assert_eq!(message, "the owner panics");
    }
    let mutex = a_pair::<P>();
    releases_once(&mutex, locked(&mutex), fail);
    releases_once(&mutex, locked_mapped(&mutex), fail);
    releases_once(&mutex, locked_owned(&mutex), fail);
    releases_once(&mutex, locked_owned_mapped(&mutex), fail);
}

pub(super) fn m7_a_guard_releases_once_on_an_early_return<P: Platform>() {
    fn leave<G>(guard: G) {
        let early = move || -> Option<G> {
            let guard = guard;
            None::<()>?;
            Some(guard)
        };
        assert!(early().is_none());
    }
    let mutex = a_pair::<P>();
    releases_once(&mutex, locked(&mutex), leave);
    releases_once(&mutex, locked_mapped(&mutex), leave);
    releases_once(&mutex, locked_owned(&mutex), leave);
    releases_once(&mutex, locked_owned_mapped(&mutex), leave);
}

pub(super) fn m7_a_mapped_guard_releases_once<P: Platform>() {
    let mutex = a_pair::<P>();
    releases_once(&mutex, locked(&mutex), |guard| {
        let mut guard = MutexGuard::map(guard, |pair| &mut pair.1);
        guard[0] += 1;
        let mut guard = MappedMutexGuard::map(guard, |array| &mut array[1]);
        *guard += 1;
        let guard = MappedMutexGuard::try_map(guard, |byte| Some(byte)).expect("is there");
        assert_eq!(state(&mutex), (true, 2));
        drop(guard);
    });
    releases_once(&mutex, locked(&mutex), |guard| {
        drop(MutexGuard::try_map(guard, |pair| pair.1.get_mut(1)).expect("is there"));
    });
    releases_once(&mutex, locked_owned(&mutex), |guard| {
        let mut guard = OwnedMutexGuard::map(guard, |pair| &mut pair.1);
        guard[0] += 1;
        let mut guard = OwnedMappedMutexGuard::map(guard, |array| &mut array[1]);
        *guard += 1;
        let guard = OwnedMappedMutexGuard::try_map(guard, |byte| Some(byte)).expect("is there");
        assert_eq!(state(&mutex), (true, 2));
        drop(guard);
    });
    releases_once(&mutex, locked_owned(&mutex), |guard| {
        drop(OwnedMutexGuard::try_map(guard, |pair| pair.1.get_mut(1)).expect("is there"));
    });
    assert_eq!(*locked(&mutex), (1, [4, 5]));
}

pub(super) fn m7_a_guard_that_is_not_mapped_goes_on_holding<P: Platform>() {
    let mutex = a_pair::<P>();
    releases_once(&mutex, locked(&mutex), |guard| {
        let mut guard = MutexGuard::try_map(guard, |pair| pair.1.get_mut(2)).expect_err("is not there");
        assert_eq!(state(&mutex), (true, 2));
        guard.0 += 1;
        assert!(core::ptr::eq(MutexGuard::mutex(&guard), &raw const *mutex));
    });
    releases_once(&mutex, locked_mapped(&mutex), |guard| {
        let mut guard = MappedMutexGuard::try_map(guard, |array| array.get_mut(2)).expect_err("is not there");
        assert_eq!(state(&mutex), (true, 2));
        guard[0] += 1;
    });
    releases_once(&mutex, locked_owned(&mutex), |guard| {
        let mut guard = OwnedMutexGuard::try_map(guard, |pair| pair.1.get_mut(2)).expect_err("is not there");
        assert_eq!(state(&mutex), (true, 2));
        guard.0 += 1;
        assert!(Arc::ptr_eq(OwnedMutexGuard::mutex(&guard), &mutex));
    });
    releases_once(&mutex, locked_owned_mapped(&mutex), |guard| {
        let mut guard = OwnedMappedMutexGuard::try_map(guard, |array| array.get_mut(2)).expect_err("is not there");
        assert_eq!(state(&mutex), (true, 2));
        guard[0] += 1;
        assert!(Arc::ptr_eq(OwnedMappedMutexGuard::mutex(&guard), &mutex));
    });
    assert_eq!(*locked(&mutex), (3, [4, 3]));
}

pub(super) fn m7_an_owned_guard_gives_its_arc_back<P: Platform>() {
    let mutex = a_pair::<P>();
    let shares = || Arc::strong_count(&mutex);
    let guard = locked_owned(&mutex);
    assert_eq!(shares(), 2);
    assert!(Arc::clone(&mutex).try_lock_owned().is_err());
    assert_eq!(shares(), 2, "a failed attempt gives its share back");
    let mut cancelled = Task::queued(Arc::clone(&mutex).lock_owned());
    let mut served = Task::queued(Arc::clone(&mutex).lock_owned());
    assert_eq!(shares(), 4);
    cancelled.cancel();
    assert_eq!(shares(), 3, "a cancelled future gives its share back");
    let guard = OwnedMutexGuard::map(guard, |pair| &mut pair.1);
    let guard = OwnedMappedMutexGuard::try_map(guard, |array| array.get_mut(2)).expect_err("is not there");
    assert_eq!(shares(), 3, "a map keeps the share");
    drop(guard);
    assert_eq!(shares(), 2);
    let guard = served.ready();
    assert_eq!(shares(), 2, "the future's share is the guard's now");
    drop(guard);
    assert_eq!(shares(), 1);
    drop(served);
    assert_eq!(shares(), 1);
}

pub(super) fn m10_guards_print_their_data<P: Platform>() {
    let mutex = a_pair::<P>();
    assert_eq!(format!("{:?}", locked(&mutex)), "(1, [2, 3])");
    assert_eq!(format!("{:?}", locked_mapped(&mutex)), "[2, 3]");
    assert_eq!(format!("{:?}", locked_owned(&mutex)), "(1, [2, 3])");
    assert_eq!(format!("{:?}", locked_owned_mapped(&mutex)), "[2, 3]");
    assert_eq!(format!("{}", MutexGuard::map(locked(&mutex), |pair| &mut pair.0)), "1");
    assert_eq!(format!("{}", OwnedMutexGuard::map(locked_owned(&mutex), |pair| &mut pair.0)), "1");
    assert_free(&mutex);
}

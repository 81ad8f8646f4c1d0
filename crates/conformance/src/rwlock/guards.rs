//! Conversions of guards (F18): a guard keeps one share, and releases it once.

use super::{Data, Form, assert_free, assert_shut, counts, new_lock};
use crate::tools::{Platform, Task, panics};
use core::ptr;
use fifolock_core::RwLock;
use fifolock_core::rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLockWriteGuard,
};
use std::sync::Arc;

type Conversion<'a, P, F> = fn(<F as Form>::Write<'a, Data, P>);

pub(super) fn f18_read_map_keeps_the_share<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    F::try_write(&lock).expect("free").right = 4;
    let other = F::try_read(&lock).expect("free");
    let part = F::map(F::try_read(&lock).expect("shared"), |data| &data.right);
    assert_eq!(counts(&lock), (2, false, 0, 0));
    let part = F::map_part(part, |right| right);
    let part = F::try_map_part(part, |right| Some(right)).ok().expect("found");
    assert_eq!((*part, counts(&lock)), (4, (2, false, 0, 0)));
    let mut writer = Task::queued(F::write(&lock));
    drop(other);
    assert_eq!((counts(&lock), writer.wakes()), ((1, false, 0, 1), 0));
    assert_eq!(Arc::strong_count(&lock), 1 + 2 * F::SHARES);
    drop(part);
    assert_eq!((counts(&lock), writer.wakes()), ((0, true, 0, 0), 1));
    drop(writer.ready());

    let part = F::try_map(F::try_read(&lock).expect("free"), |data| Some(&data.right)).ok().expect("found");
    assert_eq!((*part, counts(&lock)), (4, (1, false, 0, 0)));
    drop(part);
    assert_free(&lock);
}

pub(super) fn f18_read_try_map_refused_gives_the_guard_back<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let whole = F::try_map(F::try_read(&lock).expect("free"), |_| None).err().expect("refused");
    assert_eq!(counts(&lock), (1, false, 0, 0));
    assert_eq!(Arc::strong_count(&lock), 1 + F::SHARES);
    let part = F::map(whole, |data| &data.left);
    let part = F::try_map_part(part, |_| None).err().expect("refused");
    assert_eq!((*part, counts(&lock)), (0, (1, false, 0, 0)));
    drop(part);
    assert_free(&lock);
}

pub(super) fn f18_read_map_that_panics_gives_the_share_back_once<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let other = F::try_read(&lock).expect("free");
    let guard = || F::try_read(&lock).expect("shared");
    let part = || F::map(guard(), |data| &data.left);
    assert_eq!(panics(|| F::map(guard(), |_| panic!("map"))), "map");
    assert_eq!(counts(&lock), (1, false, 0, 0));
    assert_eq!(panics(|| F::try_map(guard(), |_| panic!("try_map")).is_ok()), "try_map");
    assert_eq!(counts(&lock), (1, false, 0, 0));
    assert_eq!(panics(|| F::map_part(part(), |_| panic!("map part"))), "map part");
    assert_eq!(counts(&lock), (1, false, 0, 0));
    assert_eq!(panics(|| F::try_map_part(part(), |_| panic!("try_map part")).is_ok()), "try_map part");
    assert_eq!(counts(&lock), (1, false, 0, 0));
    drop(other);
    assert_free(&lock);
}

pub(super) fn f18_write_map_keeps_the_lock<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let mut part = F::map_mut(F::try_write(&lock).expect("free"), |data| &mut data.left);
    *part += 1;
    assert_eq!(counts(&lock), (0, true, 0, 0));
    assert_eq!(Arc::strong_count(&lock), 1 + F::SHARES);
    assert_shut(&lock);
    drop(part);
    assert_eq!(counts(&lock), (0, false, 0, 0));

    let mut part = F::try_map_mut(F::try_write(&lock).expect("free"), |data| Some(&mut data.left)).ok().expect("found");
    *part += 1;
    assert_eq!(counts(&lock), (0, true, 0, 0));
    drop(part);

    let mut all = F::into_mapped(F::try_write(&lock).expect("free"));
    all.right = 9;
    assert_eq!((all.left, counts(&lock)), (2, (0, true, 0, 0)));
    let mut part = F::map_all(all, |data| &mut data.left);
    *part += 1;
    assert_eq!(counts(&lock), (0, true, 0, 0));
    drop(part);

    let all = F::into_mapped(F::try_write(&lock).expect("free"));
    let mut part = F::try_map_all(all, |data| Some(&mut data.left)).ok().expect("found");
    *part += 1;
    assert_eq!(counts(&lock), (0, true, 0, 0));
    drop(part);
    let data = F::try_read(&lock).expect("free");
    assert_eq!((data.left, data.right), (4, 9));
    drop(data);
    assert_free(&lock);
}

pub(super) fn f18_write_try_map_refused_gives_the_guard_back<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let whole = F::try_map_mut(F::try_write(&lock).expect("free"), |_| None).err().expect("refused");
    assert_eq!(counts(&lock), (0, true, 0, 0));
    let mut all = F::try_map_all(F::into_mapped(whole), |_| None).err().expect("refused");
    all.left = 1;
    assert_eq!(counts(&lock), (0, true, 0, 0));
    assert_eq!(Arc::strong_count(&lock), 1 + F::SHARES);
    drop(all);
    assert_free(&lock);
}

pub(super) fn f18_write_map_that_panics_releases_once<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    // Two writers wait, so a second release would let in both.
    let conversions: [Conversion<'_, P, F>; 4] = [
        |guard| drop(F::map_mut(guard, |_| panic!("f"))),
        |guard| drop(F::try_map_mut(guard, |_| panic!("f")).ok()),
        |guard| drop(F::map_all(F::into_mapped(guard), |_| panic!("f"))),
        |guard| drop(F::try_map_all(F::into_mapped(guard), |_| panic!("f")).ok()),
    ];
    for conversion in conversions {
        let guard = F::try_write(&lock).expect("free");
        let (mut first, mut second) = (Task::queued(F::write(&lock)), Task::queued(F::write(&lock)));
        assert_eq!(panics(|| conversion(guard)), "f");
        assert_eq!((counts(&lock), first.wakes(), second.wakes()), ((0, true, 0, 1), 1, 0));
        drop(first.ready());
        drop(second.ready());
        assert_free(&lock);
    }
}

pub(super) fn f18_downgrade_keeps_the_value<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let mut guard = F::try_write(&lock).expect("free");
    guard.left = 6;
    let place = ptr::from_ref(&guard.left);
    let guard = F::downgrade(guard);
    assert_eq!(guard.left, 6);
    assert!(ptr::eq(place, &raw const guard.left));
    assert_eq!(Arc::strong_count(&lock), 1 + F::SHARES);
    let also = F::try_read(&lock).expect("shared");
    assert_eq!((also.left, counts(&lock)), (6, (2, false, 0, 0)));
    drop((guard, also));
    assert_free(&lock);
}

pub(super) fn f18_downgrade_map_admits_waiting_readers<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let mut guard = F::try_write(&lock).expect("free");
    guard.right = 2;
    let mut reader = Task::queued(F::read(&lock));
    let part = F::downgrade_map(guard, |data| &data.right);
    assert_eq!((counts(&lock), reader.wakes()), ((2, false, 0, 0), 1));
    let reading = reader.ready();
    assert_eq!((*part, reading.right), (2, 2));
    drop(reading);
    assert!(F::try_write(&lock).is_err());
    drop(part);
    assert_free(&lock);
}

pub(super) fn f18_downgrade_map_that_panics_releases_once<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let guard = F::try_write(&lock).expect("free");
    let mut readers = [Task::queued(F::read(&lock)), Task::queued(F::read(&lock))];
    assert_eq!(panics(|| F::downgrade_map(guard, |_| panic!("f"))), "f");
    assert_eq!(counts(&lock), (2, false, 0, 0));
    for reader in &mut readers {
        assert_eq!(reader.wakes(), 1);
        drop(reader.ready());
    }
    assert_free(&lock);
}

pub(super) fn f18_try_downgrade_map_admits_waiting_readers<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let mut guard = F::try_write(&lock).expect("free");
    guard.right = 2;
    let mut reader = Task::queued(F::read(&lock));
    // The closure runs while its guard is the only owner.
    let part = F::try_downgrade_map(guard, |data| {
        assert_eq!((counts(&lock), reader.wakes()), ((0, true, 1, 0), 0));
        Some(&data.right)
    });
    let part = part.ok().expect("found");
    assert_eq!((counts(&lock), reader.wakes()), ((2, false, 0, 0), 1));
    assert_eq!(*part, 2);
    drop((part, reader.ready()));
    assert_free(&lock);
}

pub(super) fn f18_try_downgrade_map_refused_is_still_for_writing<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let guard = F::try_write(&lock).expect("free");
    let mut reader = Task::queued(F::read(&lock));
    let mut guard = F::try_downgrade_map(guard, |_| None).err().expect("refused");
    assert_eq!((counts(&lock), reader.wakes()), ((0, true, 1, 0), 0));
    assert_eq!(Arc::strong_count(&lock), 1 + 2 * F::SHARES);
    guard.left = 3;
    drop(guard);
    assert_eq!(reader.wakes(), 1);
    assert_eq!(reader.ready().left, 3);
    assert_free(&lock);
}

pub(super) fn f18_try_downgrade_map_that_panics_releases_once<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let guard = F::try_write(&lock).expect("free");
    let (mut first, mut second) = (Task::queued(F::write(&lock)), Task::queued(F::write(&lock)));
    assert_eq!(panics(|| F::try_downgrade_map(guard, |_| panic!("f")).is_ok()), "f");
    assert_eq!((counts(&lock), first.wakes(), second.wakes()), ((0, true, 0, 1), 1, 0));
    drop(first.ready());
    drop(second.ready());
    assert_free(&lock);
}

pub(super) fn f18_mapped_guards_hand_over<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let part = F::map_mut(F::try_write(&lock).expect("free"), |data| &mut data.left);
    let mut writer = Task::queued(F::write(&lock));
    let mut readers = [Task::queued(F::read(&lock)), Task::queued(F::read(&lock))];
    drop(part);
    assert_eq!((counts(&lock), writer.wakes()), ((0, true, 2, 0), 1));
    drop(F::into_mapped(writer.ready()));
    assert_eq!(counts(&lock), (2, false, 0, 0));
    let mut writer = Task::queued(F::write(&lock));
    for reader in &mut readers {
        assert_eq!((reader.wakes(), writer.wakes()), (1, 0));
        drop(F::map(reader.ready(), |data| &data.left));
    }
    assert_eq!(writer.wakes(), 1);
    drop(writer.ready());
    assert_free(&lock);
}

pub(super) fn f18_guards_name_their_lock<P: Platform>() {
    let lock = new_lock::<P>();
    let guard = lock.try_write().expect("free");
    assert!(ptr::eq(RwLockWriteGuard::rwlock(&guard), &raw const *lock));
    drop(guard);
    let same = |other: &Arc<RwLock<_, P>>| Arc::ptr_eq(other, &lock);
    let guard = Arc::clone(&lock).try_write_owned().expect("free");
    assert!(same(OwnedRwLockWriteGuard::rwlock(&guard)));
    let guard = OwnedRwLockWriteGuard::map(guard, |data| &mut data.left);
    assert!(same(OwnedRwLockMappedWriteGuard::rwlock(&guard)));
    drop(guard);
    let guard = Arc::clone(&lock).try_read_owned().expect("free");
    assert!(same(OwnedRwLockReadGuard::rwlock(&guard)));
    assert!(same(OwnedRwLockReadGuard::rwlock(&OwnedRwLockReadGuard::map(guard, |data| &data.left))));
    assert_free(&lock);
}

//! The upgrade goes before every queued writer (U3), and its attempt (U6).

use super::{assert_free, counts, each, each_with};
use crate::tools::form::Form;
use crate::tools::{Platform, Random, Task, counting_waker, panics};
use fifolock_core::rwlock::RwLockPolicy::{PhaseFair, TaskFair};

pub(super) fn u3_an_upgrade_goes_before_queued_writers<P: Platform, F: Form>() {
    each::<P>(|lock, policy| {
        let reading = F::try_read(lock).expect("free");
        let upgradable = F::try_upgradable(lock).expect("free");
        let mut writers: Vec<_> = (0..3).map(|_| Task::queued(F::write(lock))).collect();
        let mut next = Task::queued(F::upgradable(lock));
        let mut upgrade = Task::queued(F::upgrade(upgradable));
        assert_eq!(counts(lock), (2, true, false, 0, 1, 4));
        let mut late = Task::queued(F::write(lock));
        drop(reading);
        assert_eq!(upgrade.wakes(), 1);
        assert_eq!(counts(lock), (0, false, true, 0, 1, 4));
        assert!(writers.iter().all(|writer| writer.wakes() == 0));
        let mut guard = upgrade.ready();
        *guard += 1;
        drop(guard);
        for writer in &mut writers {
            assert_eq!(writer.wakes(), 1, "under {policy:?}");
            *writer.ready() += 1;
        }
        assert_eq!(*next.ready(), 4);
        assert_eq!(*late.ready(), 4);
    });
}

pub(super) fn u3_no_new_reader_enters_before_an_upgrade<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        let reading = F::try_read(lock).expect("free");
        let mut upgrade = Task::queued(F::upgrade(F::try_upgradable(lock).expect("free")));
        assert_eq!(counts(lock), (2, true, false, 0, 0, 1));
        assert!(F::try_read(lock).is_err() && F::try_upgradable(lock).is_err() && F::try_write(lock).is_err());
        let mut reader = Task::queued(F::read(lock));
        let mut upgradable = Task::queued(F::upgradable(lock));
        drop(reading);
        assert_eq!((upgrade.wakes(), reader.wakes(), upgradable.wakes()), (1, 0, 0));
        let guard = upgrade.ready();
        reader.pending();
        upgradable.pending();
        drop(guard);
        assert_eq!((reader.wakes(), upgradable.wakes()), (1, 1), "all together");
        drop((reader.ready(), upgradable.ready()));
    });
}

pub(super) fn u3_what_was_read_is_still_so<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        for seed in 0..if cfg!(miri) { 2 } else { 20 } {
            let mut random = Random::new(seed);
            let upgradable = F::try_upgradable(lock).expect("free");
            let seen = *upgradable;
            let mut plain: Vec<_> = (0..3).map(|_| F::try_read(lock).expect("a reader")).collect();
            let mut writers: Vec<_> = (0..random.below(3)).map(|_| Task::queued(F::write(lock))).collect();
            let mut readers: Vec<_> = (0..random.below(3)).map(|_| Task::new(F::read(lock))).collect();
            // The readers may be ready or not: their guards are dropped.
            readers.iter_mut().for_each(|reader| drop(reader.poll()));
            let mut upgrade = Task::queued(F::upgrade(upgradable));
            while let Some(guard) = plain.pop() {
                assert_eq!(upgrade.wakes(), 0);
                if let Some(writer) = writers.last_mut() {
                    writer.pending();
                    if random.below(3) == 0 {
                        writers.pop();
                    }
                }
                drop(guard);
            }
            let mut guard = upgrade.ready();
            assert_eq!(*guard, seen, "the value changed under the upgradable read");
            *guard += 1;
            drop(guard);
            drop((writers, readers, upgrade));
            assert_free(lock);
        }
    });
}

pub(super) fn u3_an_upgrade_of_the_only_reader_is_ready_at_once<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        for writer_waits in [false, true] {
            let upgradable = F::try_upgradable(lock).expect("free");
            let mut writer = writer_waits.then(|| Task::queued(F::write(lock)));
            let mut upgrade = Task::new(F::upgrade(upgradable));
            assert_eq!(counts(lock), (1, true, false, 0, 0, usize::from(writer_waits)), "not polled");
            let guard = upgrade.ready();
            assert_eq!((upgrade.wakes(), upgrade.wakers_kept()), (0, 0));
            assert_eq!(counts(lock), (0, false, true, 0, 0, usize::from(writer_waits)));
            drop(guard);
            assert!(panics(|| upgrade.poll().is_ready()).contains("polled after it was ready"));
            if let Some(writer) = &mut writer {
                drop(writer.ready());
            }
            drop((writer, upgrade));
            assert_free(lock);
        }
    });
}

pub(super) fn u3_an_upgrade_where_there_is_room_for_one<P: Platform, F: Form>() {
    each_with::<P>(1, |lock, policy| {
        let upgradable = F::try_upgradable(lock).expect("free");
        assert!(F::try_read(lock).is_err(), "no room");
        let mut reader = Task::queued(F::read(lock));
        let mut second = Task::queued(F::upgradable(lock));
        let mut upgrade = Task::new(F::upgrade(upgradable));
        let guard = upgrade.ready();
        assert_eq!(counts(lock), (0, false, true, 1, 1, 0));
        // The writer becomes an upgradable reader again. There is no room beside it.
        let upgradable = F::downgrade_to_upgradable(guard);
        assert_eq!(counts(lock), (1, true, false, 1, 1, 0));
        assert_eq!((reader.wakes(), second.wakes()), (0, 0));
        drop(upgradable);
        // One of the two waiters enters, and then the other.
        let reader_first = policy == TaskFair;
        assert_eq!((reader.wakes(), second.wakes()), (usize::from(reader_first), usize::from(!reader_first)));
        if reader_first {
            drop(reader.ready());
            drop(second.ready());
        } else {
            drop(second.ready());
            drop(reader.ready());
        }
    });
    each_with::<P>(2, |lock, _| {
        let (plain, upgradable) = (F::try_read(lock).expect("free"), F::try_upgradable(lock).expect("room"));
        assert!(F::try_read(lock).is_err());
        let mut upgrade = Task::queued(F::upgrade(upgradable));
        drop(plain);
        drop(upgrade.ready());
    });
}

pub(super) fn u3_after_the_upgrade_the_policy_goes_on<P: Platform, F: Form>() {
    each::<P>(|lock, policy| {
        let reading = F::try_read(lock).expect("free");
        let upgradable = F::try_upgradable(lock).expect("free");
        let mut writer = Task::queued(F::write(lock));
        let mut reader = Task::queued(F::read(lock));
        let mut upgrade = Task::queued(F::upgrade(upgradable));
        drop(reading);
        drop(upgrade.ready());
        // An upgrade is a writer, so phase-fair lets the readers in after it.
        let readers_first = policy == PhaseFair;
        assert_eq!((writer.wakes(), reader.wakes()), (usize::from(!readers_first), usize::from(readers_first)));
        if readers_first {
            drop(reader.ready());
            drop(writer.ready());
        } else {
            drop(writer.ready());
            drop(reader.ready());
        }
    });
}

pub(super) fn u6_try_upgrade<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        let upgradable = F::try_upgradable(lock).expect("free");
        let plain = F::try_read(lock).expect("a reader");
        let before = counts(lock);
        let upgradable = F::try_upgrade(upgradable).err().expect("a reader is inside");
        assert_eq!((counts(lock), *upgradable), (before, 0), "nothing has changed");
        drop(F::try_read(lock).expect("a failed attempt keeps no reader out"));
        // A granted reader that has not claimed is inside, too.
        let mut writer = Task::queued(F::write(lock));
        let mut reader = Task::queued(F::read(lock));
        drop(plain);
        writer.cancel();
        assert_eq!(reader.wakes(), 1);
        let upgradable = F::try_upgrade(upgradable).err().expect("a reader is granted");
        drop(reader.ready());
        // The upgrade goes before the waiting writers.
        let mut writer = Task::queued(F::write(lock));
        let mut next = Task::queued(F::upgradable(lock));
        let mut write = F::try_upgrade(upgradable).unwrap_or_else(|_| panic!("nobody else is inside"));
        *write += 1;
        assert_eq!(counts(lock), (0, false, true, 0, 1, 1));
        assert_eq!((writer.wakes(), next.wakes()), (0, 0));
        drop(write);
        drop(writer.ready());
        assert_eq!(*next.ready(), 1);
        *lock.try_write().expect("free") = 0;
    });
}

pub(super) fn u6_an_upgrade_polled_again_keeps_its_place<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        let reading = F::try_read(lock).expect("free");
        let upgradable = F::try_upgradable(lock).expect("free");
        let mut writer = Task::queued(F::write(lock));
        let mut upgrade = Task::queued(F::upgrade(upgradable));
        let (newest, count) = counting_waker();
        for _ in 0..3 {
            writer.pending();
            assert!(upgrade.poll_with(&newest).is_pending());
        }
        assert_eq!((upgrade.wakers_kept(), count.wakes(), count.alive()), (0, 0, 2));
        drop(reading);
        assert_eq!((upgrade.wakes(), count.wakes(), writer.wakes()), (0, 1, 0));
        drop(upgrade.ready());
        drop(writer.ready());
    });
}

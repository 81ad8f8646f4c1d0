//! A writer or an upgradable reader keeps less (U5).

use super::{assert_free, counts, each};
use crate::tools::form::Form;
use crate::tools::{Hooks, Platform, Slot, Task, hook};
use fifolock_core::rwlock::RwLockPolicy::WriterPreferring;
use std::sync::Arc;

pub(super) fn u5_a_downgrade_lets_the_next_upgradable_reader_in<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        let first = F::try_upgradable(lock).expect("free");
        let mut second = Task::queued(F::upgradable(lock));
        let plain = F::downgrade_upgradable(first);
        assert_eq!(second.wakes(), 1);
        assert_eq!(counts(lock), (2, true, false, 0, 0, 0));
        let upgradable = second.ready();
        assert!(F::try_upgrade(upgradable).is_err(), "the plain reader is inside");
        assert_eq!(counts(lock), (1, false, false, 0, 0, 0));
        drop((plain, second));
        assert_free(lock);
        // The downgrade succeeds with no waiter, and with a waiting writer.
        let plain = F::downgrade_upgradable(F::try_upgradable(lock).expect("free"));
        drop(F::try_upgradable(lock).expect("the guard is a plain read now"));
        drop(plain);
        let first = F::try_upgradable(lock).expect("free");
        let mut writer = Task::queued(F::write(lock));
        let mut second = Task::queued(F::upgradable(lock));
        let plain = F::downgrade_upgradable(first);
        assert_eq!((writer.wakes(), second.wakes()), (0, 0), "behind the writer");
        drop(plain);
        drop(writer.ready());
        drop(second.ready());
    });
}

pub(super) fn u5_a_writer_becomes_the_upgradable_reader<P: Platform, F: Form>() {
    each::<P>(|lock, policy| {
        // No other waiter is queued.
        let mut write = F::try_write(lock).expect("free");
        *write = 7;
        let upgradable = F::downgrade_to_upgradable(write);
        assert_eq!(*upgradable, 7);
        assert_eq!(counts(lock), (1, true, false, 0, 0, 0));
        drop(F::try_read(lock).expect("a reader"));
        assert!(F::try_write(lock).is_err() && F::try_upgradable(lock).is_err());
        drop(upgradable);
        // Readers enter as after a downgrade to a plain read.
        for writer_waits in [false, true] {
            let write = F::try_write(lock).expect("free");
            let mut readers: Vec<_> = (0..40).map(|_| Task::queued(F::read(lock))).collect();
            let mut also = Task::queued(F::upgradable(lock));
            let mut writer = writer_waits.then(|| Task::queued(F::write(lock)));
            let upgradable = F::downgrade_to_upgradable(write);
            let enter = !writer_waits || policy != WriterPreferring;
            assert!(readers.iter().all(|reader| reader.wakes() == usize::from(enter)));
            assert_eq!(also.wakes(), 0, "there is one upgradable reader already");
            if enter {
                readers.iter_mut().for_each(|reader| drop(reader.ready()));
            }
            // The upgradable reader may become the writer again, before the waiting writer.
            let write = F::try_upgrade(upgradable).unwrap_or_else(|_| panic!("nobody else is inside"));
            assert_eq!(also.wakes(), 0);
            drop(write);
            drop(also.ready());
            if let Some(writer) = &mut writer {
                drop(writer.ready());
            }
            if !enter {
                readers.iter_mut().for_each(|reader| drop(reader.ready()));
            }
            drop((readers, also, writer));
            assert_free(lock);
        }
    });
}

pub(super) fn u5_never_two_owners_or_none<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        // Each wake inspects the lock from outside.
        let seen = Slot::new();
        let on_wake = || {
            // The hook stays with the thread, so it must not keep the lock alive.
            let (lock, seen) = (Arc::downgrade(lock), seen.clone());
            hook(move || {
                if let Some(lock) = lock.upgrade() {
                    let state = lock.state();
                    assert!(state.writer != (state.readers > 0), "{state:?}");
                    assert!(lock.try_write().is_err());
                    seen.put(());
                }
            })
        };
        let hooks = || Hooks { on_wake: on_wake(), ..Hooks::default() };
        let write = F::try_write(lock).expect("free");
        let mut reader = Task::with_hooks(F::read(lock), hooks());
        reader.pending();
        let upgradable = F::downgrade_to_upgradable(write);
        assert!(seen.take().is_some());
        let mut next = Task::with_hooks(F::upgradable(lock), hooks());
        next.pending();
        let plain = F::downgrade_upgradable(upgradable);
        assert!(seen.take().is_some());
        let mut upgrade = Task::with_hooks(F::upgrade(next.ready()), hooks());
        upgrade.pending();
        drop(reader.ready());
        drop(plain);
        assert!(seen.take().is_some());
        let mut writer = Task::with_hooks(F::write(lock), hooks());
        writer.pending();
        drop(upgrade.ready());
        assert!(seen.take().is_some());
        drop(writer.ready());
    });
}

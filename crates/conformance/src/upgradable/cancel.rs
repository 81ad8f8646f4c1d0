//! Guards and futures that are dropped before an upgrade is done (U4).

use super::{assert_free, counts, each, each_with};
use crate::tools::form::Form;
use crate::tools::{Platform, Task, forget, poll_once, remember};
use fifolock_core::RwLock;
use fifolock_core::rwlock::RwLockPolicy::PhaseFair;
use std::sync::Arc;

pub(super) fn u4_an_upgrade_that_was_never_polled_gives_its_share_back<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        let mut writer = Task::new(F::write(lock));
        let mut next = Task::new(F::upgradable(lock));
        let upgrade = Box::pin(F::upgrade(F::try_upgradable(lock).expect("free")));
        assert_eq!(counts(lock), (1, true, false, 0, 0, 0), "the upgrade keeps its share");
        drop(F::try_read(lock).expect("an upgrade that was not polled keeps no reader out"));
        writer.pending();
        next.pending();
        drop(upgrade);
        assert_eq!((writer.wakes(), next.wakes()), (1, 0), "the writer is woken before the drop returns");
        drop(writer.ready());
        drop(next.ready());
        drop((writer, next));
        assert_free(lock);
        // The future stands beside readers, and is not pinned.
        let plain = F::try_read(lock).expect("free");
        drop(F::upgrade(F::try_upgradable(lock).expect("free")));
        assert_eq!(counts(lock), (1, false, false, 0, 0, 0));
        drop(plain);
    });
}

pub(super) fn u4_a_queued_upgrade_that_is_dropped_lets_in_whom_it_kept_out<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        let plain = F::try_read(lock).expect("free");
        let mut upgrade = Task::queued(F::upgrade(F::try_upgradable(lock).expect("free")));
        let mut reader = Task::queued(F::read(lock));
        let mut next = Task::queued(F::upgradable(lock));
        assert_eq!(counts(lock), (2, true, false, 1, 1, 1));
        upgrade.cancel();
        assert_eq!((reader.wakes(), next.wakes()), (1, 1), "both are woken before the drop returns");
        assert_eq!(counts(lock), (3, true, false, 0, 0, 0));
        assert_eq!((upgrade.wakes(), upgrade.wakers_kept()), (0, 0));
        drop((plain, reader.ready(), next.ready()));
    });
    // A writer waits: no other waiter may enter.
    each::<P>(|lock, _| {
        let plain = F::try_read(lock).expect("free");
        let upgradable = F::try_upgradable(lock).expect("free");
        let mut writer = Task::queued(F::write(lock));
        let mut reader = Task::queued(F::read(lock));
        let mut upgrade = Task::queued(F::upgrade(upgradable));
        upgrade.cancel();
        assert_eq!((writer.wakes(), reader.wakes()), (0, 0));
        assert_eq!(counts(lock), (1, false, false, 1, 0, 1));
        drop(plain);
        assert_eq!((writer.wakes(), reader.wakes()), (1, 0));
        drop(writer.ready());
        drop(reader.ready());
    });
    // The drop has made room.
    each_with::<P>(2, |lock, _| {
        let plain = F::try_read(lock).expect("free");
        let mut upgrade = Task::queued(F::upgrade(F::try_upgradable(lock).expect("free")));
        let mut readers = [Task::queued(F::read(lock)), Task::queued(F::read(lock))];
        upgrade.cancel();
        assert_eq!((readers[0].wakes(), readers[1].wakes()), (1, 0));
        drop(plain);
        assert_eq!(readers[1].wakes(), 1);
        for reader in &mut readers {
            drop(reader.ready());
        }
    });
}

pub(super) fn u4_a_granted_upgrade_that_is_dropped_passes_the_lock_on<P: Platform, F: Form>() {
    each::<P>(|lock, policy| {
        let plain = F::try_read(lock).expect("free");
        let upgradable = F::try_upgradable(lock).expect("free");
        let mut writer = Task::queued(F::write(lock));
        let mut reader = Task::queued(F::read(lock));
        let mut upgrade = Task::queued(F::upgrade(upgradable));
        drop(plain);
        assert_eq!(counts(lock), (0, false, true, 1, 0, 1));
        upgrade.cancel();
        let readers_first = policy == PhaseFair;
        assert_eq!((writer.wakes(), reader.wakes()), (usize::from(!readers_first), usize::from(readers_first)));
        if readers_first {
            drop(reader.ready());
            drop(writer.ready());
        } else {
            drop(writer.ready());
            drop(reader.ready());
        }
        drop((writer, reader));
        assert_free(lock);
        // No other waiter is queued.
        let plain = F::try_read(lock).expect("free");
        let upgrade = Task::queued(F::upgrade(F::try_upgradable(lock).expect("free")));
        drop(plain);
        drop(upgrade);
    });
}

pub(super) fn u4_a_forgotten_upgrade_keeps_its_share<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        // The future is forgotten at each of its moments. Memory stays valid, and the lock may be dropped.
        for polls in [0, 1] {
            let lock = &Arc::new(RwLock::<u32, P>::with_policy(0, lock.policy()));
            let plain = F::try_read(lock).expect("free");
            let mut upgrade = Box::pin(F::upgrade(F::try_upgradable(lock).expect("free")));
            for _ in 0..polls {
                assert!(poll_once(&mut upgrade, core::task::Waker::noop()).is_pending());
            }
            forget(upgrade);
            drop(plain);
            assert!(F::try_write(lock).is_err() && F::try_upgradable(lock).is_err());
            assert_eq!(lock.state().writer, polls == 1, "granted, and never claimed");
        }
        // The guard is forgotten.
        let lock = &Arc::new(RwLock::<u32, P>::with_policy(0, lock.policy()));
        core::mem::forget(F::try_upgradable(lock));
        remember(&**lock);
        assert_eq!(counts(lock), (1, true, false, 0, 0, 0));
        drop(F::try_read(lock).expect("plain readers go on"));
        assert!(F::try_write(lock).is_err() && F::try_upgradable(lock).is_err());
    });
}

pub(super) fn u4_a_waiting_upgradable_read_that_is_dropped_leaves<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        // The futures are dropped unpolled, waiting, and granted.
        let held = F::try_write(lock).expect("free");
        drop(F::upgradable(lock));
        let mut all: Vec<_> = (0..4).map(|_| Task::queued(F::upgradable(lock))).collect();
        let mut writer = Task::queued(F::write(lock));
        all[1].cancel();
        assert_eq!(counts(lock), (0, false, true, 0, 3, 1));
        assert_eq!(all[1].wakers_kept(), 0);
        drop(held);
        assert_eq!(all.iter().map(Task::wakes).collect::<Vec<_>>(), [1, 0, 0, 0]);
        all[0].cancel();
        assert_eq!(
            all.iter().map(Task::wakes).collect::<Vec<_>>(),
            [1, 0, 1, 0],
            "the waiters are woken before the drop returns"
        );
        all[3].cancel();
        all[2].cancel();
        assert_eq!(writer.wakes(), 1);
        drop(writer.ready());
    });
}

//! One upgradable reader at a time (U1), and its turn (U2).

use super::{assert_free, counts, each};
use crate::tools::form::Form;
use crate::tools::{Hooks, Platform, Slot, Task, hook};
use fifolock_core::rwlock::RwLockPolicy::{PhaseFair, TaskFair};
use std::sync::Arc;

pub(super) fn u1_one_upgradable_reader_at_a_time<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        let first = F::try_upgradable(lock).expect("free");
        assert_eq!(counts(lock), (1, true, false, 0, 0, 0));
        assert!(F::try_upgradable(lock).is_err() && F::try_write(lock).is_err());
        let mut second = Task::queued(F::upgradable(lock));
        let mut third = Task::queued(F::upgradable(lock));
        assert_eq!(counts(lock), (1, true, false, 0, 2, 0));
        drop(first);
        assert_eq!((second.wakes(), third.wakes()), (1, 0));
        assert_eq!(counts(lock), (1, true, false, 0, 1, 0), "the lock is never free in between");
        let guard = second.ready();
        third.pending();
        drop(guard);
        drop(third.ready());
    });
}

pub(super) fn u1_plain_readers_come_and_go_beside_it<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        let before = F::try_read(lock).expect("free");
        let upgradable = F::try_upgradable(lock).expect("one reader is inside");
        let after = F::try_read(lock).expect("no writer waits");
        drop(Task::new(F::read(lock)).ready());
        assert_eq!(counts(lock), (3, true, false, 0, 0, 0));
        assert_eq!((*before, *upgradable, *after), (0, 0, 0));
        drop(before);
        assert_eq!(counts(lock), (2, true, false, 0, 0, 0));
        drop(upgradable);
        assert_eq!(counts(lock), (1, false, false, 0, 0, 0));
        // The next upgradable reader may enter.
        drop(F::try_upgradable(lock).expect("the other one has left"));
    });
    // The last reader that leaves lets a writer in, whichever kind it is.
    each::<P>(|lock, _| {
        for upgradable_last in [false, true] {
            let (plain, upgradable) = (F::try_read(lock).expect("free"), F::try_upgradable(lock).expect("free"));
            let mut writer = Task::queued(F::write(lock));
            if upgradable_last {
                drop(plain);
                assert_eq!(writer.wakes(), 0);
                drop(upgradable);
            } else {
                drop(upgradable);
                assert_eq!(writer.wakes(), 0);
                drop(plain);
            }
            assert_eq!(writer.wakes(), 1);
            drop(writer.ready());
            drop(writer);
            assert_free(lock);
        }
    });
}

pub(super) fn u1_a_guard_gives_its_share_and_its_arc_back<P: Platform, F: Form>() {
    each::<P>(|lock, _| {
        let arcs = |shares| assert_eq!(Arc::strong_count(lock), 1 + shares * F::SHARES);
        let upgradable = F::try_upgradable(lock).expect("free");
        assert!(F::is_of(&upgradable, lock));
        arcs(1);
        assert!(F::try_upgradable(lock).is_err());
        arcs(1);
        let waits = Task::queued(F::upgradable(lock));
        arcs(2);
        drop(waits);
        arcs(1);
        let write = F::try_upgrade(upgradable).unwrap_or_else(|_| panic!("nobody else is inside"));
        arcs(1);
        let upgradable = F::downgrade_to_upgradable(write);
        arcs(1);
        let plain = F::try_read(lock).expect("a reader");
        let upgradable = F::try_upgrade(upgradable).err().expect("another reader");
        arcs(2);
        let upgrade = Task::queued(F::upgrade(upgradable));
        arcs(2);
        drop(upgrade);
        arcs(1);
        drop(plain);
        arcs(0);
        let read = F::downgrade_upgradable(F::try_upgradable(lock).expect("free"));
        arcs(1);
        drop(read);
        drop(Task::new(F::upgrade(F::try_upgradable(lock).expect("free"))).ready());
    });
}

pub(super) fn u2_its_turn_is_among_writers<P: Platform, F: Form>() {
    each::<P>(|lock, policy| {
        let held = F::try_write(lock).expect("free");
        let mut writer = Task::queued(F::write(lock));
        let mut upgradable = Task::queued(F::upgradable(lock));
        let mut also = Task::queued(F::upgradable(lock));
        let mut last = Task::queued(F::write(lock));
        let mut reader = Task::queued(F::read(lock));
        assert_eq!(counts(lock), (0, false, true, 1, 2, 2));
        drop(held);
        if policy == PhaseFair {
            drop(reader.ready());
        }
        assert_eq!((writer.wakes(), upgradable.wakes()), (1, 0));
        let guard = writer.ready();
        drop(guard);
        assert_eq!((upgradable.wakes(), also.wakes(), last.wakes()), (1, 0, 0));
        let guard = upgradable.ready();
        assert_eq!((also.wakes(), last.wakes()), (0, 0));
        drop(guard);
        assert_eq!((also.wakes(), last.wakes()), (1, 0));
        drop(also.ready());
        assert_eq!(last.wakes(), 1);
        drop(last.ready());
        if policy != PhaseFair {
            drop(reader.ready());
        }
        assert_eq!(reader.wakes(), 1);
    });
    // A waiting writer keeps a new upgradable reader out.
    each::<P>(|lock, _| {
        let reading = F::try_read(lock).expect("free");
        let mut writer = Task::queued(F::write(lock));
        assert!(F::try_upgradable(lock).is_err());
        let mut upgradable = Task::queued(F::upgradable(lock));
        drop(reading);
        drop(writer.ready());
        drop(upgradable.ready());
    });
}

pub(super) fn u2_waiting_for_another_one_it_keeps_only_those_behind_it_out<P: Platform, F: Form>() {
    each::<P>(|lock, policy| {
        let first = F::try_upgradable(lock).expect("free");
        let mut second = Task::queued(F::upgradable(lock));
        let reader = Task::new(F::read(lock)).poll();
        assert_eq!(reader.is_ready(), policy != TaskFair);
        assert_eq!(F::try_read(lock).is_ok(), policy != TaskFair);
        drop(reader);
        let mut writer = Task::queued(F::write(lock));
        assert!(F::try_read(lock).is_err(), "a writer waits");
        drop(first);
        assert_eq!((second.wakes(), writer.wakes()), (1, 0));
        drop(second.ready());
        drop(writer.ready());
    });
}

/// While a batch of readers is being let in, an upgradable reader may have to wait although it would fit. A newcomer
/// must not take that place. The newcomer comes from a waker, between two chunks.
pub(super) fn u2_a_newcomer_between_two_chunks_passes_nobody<P: Platform, F: Form>() {
    each::<P>(|lock, policy| {
        let tried = Slot::new();
        let on_wake = {
            let (lock, tried) = (Arc::downgrade(lock), tried.clone());
            hook(move || {
                if let Some(lock) = lock.upgrade() {
                    let waits = lock.state().waiting_upgradable;
                    tried.put((waits, F::try_upgradable(&lock).is_ok(), F::try_write(&lock).is_ok()));
                }
            })
        };
        let held = F::try_write(lock).expect("free");
        let mut upgradable = Task::queued(F::upgradable(lock));
        let mut first = Task::with_hooks(F::read(lock), Hooks { on_wake, ..Hooks::default() });
        first.pending();
        let mut readers: Vec<_> = (0..99).map(|_| Task::queued(F::read(lock))).collect();
        drop(held);
        let waits = usize::from(policy == PhaseFair);
        assert_eq!(tried.take(), Some((waits, false, false)), "the readers come first under phase-fair");
        assert_eq!(counts(lock), (101, true, false, 0, 0, 0));
        assert_eq!(upgradable.wakes(), 1);
        drop((upgradable.ready(), first.ready()));
        readers.iter_mut().for_each(|reader| drop(reader.ready()));
    });
}

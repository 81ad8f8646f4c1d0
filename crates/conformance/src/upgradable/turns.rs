//! Which waiter enters when (U1 to U3), and the conversions (U5, U6).

use super::{assert_free, both_forms, counts, each, each_with};
use crate::tools::form::Form;
use crate::tools::{Hooks, Platform, Random, Slot, Task, counting_waker, hook, panics};
use fifolock_core::rwlock::RwLockPolicy::{PhaseFair, TaskFair, WriterPreferring};
use std::sync::Arc;

pub(super) fn u1_one_upgradable_reader_at_a_time<P: Platform>() {
    both_forms!(u1_one_upgradable_reader_at_a_time_in);
}

fn u1_one_upgradable_reader_at_a_time_in<P: Platform, F: Form>() {
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
        drop((second, third));
        assert_free(lock);
    });
}

pub(super) fn u1_plain_readers_come_and_go_beside_it<P: Platform>() {
    both_forms!(u1_plain_readers_come_and_go_beside_it_in);
}

fn u1_plain_readers_come_and_go_beside_it_in<P: Platform, F: Form>() {
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
        drop(after);
        assert_free(lock);
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

pub(super) fn u1_a_guard_gives_its_share_and_its_arc_back<P: Platform>() {
    both_forms!(u1_a_guard_gives_its_share_and_its_arc_back_in);
}

fn u1_a_guard_gives_its_share_and_its_arc_back_in<P: Platform, F: Form>() {
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
        assert_free(lock);
    });
}

pub(super) fn u2_its_turn_is_among_writers<P: Platform>() {
    both_forms!(u2_its_turn_is_among_writers_in);
}

fn u2_its_turn_is_among_writers_in<P: Platform, F: Form>() {
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
        drop((writer, upgradable, also, last, reader));
        assert_free(lock);
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
        drop((writer, upgradable));
        assert_free(lock);
    });
}

pub(super) fn u2_waiting_for_another_one_it_keeps_only_those_behind_it_out<P: Platform>() {
    both_forms!(u2_waiting_for_another_one_it_keeps_only_those_behind_it_out_in);
}

fn u2_waiting_for_another_one_it_keeps_only_those_behind_it_out_in<P: Platform, F: Form>() {
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
        drop((second, writer));
        assert_free(lock);
    });
}

pub(super) fn u3_an_upgrade_goes_before_queued_writers<P: Platform>() {
    both_forms!(u3_an_upgrade_goes_before_queued_writers_in);
}

fn u3_an_upgrade_goes_before_queued_writers_in<P: Platform, F: Form>() {
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
        drop((writers, next, late, upgrade));
        assert_free(lock);
    });
}

pub(super) fn u3_no_new_reader_enters_before_an_upgrade<P: Platform>() {
    both_forms!(u3_no_new_reader_enters_before_an_upgrade_in);
}

fn u3_no_new_reader_enters_before_an_upgrade_in<P: Platform, F: Form>() {
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
        drop((reader, upgradable, upgrade));
        assert_free(lock);
    });
}

pub(super) fn u3_what_was_read_is_still_so<P: Platform>() {
    both_forms!(u3_what_was_read_is_still_so_in);
}

fn u3_what_was_read_is_still_so_in<P: Platform, F: Form>() {
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

pub(super) fn u3_an_upgrade_of_the_only_reader_is_ready_at_once<P: Platform>() {
    both_forms!(u3_an_upgrade_of_the_only_reader_is_ready_at_once_in);
}

fn u3_an_upgrade_of_the_only_reader_is_ready_at_once_in<P: Platform, F: Form>() {
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

pub(super) fn u3_an_upgrade_where_there_is_room_for_one<P: Platform>() {
    both_forms!(u3_an_upgrade_where_there_is_room_for_one_in);
}

fn u3_an_upgrade_where_there_is_room_for_one_in<P: Platform, F: Form>() {
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
        drop((reader, second, upgrade));
        assert_free(lock);
    });
    each_with::<P>(2, |lock, _| {
        let (plain, upgradable) = (F::try_read(lock).expect("free"), F::try_upgradable(lock).expect("room"));
        assert!(F::try_read(lock).is_err());
        let mut upgrade = Task::queued(F::upgrade(upgradable));
        drop(plain);
        drop(upgrade.ready());
        drop(upgrade);
        assert_free(lock);
    });
}

pub(super) fn u3_after_the_upgrade_the_policy_goes_on<P: Platform>() {
    both_forms!(u3_after_the_upgrade_the_policy_goes_on_in);
}

fn u3_after_the_upgrade_the_policy_goes_on_in<P: Platform, F: Form>() {
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
        drop((writer, reader, upgrade));
        assert_free(lock);
    });
}

pub(super) fn u5_a_downgrade_lets_the_next_upgradable_reader_in<P: Platform>() {
    both_forms!(u5_a_downgrade_lets_the_next_upgradable_reader_in_in);
}

fn u5_a_downgrade_lets_the_next_upgradable_reader_in_in<P: Platform, F: Form>() {
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
        drop((writer, second));
        assert_free(lock);
    });
}

pub(super) fn u5_a_writer_becomes_the_upgradable_reader<P: Platform>() {
    both_forms!(u5_a_writer_becomes_the_upgradable_reader_in);
}

fn u5_a_writer_becomes_the_upgradable_reader_in<P: Platform, F: Form>() {
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

pub(super) fn u5_never_two_owners_or_none<P: Platform>() {
    both_forms!(u5_never_two_owners_or_none_in);
}

fn u5_never_two_owners_or_none_in<P: Platform, F: Form>() {
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
        drop((reader, next, upgrade, writer));
        assert_free(lock);
    });
}

pub(super) fn u6_try_upgrade<P: Platform>() {
    both_forms!(u6_try_upgrade_in);
}

fn u6_try_upgrade_in<P: Platform, F: Form>() {
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
        drop((writer, next, reader));
        assert_free(lock);
    });
}

pub(super) fn u6_an_upgrade_polled_again_keeps_its_place<P: Platform>() {
    both_forms!(u6_an_upgrade_polled_again_keeps_its_place_in);
}

fn u6_an_upgrade_polled_again_keeps_its_place_in<P: Platform, F: Form>() {
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
        drop((upgrade, writer));
        assert_free(lock);
    });
}

/// While a batch of readers is being let in, an upgradable reader may have to wait although it would fit. A newcomer
/// must not take that place. The newcomer comes from a waker, between two chunks.
pub(super) fn u2_a_newcomer_between_two_chunks_passes_nobody<P: Platform>() {
    both_forms!(u2_a_newcomer_between_two_chunks_passes_nobody_in);
}

fn u2_a_newcomer_between_two_chunks_passes_nobody_in<P: Platform, F: Form>() {
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
        drop((upgradable, first, readers));
        assert_free(lock);
    });
}

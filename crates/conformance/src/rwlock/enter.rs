//! Which newcomers enter at once and which queue (W1, W2), and which waiter follows the last reader (W3, W9).

use super::{FREE, Form, assert_free, assert_shut, counts, new_lock};
use crate::tools::{Hooks, Platform, Task, hook, ready};
use core::cell::Cell;
use core::mem;
use fifolock_core::RwLock;
use std::rc::Rc;
use std::sync::Arc;

pub(super) fn w1_readers_enter_together_if_no_writer_holds_or_waits<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let first = ready(&mut Box::pin(F::read(&lock)));
    let second = F::try_read(&lock).expect("readers share");
    let third = ready(&mut Box::pin(F::read(&lock)));
    assert_eq!(counts(&lock), (3, false, 0, 0));
    assert!(F::try_write(&lock).is_err());
    // The readers leave in another order than they came.
    drop(second);
    assert_eq!(counts(&lock), (2, false, 0, 0));
    drop(first);
    assert_eq!(counts(&lock), (1, false, 0, 0));
    assert!(F::try_write(&lock).is_err());
    drop(third);
    assert_free(&lock);
}

pub(super) fn w1_reader_queues_behind_a_writer_that_holds<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let writer = F::try_write(&lock).expect("free");
    assert!(F::try_read(&lock).is_err());
    assert_eq!(counts(&lock), (0, true, 0, 0), "a refused try_read changes nothing");
    let mut reader = Task::queued(F::read(&lock));
    assert_eq!(counts(&lock), (0, true, 1, 0));
    assert!(F::try_read(&lock).is_err());
    drop(writer);
    assert_eq!(reader.wakes(), 1);
    drop(reader.ready());
    assert_free(&lock);
}

pub(super) fn w1_reader_queues_behind_a_writer_that_waits<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let inside = F::try_read(&lock).expect("free");
    let mut writer = Task::queued(F::write(&lock));
    assert!(F::try_read(&lock).is_err(), "a writer waits");
    let mut reader = Task::queued(F::read(&lock));
    assert_eq!(counts(&lock), (1, false, 1, 1));
    drop(inside);
    // The writer was granted, and has not been polled.
    assert!(F::try_read(&lock).is_err(), "a writer was granted");
    let mut late = Task::queued(F::read(&lock));
    assert_eq!(counts(&lock), (0, true, 2, 0));
    let writing = writer.ready();
    assert_eq!((reader.wakes(), late.wakes()), (0, 0));
    drop(writing);
    assert_eq!((reader.wakes(), late.wakes()), (1, 1));
    drop((reader.ready(), late.ready()));
    assert_free(&lock);
}

pub(super) fn w2_writer_enters_a_free_lock<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let mut writer = ready(&mut Box::pin(F::write(&lock)));
    assert_eq!(counts(&lock), (0, true, 0, 0));
    writer.left = 7;
    drop(writer);
    assert_eq!(counts(&lock), FREE);
    let mut writer = F::try_write(&lock).expect("free");
    assert_eq!(counts(&lock), (0, true, 0, 0));
    assert_eq!(writer.left, 7);
    writer.left = 8;
    drop(writer);
    assert_eq!(F::try_read(&lock).expect("free").left, 8);
    assert_free(&lock);
}

pub(super) fn w2_writer_queues_while_anyone_holds<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let reader = F::try_read(&lock).expect("free");
    assert!(F::try_write(&lock).is_err());
    assert_eq!(counts(&lock), (1, false, 0, 0), "a refused try_write changes nothing");
    let mut first = Task::queued(F::write(&lock));
    assert_eq!(counts(&lock), (1, false, 0, 1));
    drop(reader);
    assert_eq!(first.wakes(), 1);
    let writing = first.ready();
    assert!(F::try_write(&lock).is_err());
    let mut second = Task::queued(F::write(&lock));
    assert_eq!(counts(&lock), (0, true, 0, 1));
    drop(writing);
    assert_eq!(second.wakes(), 1);
    drop(second.ready());
    assert_free(&lock);
}

pub(super) fn w2_writer_queues_behind_earlier_writers<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let inside = F::try_read(&lock).expect("free");
    let mut writers: Vec<_> = (0..4).map(|_| Task::queued(F::write(&lock))).collect();
    assert_eq!(counts(&lock), (1, false, 0, 4));
    drop(inside);
    for turn in 0..4 {
        for (n, writer) in writers.iter_mut().enumerate() {
            assert_eq!(writer.wakes(), usize::from(n <= turn));
            if n > turn {
                writer.pending();
            }
        }
        assert_shut(&lock);
        drop(writers[turn].ready());
    }
    assert_free(&lock);
}

pub(super) fn w2_writer_queues_behind_a_granted_batch<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let inside = F::try_write(&lock).expect("free");
    let mut readers: Vec<_> = (0..2).map(|_| Task::queued(F::read(&lock))).collect();
    drop(inside);
    assert_eq!(counts(&lock), (2, false, 0, 0));
    // The readers have not been polled since.
    assert!(F::try_write(&lock).is_err());
    let mut writer = Task::queued(F::write(&lock));
    for (n, reader) in readers.iter_mut().enumerate() {
        let reading = reader.ready();
        assert_eq!(writer.wakes(), 0, "reader {n} is inside");
        drop(reading);
    }
    assert_eq!(writer.wakes(), 1);
    drop(writer.ready());
    assert_free(&lock);
}

pub(super) fn w2_owner_of_the_lock_needs_no_guard<P: Platform>() {
    let locks = [RwLock::<u32, P>::new(0), RwLock::const_new(0), RwLock::from(0), RwLock::default()];
    for (n, mut lock) in (1..).zip(locks) {
        assert_eq!(counts(&lock), FREE);
        *lock.get_mut() += n;
        assert_eq!(counts(&lock), FREE);
        assert_eq!(lock.try_read().as_deref().ok(), Some(&n));
        // A forgotten guard keeps all others out. Its owner still has access.
        mem::forget(lock.try_write().expect("free"));
        assert!(lock.try_read().is_err());
        *lock.get_mut() += 1;
        assert_eq!(lock.into_inner(), n + 1);
    }
}

pub(super) fn w3_last_reader_hands_over_to_the_head_writer<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let (first, second) = (F::try_read(&lock).expect("free"), F::try_read(&lock).expect("shared"));
    let mut head = Task::queued(F::write(&lock));
    let mut next = Task::queued(F::write(&lock));
    let mut reader = Task::queued(F::read(&lock));
    drop(second);
    assert_eq!(counts(&lock), (1, false, 1, 2));
    assert_eq!(head.wakes(), 0, "a reader is inside");
    head.pending();
    drop(first);
    // The waiter is the owner before it is polled.
    assert_eq!(counts(&lock), (0, true, 1, 1));
    assert_eq!((head.wakes(), next.wakes(), reader.wakes()), (1, 0, 0));
    assert_shut(&lock);
    next.pending();
    reader.pending();
    let writing = head.ready();
    assert_shut(&lock);
    assert_eq!(counts(&lock), (0, true, 1, 1));
    drop(writing);
    drop(next.ready());
    drop(reader.ready());
    assert_free(&lock);
}

pub(super) fn w3_unclaimed_last_reader_hands_over_too<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let inside = F::try_write(&lock).expect("free");
    let reader = Task::queued(F::read(&lock));
    drop(inside);
    let mut writer = Task::queued(F::write(&lock));
    assert_eq!((reader.wakes(), writer.wakes()), (1, 0));
    drop(reader);
    assert_eq!(counts(&lock), (0, true, 0, 0));
    assert_eq!(writer.wakes(), 1);
    drop(writer.ready());
    assert_free(&lock);
}

pub(super) fn w3_lock_is_not_free_while_the_last_reader_wakes_the_writer<P: Platform>() {
    let lock = new_lock::<P>();
    let inside = lock.try_read().expect("free");
    let looked = Rc::new(Cell::new(false));
    let on_wake = {
        let (lock, looked) = (Arc::clone(&lock), Rc::clone(&looked));
        hook(move || {
            assert_eq!(counts(&lock), (0, true, 0, 0));
            assert_shut(&lock);
            looked.set(true);
        })
    };
    let mut writer = Task::with_hooks(lock.write(), Hooks { on_wake, ..Hooks::default() });
    writer.pending();
    drop(inside);
    assert!(looked.get());
    assert_eq!(writer.wakes(), 1);
    drop(writer.ready());
    assert_eq!(counts(&lock), FREE);
}

pub(super) fn w9_writers_without_a_pause_keep_readers_waiting<P: Platform, F: Form>() {
    let lock = new_lock::<P>();
    let mut writing = F::try_write(&lock).expect("free");
    let mut reader = Task::queued(F::read(&lock));
    for _ in 0..100 {
        let mut next = Task::queued(F::write(&lock));
        drop(writing);
        assert_eq!((next.wakes(), reader.wakes()), (1, 0));
        assert_eq!(counts(&lock), (0, true, 1, 0));
        writing = next.ready();
    }
    // The pause.
    drop(writing);
    assert_eq!(reader.wakes(), 1);
    drop(reader.ready());
    assert_free(&lock);
}

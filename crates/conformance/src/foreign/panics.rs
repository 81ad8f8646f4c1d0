//! K3: wakers that panic. All other tasks are woken, no grant is lost, and the caller gets the panic.

use super::kind::{Kind, assert_free, each_kind};
use crate::tools::subject::{Guard, Hidden, Subject};
use crate::tools::{Hooks, Platform, Slot, Task, hook, hooked_waker, panics};
use core::cell::Cell;
use fifolock_core::RwLock;
use fifolock_core::rwlock::Read;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

const WAKE: &str = "this waker panics in wake";
const DROP: &str = "this waker panics in drop";
const CLONE: &str = "this waker panics in clone";

/// Panics, but not during a panic, where a second one would abort the test program.
fn fail(message: &str) {
    if !thread::panicking() {
        panic!("{message}");
    }
}

fn panics_in_wake() -> Hooks {
    Hooks { on_wake: hook(|| fail(WAKE)), ..Hooks::default() }
}

/// Hooks that panic in `drop`, once, after `arm` was set.
fn panics_in_drop(arm: &Rc<Cell<bool>>) -> Hooks {
    let arm = Rc::clone(arm);
    let on_drop = hook(move || {
        if arm.take() {
            fail(DROP);
        }
    });
    Hooks { on_drop, ..Hooks::default() }
}

pub(super) fn k3_a_waiter_whose_waker_panics_was_granted<P: Platform>() {
    each_kind!(panics_in_a_release::<P>);
}

fn panics_in_a_release<P: Platform, K: Kind>() {
    let lock = K::subject::<P>();
    let blocker = K::block(&lock);
    let mut task = Task::with_hooks(K::wait(&lock), panics_in_wake());
    task.pending();
    assert_eq!(panics(|| drop(blocker)), WAKE);
    assert_eq!((task.wakes(), task.wakers_kept()), (1, 0));
    assert_eq!(lock.state(), (1, 0));
    drop(task.ready());
    drop(task);
    // The unwinding dropped the guard, which gave its share back.
    lock.assert_over();
}

pub(super) fn k3_a_waker_that_panics_when_a_grant_is_passed_on<P: Platform>() {
    each_kind!(panics_in_a_cancel::<P>);
}

fn panics_in_a_cancel<P: Platform, K: Kind>() {
    let lock = K::subject::<P>();
    let blocker = K::block(&lock);
    let mut granted = Task::queued(K::wait(&lock));
    drop(blocker);
    let mut next = Task::with_hooks(K::rival(&lock), panics_in_wake());
    next.pending();
    assert_eq!(panics(|| granted.cancel()), WAKE);
    assert_eq!((next.wakes(), next.wakers_kept()), (1, 0));
    assert_eq!(lock.state(), (1, 0));
    drop(next.ready());
    drop((granted, next));
    // The unwinding dropped the future, which gave its share back.
    lock.assert_over();
}

/// Sizes of batches, and the members whose waker panics: in the first chunk of 32, at its edges, in later chunks.
const BATCHES: &[(usize, &[usize])] = if cfg!(miri) {
    &[(2, &[0, 1]), (33, &[0, 32])]
} else {
    &[
        (1, &[0]),
        (2, &[0, 1]),
        (32, &[0, 15, 31]),
        (33, &[0, 31, 32]),
        (100, &[0, 1, 15, 31, 32, 33, 63, 64, 95, 96, 99]),
    ]
};

/// The event that lets the batch in.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Release,
    /// The waiting writer that kept the readers out is dropped.
    WriterLeaves,
    /// A granted writer is dropped.
    GrantDropped,
    Downgrade,
}

type Readers<'a, P> = Vec<Task<Read<'a, (), P>>>;

/// Queues readers, of which one has these hooks, and lets them all in. The release must panic, and must have woken all
/// readers.
fn batch<P: Platform>(cause: Cause, size: usize, odd: usize, hooks: Hooks, arm: &Cell<bool>, message: &str) {
    println!("{cause:?} of {size}, {odd} panics");
    let lock = RwLock::<_, P>::new(());
    let mut hooks = Some(hooks);
    let mut queue = || -> Readers<'_, P> {
        let hooks_of =
            |i| if i == odd { hooks.take().expect("only one member has the hooks") } else { Hooks::default() };
        let mut readers: Vec<_> = (0..size).map(hooks_of).map(|hooks| Task::with_hooks(lock.read(), hooks)).collect();
        readers.iter_mut().for_each(Task::pending);
        readers
    };
    let (readers, kept) = match cause {
        Cause::Release => {
            let writer = lock.try_write().expect("free");
            let readers = queue();
            arm.set(true);
            assert_eq!(panics(|| drop(writer)), message);
            (readers, None)
        }
        Cause::WriterLeaves => {
            let reader = lock.try_read().expect("free");
            let mut writer = Task::queued(lock.write());
            let readers = queue();
            arm.set(true);
            assert_eq!(panics(|| writer.cancel()), message);
            (readers, Some(reader))
        }
        Cause::GrantDropped => {
            let writer = lock.try_write().expect("free");
            let mut granted = Task::queued(lock.write());
            let readers = queue();
            drop(writer);
            assert_eq!(granted.wakes(), 1);
            arm.set(true);
            assert_eq!(panics(|| granted.cancel()), message);
            (readers, None)
        }
        Cause::Downgrade => {
            let writer = lock.try_write().expect("free");
            let readers = queue();
            arm.set(true);
            assert_eq!(panics(|| writer.downgrade()), message);
            (readers, None)
        }
    };
    arm.set(false);
    assert_eq!(lock.state().readers, size + usize::from(kept.is_some()), "all are in, and a guard that unwound is not");
    drop(kept);
    let mut readers = readers;
    for reader in &readers {
        assert_eq!((reader.wakes(), reader.wakers_kept()), (1, 0));
    }
    // The lock still works: a writer enters when the last reader has left.
    let mut writer = Task::queued(lock.write());
    for reader in &mut readers {
        assert_eq!(writer.wakes(), 0);
        drop(reader.ready());
    }
    assert_eq!(writer.wakes(), 1);
    drop(writer.ready());
    assert_eq!(lock.state().readers, 0);
    assert!(lock.try_write().is_ok());
}

fn batches<P: Platform>(causes: &[Cause], hooks: impl Fn(&Rc<Cell<bool>>) -> Hooks, message: &str) {
    for &cause in causes {
        for &(size, odd_ones) in BATCHES {
            for &odd in odd_ones {
                let arm = Rc::default();
                batch::<P>(cause, size, odd, hooks(&arm), &arm, message);
            }
        }
    }
}

pub(super) fn k3_a_waker_that_panics_in_a_batch_keeps_nobody_from_being_woken<P: Platform>() {
    batches::<P>(&[Cause::Release], |_| panics_in_wake(), WAKE);
}

pub(super) fn k3_a_waker_whose_drop_panics_in_a_batch_keeps_nobody_from_being_woken<P: Platform>() {
    batches::<P>(&[Cause::Release], panics_in_drop, DROP);
}

pub(super) fn k3_a_waker_that_panics_when_readers_join_or_a_writer_leaves<P: Platform>() {
    let causes = [Cause::WriterLeaves, Cause::GrantDropped, Cause::Downgrade];
    batches::<P>(&causes, |_| panics_in_wake(), WAKE);
}

pub(super) fn k3_a_clone_that_panics_changes_nothing<P: Platform>() {
    each_kind!(clone_panics::<P>);
}

fn clone_panics<P: Platform, K: Kind>() {
    let panics_in_clone = || Hooks { on_clone: hook(|| fail(CLONE)), ..Hooks::default() };
    let lock = K::subject::<P>();
    let blocker = K::block(&lock);

    // The panic comes in the first poll: the future has not begun to wait, and may be polled again.
    let mut first = Task::new(K::wait(&lock));
    let (waker, count) = hooked_waker(panics_in_clone());
    assert_eq!(panics(|| first.poll_with(&waker).is_ready()), CLONE);
    assert_eq!((lock.state(), count.alive()), ((1, 0), 1));
    first.pending();

    // The panic comes in a later poll: the lock keeps the waker of the earlier poll.
    assert_eq!(panics(|| first.poll_with(&waker).is_ready()), CLONE);
    assert_eq!((lock.state(), count.alive(), first.wakers_kept()), ((1, 1), 1, 1));
    drop(blocker);
    assert_eq!((first.wakes(), count.wakes()), (1, 0));
    drop(first.ready());
    assert_free::<P, K>(&lock);
}

pub(super) fn k3_an_old_waker_whose_drop_panics_was_replaced<P: Platform>() {
    each_kind!(old_drop_panics::<P>);
}

fn old_drop_panics<P: Platform, K: Kind>() {
    let lock = K::subject::<P>();
    let blocker = K::block(&lock);
    let arm = Rc::default();
    let (old, old_count) = hooked_waker(panics_in_drop(&arm));
    let mut task = Task::new(K::wait(&lock));
    assert!(task.poll_with(&old).is_pending());
    arm.set(true);
    assert_eq!(panics(|| task.poll().is_ready()), DROP);
    assert_eq!((lock.state(), old_count.alive(), task.wakers_kept()), ((1, 1), 1, 1));
    drop(blocker);
    assert_eq!((task.wakes(), old_count.wakes()), (1, 0));
    drop(task.ready());
    assert_free::<P, K>(&lock);
}

pub(super) fn k3_a_waiter_whose_waker_panics_when_it_leaves_has_left<P: Platform>() {
    each_kind!(own_drop_panics::<P>);
}

fn own_drop_panics<P: Platform, K: Kind>() {
    let lock = K::subject::<P>();
    let blocker = K::block(&lock);
    let arm = Rc::default();
    let (waker, count) = hooked_waker(panics_in_drop(&arm));
    let mut leaves = Task::new(K::wait(&lock));
    assert!(leaves.poll_with(&waker).is_pending());
    let mut stays = Task::queued(K::wait(&lock));
    arm.set(true);
    assert_eq!(panics(|| leaves.cancel()), DROP);
    assert_eq!((lock.state(), count.alive()), ((1, 1), 1));
    drop(blocker);
    assert_eq!((count.wakes(), stays.wakes()), (0, 1));
    drop(stays.ready());
    drop((leaves, stays));
    // The unwinding dropped the future, which gave its share back.
    lock.assert_over();
}

/// The waker's clone releases the guard that the poll would have waited for, so the poll becomes the owner and does not
/// need the clone. The drop of the clone then queues another waiter behind that owner, and panics.
fn too_late<P: Platform, K: Kind>(
    lock: &Arc<Subject<P>>,
    blocker: &Slot<Guard<'static>>,
    next: &Slot<Task<Hidden<'static>>>,
) -> Hooks {
    let unused = Rc::new(Cell::new(false));
    let on_clone = hook({
        let (blocker, unused) = (blocker.clone(), Rc::clone(&unused));
        move || {
            drop(blocker.take());
            unused.set(true);
        }
    });
    let on_drop = hook({
        let (lock, next) = (Arc::clone(lock), next.clone());
        move || {
            if unused.take() {
                next.put(Task::queued(K::rival(&lock)));
                fail(DROP);
            }
        }
    });
    Hooks { on_clone, on_drop, on_wake: None }
}

pub(super) fn k3_a_first_poll_that_panics_as_owner_gives_the_ownership_back<P: Platform>() {
    each_kind!(first_poll_panics_as_owner::<P>);
}

fn first_poll_panics_as_owner<P: Platform, K: Kind>() {
    let lock = K::subject::<P>();
    let (blocker, next) = (Slot::new(), Slot::new());
    blocker.put(K::block(&lock));
    let mut task = Task::with_hooks(K::wait(&lock), too_late::<P, K>(&lock, &blocker, &next));
    assert_eq!(panics(|| task.poll().is_ready()), DROP);
    gave_back(&lock, &next);
    task.cancel();
    assert_free::<P, K>(&lock);
}

pub(super) fn k3_a_later_poll_that_panics_as_owner_gives_the_ownership_back<P: Platform>() {
    each_kind!(later_poll_panics_as_owner::<P>);
}

fn later_poll_panics_as_owner<P: Platform, K: Kind>() {
    let lock = K::subject::<P>();
    let (blocker, next) = (Slot::new(), Slot::new());
    blocker.put(K::block(&lock));
    let mut task = Task::queued(K::wait(&lock));
    let (waker, count) = hooked_waker(too_late::<P, K>(&lock, &blocker, &next));
    assert_eq!(panics(|| task.poll_with(&waker).is_ready()), DROP);
    assert_eq!((task.wakes(), count.wakes(), count.alive()), (1, 0, 1));
    gave_back(&lock, &next);
    task.cancel();
    assert_free::<P, K>(&lock);
}

/// The lock that the panicking poll had taken goes to the waiter that queued behind it.
#[track_caller]
fn gave_back<P: Platform>(lock: &Subject<P>, next: &Slot<Task<Hidden<'static>>>) {
    let mut next = next.take().expect("queued while the poll was the owner");
    assert_eq!((next.wakes(), lock.state()), (1, (1, 0)));
    drop(next.ready());
    assert_eq!(lock.state(), (0, 0));
}

//! K5: `mem::forget`, and how long each party may touch the lock and the waiters.

use super::kind::{Kind, each_kind};
use crate::tools::subject::Hidden;
use crate::tools::{Hooks, Platform, Slot, Task, forget, hook, remember};
use core::cell::Cell;
use core::future::Future;
use core::mem;
use fifolock_core::Mutex;
use fifolock_core::rwlock::RwLock;
use std::rc::Rc;
use std::sync::Arc;

fn forget_task<F: Future>(mut task: Task<F>) {
    forget(task.take().expect("waits"));
    // The test must keep this waker. A new waker at the address of a freed one would look like the same task.
    mem::forget(task);
}

/// Data that counts its drops.
struct Counted(Rc<Cell<u32>>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// After its waiters were forgotten, a lock can still be moved, accessed without locking, and dropped. Its data is
/// dropped once.
#[track_caller]
fn end<L>(lock: L, get_mut: impl FnOnce(&mut L) -> &mut Counted, dropped: &Cell<u32>) {
    // The lock moves, in case anything points to its old address.
    let mut lock = Box::new(lock);
    assert_eq!(get_mut(&mut lock).0.get(), 0);
    drop(lock);
    assert_eq!(dropped.get(), 1);
}

fn counted() -> (Counted, Rc<Cell<u32>>) {
    let dropped = Rc::default();
    (Counted(Rc::clone(&dropped)), dropped)
}

pub(super) fn k5_a_forgotten_mutex_guard_keeps_it_locked<P: Platform>() {
    let (data, dropped) = counted();
    let mutex = Mutex::<_, P>::new(data);
    mem::forget(mutex.try_lock().expect("free"));
    assert!(mutex.try_lock().is_err());
    let mut mutex = mutex;
    assert_eq!(mutex.get_mut().0.get(), 0);
    let mut task = Task::queued(mutex.lock());
    assert_eq!((mutex.is_locked(), mutex.queued()), (true, 1));
    task.cancel();
    drop(task);
    end(mutex, Mutex::get_mut, &dropped);

    let (data, dropped) = counted();
    let mutex = Arc::new(Mutex::<_, P>::new(data));
    mem::forget(Arc::clone(&mutex).try_lock_owned().expect("free"));
    assert!(mutex.try_lock().is_err());
    // The share of the guard was forgotten with the guard, so nothing frees the mutex any more.
    assert_eq!((Arc::strong_count(&mutex), dropped.get()), (2, 0));
    // Leak checkers must still find a reference to the mutex.
    remember(&*mutex);
}

pub(super) fn k5_a_forgotten_waiter_of_a_mutex_leaves_memory_valid<P: Platform>() {
    let (data, dropped) = counted();
    let mut mutex = Mutex::<_, P>::new(data);
    {
        let guard = mutex.try_lock().expect("free");
        let mut before = Task::queued(mutex.lock());
        forget_task(Task::queued(mutex.lock()));
        let mut after = Task::queued(mutex.lock());
        assert_eq!(mutex.queued(), 3);
        // The neighbours of the forgotten waiter leave, and new waiters come.
        before.cancel();
        after.cancel();
        assert_eq!(mutex.queued(), 1);
        mem::forget(guard);
    }
    {
        // The queue with the forgotten waiter works after the lock has moved.
        let mut moved = Box::new(mutex);
        let mut task = Task::queued(moved.lock());
        assert_eq!(moved.queued(), 2);
        task.cancel();
        drop(task);
        assert_eq!(moved.get_mut().0.get(), 0);
        mutex = *moved;
    }
    end(mutex, Mutex::get_mut, &dropped);
}

pub(super) fn k5_a_forgotten_grant_of_a_mutex_keeps_it_locked<P: Platform>() {
    for granted_first in [true, false] {
        let (data, dropped) = counted();
        let mutex = Mutex::<_, P>::new(data);
        let guard = mutex.try_lock().expect("free");
        let task = Task::queued(mutex.lock());
        if granted_first {
            drop(guard);
            forget_task(task);
        } else {
            forget_task(task);
            drop(guard);
        }
        assert!(mutex.try_lock().is_err());
        drop(Task::queued(mutex.lock()));
        assert_eq!((mutex.is_locked(), mutex.queued()), (true, 0));
        end(mutex, Mutex::get_mut, &dropped);
    }
}

pub(super) fn k5_forgotten_read_and_write_guards_keep_their_shares<P: Platform>() {
    let (data, dropped) = counted();
    let lock = RwLock::<_, P>::new(data);
    mem::forget(lock.try_read().expect("free"));
    drop(lock.try_read().expect("readers only"));
    assert!(lock.try_write().is_err());
    drop(Task::queued(lock.write()));
    assert_eq!(lock.state().readers, 1);
    end(lock, RwLock::get_mut, &dropped);

    let (data, dropped) = counted();
    let lock = RwLock::<_, P>::new(data);
    mem::forget(lock.try_write().expect("free"));
    assert!(lock.try_read().is_err());
    drop(Task::queued(lock.read()));
    drop(Task::queued(lock.write()));
    assert!(lock.state().writer);
    end(lock, RwLock::get_mut, &dropped);
}

pub(super) fn k5_forgotten_waiters_of_a_rwlock_leave_memory_valid<P: Platform>() {
    let (data, dropped) = counted();
    let mut lock = RwLock::<_, P>::new(data);
    {
        let guard = lock.try_write().expect("free");
        let mut readers: Vec<_> = (0..3).map(|_| Task::queued(lock.read())).collect();
        let mut writers: Vec<_> = (0..3).map(|_| Task::queued(lock.write())).collect();
        forget_task(readers.swap_remove(1));
        forget_task(writers.swap_remove(1));
        drop((readers, writers));
        assert_eq!((lock.state().waiting_readers, lock.state().waiting_writers), (1, 1));
        mem::forget(guard);
    }
    {
        let moved = Box::new(lock);
        let reader = Task::queued(moved.read());
        let writer = Task::queued(moved.write());
        assert_eq!((moved.state().waiting_readers, moved.state().waiting_writers), (2, 2));
        drop((reader, writer));
        lock = *moved;
    }
    end(lock, RwLock::get_mut, &dropped);

    // The writer is granted after it was forgotten.
    let (data, dropped) = counted();
    let lock = RwLock::<_, P>::new(data);
    let guard = lock.try_write().expect("free");
    forget_task(Task::queued(lock.write()));
    drop(guard);
    assert!(lock.state().writer);
    assert!(lock.try_read().is_err());
    drop(Task::queued(lock.read()));
    end(lock, RwLock::get_mut, &dropped);
}

pub(super) fn k5_a_forgotten_member_of_a_batch_keeps_its_share<P: Platform>() {
    let (data, dropped) = counted();
    let lock = RwLock::<_, P>::new(data);
    let guard = lock.try_write().expect("free");
    let mut readers: Vec<_> = (0..40).map(|_| Task::queued(lock.read())).collect();
    // One member is forgotten before the batch is granted, and one after. Both are in the middle of a chunk.
    forget_task(readers.remove(35));
    drop(guard);
    forget_task(readers.remove(15));
    let mut writer = Task::queued(lock.write());
    for reader in &mut readers {
        drop(reader.ready());
    }
    assert_eq!((lock.state().readers, writer.wakes()), (2, 0));
    writer.cancel();
    drop(lock.try_read().expect("readers only"));
    drop((readers, writer));
    end(lock, RwLock::get_mut, &dropped);
}

pub(super) fn k5_a_forgotten_future_that_was_not_polled_has_no_effect<P: Platform>() {
    let (data, dropped) = counted();
    let mutex = Mutex::<_, P>::new(data);
    forget(Box::pin(mutex.lock()));
    mem::forget(mutex.lock());
    assert!(!mutex.is_locked());
    drop(mutex.try_lock().expect("free"));
    end(mutex, Mutex::get_mut, &dropped);

    let (data, dropped) = counted();
    let lock = RwLock::<_, P>::new(data);
    mem::forget(lock.read());
    mem::forget(lock.write());
    drop(lock.try_write().expect("free"));
    end(lock, RwLock::get_mut, &dropped);
}

pub(super) fn k5_the_releaser_touches_nothing_of_the_waiter<P: Platform>() {
    each_kind!(waiter_is_gone_when_its_wake_returns::<P>);
}

/// During the wake the waiter claims, releases and is freed. A releaser that touched the waiter afterwards would read
/// freed memory, which Miri and the sanitizers report. This test counts, and so shows that everything is freed.
fn waiter_is_gone_when_its_wake_returns<P: Platform, K: Kind>() {
    let lock = K::subject::<P>();
    let blocker = K::block(&lock);
    let me = Slot::<Task<Hidden<'static>>>::new();
    let on_wake = hook({
        let me = me.clone();
        move || {
            let mut me = me.take().expect("waits");
            drop(me.ready());
            drop(me);
        }
    });
    let mut task = Task::with_hooks(K::wait(&lock), Hooks { on_wake, ..Hooks::default() });
    task.pending();
    me.put(task);
    let mut next = Task::queued(K::wait(&lock));
    assert_eq!(lock.shares(), 3);
    drop(blocker);
    assert!(me.take().is_none());
    assert_eq!((next.wakes(), lock.state()), (1, (1, 0)));
    drop(next.ready());
    assert_eq!((lock.shares(), lock.state()), (0, (0, 0)));
}

pub(super) fn k5_an_owned_guard_drops_its_arc_last<P: Platform>() {
    let (data, dropped) = counted();
    let mutex = Arc::new(Mutex::<_, P>::new(data));
    let watch = Arc::downgrade(&mutex);
    let guard = Arc::clone(&mutex).try_lock_owned().expect("free");
    let me = Slot::<Task<fifolock_core::mutex::LockOwned<Counted, P>>>::new();
    let woken = Rc::new(Cell::new(false));
    let on_wake = hook({
        let (me, woken, dropped, watch) = (me.clone(), Rc::clone(&woken), Rc::clone(&dropped), watch.clone());
        move || {
            let mut me = me.take().expect("waits");
            drop(me.ready());
            drop(me);
            // All other owners are gone: only the guard that is being dropped keeps the mutex alive.
            assert_eq!((watch.strong_count(), dropped.get()), (1, 0));
            woken.set(true);
        }
    });
    let mut task = Task::with_hooks(Arc::clone(&mutex).lock_owned(), Hooks { on_wake, ..Hooks::default() });
    task.pending();
    me.put(task);
    drop(mutex);
    drop(guard);
    assert!(woken.get());
    assert_eq!((watch.strong_count(), dropped.get()), (0, 1));

    // A future that passes its grant on behaves alike.
    let (data, dropped) = counted();
    let lock = Arc::new(RwLock::<_, P>::new(data));
    let watch = Arc::downgrade(&lock);
    let guard = Arc::clone(&lock).try_read_owned().expect("free");
    let mut granted = Task::queued(Arc::clone(&lock).write_owned());
    let me = Slot::<Task<fifolock_core::rwlock::ReadOwned<Counted, P>>>::new();
    let on_wake = hook({
        let (me, dropped, watch) = (me.clone(), Rc::clone(&dropped), watch.clone());
        move || {
            let mut me = me.take().expect("waits");
            drop(me.ready());
            drop(me);
            assert_eq!((watch.strong_count(), dropped.get()), (1, 0));
        }
    });
    let mut task = Task::with_hooks(Arc::clone(&lock).read_owned(), Hooks { on_wake, ..Hooks::default() });
    task.pending();
    me.put(task);
    drop((lock, guard));
    assert_eq!(granted.wakes(), 1);
    granted.cancel();
    assert_eq!((watch.strong_count(), dropped.get()), (0, 1));
}

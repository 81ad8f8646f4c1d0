//! K4: a lock allocates nothing.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::hint::black_box;
use fifolock_conformance::tools::{Task, counting_waker};
use fifolock_core::platform::{CriticalSection, Local, Platform, Spin, Std};
use fifolock_core::{Mutex, RwLock};
use std::alloc::System;
use std::sync::Arc;

std::thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a count of each thread's allocations and growths.
struct Counting;

// SAFETY: `System` does all the work. The counter is a `Cell` without a destructor, so it allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of allocations in `f`.
#[track_caller]
fn allocates_nothing<R>(what: &str, f: impl FnOnce() -> R) -> R {
    let before = ALLOCATIONS.get();
    let result = f();
    assert_eq!(ALLOCATIONS.get() - before, 0, "{what} allocates");
    result
}

#[test]
#[should_panic = "a box allocates"]
fn the_counter_counts() {
    drop(allocates_nothing("a box", || black_box(Box::new(1))));
}

fn k4_a_mutex_allocates_nothing<P: Platform>() {
    let mutex = Arc::new(allocates_nothing("new", || Mutex::<_, P>::new(0)));
    let guard = allocates_nothing("try_lock", || mutex.try_lock().expect("free"));
    let (other, _) = counting_waker();

    // The test allocates the boxes and the wakers.
    let mut tasks: Vec<_> = (0..100).map(|_| Task::new(mutex.lock())).collect();
    let mut owned: Vec<_> = (0..100).map(|_| Task::new(Arc::clone(&mutex).lock_owned())).collect();
    allocates_nothing("queueing", || {
        tasks.iter_mut().for_each(Task::pending);
        owned.iter_mut().for_each(Task::pending);
    });
    allocates_nothing("polling again", || tasks.iter_mut().for_each(Task::pending));
    allocates_nothing("another waker", || assert!(tasks[3].poll_with(&other).is_pending()));
    allocates_nothing("leaving", || {
        tasks[50].cancel();
        owned[50].cancel();
    });
    allocates_nothing("looking", || {
        assert!(mutex.try_lock().is_err());
        assert_eq!(mutex.state().queued, 198);
    });
    allocates_nothing("a release", || drop(guard));
    allocates_nothing("claims and releases", || {
        for i in (0..50).chain(51..100) {
            *tasks[i].ready() += 1;
        }
    });
    allocates_nothing("passing on", || owned[0].cancel());
    allocates_nothing("owned claims and releases", || {
        for i in (1..50).chain(51..100) {
            *owned[i].ready() += 1;
        }
    });
    allocates_nothing("a free lock", || assert_eq!(*mutex.try_lock().expect("free"), 197));
}

fn k4_a_rwlock_allocates_nothing<P: Platform>() {
    let lock = Arc::new(allocates_nothing("new", || RwLock::<_, P>::new(0)));
    let (other, _) = counting_waker();
    let guard = allocates_nothing("try_write", || lock.try_write().expect("free"));

    let mut readers: Vec<_> = (0..100).map(|_| Task::new(lock.read())).collect();
    let mut owned_readers: Vec<_> = (0..10).map(|_| Task::new(Arc::clone(&lock).read_owned())).collect();
    let mut writers: Vec<_> = (0..10).map(|_| Task::new(lock.write())).collect();
    let mut last = Task::new(Arc::clone(&lock).write_owned());
    allocates_nothing("queueing", || {
        readers.iter_mut().for_each(Task::pending);
        owned_readers.iter_mut().for_each(Task::pending);
        writers.iter_mut().for_each(Task::pending);
    });
    allocates_nothing("polling again", || {
        readers.iter_mut().for_each(Task::pending);
        writers.iter_mut().for_each(Task::pending);
    });
    allocates_nothing("another waker", || {
        assert!(readers[3].poll_with(&other).is_pending());
        assert!(writers[3].poll_with(&other).is_pending());
    });
    allocates_nothing("leaving", || {
        readers[50].cancel();
        writers[5].cancel();
    });
    allocates_nothing("looking", || {
        assert!(lock.try_read().is_err() && lock.try_write().is_err());
        assert_eq!(lock.state().waiting_readers, 109);
    });
    allocates_nothing("a release to a writer", || drop(guard));
    allocates_nothing("claims and releases", || {
        for i in (0..5).chain(6..9) {
            *writers[i].ready() += 1;
        }
    });
    let guard = writers[9].ready();
    allocates_nothing("a batch of readers", || drop(guard));
    assert_eq!(lock.state().readers, 109);
    allocates_nothing("queueing behind readers", || last.pending());
    allocates_nothing("giving shares back", || {
        for i in (0..50).chain(51..100) {
            assert_eq!(*readers[i].ready(), 8);
        }
        owned_readers.iter_mut().for_each(Task::cancel);
    });
    let guard = allocates_nothing("an owned claim", || last.ready());
    let mut readers: Vec<_> = (0..100).map(|_| Task::queued(lock.read())).collect();
    let guard = allocates_nothing("a downgrade", || guard.downgrade());
    assert_eq!(lock.state().readers, 101);
    allocates_nothing("leaving a batch", || readers.iter_mut().for_each(Task::cancel));
    allocates_nothing("an owned share", || drop(guard));

    // The readers enter when the waiting writer leaves.
    let guard = lock.try_read().expect("free");
    let mut writer = Task::queued(lock.write());
    let readers: Vec<_> = (0..100).map(|_| Task::queued(lock.read())).collect();
    allocates_nothing("a writer that leaves", || writer.cancel());
    assert_eq!(lock.state().readers, 101);
    drop((guard, readers));
}

macro_rules! platforms {
    ($($name:ident: $platform:ty,)+) => {
        $(
            mod $name {
                #[test]
                fn k4_a_mutex_allocates_nothing() {
                    super::k4_a_mutex_allocates_nothing::<$platform>();
                }

                #[test]
                fn k4_a_rwlock_allocates_nothing() {
                    super::k4_a_rwlock_allocates_nothing::<$platform>();
                }
            }
        )+
    };
}

platforms! {
    on_std: super::Std,
    on_critical_section: super::CriticalSection,
    on_spin: super::Spin,
    on_local: super::Local,
    on_tokio: fifolock::tokio::Tokio,
}

//! Measures the memory of the locks. A separate program, since its allocator counts.

use core::alloc::{GlobalAlloc, Layout};
use core::mem::{size_of, size_of_val};
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Waker};
use core::time::Duration;
use std::alloc::System;

use clock::{Args, for_each_mutex, for_each_rwlock};
use results::Memory;
use scenarios::at_once;
use scenarios::lock::{Mutex, RwLock};

struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is that of `System`.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The waiters of one mutex, so many that the allocations of the first one alone hardly count in the mean.
const WAITERS: usize = 1_000;

fn main() {
    let args = Args::read();
    let mut locks: Vec<Memory> = Vec::new();
    macro_rules! mutex {
        ($name:expr, $mutex:ty) => {
            locks.push(mutex::<$mutex>($name));
        };
    }
    for_each_mutex!(mutex);
    macro_rules! rwlock {
        ($name:expr, $lock:ty) => {
            rwlock::<$lock>(locks.iter_mut().find(|lock| lock.lock == $name).expect("a lock's mutex comes first"));
        };
    }
    for_each_rwlock!(rwlock);
    results::write(&args.file, &locks).expect("the file can be written");
}

fn mutex<M: Mutex>(name: &str) -> Memory {
    let mutex = M::new();
    let cx = &mut Context::from_waker(Waker::noop());
    let (future, timeout) = (size_of_val(&mutex.lock()), timeout_size(&mutex));
    let guard = at_once(mutex.lock(), cx);
    let mut queue: Vec<_> = (0..WAITERS).map(|_| Box::pin(mutex.lock())).collect();
    let before = (ALLOCATED.load(Ordering::Relaxed), ALLOCATIONS.load(Ordering::Relaxed));
    for waiter in &mut queue {
        assert!(waiter.as_mut().poll(cx).is_pending());
    }
    let heap = ALLOCATED.load(Ordering::Relaxed) - before.0;
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before.1;
    drop(queue);
    drop(guard);
    Memory {
        lock: name.to_owned(),
        // The size without the number that the mutex protects.
        mutex: Some(size_of::<M>() - M::DATA),
        mutex_future: Some(future),
        mutex_timeout: timeout,
        rwlock: None,
        read_future: None,
        write_future: None,
        heap_per_waiter: heap as f64 / WAITERS as f64,
        allocations_per_waiter: allocations as f64 / WAITERS as f64,
    }
}

/// Tokio's timeout needs a runtime when it is made.
fn timeout_size<M: Mutex>(mutex: &M) -> Option<usize> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().ok()?;
    let _entered = runtime.enter();
    Some(size_of_val(&mutex.lock_timeout(Duration::from_secs(1))))
}

fn rwlock<L: RwLock>(memory: &mut Memory) {
    let lock = L::new();
    memory.rwlock = Some(size_of::<L>() - L::DATA);
    memory.read_future = Some(size_of_val(&lock.read()));
    memory.write_future = Some(size_of_val(&lock.write()));
}

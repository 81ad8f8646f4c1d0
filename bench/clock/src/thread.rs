//! Measurements on one thread, without a runtime.

use core::hint::black_box;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::time::Instant;

use scenarios::at_once;
use scenarios::lock::{Mutex, RwLock};
use scenarios::waker::{Task, Woken};

/// Times `count` calls.
fn time(count: u64, mut operation: impl FnMut()) -> (Duration, u64) {
    let start = Instant::now();
    for _ in 0..count {
        operation();
    }
    (start.elapsed(), count)
}

/// Locks and unlocks a free mutex.
pub fn lock<M: Mutex>(count: u64) -> (Duration, u64) {
    let (mutex, cx) = (M::new(), &mut Context::from_waker(Waker::noop()));
    time(count, || drop(at_once(black_box(&mutex).lock(), cx)))
}

/// Locks a free read-write lock for reading, and unlocks it.
pub fn read<L: RwLock>(count: u64) -> (Duration, u64) {
    let (lock, cx) = (L::new(), &mut Context::from_waker(Waker::noop()));
    time(count, || drop(at_once(black_box(&lock).read(), cx)))
}

/// Locks a free read-write lock for writing, and unlocks it.
pub fn write<L: RwLock>(count: u64) -> (Duration, u64) {
    let (lock, cx) = (L::new(), &mut Context::from_waker(Waker::noop()));
    time(count, || drop(at_once(black_box(&lock).write(), cx)))
}

/// The floor of all mutexes: a bare atomic.
pub fn bare(count: u64) -> (Duration, u64) {
    let mutex = peers::BareMutex::default();
    time(count, || {
        let mutex = black_box(&mutex);
        assert!(mutex.try_lock() && mutex.unlock());
    })
}

/// The floor of all read locks.
pub fn bare_read(count: u64) -> (Duration, u64) {
    let lock = peers::BareRwLock::default();
    time(count, || {
        let lock = black_box(&lock);
        assert!(lock.try_read() && lock.unlock_read());
    })
}

/// The number of waiters in [`turn`].
pub const QUEUED: usize = 256;

/// The owner releases, the woken task is polled and becomes the owner, and a newcomer queues, with [`QUEUED`] waiters
/// all the time.
///
/// `None` for a lock that wakes no task, or wakes a task that then doesn't get the lock.
pub fn turn<M: Mutex>(count: u64) -> Option<(Duration, u64)> {
    let (mutex, woken): (&'static M, _) = (Box::leak(Box::new(M::new())), Woken::new());
    let tasks: Vec<&Task> = (0..QUEUED).map(|_| Task::with(woken)).collect();
    let wakers: Vec<Waker> = tasks.iter().map(|task| task.waker()).collect();
    let slot_of = |woken: *const Task| tasks.iter().position(|task| core::ptr::eq(*task, woken));
    let mut owner = at_once(mutex.lock(), &mut Context::from_waker(Waker::noop()));
    let mut queue: Vec<_> = wakers
        .iter()
        .map(|waker| {
            let mut waiter = Box::pin(mutex.lock());
            assert!(waiter.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
            waiter
        })
        .collect();
    let mut expected = 0;
    let mut seen = woken.count();
    let start = Instant::now();
    for _ in 0..count {
        drop(owner);
        let next = (seen < woken.count()).then(|| woken.at(seen))?;
        seen = woken.count();
        // In a FIFO lock this is the next task, which needs no search.
        let slot = if core::ptr::eq(tasks[expected], next) { expected } else { slot_of(next)? };
        expected = (slot + 1) % QUEUED;
        let cx = &mut Context::from_waker(&wakers[slot]);
        let Poll::Ready(guard) = queue[slot].as_mut().poll(cx) else { return None };
        owner = guard;
        queue[slot].as_mut().set(mutex.lock());
        if Pin::as_mut(&mut queue[slot]).poll(cx).is_ready() {
            return None;
        }
    }
    Some((start.elapsed(), count))
}

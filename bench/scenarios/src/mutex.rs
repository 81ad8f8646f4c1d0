//! The rows of a mutex.

use core::hint::black_box;
use core::task::{Context, Poll};
use core::time::Duration;

use crate::at_once;
use crate::count::{counted, row};
use crate::lock::Mutex;
use crate::slot::Slot;
use crate::waker::Task;

/// The lengths of the queue from which a waiter is dropped.
pub const QUEUE_LENGTHS: [usize; 3] = [1, 100, 10_000];

/// Counts every row of this mutex.
pub fn rows<M: Mutex>() {
    let waker = Task::new().waker();
    let cx = &mut Context::from_waker(&waker);
    let mutex: &'static M = black_box(Box::leak(Box::new(M::new())));
    free(mutex, cx);
    turn(mutex, cx);
    for length in QUEUE_LENGTHS {
        drop_queued(mutex, cx, length);
    }
}

fn free<M: Mutex>(mutex: &'static M, cx: &mut Context<'_>) {
    row("mutex/lock", || {
        let mutex = black_box(mutex);
        counted(|| drop(at_once(mutex.lock(), cx)));
    });
    row("mutex/try_lock", || {
        let mutex = black_box(mutex);
        counted(|| {
            let guard = mutex.try_lock();
            assert!(guard.is_some());
        });
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime can be made");
    let _entered = runtime.enter();
    row("mutex/lock_timeout", || {
        let (mutex, timeout) = (black_box(mutex), black_box(Duration::from_secs(60)));
        counted(|| {
            let guard = at_once(mutex.lock_timeout(timeout), cx);
            assert!(guard.is_ok());
        });
    });
}

/// The parts of a contended turn, with one owner and one waiter.
fn turn<M: Mutex>(mutex: &'static M, cx: &mut Context<'_>) {
    row("mutex/enqueue", || {
        let guard = at_once(mutex.lock(), cx);
        let mut waiter = black_box(Slot::new(mutex.lock()));
        let poll = counted(|| waiter.poll(cx));
        assert!(poll.is_pending());
        drop(poll);
        drop(waiter);
        drop(guard);
    });
    row("mutex/release", || {
        let guard = black_box(at_once(mutex.lock(), cx));
        let mut waiter = Slot::new(mutex.lock());
        assert!(waiter.poll(cx).is_pending());
        counted(|| drop(guard));
        assert!(waiter.poll(cx).is_ready());
    });
    row("mutex/claim", || {
        let guard = at_once(mutex.lock(), cx);
        let mut waiter = black_box(Slot::new(mutex.lock()));
        assert!(waiter.poll(cx).is_pending());
        drop(guard);
        let poll = counted(|| waiter.poll(cx));
        assert!(poll.is_ready());
    });
    row("mutex/repoll", || {
        let guard = at_once(mutex.lock(), cx);
        let mut waiter = black_box(Slot::new(mutex.lock()));
        assert!(waiter.poll(cx).is_pending());
        let poll = counted(|| waiter.poll(cx));
        assert!(matches!(poll, Poll::Pending));
        drop(poll);
        drop(waiter);
        drop(guard);
    });
}

/// A waiter in the middle of the queue leaves, and another one comes.
fn drop_queued<M: Mutex>(mutex: &'static M, cx: &mut Context<'_>, length: usize) {
    let guard = at_once(mutex.lock(), cx);
    let mut queue: Vec<_> = (0..length)
        .map(|_| {
            let mut waiter = Slot::new(mutex.lock());
            assert!(waiter.poll(cx).is_pending());
            waiter
        })
        .collect();
    let mut middle = length / 2;
    row(&format!("mutex/drop_queued_{length}"), || {
        let waiter = black_box(&mut queue[middle]);
        counted(|| waiter.drop_future());
        waiter.refill(mutex.lock());
        assert!(waiter.poll(cx).is_pending());
        middle = (middle + 1) % length;
    });
    // The newest waiters are dropped first, so that a lock whose cost depends on the place doesn't pay for it here.
    while queue.pop().is_some() {}
    drop(guard);
}

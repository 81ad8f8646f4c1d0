//! The rows of a read-write lock.

use core::hint::black_box;
use core::task::Context;

use crate::at_once;
use crate::count::{counted, row};
use crate::lock::RwLock;
use crate::slot::Slot;
use crate::waker::Task;

/// The number of readers that a leaving writer lets in.
pub const READERS: usize = 1_000;

/// The row of a writer that leaves, for all [`READERS`] together.
pub const READERS_ROW: &str = "rwlock/admit_1000";

/// Counts every row of this lock.
pub fn rows<L: RwLock>() {
    let task = Task::new();
    let waker = task.waker();
    let cx = &mut Context::from_waker(&waker);
    let lock: &'static L = black_box(Box::leak(Box::new(L::new())));
    free(lock, cx);
    reader_turn(lock, cx);
    writer_turn(lock, cx);
    admit(lock, task, cx);
}

fn free<L: RwLock>(lock: &'static L, cx: &mut Context<'_>) {
    row("rwlock/read", || {
        let lock = black_box(lock);
        counted(|| drop(at_once(lock.read(), cx)));
    });
    row("rwlock/write", || {
        let lock = black_box(lock);
        counted(|| drop(at_once(lock.write(), cx)));
    });
}

/// A writer holds the lock, and a reader waits.
fn reader_turn<L: RwLock>(lock: &'static L, cx: &mut Context<'_>) {
    row("rwlock/read_enqueue", || {
        let guard = at_once(lock.write(), cx);
        let mut waiter = black_box(Slot::new(lock.read()));
        let poll = counted(|| waiter.poll(cx));
        assert!(poll.is_pending());
        drop(poll);
        drop(waiter);
        drop(guard);
    });
    row("rwlock/read_release", || {
        let guard = black_box(at_once(lock.write(), cx));
        let mut waiter = Slot::new(lock.read());
        assert!(waiter.poll(cx).is_pending());
        counted(|| drop(guard));
        assert!(waiter.poll(cx).is_ready());
    });
    row("rwlock/read_claim", || {
        let guard = at_once(lock.write(), cx);
        let mut waiter = black_box(Slot::new(lock.read()));
        assert!(waiter.poll(cx).is_pending());
        drop(guard);
        let poll = counted(|| waiter.poll(cx));
        assert!(poll.is_ready());
    });
    row("rwlock/read_repoll", || {
        let guard = at_once(lock.write(), cx);
        let mut waiter = black_box(Slot::new(lock.read()));
        assert!(waiter.poll(cx).is_pending());
        let poll = counted(|| waiter.poll(cx));
        assert!(poll.is_pending());
        drop(poll);
        drop(waiter);
        drop(guard);
    });
    row("rwlock/read_drop_queued", || {
        let guard = at_once(lock.write(), cx);
        let mut waiter = black_box(Slot::new(lock.read()));
        assert!(waiter.poll(cx).is_pending());
        counted(|| waiter.drop_future());
        drop(guard);
    });
}

/// A reader holds the lock, and a writer waits.
fn writer_turn<L: RwLock>(lock: &'static L, cx: &mut Context<'_>) {
    row("rwlock/write_enqueue", || {
        let guard = at_once(lock.read(), cx);
        let mut waiter = black_box(Slot::new(lock.write()));
        let poll = counted(|| waiter.poll(cx));
        assert!(poll.is_pending());
        drop(poll);
        drop(waiter);
        drop(guard);
    });
    row("rwlock/write_release", || {
        let guard = black_box(at_once(lock.read(), cx));
        let mut waiter = Slot::new(lock.write());
        assert!(waiter.poll(cx).is_pending());
        counted(|| drop(guard));
        assert!(waiter.poll(cx).is_ready());
    });
    row("rwlock/write_claim", || {
        let guard = at_once(lock.read(), cx);
        let mut waiter = black_box(Slot::new(lock.write()));
        assert!(waiter.poll(cx).is_pending());
        drop(guard);
        let poll = counted(|| waiter.poll(cx));
        assert!(poll.is_ready());
    });
    row("rwlock/write_repoll", || {
        let guard = at_once(lock.read(), cx);
        let mut waiter = black_box(Slot::new(lock.write()));
        assert!(waiter.poll(cx).is_pending());
        let poll = counted(|| waiter.poll(cx));
        assert!(poll.is_pending());
        drop(poll);
        drop(waiter);
        drop(guard);
    });
    row("rwlock/write_drop_queued", || {
        let guard = at_once(lock.read(), cx);
        let mut waiter = black_box(Slot::new(lock.write()));
        assert!(waiter.poll(cx).is_pending());
        counted(|| waiter.drop_future());
        drop(guard);
    });
}

/// A writer leaves, and many readers enter. The row is left out if the release does not wake all readers itself.
fn admit<L: RwLock>(lock: &'static L, task: &Task, cx: &mut Context<'_>) {
    let mut each = |is_counted: bool| -> usize {
        let guard = black_box(at_once(lock.write(), cx));
        let mut readers: Vec<_> = (0..READERS)
            .map(|_| {
                let mut reader = Slot::new(lock.read());
                assert!(reader.poll(cx).is_pending());
                reader
            })
            .collect();
        let before = task.wakes();
        if is_counted {
            counted(|| drop(guard));
        } else {
            drop(guard);
        }
        let wakes = task.wakes() - before;
        let entered: Vec<_> = readers.iter_mut().map(|reader| reader.poll(cx)).collect();
        drop(readers);
        drop(entered);
        wakes
    };
    let wakes = each(false);
    if wakes == READERS {
        row(READERS_ROW, || assert_eq!(each(true), READERS));
    }
}

/// The numbers of granted readers of other tasks that have not claimed, while a writer scans for a grant of its own
/// task.
pub const UNCLAIMED: [usize; 3] = [10, 1_000, 100_000];

/// Counts the polls of a writer that waits while many granted readers have not claimed. This is the cost of the rescue
/// for a task that needs none. The first poll visits each grant, and the second visits none.
/// none. The first poll looks at each of them, the second at none.
pub fn looks<L: RwLock>() {
    let (task, others) = (Task::new(), Task::new());
    let (waker, other) = (task.waker(), others.waker());
    for unclaimed in UNCLAIMED {
        let lock: &'static L = black_box(Box::leak(Box::new(L::new())));
        let guard = at_once(lock.write(), &mut Context::from_waker(&other));
        let mut readers: Vec<_> = (0..unclaimed).map(|_| Slot::new(lock.read())).collect();
        let cx = &mut Context::from_waker(&other);
        readers.iter_mut().for_each(|reader| assert!(reader.poll(cx).is_pending()));
        drop(guard);
        let cx = &mut Context::from_waker(&waker);
        let before = task.wakes();
        row(&format!("rwlock/look_{unclaimed}"), || {
            let mut waiter = black_box(Slot::new(lock.write()));
            let poll = counted(|| waiter.poll(cx));
            assert!(poll.is_pending());
        });
        row(&format!("rwlock/look_again_{unclaimed}"), || {
            let mut waiter = black_box(Slot::new(lock.write()));
            assert!(waiter.poll(cx).is_pending());
            let poll = counted(|| waiter.poll(cx));
            assert!(poll.is_pending());
        });
        assert_eq!(task.wakes(), before, "a poll that finds nothing wakes no task");
    }
}

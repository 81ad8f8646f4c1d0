//! F21, and so K8: interrupts at every point that a mask allows. The raw lock runs a handler before or after one of its
//! sections or fast paths. A program runs once for each such point and each kind of handler.

use core::cell::RefCell;
use core::marker::PhantomData;
use core::task::Poll;
use fifolock_conformance::tools::{Slot, Task};
use fifolock_core::mutex::{LockOwned, OwnedMutexGuard};
use fifolock_core::platform::Platform;
use fifolock_core::raw::{CriticalSectionLock, LocalLock, RawLock, SpinLock, StdLock, Word};
use fifolock_core::rwlock::{OwnedRwLockWriteGuard, ReadOwned, WriteOwned};
use fifolock_core::{Mutex, RwLock};
use std::sync::Arc;

/// The work of a handler. A handler must not panic, since `with` of a raw lock must not unwind.
type Handler = Box<dyn FnOnce()>;

std::thread_local! {
    /// The number of points before the interrupt, and the handler that runs then.
    static PENDING: RefCell<Option<(usize, Handler)>> = const { RefCell::new(None) };
}

/// A point at which an interrupt may come. None comes while a handler runs.
fn point() {
    let due = PENDING.with_borrow_mut(|pending| match pending {
        Some((0, _)) => pending.take(),
        Some((left, _)) => {
            *left -= 1;
            None
        }
        None => None,
    });
    if let Some((_, handler)) = due {
        handler();
    }
}

/// Runs `program`, with the handler at the `nth` point. Returns whether the program has that many points.
fn interrupted(nth: usize, handler: impl FnOnce() + 'static, program: impl FnOnce()) -> bool {
    PENDING.set(Some((nth, Box::new(handler))));
    program();
    PENDING.take().is_none()
}

/// The raw lock `R`, which allows interrupts around its sections.
struct Open<R>(R);

// SAFETY: `R` does everything. A handler runs outside of the section, and does not panic.
unsafe impl<R: RawLock> RawLock for Open<R> {
    const INIT: Self = Self(R::INIT);

    const HAS_FAST_PATH: bool = R::HAS_FAST_PATH;

    fn with<T>(&self, f: impl FnOnce(&mut Word) -> T) -> T {
        point();
        let result = self.0.with(f);
        point();
        result
    }

    fn peek(&self) -> Option<Word> {
        let word = self.0.peek();
        point();
        word
    }

    fn try_acquire(&self, from: Word, to: Word) -> bool {
        point();
        let done = self.0.try_acquire(from, to);
        point();
        done
    }

    fn try_release(&self, from: Word, to: Word) -> bool {
        point();
        let done = self.0.try_release(from, to);
        point();
        done
    }
}

struct Interrupts<R>(PhantomData<R>);

impl<R: RawLock + 'static> Platform for Interrupts<R> {
    type Raw = Open<R>;
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    /// Makes one attempt, and releases the lock if the attempt succeeds.
    Try,
    /// Releases the guard of the program's task.
    Release,
    /// Drops a future in the middle of the queue.
    Cancel,
    /// Polls a new future once.
    Queue,
}

const ALL: [Does; 4] = [Does::Try, Does::Release, Does::Cancel, Does::Queue];

/// Runs every handler at every point. `program` returns whether it has that many points.
fn everywhere(program: impl Fn(Does, usize) -> bool) {
    for does in ALL {
        let mut points = 0;
        while program(does, points) {
            points += 1;
        }
        assert!(points > 3, "{does:?} ran at {points} points only");
    }
}

type LockTask<P> = Task<LockOwned<u8, P>>;

#[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
fn mutex_program<R: RawLock + 'static>(does: Does, nth: usize) -> bool {
    type P<R> = Interrupts<R>;
    let mutex = Arc::new(Mutex::<u8, P<R>>::new(0));
    let lock = || Arc::clone(&mutex).lock_owned();
    let held = Slot::<OwnedMutexGuard<u8, P<R>>>::new();
    held.put(Arc::clone(&mutex).try_lock_owned().expect("free"));
    let (mut first, middle, mut last) = (Task::queued(lock()), Slot::<LockTask<P<R>>>::new(), Task::queued(lock()));
    middle.put(Task::queued(lock()));
    let (late, got_in) = (Slot::<LockTask<P<R>>>::new(), Slot::<()>::new());
    let handler = {
        let (mutex, held, middle, late, got_in) =
            (Arc::clone(&mutex), held.clone(), middle.clone(), late.clone(), got_in.clone());
        move || match does {
            Does::Try => {
                if mutex.try_lock().is_ok() {
                    got_in.put(());
                }
            }
            Does::Release => drop(held.take()),
            Does::Cancel => drop(middle.take()),
            Does::Queue => {
                let mut task = Task::new(mutex.lock_owned());
                if task.poll().is_ready() {
                    got_in.put(());
                }
                late.put(task);
            }
        }
    };
    let mut newcomer = Task::new(lock());
    let came = interrupted(nth, handler, || {
        newcomer.pending();
        last.pending();
        drop(held.take());
        assert!(mutex.try_lock().is_err(), "{does:?} at {nth}: a newcomer gets past the queue");
        drop(first.ready());
    });
    assert!(got_in.take().is_none(), "{does:?} at {nth}: the handler gets past the queue");
    // The waiters have their turns in the order of their first polls. `late` is somewhere behind `last`.
    let mut rest = Vec::new();
    let middle = middle.take();
    assert_eq!(middle.is_none(), came && does == Does::Cancel);
    rest.push(last);
    rest.extend(middle);
    for mut task in rest {
        assert_eq!(task.wakes(), 1, "{does:?} at {nth}");
        drop(task.ready());
    }
    let mut tail: Vec<_> = late.take().into_iter().chain([newcomer]).collect();
    tail.sort_by_key(|task| task.wakes() == 0);
    for mut task in tail {
        assert_eq!(task.wakes(), 1, "{does:?} at {nth}");
        let Poll::Ready(guard) = task.poll() else { panic!("{does:?} at {nth}: a grant is lost") };
        drop(guard);
    }
    assert_eq!((mutex.is_locked(), mutex.queued()), (false, 0), "{does:?} at {nth}");
    came
}

type ReadTask<P> = Task<ReadOwned<u8, P>>;

#[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
fn rwlock_program<R: RawLock + 'static>(does: Does, nth: usize) -> bool {
    type P<R> = Interrupts<R>;
    let lock = Arc::new(RwLock::<u8, P<R>>::new(0));
    let read = || Arc::clone(&lock).read_owned();
    let held = Slot::<OwnedRwLockWriteGuard<u8, P<R>>>::new();
    held.put(Arc::clone(&lock).try_write_owned().expect("free"));
    let (mut first, middle, mut last) = (Task::queued(read()), Slot::<ReadTask<P<R>>>::new(), Task::queued(read()));
    middle.put(Task::queued(read()));
    let (late, got_in) = (Slot::<Task<WriteOwned<u8, P<R>>>>::new(), Slot::<()>::new());
    let handler = {
        let (lock, held, middle, late, got_in) =
            (Arc::clone(&lock), held.clone(), middle.clone(), late.clone(), got_in.clone());
        move || match does {
            Does::Try => {
                if lock.try_write().is_ok() {
                    got_in.put(());
                }
            }
            Does::Release => drop(held.take()),
            Does::Cancel => drop(middle.take()),
            Does::Queue => {
                let mut task = Task::new(lock.write_owned());
                if task.poll().is_ready() {
                    got_in.put(());
                }
                late.put(task);
            }
        }
    };
    let came = interrupted(nth, handler, || {
        drop(held.take());
        assert!(lock.try_write().is_err(), "{does:?} at {nth}: a writer beside readers");
        // The future was granted, or waits behind the handler's writer.
        drop(first.poll());
    });
    assert!(got_in.take().is_none(), "{does:?} at {nth}: the handler gets past the queue");
    let middle = middle.take();
    assert_eq!(middle.is_none(), came && does == Does::Cancel);
    let late = late.take();
    // A writer that queued before the release is served first; otherwise the readers are.
    let mut writer = late.into_iter().collect::<Vec<_>>();
    let writer_first = writer.first().is_some_and(|writer| writer.wakes() == 1);
    if writer_first {
        drop(writer.pop().expect("there is one").ready());
        drop(first.ready());
    }
    assert_eq!((first.wakes(), last.wakes()), (1, 1), "{does:?} at {nth}");
    drop(last.ready());
    if let Some(mut task) = middle {
        assert_eq!(task.wakes(), 1, "{does:?} at {nth}");
        drop(task.ready());
    }
    for mut writer in writer {
        assert_eq!(writer.wakes(), 1, "{does:?} at {nth}");
        drop(writer.ready());
    }
    let state = lock.state();
    let waiting = (state.waiting_readers, state.waiting_writers);
    assert_eq!((state.readers, state.writer, waiting), (0, false, (0, 0)), "{does:?} at {nth}");
    came
}

macro_rules! on {
    ($($module:ident: $raw:ident),+ $(,)?) => {
        $(
            mod $module {
                use super::*;

                #[test]
                fn k8_an_interrupt_at_every_point_of_a_mutex() {
                    everywhere(mutex_program::<$raw>);
                }

                #[test]
                fn k8_an_interrupt_at_every_point_of_a_rwlock() {
                    everywhere(rwlock_program::<$raw>);
                }
            }
        )+
    };
}

on! {
    critical_section: CriticalSectionLock,
    local: LocalLock,
    spin: SpinLock,
    std_lock: StdLock,
}

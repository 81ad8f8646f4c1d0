//! Polls whose sections have something between them: foreign code, or another thread.

extern crate std;

use crate::platform::{Platform, Std};
use crate::raw::{RawLock, Word};
use crate::rwlock::RwLockPolicy::{self, PhaseFair, TaskFair, WriterPreferring};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::future::Future;
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::panic::catch_unwind;
use std::sync::Mutex as StdMutex;
use std::sync::mpsc;
use std::thread;

/// A task: it counts its wakes, and each does this.
struct Task {
    wakes: AtomicUsize,
    at_wake: StdMutex<Option<AtWake>>,
}

type AtWake = Box<dyn FnMut() + Send>;

impl Task {
    fn new() -> Arc<Self> {
        Arc::new(Self { wakes: AtomicUsize::new(0), at_wake: StdMutex::new(None) })
    }

    fn that_does(at_wake: impl FnMut() + Send + 'static) -> Arc<Self> {
        let task = Self::new();
        *task.at_wake.lock().unwrap() = Some(Box::new(at_wake));
        task
    }

    fn wakes(&self) -> usize {
        self.wakes.load(Ordering::Relaxed)
    }

    fn waker(self: &Arc<Self>) -> Waker {
        let data = Arc::into_raw(Arc::clone(self)).cast();
        // SAFETY: the data is a share of an `Arc<Task>`, as the vtable's functions take it for; `Task` is Send and Sync.
        unsafe { Waker::new(data, &VTABLE) }
    }

    fn poll<F: Future + ?Sized>(self: &Arc<Self>, future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(&self.waker()))
    }

    #[track_caller]
    fn waits<F: Future + ?Sized>(self: &Arc<Self>, future: Pin<&mut F>) {
        assert!(self.poll(future).is_pending(), "it has nothing to wait for");
    }
}

// One vtable for all, so that two wakers are the same exactly if their task is. Those of `Waker::from` may have more.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_share);

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the vtable's contract: the waker's share is there.
    unsafe { Arc::increment_strong_count(data.cast::<Task>()) };
    RawWaker::new(data, &VTABLE)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the vtable's contract: this is the last use of the waker's share.
    let task = unsafe { Arc::from_raw(data.cast::<Task>()) };
    woken(&task);
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the vtable's contract: the waker's share is there, and outlives the call.
    woken(unsafe { &*data.cast::<Task>() });
}

unsafe fn drop_share(data: *const ()) {
    // SAFETY: the vtable's contract: this is the last use of the waker's share.
    unsafe { Arc::decrement_strong_count(data.cast::<Task>()) };
}

fn woken(task: &Task) {
    task.wakes.fetch_add(1, Ordering::Relaxed);
    let at_wake = task.at_wake.lock().unwrap().take();
    if let Some(mut at_wake) = at_wake {
        at_wake();
    }
}

/// A raw lock for one thread, which runs something after a section.
struct Hooked(Cell<Word>);

/// After how many sections, and what.
type Hook = (u32, Box<dyn FnOnce()>);

std::thread_local! {
    static AFTER: RefCell<Option<Hook>> = const { RefCell::new(None) };
}

// SAFETY: not Sync, and sections don't nest: the closure has ended when the hook runs.
unsafe impl RawLock for Hooked {
    const INIT: Self = Self(Cell::new(Word::INIT));

    fn with<R>(&self, f: impl FnOnce(&mut Word) -> R) -> R {
        let mut word = self.0.get();
        let result = f(&mut word);
        self.0.set(word);
        let hook = AFTER.take();
        match hook {
            Some((1, hook)) => hook(),
            Some((sections, hook)) => AFTER.set(Some((sections - 1, hook))),
            None => {}
        }
        result
    }
}

enum HookedPlatform {}

impl Platform for HookedPlatform {
    type Raw = Hooked;
}

/// The sections of a first poll: a short one, one that asks for a clone of the waker, one that queues and scans.
const FIRST_POLL: u32 = if cfg!(feature = "diagnostics") { 2 } else { 3 };

type RwLock = crate::RwLock<(), HookedPlatform>;
type Turn = Pin<Box<dyn Future<Output = ()>>>;

fn lock(policy: RwLockPolicy) -> Rc<RwLock> {
    Rc::new(RwLock::with_policy((), policy))
}

fn read(lock: &Rc<RwLock>) -> Turn {
    let lock = Rc::clone(lock);
    Box::pin(async move { drop(lock.read().await) })
}

fn write(lock: &Rc<RwLock>) -> Turn {
    let lock = Rc::clone(lock);
    Box::pin(async move { drop(lock.write().await) })
}

#[track_caller]
fn assert_free(lock: &RwLock) {
    drop(lock.try_write().expect("free"));
    let state = lock.state();
    assert_eq!((state.waiting_readers, state.waiting_upgradable, state.waiting_writers), (0, 0, 0));
}

/// A task has left a read unclaimed and waits to write, behind the writer of another task; it has been polled twice.
fn about_to_give_back(task: &Arc<Task>, other: &Arc<Task>) -> (Rc<RwLock>, Turn, Turn, Turn) {
    let lock = lock(WriterPreferring);
    let guard = lock.try_write().unwrap();
    let (mut victim, mut writer, mut thief) = (read(&lock), write(&lock), write(&lock));
    task.waits(victim.as_mut());
    drop(guard);
    other.waits(writer.as_mut());
    let before = task.wakes();
    for poll in 1..3 {
        task.waits(thief.as_mut());
        assert_eq!(task.wakes(), before + poll, "once more");
    }
    assert_eq!(other.wakes(), 0);
    (lock, victim, writer, thief)
}

/// The third poll gives the share back: another writer is granted, and woken, and the task once more.
#[test]
fn r1_a_theft_after_which_the_thief_waits_wakes_those_it_lets_in() {
    let (task, other) = (Task::new(), Task::new());
    let (lock, mut victim, mut writer, mut thief) = about_to_give_back(&task, &other);
    let before = task.wakes();
    task.waits(thief.as_mut());
    assert_eq!((other.wakes(), task.wakes()), (1, before + 1));
    assert!(other.poll(writer.as_mut()).is_ready());
    assert!(task.poll(thief.as_mut()).is_ready());
    assert!(task.poll(victim.as_mut()).is_ready());
    assert_free(&lock);
}

/// The panic of another task's waker comes to the poller, and does not keep the own task from its wake.
#[test]
fn r1_a_panic_of_a_waker_keeps_the_task_from_no_wake() {
    let (task, other) = (Task::new(), Task::that_does(|| panic!("a waker's own panic")));
    let (lock, mut victim, mut writer, mut thief) = about_to_give_back(&task, &other);
    let before = task.wakes();
    assert!(catch_unwind(AssertUnwindSafe(|| task.poll(thief.as_mut()))).is_err());
    assert_eq!((other.wakes(), task.wakes()), (1, before + 1), "the task sleeps for ever");
    assert!(other.poll(writer.as_mut()).is_ready());
    // A future that has panicked is done.
    drop(thief);
    assert!(task.poll(victim.as_mut()).is_ready());
    assert_free(&lock);
}

/// R7: those that enter with the thief are woken before its poll returns.
#[test]
fn r7_a_thief_that_owns_wakes_those_that_enter_with_it() {
    for policy in [WriterPreferring, PhaseFair] {
        let (task, other) = (Task::new(), Task::new());
        let lock = lock(policy);
        let guard = lock.try_write().unwrap();
        let (mut victim, mut bystander, mut thief) = (write(&lock), read(&lock), read(&lock));
        task.waits(victim.as_mut());
        drop(guard);
        other.waits(bystander.as_mut());
        (0..2).for_each(|_| task.waits(thief.as_mut()));
        assert_eq!(other.wakes(), 0);
        assert!(task.poll(thief.as_mut()).is_ready());
        assert_eq!(other.wakes(), 1, "{policy:?}");
        assert!(other.poll(bystander.as_mut()).is_ready());
        assert!(task.poll(victim.as_mut()).is_ready());
        assert_free(&lock);
    }
}

/// I7: all readers go between two sections of a scan, and a writer is granted: the poll takes its cursor along.
#[test]
fn r8_no_cursor_is_left_where_a_writer_was_granted() {
    let [task, readers, other] = [(); 3].map(|()| Task::new());
    let lock = lock(WriterPreferring);
    let guard = lock.try_write().unwrap();
    let mut granted: Vec<_> = (0..33).map(|_| read(&lock)).collect();
    granted.iter_mut().for_each(|turn| readers.waits(turn.as_mut()));
    drop(guard);
    let (mut writer, mut waits) = (write(&lock), read(&lock));
    other.waits(writer.as_mut());
    AFTER.set(Some((FIRST_POLL, Box::new(move || drop(granted)))));
    task.waits(waits.as_mut());
    assert!(AFTER.take().is_none() && other.wakes() == 1, "the writer was granted between the sections");
    assert_eq!(task.wakes(), 0);
    assert!(other.poll(writer.as_mut()).is_ready());
    assert!(task.poll(waits.as_mut()).is_ready());
    assert_free(&lock);
}

/// The grant comes between two sections of the waiter's own scan.
#[test]
fn r8_no_cursor_is_left_where_the_waiter_was_granted() {
    let [task, readers, other] = [(); 3].map(|()| Task::new());
    let lock = lock(WriterPreferring);
    let guard = lock.try_write().unwrap();
    let mut granted: Vec<_> = (0..33).map(|_| read(&lock)).collect();
    granted.iter_mut().for_each(|turn| readers.waits(turn.as_mut()));
    drop(guard);
    let (mut writer, mut waits) = (write(&lock), read(&lock));
    other.waits(writer.as_mut());
    AFTER.set(Some((FIRST_POLL, Box::new(move || drop(writer)))));
    assert!(task.poll(waits.as_mut()).is_ready());
    assert!(AFTER.take().is_none());
    drop(granted);
    assert_free(&lock);
}

/// P3: a thief that comes while a task-fair run is held open takes its share, and the run goes on.
#[test]
fn p3_a_thief_between_the_sections_of_a_run() {
    const RUN: usize = 40;
    let task = Task::new();
    let lock = Arc::new(crate::RwLock::<(), Std>::with_policy((), TaskFair));
    let guard = lock.try_write().unwrap();
    let (mut victim, mut writer) =
        (Box::pin(Arc::clone(&lock).read_owned()), Box::pin(Arc::clone(&lock).write_owned()));
    let mut thief = Box::pin(Arc::clone(&lock).upgradable_read_owned());
    task.waits(victim.as_mut());
    let (stole, is_stolen) = mpsc::channel();
    let poller = Arc::clone(&task);
    let [first, others] = [Task::new(), Task::new()];
    let mut run: Vec<_> = (1..RUN).map(|_| Box::pin(Arc::clone(&lock).read_owned())).collect();
    for (i, turn) in run.iter_mut().enumerate() {
        if i == 0 { &first } else { &others }.waits(turn.as_mut());
    }
    others.waits(writer.as_mut());
    task.waits(thief.as_mut());
    // The first that is woken beside the victim: the rest of the run is still to be marked.
    *first.at_wake.lock().unwrap() = Some(Box::new(move || {
        (0..2).for_each(|_| poller.waits(thief.as_mut()));
        let Poll::Ready(guard) = poller.poll(thief.as_mut()) else { panic!("it is due") };
        stole.send(guard).unwrap();
    }));
    drop(guard);
    let upgradable = is_stolen.recv().unwrap();
    assert_eq!((first.wakes(), others.wakes()), (1, RUN - 2), "the run goes on");
    assert_eq!((lock.state().readers, lock.state().upgradable), (RUN, true));
    drop((run, upgradable, victim, writer));
    drop(lock.try_write().expect("free"));
}

/// W4: two threads mark one batch. The one that has let the batch in returns while the other one still wakes its part.
#[test]
fn w4_two_threads_that_mark_one_batch() {
    const MAX: usize = 40;
    let lock = Arc::new(crate::RwLock::<(), Std>::with_max_readers((), MAX as u32));
    let guard = lock.try_write().unwrap();
    let tasks: Vec<_> = (0..=MAX).map(|_| Task::new()).collect();
    let mut readers: Vec<_> = (0..=MAX).map(|_| Box::pin(Arc::clone(&lock).read_owned())).collect();
    for (task, reader) in tasks.iter().zip(&mut readers) {
        task.waits(reader.as_mut());
    }
    let (go, may_go) = mpsc::channel();
    let (marked, is_marked) = mpsc::channel();
    let (returned, has_returned) = mpsc::channel();
    // The second of the batch is woken by the release: the first one gives its share up meanwhile, on another thread.
    *tasks[1].at_wake.lock().unwrap() = Some(Box::new(move || {
        go.send(()).unwrap();
        is_marked.recv().unwrap();
    }));
    // The first that the other thread wakes.
    *tasks[32].at_wake.lock().unwrap() = Some(Box::new(move || {
        marked.send(()).unwrap();
        has_returned.recv().unwrap();
    }));
    let first = readers.remove(0);
    let other = thread::spawn(move || {
        may_go.recv().unwrap();
        drop(first);
    });
    drop(guard);
    let woken = |tasks: &[Arc<Task>]| tasks.iter().map(|task| task.wakes()).sum::<usize>();
    assert_eq!((woken(&tasks[..33]), woken(&tasks[33..])), (33, 0), "the rest is the other thread's to wake");
    // All have their shares.
    assert_eq!(lock.state().readers, MAX);
    returned.send(()).unwrap();
    other.join().unwrap();
    assert_eq!(woken(&tasks), MAX + 1, "each is woken before the call returns that has marked it");
    drop(readers);
    drop(lock.try_write().expect("free"));
}

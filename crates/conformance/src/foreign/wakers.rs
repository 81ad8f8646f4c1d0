//! K1 and K2: which waker the lock wakes, and what a waker may do.

use super::kind::{Kind, assert_free, each_kind};
use crate::tools::subject::{Guard, Hidden, Subject};
use crate::tools::{Hooks, Platform, Slot, Task, assert_outside, counting_waker, hook, hooked_waker};
use core::cell::Cell;
use core::fmt;
use core::future::pending;
use core::marker::PhantomData;
use core::task::Poll;
use fifolock_core::mutex::{MutexGuard, OwnedMutexGuard};
use fifolock_core::rwlock::{RwLockReadGuard, RwLockWriteGuard};
use fifolock_core::{Mutex, RwLock};
use std::rc::Rc;
use std::sync::Arc;

pub(super) fn k1_the_newest_waker_is_the_one_woken<P: Platform>() {
    each_kind!(newest_waker::<P>);
}

fn newest_waker<P: Platform, K: Kind>() {
    let lock = K::subject::<P>();
    let blocker = K::block(&lock);
    let mut task = Task::queued(K::wait(&lock));
    let wakers: Vec<_> = (0..3).map(|_| counting_waker()).collect();
    for (i, (waker, count)) in wakers.iter().enumerate() {
        assert!(task.poll_with(waker).is_pending());
        assert!(task.poll_with(waker).is_pending());
        assert_eq!(count.alive(), 2, "the lock keeps one clone of the newest waker");
        assert_eq!(task.wakers_kept(), 0, "the lock drops a waker that it replaces");
        assert!(wakers[..i].iter().all(|(_, count)| count.alive() == 1), "the lock drops a waker that it replaces");
    }
    assert_eq!(lock.state().1, 1, "the waiter kept its place");
    drop(blocker);
    let wakes: Vec<_> = wakers.iter().map(|(_, count)| count.wakes()).collect();
    assert_eq!((task.wakes(), wakes), (0, vec![0, 0, 1]));
    assert_eq!(wakers[2].1.alive(), 1);
    drop(task.ready());
    assert_free::<P, K>(&lock);
}

pub(super) fn k1_a_waker_that_comes_back_is_woken<P: Platform>() {
    each_kind!(waker_comes_back::<P>);
}

fn waker_comes_back<P: Platform, K: Kind>() {
    let lock = K::subject::<P>();
    let blocker = K::block(&lock);
    let mut task = Task::queued(K::wait(&lock));
    let (other, other_count) = counting_waker();
    for _ in 0..3 {
        assert!(task.poll_with(&other).is_pending());
        task.pending();
    }
    assert_eq!((task.wakers_kept(), other_count.alive()), (1, 1));
    drop(blocker);
    assert_eq!((task.wakes(), other_count.wakes()), (1, 0));
    drop(task.ready());
    assert_free::<P, K>(&lock);
}

pub(super) fn k1_a_new_waker_keeps_the_place<P: Platform>() {
    each_kind!(new_waker_keeps_the_place::<P>);
}

fn new_waker_keeps_the_place<P: Platform, K: Kind>() {
    let lock = K::subject::<P>();
    let blocker = K::block(&lock);
    let mut first = Task::queued(K::wait(&lock));
    let mut second = Task::queued(K::wait(&lock));
    let order = Rc::new(Cell::new(Vec::new()));
    let tells = |name: &'static str| {
        let order = Rc::clone(&order);
        let on_wake = hook(move || {
            let mut woken = order.take();
            woken.push(name);
            order.set(woken);
        });
        hooked_waker(Hooks { on_wake, ..Hooks::default() }).0
    };
    // The polls come in reverse order, twice.
    for _ in 0..2 {
        assert!(second.poll_with(&tells("second")).is_pending());
        assert!(first.poll_with(&tells("first")).is_pending());
    }
    drop(blocker);
    drop(first.ready());
    drop(second.ready());
    assert_eq!(order.take(), ["first", "second"]);
    assert_free::<P, K>(&lock);
}

pub(super) fn k1_a_granted_waiter_may_be_claimed_with_any_waker<P: Platform>() {
    each_kind!(claimed_with_any_waker::<P>);
}

fn claimed_with_any_waker<P: Platform, K: Kind>() {
    let lock = K::subject::<P>();
    let blocker = K::block(&lock);
    let mut task = Task::queued(K::wait(&lock));
    drop(blocker);
    let (other, count) = counting_waker();
    assert!(task.poll_with(&other).is_ready());
    assert_eq!((count.wakes(), count.alive(), task.wakes()), (0, 1, 1));
    assert_free::<P, K>(&lock);
}

pub(super) fn h07_waker_replaced<P: Platform>() {
    each_kind!(waker_replaced::<P>);
}

fn waker_replaced<P: Platform, K: Kind>() {
    let lock = K::subject::<P>();
    let blocker = K::block(&lock);
    let mut b = Task::new(K::wait(&lock));
    let (first, first_count) = counting_waker();
    let (second, second_count) = counting_waker();
    assert!(b.poll_with(&first).is_pending());
    assert_eq!(first_count.alive(), 2);
    assert!(b.poll_with(&second).is_pending());
    assert_eq!(first_count.alive(), 1);
    drop(blocker);
    assert_eq!((first_count.wakes(), second_count.wakes()), (0, 1));
    assert!(b.poll_with(&first).is_ready());
    assert_free::<P, K>(&lock);
}

/// The moment at which the lock uses the hooked waker.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Site {
    /// The poll that queues the waiter clones the waker.
    FirstClone,
    /// A later poll clones the waker, to replace an older one.
    LaterClone,
    /// A release wakes the waiter.
    WokenByRelease,
    /// A waiter that is dropped passes its grant on, and the lock wakes this one.
    WokenByCancel,
    /// The waiter is dropped, and its waker with it.
    DroppedByCancel,
    /// A poll replaces the waker.
    DroppedByPoll,
    /// The waker is dropped after the lock has woken it.
    DroppedByWake,
}

const SITES: [Site; 7] = [
    Site::FirstClone,
    Site::LaterClone,
    Site::WokenByRelease,
    Site::WokenByCancel,
    Site::DroppedByCancel,
    Site::DroppedByPoll,
    Site::DroppedByWake,
];

/// What the hook does at that moment.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    /// Tries to take the lock, and releases it.
    Try,
    /// Polls new futures of both sides once, and drops them.
    PollFresh,
    /// Drops another queued future.
    DropQueued,
    /// Releases the guard that keeps all waiters waiting.
    Release,
    /// Claims the grant of the waker's own waiter, and releases it.
    Claim,
    /// Reads the state, and prints the lock.
    Look,
}

const ACTS: [Act; 6] = [Act::Try, Act::PollFresh, Act::DropQueued, Act::Release, Act::Claim, Act::Look];

struct Scene<P: Platform, K: Kind> {
    lock: Arc<Subject<P>>,
    blocker: Slot<Guard<'static>>,
    /// The task whose waker is hooked.
    me: Slot<Task<Hidden<'static>>>,
    /// Another waiter.
    other: Slot<Task<Hidden<'static>>>,
    acted: Rc<Cell<u32>>,
    kind: PhantomData<K>,
}

impl<P: Platform, K: Kind> Scene<P, K> {
    fn new() -> Self {
        let lock = K::subject::<P>();
        let blocker = Slot::new();
        blocker.put(K::block(&lock));
        Self { lock, blocker, me: Slot::new(), other: Slot::new(), acted: Rc::default(), kind: PhantomData }
    }

    fn act(&self, act: Act) {
        self.acted.set(self.acted.get() + 1);
        match act {
            Act::Try => drop(K::try_now(&self.lock)),
            Act::PollFresh => {
                drop(Task::new(K::wait(&self.lock)).poll());
                let _ = Task::new(K::rival(&self.lock)).poll();
            }
            Act::DropQueued => drop(self.other.take()),
            Act::Release => drop(self.blocker.take()),
            Act::Claim => {
                if let Some(mut me) = self.me.take() {
                    match me.poll() {
                        Poll::Ready(guard) => drop((me, guard)),
                        Poll::Pending => self.me.put(me),
                    }
                }
            }
            Act::Look => {
                assert!(!format!("{:?} {:?}", self.lock.state(), self.lock).is_empty());
            }
        }
    }

    fn hooks(&self, site: Site, act: Act) -> Hooks {
        let scene = Self {
            lock: Arc::clone(&self.lock),
            blocker: self.blocker.clone(),
            me: self.me.clone(),
            other: self.other.clone(),
            acted: Rc::clone(&self.acted),
            kind: PhantomData,
        };
        let hook = hook(move || scene.act(act));
        match site {
            Site::FirstClone | Site::LaterClone => Hooks { on_clone: hook, ..Hooks::default() },
            Site::WokenByRelease | Site::WokenByCancel => Hooks { on_wake: hook, ..Hooks::default() },
            _ => Hooks { on_drop: hook, ..Hooks::default() },
        }
    }

    fn queue_other(&self) {
        self.other.put(Task::queued(K::wait(&self.lock)));
    }

    /// Sets the scene, and makes the lock use the waker.
    fn play(&self, site: Site, act: Act) {
        let hooks = self.hooks(site, act);
        match site {
            Site::FirstClone => {
                self.queue_other();
                let mut me = Task::with_hooks(K::wait(&self.lock), hooks);
                if me.poll().is_pending() {
                    self.me.put(me);
                }
            }
            Site::LaterClone => {
                let mut me = Task::queued(K::wait(&self.lock));
                self.queue_other();
                let (waker, _) = hooked_waker(hooks);
                if me.poll_with(&waker).is_pending() {
                    self.me.put(me);
                }
            }
            Site::WokenByRelease | Site::DroppedByWake => {
                let mut me = Task::with_hooks(K::wait(&self.lock), hooks);
                me.pending();
                self.me.put(me);
                self.queue_other();
                drop(self.blocker.take());
            }
            Site::WokenByCancel => {
                let first = Task::queued(K::wait(&self.lock));
                let mut me = Task::with_hooks(K::wait(&self.lock), hooks);
                me.pending();
                self.me.put(me);
                self.queue_other();
                drop(self.blocker.take());
                drop(first);
            }
            Site::DroppedByCancel => {
                let mut me = Task::with_hooks(K::wait(&self.lock), hooks);
                me.pending();
                self.queue_other();
                me.cancel();
            }
            Site::DroppedByPoll => {
                let mut me = Task::with_hooks(K::wait(&self.lock), hooks);
                me.pending();
                self.queue_other();
                if me.poll_with(&counting_waker().0).is_pending() {
                    self.me.put(me);
                }
            }
        }
    }

    /// Lets every remaining waiter have its turn, which shows that none was forgotten.
    fn finish(self) {
        drop(self.blocker.take());
        let mut waiting: Vec<_> = self.me.take().into_iter().chain(self.other.take()).collect();
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain_mut(|task| task.poll().is_pending());
            assert!(waiting.len() < before, "the lock is lost");
        }
        assert_free::<P, K>(&self.lock);
        drop(Task::new(K::wait(&self.lock)).ready());
        assert_free::<P, K>(&self.lock);
    }
}

pub(super) fn k2_wakers_may_call_back<P: Platform>() {
    each_kind!(wakers_call_back::<P>);
}

fn wakers_call_back<P: Platform, K: Kind>() {
    for site in SITES {
        for act in ACTS {
            println!("{site:?} {act:?}");
            let scene = Scene::<P, K>::new();
            scene.play(site, act);
            assert!(scene.acted.get() > 0, "the waker was not used");
            scene.finish();
        }
    }
}

pub(super) fn h08_wakers_that_call_back<P: Platform>() {
    each_kind!(lock_inside_a_waker::<P>);
}

/// In `wake`, then in `drop`, the waker tries the lock, then polls a new future once and drops it.
fn lock_inside_a_waker<P: Platform, K: Kind>() {
    let acted = Rc::new(Cell::new(0));
    let reenter = |lock: &Arc<Subject<P>>| {
        let (lock, acted) = (Arc::clone(lock), Rc::clone(&acted));
        hook(move || {
            acted.set(acted.get() + 1);
            drop(K::try_now(&lock));
            drop(Task::new(K::wait(&lock)).poll());
        })
    };

    let lock = K::subject::<P>();
    let blocker = K::block(&lock);
    let mut b = Task::with_hooks(K::wait(&lock), Hooks { on_wake: reenter(&lock), ..Hooks::default() });
    b.pending();
    assert_eq!(acted.get(), 0);
    drop(blocker);
    assert_eq!((acted.get(), b.wakes()), (1, 1));
    drop(b.ready());
    assert_free::<P, K>(&lock);

    acted.set(0);
    let blocker = K::block(&lock);
    let mut b = Task::with_hooks(K::wait(&lock), Hooks { on_drop: reenter(&lock), ..Hooks::default() });
    b.pending();
    assert_eq!(acted.get(), 0);
    b.cancel();
    assert_eq!((acted.get(), lock.state()), (1, (1, 0)));
    drop(blocker);
    assert_free::<P, K>(&lock);
}

/// Data that uses its own lock in every callback.
struct Meddler {
    act: Slot<Box<dyn Fn()>>,
    dropped: Rc<Cell<u32>>,
}

impl Meddler {
    fn act(&self) {
        assert_outside();
        if let Some(act) = self.act.take() {
            act();
            self.act.put(act);
        }
    }
}

impl fmt::Debug for Meddler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.act();
        f.pad("Meddler")
    }
}

impl Drop for Meddler {
    fn drop(&mut self) {
        assert_outside();
        self.dropped.set(self.dropped.get() + 1);
    }
}

/// `Debug`, map closures, the bodies of `run_…` and the drop of the data each use the lock. Inside a section they would
/// hang.
pub(super) fn k2_closures_and_data_run_outside<P: Platform>() {
    let acted = Rc::new(Cell::new(0));
    let dropped = Rc::new(Cell::new(0));
    let meddler = || Meddler { act: Slot::new(), dropped: Rc::clone(&dropped) };

    let mutex = Arc::new(Mutex::<_, P>::new(meddler()));
    let meddle: Rc<dyn Fn()> = Rc::new({
        let (mutex, acted) = (Arc::downgrade(&mutex), Rc::clone(&acted));
        move || {
            let mutex = mutex.upgrade().expect("alive");
            assert_outside();
            assert!(mutex.try_lock().is_err());
            drop(Task::queued(mutex.lock()));
            acted.set(acted.get() + 1);
        }
    });
    let locked = || mutex.try_lock().expect("free");
    let owned = || Arc::clone(&mutex).try_lock_owned().expect("free");
    locked().act.put(Box::new({
        let meddle = Rc::clone(&meddle);
        move || meddle()
    }));
    assert_eq!(format!("{mutex:?}"), "Mutex { data: Meddler }");
    assert_eq!(format!("{:?}", locked()), "Meddler");
    drop(MutexGuard::map(locked(), |data| {
        meddle();
        data
    }));
    drop(OwnedMutexGuard::try_map(owned(), |_| {
        meddle();
        None::<&mut u8>
    }));
    Task::new(mutex.run_exclusive(async |data| data.act())).ready();
    let mut run = Task::new(mutex.run_exclusive(async |data| {
        data.act();
        pending::<()>().await;
    }));
    run.pending();
    run.cancel();
    assert_eq!((acted.get(), dropped.get()), (6, 0));
    // The last owner of the lock is a guard.
    let last = owned();
    drop(run);
    drop(mutex);
    drop(last);
    assert_eq!(dropped.get(), 1);

    acted.set(0);
    let lock = Arc::new(RwLock::<_, P>::new(meddler()));
    let meddle: Rc<dyn Fn()> = Rc::new({
        let (lock, acted) = (Arc::downgrade(&lock), Rc::clone(&acted));
        move || {
            let lock = lock.upgrade().expect("alive");
            assert_outside();
            assert!(lock.try_write().is_err());
            drop(Task::queued(lock.write()));
            drop(Task::new(lock.read()).poll());
            acted.set(acted.get() + 1);
        }
    });
    let reading = || lock.try_read().expect("free");
    let writing = || lock.try_write().expect("free");
    reading().act.put(Box::new({
        let meddle = Rc::clone(&meddle);
        move || meddle()
    }));
    assert_eq!(format!("{lock:?}"), "RwLock { data: Meddler }");
    drop(RwLockReadGuard::map(reading(), |data| {
        meddle();
        data
    }));
    drop(RwLockWriteGuard::map(writing(), |data| {
        meddle();
        data
    }));
    drop(RwLockWriteGuard::downgrade_map(writing(), |data| {
        meddle();
        data
    }));
    drop(RwLockWriteGuard::try_downgrade_map(writing(), |data| {
        meddle();
        Some(data)
    }));
    Task::new(lock.run_shared(async |data| data.act())).ready();
    Task::new(lock.run_exclusive(async |data| data.act())).ready();
    assert_eq!((acted.get(), dropped.get()), (7, 1));
    let last = Arc::clone(&lock).try_read_owned().expect("free");
    drop(lock);
    drop(last);
    assert_eq!(dropped.get(), 2);
}

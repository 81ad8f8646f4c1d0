//! Other tasks, and foreign code (R10, with K2 and K3).

use super::fixture::{Actor, Form, Guard, Hidden, Op, POLICIES, SUSPICIONS, Subject, each_policy, each_serial};
use crate::tools::{Hooks, Platform, Slot, Task, hook, panics};
use core::task::Poll;
use fifolock_core::rwlock::RwLockPolicy::TaskFair;
use fifolock_core::rwlock::RwLockUpgradableReadGuard;
use fifolock_core::{Mutex, RwLock};
use std::rc::Rc;
use std::sync::Arc;

/// Polls of each waiter, more than a theft needs.
const ROUNDS: usize = if cfg!(miri) { SUSPICIONS + 2 } else { 20 };

pub(super) fn r10_other_tasks_are_never_robbed<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let tasks = Actor::many(4);
        let held = subject.hold(op);
        let mut all: Vec<_> = tasks.iter().map(|task| task.queue(subject.op(op))).collect();
        drop(held);
        assert_eq!(tasks[0].woken(), 1);
        for _ in 0..ROUNDS {
            for (task, waits) in tasks.iter().zip(&mut all).skip(1) {
                task.pending(waits);
                assert_eq!(task.woken(), 0);
            }
            let newcomer = Actor::new();
            let mut late = subject.op(op);
            for _ in 0..3 {
                newcomer.pending(&mut late);
            }
            assert_eq!(newcomer.woken(), 0);
        }
        drop(tasks[0].ready(&mut all[0]));
        for (task, waits) in tasks.iter().zip(&mut all).skip(1) {
            drop(task.served(waits));
        }
    });
    each_policy::<P>(|subject, _| {
        // Both waiters may be of any kind.
        for granted in [Op::Read, Op::Upgradable, Op::Write] {
            let (one, other) = (Actor::new(), Actor::new());
            let held = subject.hold(Op::Write);
            let mut first = one.queue(subject.op(granted));
            drop(held);
            let mut writing = subject.op(Op::Write);
            let mut rest = [Op::Read, Op::Upgradable].map(|op| subject.op(op));
            for _ in 0..ROUNDS {
                other.pending(&mut writing);
                for waits in &mut rest {
                    other.pending(waits);
                }
                assert_eq!(other.woken(), 0);
            }
            drop(one.served(&mut first));
            drop((first, writing, rest));
            subject.assert_over();
        }
    });
}

/// An upgrade holds a share, as a guard does. The rescue takes no guard away from a task that waits for itself.
pub(super) fn r10_a_granted_upgrade_is_passed_by_reads_only<P: Platform>() {
    each_policy::<P>(|subject, _| {
        let (task, other) = (Actor::new(), Actor::new());
        let lock: &RwLock<u32, P> = &subject.rwlock;
        let reading = lock.try_read().expect("free");
        let upgradable = lock.try_upgradable_read().expect("free");
        let mut upgrade = Box::pin(RwLockUpgradableReadGuard::upgrade(upgradable));
        task.pending(&mut upgrade);
        let mut writing = other.queue(subject.op(Op::Write));
        drop(reading);
        assert_eq!(task.woken(), 1);
        assert!(lock.state().writer);
        for op in [Op::Write, Op::Upgradable] {
            let mut waits = subject.op(op);
            let (_, guard) = task.drive(&mut waits);
            assert!(guard.is_none() && lock.state().writer);
        }
        let mut read = subject.op(Op::Read);
        let guard = task.rescue(&mut read);
        let state = lock.state();
        assert_eq!((state.readers, state.upgradable, state.writer), (2, true, false));
        assert_eq!((state.waiting_readers, state.waiting_writers), (0, 2));
        task.pending(&mut upgrade);
        drop(guard);
        assert_eq!((task.woken(), other.woken()), (1, 0), "the read enters before the writer that waits");
        let written = task.ready(&mut upgrade);
        drop(written);
        drop(other.served(&mut writing));
        drop((read, writing));
    });
}

/// On a `Watched` platform a test fails if a waker is cloned, woken or dropped inside a section: [`hooked_waker`]
/// asserts this. The test takes every way through the rescue.
///
/// [`hooked_waker`]: crate::tools::hooked_waker
pub(super) fn r10_no_foreign_code_inside_a_section<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let task = Actor::new();
        let held = subject.hold(op);
        let _first = task.queue(subject.op(op));
        drop(held);
        let mut thief = subject.op(op);
        // The waiter is polled with another waker. The lock clones that waker, and drops the old one.
        let stranger = Actor::new();
        stranger.pending(&mut thief);
        let polls = (1..100).find(|_| task.poll(&mut thief).is_ready());
        assert_eq!(polls, Some(SUSPICIONS + 1), "{op:?} {:?}", subject.inside());
        assert_eq!(stranger.kept(), 0);
    });
    for policy in POLICIES {
        for (robbed, thief) in
            [(Op::Read, Op::Write), (Op::Upgradable, Op::Write), (Op::Write, Op::Read), (Op::Write, Op::Upgradable)]
        {
            let subject = Subject::<P>::new(policy, 10, Form::Owned);
            let (task, stranger) = (Actor::new(), Actor::new());
            let held = subject.hold(Op::Write);
            let first = task.queue(subject.op(robbed));
            drop(held);
            let mut second = subject.op(thief);
            stranger.pending(&mut second);
            let mut polls = 0;
            let guard = loop {
                if let Poll::Ready(guard) = task.poll(&mut second) {
                    break guard;
                }
                polls += 1;
                assert!(polls <= SUSPICIONS + 2);
            };
            assert_eq!((task.kept(), stranger.kept()), (1, 0), "{thief:?} robs {robbed:?}");
            drop((guard, first, second));
            assert_eq!(task.kept(), 0);
            subject.assert_over();
        }
    }
}

/// Each hook of the waker uses the lock that calls it.
pub(super) fn r10_wakers_that_lock_the_same_lock<P: Platform>() {
    let mutex = Rc::new(Mutex::<u32, P>::new(0));
    let back = {
        let mutex = Rc::clone(&mutex);
        move || {
            let mutex = Rc::clone(&mutex);
            hook(move || {
                drop(mutex.try_lock());
                let mut fresh = Task::new(mutex.lock());
                drop(fresh.poll());
            })
        }
    };
    let task = Actor::with_hooks(Hooks { on_clone: back(), on_wake: back(), on_drop: back() });
    let held = mutex.try_lock().expect("free");
    let mut first = Box::pin(mutex.lock());
    task.pending(&mut first);
    drop(held);
    let mut second = Box::pin(mutex.lock());
    let (_, guard) = task.drive(&mut second);
    assert!(guard.is_some());
    drop(guard);
    drop(task.ready(&mut first));
    drop((first, second));
    assert_eq!((mutex.is_locked(), mutex.queued()), (false, 0));

    for policy in POLICIES {
        let ops = [Op::Read, Op::Upgradable, Op::Write];
        for (robbed, thief) in ops.into_iter().flat_map(|one| ops.map(|other| (one, other))) {
            let subject = Rc::new(Subject::<P>::new(policy, 1, Form::Borrowed));
            let back = || {
                let subject = Rc::clone(&subject);
                hook(move || {
                    for op in [Op::Read, Op::Upgradable, Op::Write] {
                        subject.try_op(op);
                        let mut fresh = Task::new(subject.op(op));
                        drop(fresh.poll());
                    }
                })
            };
            let task = Actor::with_hooks(Hooks { on_clone: back(), on_wake: back(), on_drop: back() });
            let held = subject.hold(Op::Write);
            let mut first = subject.op(robbed);
            task.pending(&mut first);
            drop(held);
            let mut second = subject.op(thief);
            let (_, guard) = task.drive(&mut second);
            assert!(guard.is_some(), "{thief:?} robs {robbed:?} under {policy:?}");
            drop(guard);
            drop(task.ready(&mut first));
            drop((first, second));
            assert_eq!((subject.inside(), subject.waiting()), (0, 0));
        }
    }
}

/// Makes a hook that panics once it is armed.
fn armed() -> (Slot<()>, impl Fn() -> Option<crate::tools::Hook>) {
    let arm = Slot::new();
    let hooked = {
        let arm = arm.clone();
        move || {
            let arm = arm.clone();
            hook(move || {
                if arm.take().is_some() {
                    panic!("a waker panics");
                }
            })
        }
    };
    (arm, hooked)
}

/// After any panic the lock is free or has an owner, and all waiters have their turn.
#[track_caller]
fn after_the_panic<P: Platform>(subject: &Subject<P>, task: &Actor, waiting: Vec<Hidden<'_>>) {
    let mut waiting = waiting;
    for _ in 0..2 * waiting.len() + 2 {
        waiting.retain_mut(|waits| task.poll(waits).is_pending());
    }
    assert!(waiting.is_empty(), "waiters are left without a wake: {} inside", subject.inside());
    subject.assert_over();
    assert_eq!(task.kept(), 0);
}

pub(super) fn r10_a_waker_whose_wake_panics_keeps_the_rest<P: Platform>() {
    // The wake by a poll that suspects panics.
    each_serial::<P>(|subject, op| {
        let (arm, hooked) = armed();
        let task = Actor::with_hooks(Hooks { on_wake: hooked(), ..Hooks::default() });
        let held = subject.hold(op);
        let first = task.queue(subject.op(op));
        drop(held);
        let mut second = subject.op(op);
        arm.put(());
        assert_eq!(panics(|| task.poll(&mut second).is_ready()), "a waker panics");
        assert_eq!((subject.inside(), subject.waiting()), (1, 1));
        after_the_panic(subject, &task, vec![second, first]);
    });
    // The wake of a reader that a theft lets in panics. The reader stands next to the thief, in the policy's one queue.
    for form in [Form::Borrowed, Form::Owned] {
        let subject = &Subject::<P>::new(TaskFair, 10, form);
        let (arm, hooked) = armed();
        let task = Actor::new();
        let [bomb, other] = [Actor::with_hooks(Hooks { on_wake: hooked(), ..Hooks::default() }), Actor::new()];
        let held = subject.hold(Op::Write);
        let first = task.queue(subject.op(Op::Write));
        let mut second = task.queue(subject.op(Op::Read));
        let mut beside = [bomb.queue(subject.op(Op::Read)), other.queue(subject.op(Op::Read))];
        drop(held);
        arm.put(());
        // The thief had its share already, and gave the share back during the panic.
        task.suspect_only(&mut second);
        assert_eq!(panics(|| task.poll(&mut second).is_ready()), "a waker panics");
        assert_eq!(other.woken(), 1, "all others are woken first");
        assert_eq!((subject.inside(), subject.waiting()), (2, 1));
        let [one, two] = &mut beside;
        drop((bomb.ready(one), other.ready(two)));
        drop((beside, second));
        after_the_panic(subject, &task, vec![first]);
    }
    // A write gives a share back, which grants another writer. The waker of that writer panics.
    each_policy::<P>(|subject, _| {
        let (arm, hooked) = armed();
        let task = Actor::new();
        let bomb = Actor::with_hooks(Hooks { on_wake: hooked(), ..Hooks::default() });
        let held = subject.hold(Op::Write);
        let first = task.queue(subject.op(Op::Read));
        drop(held);
        let mut earlier = bomb.queue(subject.op(Op::Write));
        let mut second = subject.op(Op::Write);
        task.suspect_only(&mut second);
        arm.put(());
        assert_eq!(panics(|| task.poll(&mut second).is_ready()), "a waker panics");
        assert_eq!((subject.inside(), subject.waiting()), (1, 2), "granted all the same");
        drop(bomb.ready(&mut earlier));
        drop(earlier);
        after_the_panic(subject, &task, vec![second, first]);
    });
    // A write gives a share back, which grants the write itself. The waker of the write panics.
    each_policy::<P>(|subject, _| {
        let (arm, hooked) = armed();
        let task = Actor::with_hooks(Hooks { on_wake: hooked(), ..Hooks::default() });
        let held = subject.hold(Op::Write);
        let first = task.queue(subject.op(Op::Read));
        drop(held);
        let mut second = subject.op(Op::Write);
        task.suspect_only(&mut second);
        arm.put(());
        let ended = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| task.poll(&mut second).is_ready()));
        let _ = arm.take();
        match ended {
            // The poll did not wake its own task. Or it did, and the unwinding passed the lock on.
            Ok(ready) => assert!(ready),
            Err(_) => assert!(!subject.rwlock.state().writer),
        }
        drop(second);
        after_the_panic(subject, &task, vec![first]);
    });
}

pub(super) fn r10_a_waker_whose_drop_panics_keeps_the_rest<P: Platform>() {
    // A thief is polled with another waker, and the drop of its old one panics.
    each_serial::<P>(|subject, op| {
        let (arm, hooked) = armed();
        let task = Actor::new();
        let old = Actor::with_hooks(Hooks { on_drop: hooked(), ..Hooks::default() });
        let held = subject.hold(op);
        let first = task.queue(subject.op(op));
        drop(held);
        let mut second = subject.op(op);
        old.pending(&mut second);
        arm.put(());
        assert_eq!(panics(|| task.poll(&mut second).is_ready()), "a waker panics");
        assert_eq!((subject.inside(), subject.waiting()), (1, 1));
        after_the_panic(subject, &task, vec![second, first]);
    });
    // The victim is dropped, and with it the waker that the theft left to it.
    each_serial::<P>(|subject, op| {
        let (arm, hooked) = armed();
        let task = Actor::with_hooks(Hooks { on_drop: hooked(), ..Hooks::default() });
        let other = Actor::new();
        let held = subject.hold(op);
        let first = task.queue(subject.op(op));
        drop(held);
        task.woken();
        let mut second = subject.op(op);
        let guard = task.rescue(&mut second);
        let mut behind = other.queue(subject.op(op));
        arm.put(());
        assert_eq!(panics(|| drop(first)), "a waker panics");
        assert_eq!((subject.inside(), subject.waiting()), (1, 1));
        drop(guard);
        drop(other.served(&mut behind));
    });
    // The clone of the spare waker drops the granted future, so the theft finds no grant and does not need the spare
    // waker.
    each_policy::<P>(|subject, _| {
        let (arm, hooked) = armed();
        let robbed = Slot::<Task<Hidden<'static>>>::new();
        let on_clone = {
            let robbed = robbed.clone();
            hook(move || drop(robbed.take()))
        };
        let task = Actor::with_hooks(Hooks { on_clone, on_drop: hooked(), ..Hooks::default() });
        let lock = Arc::clone(&subject.rwlock);
        let held = subject.hold(Op::Write);
        let first: Hidden<'static> = {
            let mut read = Box::pin(lock.read_owned());
            Box::pin(core::future::poll_fn(move |cx| {
                read.as_mut().poll(cx).map(|guard| Box::new(guard) as Guard<'static>)
            }))
        };
        let first = task.queue(first);
        drop(held);
        let mut second = subject.op(Op::Write);
        task.suspect_only(&mut second);
        robbed.put(Task::new(first));
        arm.put(());
        let ended = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| task.poll(&mut second).is_ready()));
        let _ = arm.take();
        drop(robbed.take());
        drop((ended.is_ok(), second));
        subject.assert_over();
        assert_eq!(task.kept(), 0);
    });
}

pub(super) fn r10_a_waker_whose_clone_panics_keeps_the_rest<P: Platform>() {
    each_policy::<P>(|subject, _| {
        let (arm, hooked) = armed();
        let task = Actor::with_hooks(Hooks { on_clone: hooked(), ..Hooks::default() });
        let held = subject.hold(Op::Write);
        let first = task.queue(subject.op(Op::Read));
        drop(held);
        let mut second = subject.op(Op::Write);
        task.suspect_only(&mut second);
        arm.put(());
        // The clone is the spare waker, with which the victim waits.
        if std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| task.poll(&mut second).is_ready())).is_err() {
            assert_eq!((subject.inside(), subject.waiting()), (1, 1), "nothing was stolen");
        }
        let _ = arm.take();
        after_the_panic(subject, &task, vec![second, first]);
    });
    // The first poll of a newcomer clones.
    each_serial::<P>(|subject, op| {
        let (arm, hooked) = armed();
        let task = Actor::with_hooks(Hooks { on_clone: hooked(), ..Hooks::default() });
        let held = subject.hold(op);
        let first = task.queue(subject.op(op));
        drop(held);
        let mut second = subject.op(op);
        arm.put(());
        assert_eq!(panics(|| task.poll(&mut second).is_ready()), "a waker panics");
        assert_eq!((subject.inside(), subject.waiting()), (1, 0));
        after_the_panic(subject, &task, vec![second, first]);
    });
}

impl Actor {
    /// The polls that suspect the task, where it does not matter which task was woken.
    fn suspect_only<F: Future + ?Sized>(&self, future: &mut crate::tools::Boxed<F>) {
        for _ in 0..SUSPICIONS {
            match self.poll(future) {
                Poll::Pending => {}
                Poll::Ready(_) => panic!("expected Pending, found Ready"),
            }
        }
        self.woken();
    }
}

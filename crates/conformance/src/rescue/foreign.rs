//! Other tasks, and foreign code (R10 with K2 and K3).

use super::fixture::{Actor, Form, Guard, Hidden, Op, POLICIES, SUSPICIONS, Subject, each_policy, each_serial};
use crate::tools::{Hooks, Platform, Slot, Task, hook, panics};
use core::task::Poll;
use fifolock_core::rwlock::RwLockPolicy::TaskFair;
use fifolock_core::rwlock::RwLockUpgradableReadGuard;
use fifolock_core::{Mutex, RwLock};
use std::rc::Rc;
use std::sync::Arc;

/// Polls of each waiter: more than a theft takes.
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
        drop(all);
        subject.assert_over();
    });
    each_policy::<P>(|subject, _| {
        // Of whatever kind both are.
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

/// It holds a share, as a guard does: that a task holds a guard and waits for itself is not the rescue's affair.
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
        assert_eq!((task.woken(), other.woken()), (1, 0), "before the writer that waits");
        let written = task.ready(&mut upgrade);
        drop(written);
        drop(other.served(&mut writing));
        drop((read, writing));
        drop(upgrade);
        subject.assert_over();
    });
}

/// `Watched` platforms fail when a waker's clone, wake or drop runs inside a section: [`hooked_waker`] asserts it. Here is
/// every way through the rescue.
///
/// [`hooked_waker`]: crate::tools::hooked_waker
pub(super) fn r10_no_foreign_code_inside_a_section<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let task = Actor::new();
        let held = subject.hold(op);
        let first = task.queue(subject.op(op));
        drop(held);
        let mut robber = subject.op(op);
        // The waiter comes with another waker, whose clone is made and the old one dropped on the way.
        let stranger = Actor::new();
        stranger.pending(&mut robber);
        let polls = (1..100).find(|_| task.poll(&mut robber).is_ready());
        assert_eq!(polls, Some(SUSPICIONS + 1), "{op:?} {:?}", subject.inside());
        assert_eq!(stranger.kept(), 0);
        drop((first, robber));
        subject.assert_over();
    });
    for policy in POLICIES {
        for (robbed, robber) in
            [(Op::Read, Op::Write), (Op::Upgradable, Op::Write), (Op::Write, Op::Read), (Op::Write, Op::Upgradable)]
        {
            let subject = Subject::<P>::new(policy, 10, Form::Owned);
            let (task, stranger) = (Actor::new(), Actor::new());
            let held = subject.hold(Op::Write);
            let first = task.queue(subject.op(robbed));
            drop(held);
            let mut second = subject.op(robber);
            stranger.pending(&mut second);
            let mut polls = 0;
            let guard = loop {
                if let Poll::Ready(guard) = task.poll(&mut second) {
                    break guard;
                }
                polls += 1;
                assert!(polls <= SUSPICIONS + 2);
            };
            assert_eq!((task.kept(), stranger.kept()), (1, 0), "{robber:?} robs {robbed:?}");
            drop((guard, first, second));
            assert_eq!(task.kept(), 0);
            subject.assert_over();
        }
    }
}

/// Whatever a waker does, it comes back to the same lock.
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
        for (robbed, robber) in ops.into_iter().flat_map(|one| ops.map(|other| (one, other))) {
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
            let mut second = subject.op(robber);
            let (_, guard) = task.drive(&mut second);
            assert!(guard.is_some(), "{robber:?} robs {robbed:?} under {policy:?}");
            drop(guard);
            drop(task.ready(&mut first));
            drop((first, second));
            assert_eq!((subject.inside(), subject.waiting()), (0, 0));
        }
    }
}

/// A waker that panics once it is told to.
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

/// Whatever panics, somebody owns the lock or it is free; and all who wait have their turn.
#[track_caller]
fn after_the_panic<P: Platform>(subject: &Subject<P>, task: &Actor, waiting: Vec<Hidden<'_>>) {
    let mut waiting = waiting;
    for _ in 0..2 * waiting.len() + 2 {
        waiting.retain_mut(|waits| task.poll(waits).is_pending());
    }
    assert!(waiting.is_empty(), "somebody waits for ever: {} inside", subject.inside());
    subject.assert_over();
    assert_eq!(task.kept(), 0);
}

pub(super) fn r10_a_waker_whose_wake_panics_keeps_the_rest<P: Platform>() {
    // The wake of the note.
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
    // The wakes of those that a rescue lets in: readers next to the robber, where they stand in one queue.
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
        // The robber had its share already, and gave it back with the panic.
        task.suspect_only(&mut second);
        assert_eq!(panics(|| task.poll(&mut second).is_ready()), "a waker panics");
        assert_eq!(other.woken(), 1, "all others are woken first");
        assert_eq!((subject.inside(), subject.waiting()), (2, 1));
        let [one, two] = &mut beside;
        drop((bomb.ready(one), other.ready(two)));
        drop((beside, second));
        after_the_panic(subject, &task, vec![first]);
    }
    // A write gives a share back, by which another writer is granted: its waker panics.
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
    // A write gives a share back, by which it is granted itself: its own waker panics.
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
            // It was not woken, or it was and the lock was passed on.
            Ok(ready) => assert!(ready),
            Err(_) => assert!(!subject.rwlock.state().writer),
        }
        drop(second);
        after_the_panic(subject, &task, vec![first]);
    });
}

pub(super) fn r10_a_waker_whose_drop_panics_keeps_the_rest<P: Platform>() {
    // The old waker of a robber that comes with another one.
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
    // The robbed one leaves: the waker that it was given is dropped.
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
        drop((second, behind));
        subject.assert_over();
    });
    // The spare one that turned out not to be needed: the grant is gone by the time it was made.
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
        // The spare waker, with which the robbed one waits.
        if std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| task.poll(&mut second).is_ready())).is_err() {
            assert_eq!((subject.inside(), subject.waiting()), (1, 1), "nothing was robbed");
        }
        let _ = arm.take();
        after_the_panic(subject, &task, vec![second, first]);
    });
    // The first poll of a newcomer.
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
    /// The polls that note an unclaimed grant, where it does not matter who was woken.
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

//! M1 to M6, M9 and M10 for every lock that lets in one guard at a time, and so a part of W8. These locks are the mutex
//! and, under each policy, writes, upgradable reads, and reads where there is room for one reader.

use crate::tools::subject::{Guard, Hidden, Op, Subject, each_serial};
use crate::tools::{Hooks, Platform, Slot, Task, counting_waker, hook, panics};

type Waiter<'a> = Task<Hidden<'a>>;

/// Queues `count` waiters.
fn queued<P: Platform>(subject: &Subject<P>, op: Op, count: usize) -> Vec<Waiter<'_>> {
    (0..count).map(|_| Task::queued(subject.op(op))).collect()
}

fn wakes(tasks: &[Waiter<'_>]) -> Vec<usize> {
    tasks.iter().map(Task::wakes).collect()
}

/// Releases, and lets each granted task release in turn; returns the tasks in the order of their grants. At each turn
/// exactly one task is woken, and only that task is ready.
#[track_caller]
fn serve(guard: Guard<'_>, tasks: &mut [Option<Waiter<'_>>]) -> Vec<usize> {
    let mut winners = Vec::new();
    drop(guard);
    loop {
        let woken: Vec<usize> =
            (0..tasks.len()).filter(|&i| tasks[i].as_ref().is_some_and(|t| t.wakes() > 0)).collect();
        let [winner] = woken[..] else {
            assert!(woken.is_empty(), "several were woken: {woken:?}");
            return winners;
        };
        let mut task = tasks[winner].take().expect("woken");
        tasks.iter_mut().flatten().for_each(Task::pending);
        assert_eq!(task.wakes(), 1, "one release, one wake");
        winners.push(winner);
        drop(task.ready());
    }
}

/// All permutations of `0..n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let Some(last) = n.checked_sub(1) else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for order in orders(last) {
        for at in 0..n {
            let mut order = order.clone();
            order.insert(at, last);
            all.push(order);
        }
    }
    all
}

pub(super) fn m1_a_free_mutex_is_locked_by_the_first_poll<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let guard = Task::new(subject.op(op)).ready();
        assert_eq!(subject.state(), (1, 0));
        drop(guard);
        let guard = subject.attempt(op).expect("free");
        assert_eq!((subject.state(), subject.try_op(op)), ((1, 0), false));
        drop(guard);
    });
}

pub(super) fn m1_a_free_mutex_needs_no_waker<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let untouched = || Hooks { on_clone: hook(|| panic!("the waker is cloned")), ..Hooks::default() };
        drop(Task::with_hooks(subject.op(op), untouched()).ready());
        Task::with_hooks(subject.mutex.run_exclusive(async |_| ()), untouched()).ready();
    });
}

pub(super) fn m2_the_order_is_that_of_first_polls<P: Platform>() {
    each_serial::<P>(|subject, op| {
        for order in orders(if cfg!(miri) { 3 } else { 4 }) {
            let guard = subject.hold(op);
            let count = order.len();
            let mut tasks: Vec<_> = (0..count).map(|_| Some(Task::new(subject.op(op)))).collect();
            for &i in &order {
                tasks[i].as_mut().expect("waits").pending();
            }
            // Later polls change nothing: in reverse order, in the order of creation, and in reverse order again.
            for i in order.iter().copied().rev().chain(0..count).chain((0..count).rev()) {
                tasks[i].as_mut().expect("waits").pending();
            }
            assert_eq!(subject.state(), (1, count));
            assert_eq!(serve(guard, &mut tasks), order);
            drop(tasks);
            subject.assert_over();
        }
    });
}

pub(super) fn m2_a_poll_with_another_waker_keeps_the_place<P: Platform>() {
    each_serial::<P>(|subject, op| {
        for polled in 0..3 {
            let guard = subject.hold(op);
            let mut tasks: Vec<_> = queued(subject, op, 3).into_iter().map(Some).collect();
            let (other, count) = counting_waker();
            // The waiter gets its own waker back, since the test tells by the tasks' own wakers which task is served.
            assert!(tasks[polled].as_mut().expect("waits").poll_with(&other).is_pending());
            tasks[polled].as_mut().expect("waits").pending();
            assert_eq!(serve(guard, &mut tasks), [0, 1, 2]);
            assert_eq!(count.wakes(), 0);
        }
    });
}

pub(super) fn m2_creating_a_future_has_no_effect<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let (early, unpolled) = (subject.op(op), subject.op(op));
        let run = subject.mutex.run_exclusive(async |_| ());
        subject.assert_free();

        let guard = subject.hold(op);
        let mut first = Task::queued(subject.op(op));
        assert_eq!(subject.state(), (1, 1));
        drop((unpolled, run));
        let mut early = Task::queued(early);
        drop(guard);
        assert_eq!((first.wakes(), early.wakes()), (1, 0));
        drop(first.ready());
        drop(early.ready());
    });
}

pub(super) fn m2_a_second_lock_goes_to_the_end<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let guard = subject.hold(op);
        let mut again = Task::queued(subject.op(op));
        let other = Task::queued(subject.op(op));
        again.cancel();
        let again = Task::queued(subject.op(op));
        assert_eq!(serve(guard, &mut [Some(again), Some(other)]), [1, 0]);
    });
}

pub(super) fn m2_a_future_polled_after_it_was_ready_panics<P: Platform>() {
    let message = "a lock future was polled after it was ready; make a new one for the next wait";
    each_serial::<P>(|subject, op| {
        let mut at_once = Task::new(subject.op(op));
        let guard = at_once.ready();
        let mut waited = Task::queued(subject.op(op));
        drop(guard);
        let guard = waited.ready();

        // The panic comes while the lock is held, and while it is free.
        assert_eq!(panics(|| at_once.poll().is_ready()), message);
        assert_eq!(panics(|| waited.poll().is_ready()), message);
        assert_eq!(subject.state(), (1, 0));
        drop(guard);
        assert_eq!(panics(|| at_once.poll().is_ready()), message);
        assert_eq!(panics(|| waited.poll().is_ready()), message);
        subject.assert_free();

        // The drop of a future that was ready has no effect.
        let _guard = subject.hold(op);
        let next = Task::queued(subject.op(op));
        drop((at_once, waited));
        assert_eq!((subject.state(), next.wakes()), ((1, 1), 0));
    });
}

pub(super) fn m3_a_release_hands_over_to_the_head_and_wakes_it_once<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let mut guard = subject.hold(op);
        let mut tasks = queued(subject, op, 3);
        for n in 0..3 {
            assert_eq!(wakes(&tasks), [0, 1, 2].map(|i| usize::from(i < n)));
            drop(guard);
            let woken = [0, 1, 2].map(|i| usize::from(i <= n));
            assert_eq!((wakes(&tasks), subject.state()), (woken.to_vec(), (1, 2 - n)));
            guard = tasks[n].ready();
            assert_eq!((wakes(&tasks), subject.state()), (woken.to_vec(), (1, 2 - n)));
        }
        drop(guard);
        assert_eq!(wakes(&tasks), [1, 1, 1]);
    });
}

pub(super) fn m3_the_head_owns_the_mutex_before_it_is_woken<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let guard = subject.hold(op);
        let (within, seen) = (Slot::new(), Slot::new());
        within.put(subject.clone());
        let on_wake = hook({
            let seen = seen.clone();
            move || {
                let subject = within.take().expect("there is one wake");
                seen.put((subject.state(), subject.try_op(op)));
            }
        });
        let mut first = Task::with_hooks(subject.op(op), Hooks { on_wake, ..Hooks::default() });
        first.pending();
        let second = Task::queued(subject.op(op));
        assert_eq!(seen.take(), None);
        drop(guard);
        assert_eq!(seen.take(), Some(((1, 1), false)));
        drop(second);
        drop(first.ready());
        assert_eq!(seen.take(), None);
    });
}

pub(super) fn m3_without_a_waiter_a_release_frees_the_mutex<P: Platform>() {
    each_serial::<P>(|subject, op| {
        for _ in 0..2 {
            drop(subject.hold(op));
            subject.assert_free();
            // The same holds after the queue was used.
            let guard = subject.hold(op);
            let mut task = Task::queued(subject.op(op));
            drop(guard);
            let guard = task.ready();
            drop(guard);
            subject.assert_free();
        }
    });
}

/// Checks three moments: while the lock is held and has waiters, between release and claim, and while the claimed guard
/// lives.
pub(super) fn m4_nobody_gets_past_a_waiter<P: Platform>() {
    /// Operations that exclude each other.
    fn excluded(op: Op) -> &'static [Op] {
        match op {
            Op::Lock => &[Op::Lock],
            Op::Upgradable => &[Op::Upgradable, Op::Write],
            // On a lock with room for one reader.
            Op::Read | Op::Write => &[Op::Read, Op::Upgradable, Op::Write],
        }
    }
    #[track_caller]
    fn closed<P: Platform>(subject: &Subject<P>, op: Op) {
        let (inside, waiting) = subject.state();
        assert!(excluded(op).iter().all(|other| !subject.try_op(*other)), "barging");
        let newcomer = Task::queued(subject.op(op));
        assert_eq!((subject.state(), newcomer.wakes()), ((inside, waiting + 1), 0));
        drop(newcomer);
        assert_eq!(subject.state(), (inside, waiting));
    }
    each_serial::<P>(|subject, op| {
        let mut guard = subject.hold(op);
        let mut tasks = queued(subject, op, 3);
        for i in 0..3 {
            closed(subject, op);
            drop(guard);
            closed(subject, op);
            tasks[i + 1..].iter_mut().for_each(Task::pending);
            closed(subject, op);
            guard = tasks[i].ready();
            closed(subject, op);
        }
    });
}

/// Any subset of five waiters leaves, from the front or from the back. The other waiters keep their order.
pub(super) fn m5_any_waiters_leave_at_once_and_are_never_woken<P: Platform>() {
    let count = if cfg!(miri) { 3 } else { 5 };
    each_serial::<P>(|subject, op| {
        for (leaving, from_the_back) in (0_u32..1 << count).flat_map(|leaving| [(leaving, false), (leaving, true)]) {
            let guard = subject.hold(op);
            let mut tasks: Vec<_> = queued(subject, op, count).into_iter().map(Some).collect();
            let (mut gone, rest): (Vec<usize>, Vec<usize>) = (0..count).partition(|i| leaving & 1 << i != 0);
            if from_the_back {
                gone.reverse();
            }
            let mut cancelled = Vec::new();
            for (n, &i) in gone.iter().enumerate() {
                let mut task = tasks[i].take().expect("waits");
                task.cancel();
                assert_eq!(subject.state(), (1, count - 1 - n));
                cancelled.push(task);
            }
            assert_eq!(serve(guard, &mut tasks), rest);
            assert_eq!(wakes(&cancelled), vec![0; gone.len()]);
            drop((tasks, cancelled));
            subject.assert_over();
        }
    });
}

pub(super) fn m5_a_waiter_that_leaves_gives_its_waker_back<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let guard = subject.hold(op);
        let mut tasks = queued(subject, op, 4);
        assert!(tasks.iter().all(|task| task.wakers_kept() == 1));
        for i in [1, 3, 0, 2] {
            tasks[i].cancel();
            assert_eq!(tasks[i].wakers_kept(), 0);
        }
        drop(guard);
        assert_eq!(wakes(&tasks), [0; 4]);

        // The lock keeps no waker that it has woken.
        let guard = subject.hold(op);
        let mut task = Task::queued(subject.op(op));
        drop(guard);
        assert_eq!((task.wakes(), task.wakers_kept()), (1, 0));
        drop(task.ready());
        assert_eq!(task.wakers_kept(), 0);
    });
}

pub(super) fn m6_a_dropped_grant_is_passed_on_before_the_drop_returns<P: Platform>() {
    each_serial::<P>(|subject, op| {
        for length in if cfg!(miri) { [1, 2, 5] } else { [1, 3, 100] } {
            let guard = subject.hold(op);
            let mut tasks = queued(subject, op, length);
            drop(guard);
            for i in 0..length {
                assert_eq!(tasks[i].wakes(), 1);
                assert!(tasks[i + 1..].iter().all(|task| task.wakes() == 0));
                assert_eq!(subject.state(), (1, length - 1 - i));
                tasks[i].cancel();
            }
            assert_eq!(wakes(&tasks), vec![1; length]);
            drop(tasks);
            subject.assert_over();
        }
    });
}

pub(super) fn m9_a_task_that_locks_twice_waits_for_itself<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let mut task = Task::new(async {
            let _outer = subject.op(op).await;
            assert!(!subject.try_op(op), "an attempt fails at once");
            let _inner = subject.op(op).await;
        });
        for _ in 0..10 {
            task.pending();
            assert_eq!((task.wakes(), subject.state()), (0, (1, 1)));
        }
        // The task is at fault and not the lock: once the task is gone, the lock goes on.
        let mut next = Task::queued(subject.op(op));
        task.cancel();
        assert_eq!((task.wakes(), next.wakes()), (0, 1));
        drop(next.ready());
    });
}

pub(super) fn m10_the_state_is_right_at_once<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let guard = subject.hold(op);
        assert_eq!(subject.state(), (1, 0));
        let mut first = Task::new(subject.op(op));
        assert_eq!(subject.state(), (1, 0), "a future that was not polled does not wait");
        for _ in 0..2 {
            first.pending();
            assert_eq!(subject.state(), (1, 1));
        }
        let mut second = Task::queued(subject.op(op));
        let mut third = Task::queued(subject.op(op));
        assert_eq!(subject.state(), (1, 3));
        second.cancel();
        assert_eq!(subject.state(), (1, 2), "a dropped waiter does not wait");
        drop(guard);
        assert_eq!(subject.state(), (1, 1), "a granted waiter is the holder and does not wait");
        let guard = first.ready();
        assert_eq!(subject.state(), (1, 1));
        drop(guard);
        assert_eq!(subject.state(), (1, 0));
        third.cancel();
        assert_eq!(subject.state(), (0, 0));
    });
}

pub(super) fn m10_looking_changes_nothing<P: Platform>() {
    #[track_caller]
    fn look<P: Platform>(subject: &Subject<P>, op: Op, expected: (usize, usize)) {
        let is_held = expected.0 > 0;
        for _ in 0..2 {
            assert_eq!((subject.state(), subject.try_op(op)), (expected, !is_held));
            let (mutex, rwlock) = (&subject.mutex, &subject.rwlock);
            let printed =
                format!("{subject:?} {subject:#?} {:?} {:?} {:?}", mutex.state(), rwlock.state(), mutex.lock());
            // Beside an upgradable reader `Debug` may read the data.
            assert!(op == Op::Upgradable || printed.contains("<locked>") == is_held, "{printed}");
        }
    }
    each_serial::<P>(|subject, op| {
        look(subject, op, (0, 0));
        let guard = subject.hold(op);
        look(subject, op, (1, 0));
        let mut tasks = queued(subject, op, 3);
        look(subject, op, (1, 3));
        assert_eq!(wakes(&tasks), [0, 0, 0]);
        assert!(tasks.iter().all(|task| task.wakers_kept() == 1));
        drop(guard);
        look(subject, op, (1, 2));
        assert_eq!(wakes(&tasks), [1, 0, 0]);
        let guard = tasks[0].ready();
        look(subject, op, (1, 2));
        drop(guard);
        look(subject, op, (1, 1));
        tasks[1].cancel();
        look(subject, op, (1, 0));
        assert_eq!(wakes(&tasks), [1, 1, 1]);
        drop(tasks[2].ready());
        look(subject, op, (0, 0));
        assert_eq!(wakes(&tasks), [1, 1, 1]);
    });
}

pub(super) fn h01_chosen_then_dropped<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let guard = subject.hold(op);
        let b = Task::queued(subject.op(op));
        let mut c = Task::queued(subject.op(op));
        drop(guard);
        drop(b);
        assert_eq!(c.wakes(), 1);
        drop(c.ready());
        subject.assert_free();

        // The lock has one waiter, B.
        let guard = subject.hold(op);
        let b = Task::queued(subject.op(op));
        drop(guard);
        drop(b);
    });
}

pub(super) fn h03_cancel_from_the_middle_keeps_the_order<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let guard = subject.hold(op);
        let mut tasks: Vec<_> = queued(subject, op, 6).into_iter().map(Some).collect();
        let mut gone = [2, 5].map(|n| tasks[n].take().expect("waits"));
        gone.iter_mut().for_each(Task::cancel);
        assert_eq!(serve(guard, &mut tasks), [0, 1, 3, 4]);
        assert_eq!(wakes(&gone), [0, 0]);
    });
}

/// Part (c) of the scenario, a deadline that has passed, is in the rules of time.
pub(super) fn h04_no_barging<P: Platform>() {
    each_serial::<P>(|subject, op| {
        let guard = subject.hold(op);
        let mut b = Task::queued(subject.op(op));
        drop(guard);
        assert!(!subject.try_op(op));
        let mut new = Task::queued(subject.op(op));
        let guard = b.ready();
        assert_eq!((b.wakes(), new.wakes()), (1, 0));
        new.pending();
        drop(guard);
        assert_eq!(new.wakes(), 1);
        drop(new.ready());
    });
}

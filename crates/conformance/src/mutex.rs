//! The mutex: M1 to M11, and the scenarios that are about it alone.
//!
//! What can't be written can't be tested at run time: a guard is released once, since the second time does not compile.
//!
//! ```compile_fail,E0382
//! let mutex = fifolock::Mutex::new(0);
//! let guard = mutex.try_lock().unwrap();
//! drop(guard);
//! drop(guard);
//! ```

use crate::rules;
use crate::tools::{Hooks, Platform, Slot, Task, counting_waker, hook, panics};
use core::cell::Cell;
use core::fmt;
use core::future::{Future, pending, poll_fn};
use core::marker::PhantomData;
use core::task::Poll;
use fifolock_core::Mutex;
use fifolock_core::mutex::{Lock, MappedMutexGuard, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
use std::sync::Arc;

rules! { ($) mutex_rules in mutex where Platform:
    m1_a_free_mutex_is_locked_by_the_first_poll,
    m1_a_free_mutex_needs_no_waker,
    m1_a_mutex_is_made_in_a_const_and_taken_apart,
    m1_the_data_may_be_unsized,
    m2_the_order_is_that_of_first_polls,
    m2_a_poll_with_another_waker_keeps_the_place,
    m2_creating_a_future_has_no_effect,
    m2_a_second_lock_goes_to_the_end,
    m2_a_future_polled_after_it_was_ready_panics,
    m3_a_release_hands_over_to_the_head_and_wakes_it_once,
    m3_the_head_owns_the_mutex_before_it_is_woken,
    m3_without_a_waiter_a_release_frees_the_mutex,
    m3_a_view_of_another_platform_is_the_same_mutex,
    m4_nobody_gets_past_a_waiter,
    m4_nobody_gets_past_an_owned_waiter,
    m5_any_waiters_leave_at_once_and_are_never_woken,
    m5_a_waiter_that_leaves_gives_its_waker_back,
    m6_a_dropped_grant_is_passed_on_before_the_drop_returns,
    m6_a_dropped_grant_goes_down_a_chain_of_any_length,
    m7_a_guard_releases_once_when_dropped,
    m7_a_guard_releases_once_on_a_panic,
    m7_a_guard_releases_once_on_an_early_return,
    m7_a_mapped_guard_releases_once,
    m7_a_guard_that_is_not_mapped_goes_on_holding,
    m7_an_owned_guard_gives_its_arc_back,
    m8_run_exclusive_releases_when_it_returns,
    m8_run_exclusive_releases_on_an_error,
    m8_run_exclusive_releases_on_a_panic,
    m8_run_exclusive_releases_when_it_is_dropped,
    m8_run_exclusive_waits_its_turn,
    m9_a_task_that_locks_twice_waits_for_itself,
    m10_the_state_is_right_at_once,
    m10_looking_changes_nothing,
    m10_debug_prints_the_data_or_that_it_is_locked,
    m10_debug_holds_the_mutex_while_it_prints,
    m10_guards_print_their_data,
    m11_a_free_mutex_is_locked_without_parking,
    m11_no_drop_waits_for_the_mutex,
    h01_chosen_then_dropped,
    h03_cancel_from_the_middle_keeps_the_order,
    h04_no_barging,
}

type Waiter<'a, T, P> = Task<Lock<'a, T, P>>;

/// `(locked, queued)`.
fn state<T: ?Sized, P: Platform>(mutex: &Mutex<T, P>) -> (bool, usize) {
    let state = mutex.state();
    assert_eq!(mutex.is_locked(), state.locked);
    assert_eq!(mutex.queued(), state.queued);
    (state.locked, state.queued)
}

#[track_caller]
fn assert_free<T: ?Sized, P: Platform>(mutex: &Mutex<T, P>) {
    assert_eq!(state(mutex), (false, 0));
    drop(mutex.try_lock().expect("free"));
}

fn wakes<F: Future>(tasks: &[Task<F>]) -> Vec<usize> {
    tasks.iter().map(Task::wakes).collect()
}

/// Releases, and lets each winner release in turn; returns the winners. At each turn exactly one task is woken, and only
/// that one is ready.
#[track_caller]
fn serve<T, P: Platform>(guard: MutexGuard<'_, T, P>, tasks: &mut [Option<Waiter<'_, T, P>>]) -> Vec<usize> {
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

/// All orders of `0..n`.
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

fn m1_a_free_mutex_is_locked_by_the_first_poll<P: Platform>() {
    let mutex = Arc::new(Mutex::<_, P>::new(1));

    let mut guard = Task::new(mutex.lock()).ready();
    *guard += 1;
    assert_eq!(state(&mutex), (true, 0));
    drop(guard);
    assert_free(&mutex);

    let mut guard = Task::new(Arc::clone(&mutex).lock_owned()).ready();
    *guard += 1;
    assert_eq!(state(&mutex), (true, 0));
    drop(guard);
    assert_free(&mutex);

    *mutex.try_lock().expect("free") += 1;
    *Arc::clone(&mutex).try_lock_owned().expect("free") += 1;
    assert_free(&mutex);
    assert_eq!(*mutex.try_lock().expect("free"), 5);
}

fn m1_a_free_mutex_needs_no_waker<P: Platform>() {
    let mutex = Arc::new(Mutex::<_, P>::new(()));
    let untouched = || Hooks { on_clone: hook(|| panic!("the waker is cloned")), ..Hooks::default() };
    drop(Task::with_hooks(mutex.lock(), untouched()).ready());
    drop(Task::with_hooks(Arc::clone(&mutex).lock_owned(), untouched()).ready());
    Task::with_hooks(mutex.run_exclusive(async |()| ()), untouched()).ready();
    assert_free(&mutex);
}

fn m1_a_mutex_is_made_in_a_const_and_taken_apart<P: Platform>() {
    let mut mutex = const { Mutex::<u32, P>::new(1) };
    assert_free(&mutex);
    *mutex.get_mut() += 1;
    assert_eq!(mutex.into_inner(), 2);
    assert_eq!(const { Mutex::<u32, P>::const_new(3) }.into_inner(), 3);
    assert_eq!(Mutex::<u32, P>::from(4).into_inner(), 4);
    assert_eq!(Mutex::<u32, P>::default().into_inner(), 0);
}

fn m1_the_data_may_be_unsized<P: Platform>() {
    let mutex: Arc<Mutex<[u8], P>> = Arc::new(Mutex::<[u8; 3], P>::new([1, 2, 3]));
    let mut task = Task::new(mutex.lock());
    task.ready()[1] = 5;
    drop(MutexGuard::map(mutex.try_lock().expect("free"), |data| &mut data[1..]));
    assert_eq!(Arc::clone(&mutex).try_lock_owned().expect("free")[..], [1, 5, 3]);
    assert_free(&mutex);
}

fn m2_the_order_is_that_of_first_polls<P: Platform>() {
    for order in orders(4) {
        let mutex = Mutex::<_, P>::new(());
        let guard = mutex.try_lock().expect("free");
        let mut tasks: Vec<_> = (0..4).map(|_| Some(Task::new(mutex.lock()))).collect();
        for &i in &order {
            tasks[i].as_mut().expect("waits").pending();
        }
        // Polls that are not the first change nothing: in reverse, in the order of creation, twice.
        for &i in order.iter().rev().chain(&[0, 1, 2, 3, 3, 2, 1, 0]) {
            tasks[i].as_mut().expect("waits").pending();
        }
        assert_eq!(state(&mutex), (true, 4));
        assert_eq!(serve(guard, &mut tasks), order);
        assert_free(&mutex);
    }
}

fn m2_a_poll_with_another_waker_keeps_the_place<P: Platform>() {
    for polled in 0..3 {
        let mutex = Mutex::<_, P>::new(());
        let guard = mutex.try_lock().expect("free");
        let mut tasks: Vec<_> = (0..3).map(|_| Some(Task::queued(mutex.lock()))).collect();
        let (other, count) = counting_waker();
        // And back, since the tasks' own wakers tell who is served.
        assert!(tasks[polled].as_mut().expect("waits").poll_with(&other).is_pending());
        tasks[polled].as_mut().expect("waits").pending();
        assert_eq!(serve(guard, &mut tasks), [0, 1, 2]);
        assert_eq!(count.wakes(), 0);
    }
}

fn m2_creating_a_future_has_no_effect<P: Platform>() {
    let mutex = Arc::new(Mutex::<_, P>::new(()));
    let early = mutex.lock();
    let early_owned = Arc::clone(&mutex).lock_owned();
    let early_run = mutex.run_exclusive(async |()| ());
    assert_free(&mutex);

    let guard = mutex.try_lock().expect("free");
    let mut first = Task::queued(mutex.lock());
    assert_eq!(state(&mutex), (true, 1));
    drop(early_owned);
    drop(early_run);
    let mut early = Task::queued(early);
    drop(guard);
    assert_eq!((first.wakes(), early.wakes()), (1, 0));
    drop(first.ready());
    drop(early.ready());
    assert_free(&mutex);
}

fn m2_a_second_lock_goes_to_the_end<P: Platform>() {
    let mutex = Mutex::<_, P>::new(());
    let guard = mutex.try_lock().expect("free");
    let mut again = Task::queued(mutex.lock());
    let other = Task::queued(mutex.lock());
    again.cancel();
    let again = Task::queued(mutex.lock());
    let mut tasks = [Some(again), Some(other)];
    assert_eq!(serve(guard, &mut tasks), [1, 0]);
}

fn m2_a_future_polled_after_it_was_ready_panics<P: Platform>() {
    let mutex = Arc::new(Mutex::<_, P>::new(()));
    let mut at_once = Task::new(mutex.lock());
    let guard = at_once.ready();
    let mut waited = Task::queued(mutex.lock());
    let mut owned = Task::queued(Arc::clone(&mutex).lock_owned());
    drop(guard);
    drop(waited.ready());
    let guard = owned.ready();

    // While the mutex is held, and while it is free.
    assert!(panics(|| at_once.poll().is_ready()).contains("polled after it was ready"));
    assert!(panics(|| waited.poll().is_ready()).contains("polled after it was ready"));
    assert!(panics(|| owned.poll().is_ready()).contains("polled after it was ready"));
    assert_eq!(state(&mutex), (true, 0));
    drop(guard);
    assert!(panics(|| at_once.poll().is_ready()).contains("polled after it was ready"));
    assert!(panics(|| waited.poll().is_ready()).contains("polled after it was ready"));
    assert!(panics(|| owned.poll().is_ready()).contains("polled after it was ready"));
    assert_free(&mutex);

    // Nor does dropping it do anything.
    let guard = mutex.try_lock().expect("free");
    let next = Task::queued(mutex.lock());
    drop((at_once, waited, owned));
    assert_eq!((state(&mutex), next.wakes()), ((true, 1), 0));
    drop(guard);
}

fn m3_a_release_hands_over_to_the_head_and_wakes_it_once<P: Platform>() {
    let mutex = Mutex::<_, P>::new(0);
    let guard = mutex.try_lock().expect("free");
    let mut tasks: Vec<_> = (0..3).map(|_| Task::queued(mutex.lock())).collect();
    assert_eq!(wakes(&tasks), [0, 0, 0]);

    drop(guard);
    assert_eq!(wakes(&tasks), [1, 0, 0]);
    assert_eq!(state(&mutex), (true, 2));
    let mut guard = tasks[0].ready();
    *guard += 1;
    assert_eq!(state(&mutex), (true, 2));
    assert_eq!(wakes(&tasks), [1, 0, 0]);

    drop(guard);
    assert_eq!(wakes(&tasks), [1, 1, 0]);
    assert_eq!(state(&mutex), (true, 1));
    let mut guard = tasks[1].ready();
    *guard += 1;

    drop(guard);
    assert_eq!(wakes(&tasks), [1, 1, 1]);
    assert_eq!(state(&mutex), (true, 0));
    assert_eq!(*tasks[2].ready(), 2);
    assert_eq!(wakes(&tasks), [1, 1, 1]);
    assert_free(&mutex);
}

fn m3_the_head_owns_the_mutex_before_it_is_woken<P: Platform>() {
    let mutex = Arc::new(Mutex::<_, P>::new(()));
    let guard = mutex.try_lock().expect("free");
    let seen = Slot::new();
    let on_wake = hook({
        let (mutex, seen) = (Arc::clone(&mutex), seen.clone());
        move || seen.put((state(&mutex), mutex.try_lock().is_err()))
    });
    let mut first = Task::with_hooks(mutex.lock(), Hooks { on_wake, ..Hooks::default() });
    first.pending();
    let second = Task::queued(mutex.lock());
    assert_eq!(seen.take(), None);
    drop(guard);
    assert_eq!(seen.take(), Some(((true, 1), true)));
    drop(second);
    drop(first.ready());
    assert_eq!(seen.take(), None);
}

fn m3_without_a_waiter_a_release_frees_the_mutex<P: Platform>() {
    let mutex = Mutex::<_, P>::new(());
    for _ in 0..3 {
        let guard = mutex.try_lock().expect("free");
        assert_eq!(state(&mutex), (true, 0));
        drop(guard);
        assert_free(&mutex);
    }
    // The same after the queue was used.
    let guard = mutex.try_lock().expect("free");
    let mut task = Task::queued(mutex.lock());
    drop(guard);
    let guard = task.ready();
    drop(guard);
    assert_free(&mutex);
}

fn m3_a_view_of_another_platform_is_the_same_mutex<P: Platform>() {
    struct Other<P>(PhantomData<P>);
    impl<P: Platform> fifolock_core::platform::Platform for Other<P> {
        type Raw = P::Raw;
    }
    let mutex = Mutex::<_, P>::new(1);
    let view = mutex.on::<Other<P>>();
    let guard = mutex.try_lock().expect("free");
    assert!(view.try_lock().is_err());
    let mut through_the_view = Task::queued(view.lock());
    let mut direct = Task::queued(mutex.lock());
    assert_eq!(state(view), (true, 2));
    drop(guard);
    *through_the_view.ready() += 1;
    assert_eq!(*direct.ready(), 2);
    assert_free(view);
}

/// At every instant: while held with waiters, from the release to the claim, and while the claimed guard lives.
fn m4_nobody_gets_past_a_waiter<P: Platform>() {
    #[track_caller]
    fn closed<P: Platform>(mutex: &Mutex<(), P>) {
        let before = mutex.state();
        assert!(mutex.try_lock().is_err());
        let newcomer = Task::queued(mutex.lock());
        assert_eq!(mutex.queued(), before.queued + 1);
        assert_eq!(newcomer.wakes(), 0);
        drop(newcomer);
        assert_eq!(mutex.state(), before);
    }
    let mutex = Mutex::<_, P>::new(());
    let mut guard = mutex.try_lock().expect("free");
    let mut tasks: Vec<_> = (0..3).map(|_| Task::queued(mutex.lock())).collect();
    for i in 0..3 {
        closed(&mutex);
        drop(guard);
        closed(&mutex);
        tasks[i + 1..].iter_mut().for_each(Task::pending);
        closed(&mutex);
        guard = tasks[i].ready();
        closed(&mutex);
    }
    drop(guard);
    assert_free(&mutex);
}

fn m4_nobody_gets_past_an_owned_waiter<P: Platform>() {
    let mutex = Arc::new(Mutex::<_, P>::new(()));
    let guard = Arc::clone(&mutex).try_lock_owned().expect("free");
    let mut first = Task::queued(Arc::clone(&mutex).lock_owned());
    for _ in 0..2 {
        assert!(Arc::clone(&mutex).try_lock_owned().is_err());
        assert!(mutex.try_lock().is_err());
    }
    drop(guard);
    assert!(Arc::clone(&mutex).try_lock_owned().is_err());
    assert!(mutex.try_lock().is_err());
    let mut second = Task::queued(Arc::clone(&mutex).lock_owned());
    drop(first.ready());
    assert!(mutex.try_lock().is_err());
    drop(second.ready());
    assert_free(&mutex);
}

/// Any of five leave, from the front or from the back; the rest keep their order.
fn m5_any_waiters_leave_at_once_and_are_never_woken<P: Platform>() {
    for leaving in 0_u32..1 << 5 {
        for from_the_back in [false, true] {
            let mutex = Mutex::<_, P>::new(());
            let guard = mutex.try_lock().expect("free");
            let mut tasks: Vec<_> = (0..5).map(|_| Some(Task::queued(mutex.lock()))).collect();
            let mut gone: Vec<_> = (0..5).filter(|i| leaving & 1 << i != 0).collect();
            if from_the_back {
                gone.reverse();
            }
            let mut cancelled = Vec::new();
            for (n, &i) in gone.iter().enumerate() {
                let mut task = tasks[i].take().expect("waits");
                task.cancel();
                assert_eq!(state(&mutex), (true, 4 - n));
                cancelled.push(task);
            }
            let rest: Vec<_> = (0..5).filter(|i| !gone.contains(i)).collect();
            assert_eq!(serve(guard, &mut tasks), rest);
            assert_eq!(wakes(&cancelled), vec![0; gone.len()]);
            assert_free(&mutex);
        }
    }
}

fn m5_a_waiter_that_leaves_gives_its_waker_back<P: Platform>() {
    let mutex = Mutex::<_, P>::new(());
    let guard = mutex.try_lock().expect("free");
    let mut tasks: Vec<_> = (0..4).map(|_| Task::queued(mutex.lock())).collect();
    for task in &mut tasks {
        assert_eq!(task.wakers_kept(), 1);
    }
    for i in [1, 3, 0, 2] {
        tasks[i].cancel();
        assert_eq!(tasks[i].wakers_kept(), 0);
    }
    drop(guard);
    assert_eq!(wakes(&tasks), [0; 4]);

    // Nor is one kept that was woken.
    let guard = mutex.try_lock().expect("free");
    let mut task = Task::queued(mutex.lock());
    drop(guard);
    assert_eq!((task.wakes(), task.wakers_kept()), (1, 0));
    drop(task.ready());
    assert_eq!(task.wakers_kept(), 0);
}

fn m6_a_dropped_grant_is_passed_on_before_the_drop_returns<P: Platform>() {
    let mutex = Arc::new(Mutex::<_, P>::new(()));
    let guard = mutex.try_lock().expect("free");
    let mut borrowed = Task::queued(mutex.lock());
    let mut owned = Task::queued(Arc::clone(&mutex).lock_owned());
    let mut run = Task::queued(mutex.run_exclusive(async |()| ()));
    let mut last = Task::queued(mutex.lock());
    drop(guard);
    let all = |a: &Task<_>, b: &Task<_>, c: &Task<_>, d: &Task<_>| [a.wakes(), b.wakes(), c.wakes(), d.wakes()];
    assert_eq!(all(&borrowed, &owned, &run, &last), [1, 0, 0, 0]);
    borrowed.cancel();
    assert_eq!(all(&borrowed, &owned, &run, &last), [1, 1, 0, 0]);
    assert_eq!(state(&mutex), (true, 2));
    owned.cancel();
    assert_eq!(all(&borrowed, &owned, &run, &last), [1, 1, 1, 0]);
    run.cancel();
    assert_eq!(all(&borrowed, &owned, &run, &last), [1, 1, 1, 1]);
    assert_eq!(state(&mutex), (true, 0));
    let guard = last.ready();
    assert_eq!(state(&mutex), (true, 0));
    drop(guard);
    assert_free(&mutex);
}

fn m6_a_dropped_grant_goes_down_a_chain_of_any_length<P: Platform>() {
    for length in [1, 2, 3, 17, 100] {
        let mutex = Mutex::<_, P>::new(());
        let guard = mutex.try_lock().expect("free");
        let mut tasks: Vec<_> = (0..length).map(|_| Task::queued(mutex.lock())).collect();
        drop(guard);
        for i in 0..length {
            assert_eq!(tasks[i].wakes(), 1);
            assert!(tasks[i + 1..].iter().all(|task| task.wakes() == 0));
            assert_eq!(state(&mutex), (true, length - 1 - i));
            tasks[i].cancel();
        }
        assert_eq!(wakes(&tasks), vec![1; length]);
        assert_free(&mutex);
    }
}

/// Two wait; the release must reach the first and only the first, which a second release would not.
#[track_caller]
fn releases_once<T, P: Platform, G>(mutex: &Mutex<T, P>, guard: G, release: impl FnOnce(G)) {
    assert_eq!(state(mutex), (true, 0));
    let mut first = Task::queued(mutex.lock());
    let mut second = Task::queued(mutex.lock());
    release(guard);
    assert_eq!((first.wakes(), second.wakes()), (1, 0));
    assert_eq!(state(mutex), (true, 1));
    drop(first.ready());
    drop(second.ready());
    assert_free(mutex);
}

type Pair = (u8, [u8; 2]);

fn a_pair<P: Platform>() -> Arc<Mutex<Pair, P>> {
    Arc::new(Mutex::new((1, [2, 3])))
}

fn locked<P: Platform>(mutex: &Mutex<Pair, P>) -> MutexGuard<'_, Pair, P> {
    mutex.try_lock().expect("free")
}

fn locked_mapped<P: Platform>(mutex: &Mutex<Pair, P>) -> MappedMutexGuard<'_, [u8; 2], P> {
    MutexGuard::map(locked(mutex), |pair| &mut pair.1)
}

fn locked_owned<P: Platform>(mutex: &Arc<Mutex<Pair, P>>) -> OwnedMutexGuard<Pair, P> {
    Arc::clone(mutex).try_lock_owned().expect("free")
}

fn locked_owned_mapped<P: Platform>(mutex: &Arc<Mutex<Pair, P>>) -> OwnedMappedMutexGuard<Pair, [u8; 2], P> {
    OwnedMutexGuard::map(locked_owned(mutex), |pair| &mut pair.1)
}

fn m7_a_guard_releases_once_when_dropped<P: Platform>() {
    let mutex = a_pair::<P>();
    releases_once(&mutex, locked(&mutex), drop);
    releases_once(&mutex, locked_mapped(&mutex), drop);
    releases_once(&mutex, locked_owned(&mutex), drop);
    releases_once(&mutex, locked_owned_mapped(&mutex), drop);
}

fn m7_a_guard_releases_once_on_a_panic<P: Platform>() {
    fn fail<G>(guard: G) {
        let message = panics(move || {
            let _guard = guard;
            panic!("the owner panics");
        });
        assert_eq!(message, "the owner panics");
    }
    let mutex = a_pair::<P>();
    releases_once(&mutex, locked(&mutex), fail);
    releases_once(&mutex, locked_mapped(&mutex), fail);
    releases_once(&mutex, locked_owned(&mutex), fail);
    releases_once(&mutex, locked_owned_mapped(&mutex), fail);
}

fn m7_a_guard_releases_once_on_an_early_return<P: Platform>() {
    fn leave<G>(guard: G) {
        let early = move || -> Option<G> {
            let guard = guard;
            None::<()>?;
            Some(guard)
        };
        assert!(early().is_none());
    }
    let mutex = a_pair::<P>();
    releases_once(&mutex, locked(&mutex), leave);
    releases_once(&mutex, locked_mapped(&mutex), leave);
    releases_once(&mutex, locked_owned(&mutex), leave);
    releases_once(&mutex, locked_owned_mapped(&mutex), leave);
}

fn m7_a_mapped_guard_releases_once<P: Platform>() {
    let mutex = a_pair::<P>();
    releases_once(&mutex, locked(&mutex), |guard| {
        let mut guard = MutexGuard::map(guard, |pair| &mut pair.1);
        guard[0] += 1;
        let mut guard = MappedMutexGuard::map(guard, |array| &mut array[1]);
        *guard += 1;
        let guard = MappedMutexGuard::try_map(guard, |byte| Some(byte)).expect("is there");
        assert_eq!(state(&mutex), (true, 2));
        drop(guard);
    });
    releases_once(&mutex, locked(&mutex), |guard| {
        drop(MutexGuard::try_map(guard, |pair| pair.1.get_mut(1)).expect("is there"));
    });
    releases_once(&mutex, locked_owned(&mutex), |guard| {
        let mut guard = OwnedMutexGuard::map(guard, |pair| &mut pair.1);
        guard[0] += 1;
        let mut guard = OwnedMappedMutexGuard::map(guard, |array| &mut array[1]);
        *guard += 1;
        let guard = OwnedMappedMutexGuard::try_map(guard, |byte| Some(byte)).expect("is there");
        assert_eq!(state(&mutex), (true, 2));
        drop(guard);
    });
    releases_once(&mutex, locked_owned(&mutex), |guard| {
        drop(OwnedMutexGuard::try_map(guard, |pair| pair.1.get_mut(1)).expect("is there"));
    });
    assert_eq!(*locked(&mutex), (1, [4, 5]));
}

fn m7_a_guard_that_is_not_mapped_goes_on_holding<P: Platform>() {
    let mutex = a_pair::<P>();
    releases_once(&mutex, locked(&mutex), |guard| {
        let mut guard = MutexGuard::try_map(guard, |pair| pair.1.get_mut(2)).expect_err("is not there");
        assert_eq!(state(&mutex), (true, 2));
        guard.0 += 1;
        assert!(core::ptr::eq(MutexGuard::mutex(&guard), &raw const *mutex));
    });
    releases_once(&mutex, locked_mapped(&mutex), |guard| {
        let mut guard = MappedMutexGuard::try_map(guard, |array| array.get_mut(2)).expect_err("is not there");
        assert_eq!(state(&mutex), (true, 2));
        guard[0] += 1;
    });
    releases_once(&mutex, locked_owned(&mutex), |guard| {
        let mut guard = OwnedMutexGuard::try_map(guard, |pair| pair.1.get_mut(2)).expect_err("is not there");
        assert_eq!(state(&mutex), (true, 2));
        guard.0 += 1;
        assert!(Arc::ptr_eq(OwnedMutexGuard::mutex(&guard), &mutex));
    });
    releases_once(&mutex, locked_owned_mapped(&mutex), |guard| {
        let mut guard = OwnedMappedMutexGuard::try_map(guard, |array| array.get_mut(2)).expect_err("is not there");
        assert_eq!(state(&mutex), (true, 2));
        guard[0] += 1;
        assert!(Arc::ptr_eq(OwnedMappedMutexGuard::mutex(&guard), &mutex));
    });
    assert_eq!(*locked(&mutex), (3, [4, 3]));
}

fn m7_an_owned_guard_gives_its_arc_back<P: Platform>() {
    let mutex = a_pair::<P>();
    let shares = || Arc::strong_count(&mutex);
    let guard = locked_owned(&mutex);
    assert_eq!(shares(), 2);
    assert!(Arc::clone(&mutex).try_lock_owned().is_err());
    assert_eq!(shares(), 2, "a refusal gives it back");
    let mut cancelled = Task::queued(Arc::clone(&mutex).lock_owned());
    let mut served = Task::queued(Arc::clone(&mutex).lock_owned());
    assert_eq!(shares(), 4);
    cancelled.cancel();
    assert_eq!(shares(), 3, "a cancel gives it back");
    let guard = OwnedMutexGuard::map(guard, |pair| &mut pair.1);
    let guard = OwnedMappedMutexGuard::try_map(guard, |array| array.get_mut(2)).expect_err("is not there");
    assert_eq!(shares(), 3, "mapping keeps it");
    drop(guard);
    assert_eq!(shares(), 2);
    let guard = served.ready();
    assert_eq!(shares(), 2, "the future's share is the guard's now");
    drop(guard);
    assert_eq!(shares(), 1);
    drop(served);
    assert_eq!(shares(), 1);
}

fn m8_run_exclusive_releases_when_it_returns<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    let mut run = Task::new(mutex.run_exclusive(async |value| {
        assert!(mutex.try_lock().is_err());
        *value += 1;
        *value
    }));
    assert_eq!(run.ready(), 2);
    assert_free(&mutex);

    // Over a suspension.
    let gate = Cell::new(false);
    let mut run = Task::new(mutex.run_exclusive(async |value| {
        poll_fn(|_| if gate.get() { Poll::Ready(()) } else { Poll::Pending }).await;
        *value += 1;
    }));
    run.pending();
    let mut next = Task::queued(mutex.lock());
    run.pending();
    assert_eq!((state(&mutex), next.wakes()), ((true, 1), 0));
    gate.set(true);
    run.ready();
    assert_eq!(next.wakes(), 1);
    assert_eq!(*next.ready(), 3);
    assert_free(&mutex);
}

fn m8_run_exclusive_releases_on_an_error<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    let mut run = Task::new(mutex.run_exclusive(async |value| {
        *value += 1;
        Err::<u32, _>("refused")?;
        *value += 1;
        Ok::<_, &str>(0)
    }));
    assert_eq!(run.ready(), Err("refused"));
    assert_free(&mutex);
    assert_eq!(*mutex.try_lock().expect("free"), 2);
}

fn m8_run_exclusive_releases_on_a_panic<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    let mut run = Task::new(mutex.run_exclusive(async |_: &mut u32| panic!("the body panics")));
    assert_eq!(panics(|| run.poll().is_ready()), "the body panics");
    assert_free(&mutex);

    // Over a suspension.
    let gate = Cell::new(false);
    let mut run = Task::new(mutex.run_exclusive(async |_: &mut u32| {
        poll_fn(|_| if gate.get() { Poll::Ready(()) } else { Poll::Pending }).await;
        panic!("the body panics");
    }));
    run.pending();
    let mut next = Task::queued(mutex.lock());
    gate.set(true);
    assert_eq!(panics(|| run.poll().is_ready()), "the body panics");
    assert_eq!(next.wakes(), 1);
    drop(next.ready());
    assert_free(&mutex);
}

fn m8_run_exclusive_releases_when_it_is_dropped<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    drop(Task::new(mutex.run_exclusive(async |value| *value += 1)));
    assert_free(&mutex);

    // While it runs.
    let mut run = Task::new(mutex.run_exclusive(async |value| {
        *value += 1;
        pending::<()>().await;
    }));
    run.pending();
    let mut next = Task::queued(mutex.lock());
    run.cancel();
    assert_eq!(next.wakes(), 1);
    let guard = next.ready();
    assert_eq!(*guard, 2);

    // While it waits, and after it was granted.
    let mut waiting = Task::queued(mutex.run_exclusive(async |value| *value += 1));
    let mut granted = Task::queued(mutex.run_exclusive(async |value| *value += 1));
    let mut last = Task::queued(mutex.lock());
    waiting.cancel();
    assert_eq!(state(&mutex), (true, 2));
    drop(guard);
    assert_eq!((waiting.wakes(), granted.wakes(), last.wakes()), (0, 1, 0));
    granted.cancel();
    assert_eq!(last.wakes(), 1);
    assert_eq!(*last.ready(), 2);
    assert_free(&mutex);
}

fn m8_run_exclusive_waits_its_turn<P: Platform>() {
    let mutex = Mutex::<_, P>::new(Vec::new());
    let guard = mutex.try_lock().expect("free");
    let mut first = Task::queued(mutex.run_exclusive(async |log| log.push(1)));
    let mut second = Task::queued(mutex.lock());
    let mut third = Task::queued(mutex.run_exclusive(async |log| log.push(3)));
    drop(guard);
    third.pending();
    second.pending();
    first.ready();
    third.pending();
    second.ready().push(2);
    third.ready();
    assert_free(&mutex);
    assert_eq!(*mutex.try_lock().expect("free"), [1, 2, 3]);
}

fn m9_a_task_that_locks_twice_waits_for_itself<P: Platform>() {
    let mutex = Mutex::<_, P>::new(());
    let mut task = Task::new(async {
        let _outer = mutex.lock().await;
        assert!(mutex.try_lock().is_err(), "says so at once");
        let _inner = mutex.lock().await;
    });
    for _ in 0..10 {
        task.pending();
        assert_eq!(task.wakes(), 0);
        assert_eq!(state(&mutex), (true, 1));
    }
    // It is the task's own fault, not the mutex's: that goes on once the task is gone.
    let mut next = Task::queued(mutex.lock());
    task.cancel();
    assert_eq!((task.wakes(), next.wakes()), (0, 1));
    drop(next.ready());
    assert_free(&mutex);
}

fn m10_the_state_is_right_at_once<P: Platform>() {
    let mutex = Mutex::<_, P>::new(());
    assert_eq!(state(&mutex), (false, 0));
    let guard = mutex.try_lock().expect("free");
    assert_eq!(state(&mutex), (true, 0));
    let mut first = Task::new(mutex.lock());
    assert_eq!(state(&mutex), (true, 0), "one that was not polled does not wait");
    first.pending();
    assert_eq!(state(&mutex), (true, 1));
    first.pending();
    assert_eq!(state(&mutex), (true, 1));
    let mut second = Task::queued(mutex.lock());
    let mut third = Task::queued(mutex.lock());
    assert_eq!(state(&mutex), (true, 3));
    second.cancel();
    assert_eq!(state(&mutex), (true, 2), "one that was dropped does not wait");
    drop(guard);
    assert_eq!(state(&mutex), (true, 1), "one that was granted holds, and does not wait");
    let guard = first.ready();
    assert_eq!(state(&mutex), (true, 1));
    drop(guard);
    assert_eq!(state(&mutex), (true, 0));
    third.cancel();
    assert_eq!(state(&mutex), (false, 0));
}

fn m10_looking_changes_nothing<P: Platform>() {
    #[track_caller]
    fn look<P: Platform>(mutex: &Mutex<u8, P>, expected: (bool, usize)) {
        for _ in 0..2 {
            assert_eq!(state(mutex), expected);
            assert_eq!(mutex.try_lock().is_err(), expected.0);
            let printed = format!("{mutex:?} {mutex:#?} {:?} {:?}", mutex.state(), mutex.lock());
            assert!(printed.contains("<locked>") == expected.0, "{printed}");
        }
    }
    let mutex = Mutex::<_, P>::new(7);
    look(&mutex, (false, 0));
    let guard = mutex.try_lock().expect("free");
    look(&mutex, (true, 0));
    let mut tasks: Vec<_> = (0..3).map(|_| Task::queued(mutex.lock())).collect();
    look(&mutex, (true, 3));
    assert_eq!(wakes(&tasks), [0, 0, 0]);
    drop(guard);
    look(&mutex, (true, 2));
    assert_eq!(wakes(&tasks), [1, 0, 0]);
    let guard = tasks[0].ready();
    look(&mutex, (true, 2));
    drop(guard);
    look(&mutex, (true, 1));
    tasks[1].cancel();
    look(&mutex, (true, 0));
    assert_eq!(wakes(&tasks), [1, 1, 1]);
    drop(tasks[2].ready());
    look(&mutex, (false, 0));
    assert_eq!(wakes(&tasks), [1, 1, 1]);
}

fn m10_debug_prints_the_data_or_that_it_is_locked<P: Platform>() {
    let mutex = Mutex::<_, P>::new(7);
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 7 }");
    let guard = mutex.try_lock().expect("free");
    assert_eq!(format!("{mutex:?}"), "Mutex { data: <locked> }");
    let mut task = Task::queued(mutex.lock());
    drop(guard);
    assert_eq!(format!("{mutex:?}"), "Mutex { data: <locked> }");
    drop(task.ready());
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 7 }");
}

/// Data that does something when it is printed.
#[derive(Default)]
struct WhenPrinted(Slot<Box<dyn Fn()>>);

impl fmt::Debug for WhenPrinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(act) = self.0.take() {
            act();
        }
        f.pad("printed")
    }
}

fn m10_debug_holds_the_mutex_while_it_prints<P: Platform>() {
    let data = WhenPrinted::default();
    let when_printed = data.0.clone();
    let mutex = Arc::new(Mutex::<_, P>::new(data));
    let met = Slot::new();
    when_printed.put(Box::new({
        let (mutex, met) = (Arc::clone(&mutex), met.clone());
        move || {
            assert_eq!(state(&mutex), (true, 0));
            assert!(mutex.try_lock().is_err());
            assert_eq!(format!("{mutex:?}"), "Mutex { data: <locked> }");
            met.put(Task::queued(Arc::clone(&mutex).lock_owned()));
        }
    }));
    assert_eq!(format!("{mutex:?}"), "Mutex { data: printed }");
    let mut met = met.take().expect("queued while it was printed");
    assert_eq!(met.wakes(), 1, "and granted after");
    drop(met.ready());
    assert_free(&mutex);

    // A `Debug` that panics releases too.
    when_printed.put(Box::new(|| panic!("can't be printed")));
    assert_eq!(panics(|| format!("{mutex:?}")), "can't be printed");
    assert_free(&mutex);
}

fn m10_guards_print_their_data<P: Platform>() {
    let mutex = a_pair::<P>();
    assert_eq!(format!("{:?}", locked(&mutex)), "(1, [2, 3])");
    assert_eq!(format!("{:?}", locked_mapped(&mutex)), "[2, 3]");
    assert_eq!(format!("{:?}", locked_owned(&mutex)), "(1, [2, 3])");
    assert_eq!(format!("{:?}", locked_owned_mapped(&mutex)), "[2, 3]");
    assert_eq!(format!("{}", MutexGuard::map(locked(&mutex), |pair| &mut pair.0)), "1");
    assert_eq!(format!("{}", OwnedMutexGuard::map(locked_owned(&mutex), |pair| &mut pair.0)), "1");
    assert_free(&mutex);
}

fn m11_a_free_mutex_is_locked_without_parking<P: Platform>() {
    let mutex = Arc::new(Mutex::<_, P>::new(1));
    *mutex.blocking_lock() += 1;
    *Arc::clone(&mutex).blocking_lock_owned() += 1;
    let guard = mutex.blocking_lock();
    assert_eq!((*guard, state(&mutex)), (3, (true, 0)));
    drop(guard);
    assert_free(&mutex);
}

/// While somebody holds the mutex, everything of ours can be dropped. (A drop that waited would never return.)
fn m11_no_drop_waits_for_the_mutex<P: Platform>() {
    let mutex = Arc::new(Mutex::<_, P>::new(()));
    let guard = mutex.try_lock().expect("free");
    drop(Task::new(mutex.lock()));
    drop(Task::queued(mutex.lock()));
    drop(Task::queued(Arc::clone(&mutex).lock_owned()));
    drop(Task::queued(mutex.run_exclusive(async |()| ())));
    drop(Task::queued(mutex.lock_until(pending::<()>())));
    assert_eq!(state(&mutex), (true, 0));

    // A granted one, while the next is not polled.
    let granted = Task::queued(mutex.lock());
    let mut next = Task::queued(mutex.lock());
    drop(guard);
    drop(granted);
    assert_eq!(state(&mutex), (true, 0));
    drop(next.ready());
    assert_free(&mutex);
}

fn h01_chosen_then_dropped<P: Platform>() {
    let mutex = Mutex::<_, P>::new(());
    let guard = mutex.try_lock().expect("free");
    let b = Task::queued(mutex.lock());
    let mut c = Task::queued(mutex.lock());
    drop(guard);
    drop(b);
    assert_eq!(c.wakes(), 1);
    drop(c.ready());
    assert_free(&mutex);

    // With only B.
    let guard = mutex.try_lock().expect("free");
    let b = Task::queued(mutex.lock());
    drop(guard);
    drop(b);
    assert_free(&mutex);
}

fn h03_cancel_from_the_middle_keeps_the_order<P: Platform>() {
    let mutex = Mutex::<_, P>::new(());
    let guard = mutex.try_lock().expect("free");
    let mut tasks: Vec<_> = (0..6).map(|_| Some(Task::queued(mutex.lock()))).collect();
    let mut third = tasks[2].take().expect("waits");
    let mut sixth = tasks[5].take().expect("waits");
    third.cancel();
    sixth.cancel();
    assert_eq!(serve(guard, &mut tasks), [0, 1, 3, 4]);
    assert_eq!((third.wakes(), sixth.wakes()), (0, 0));
    assert_free(&mutex);
}

/// The scenario's (c), a deadline that has passed, is with the rules of time.
fn h04_no_barging<P: Platform>() {
    let mutex = Mutex::<_, P>::new(());
    let guard = mutex.try_lock().expect("free");
    let mut b = Task::queued(mutex.lock());
    drop(guard);
    assert!(mutex.try_lock().is_err());
    let mut new = Task::queued(mutex.lock());
    let guard = b.ready();
    assert_eq!((b.wakes(), new.wakes()), (1, 0));
    new.pending();
    drop(guard);
    assert_eq!(new.wakes(), 1);
    drop(new.ready());
    assert_free(&mutex);
}

//! The mutex: M1 to M11, and the scenarios that concern the mutex alone.
//!
//! A guard releases once, since code that releases twice does not compile:
//!
//! ```compile_fail,E0382
//! let mutex = fifolock::Mutex::new(0);
//! let guard = mutex.try_lock().unwrap();
//! drop(guard);
//! drop(guard);
//! ```

mod guards;
mod running;
mod waiting;

use crate::rules;
use crate::tools::{Platform, Slot, Task, panics};
use core::fmt;
use core::future::pending;
use core::marker::PhantomData;
use fifolock_core::Mutex;
use fifolock_core::mutex::MutexGuard;
use guards::*;
use running::*;
use std::sync::Arc;
use waiting::*;

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
    m5_any_waiters_leave_at_once_and_are_never_woken,
    m5_a_waiter_that_leaves_gives_its_waker_back,
    m6_a_dropped_grant_is_passed_on_before_the_drop_returns,
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

/// Data that runs a closure when it is printed.
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

    // A `Debug` implementation that panics releases the lock too.
    when_printed.put(Box::new(|| panic!("can't be printed")));
    assert_eq!(panics(|| format!("{mutex:?}")), "can't be printed");
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

/// Waiters, guards and the lock itself can be dropped while another owner holds the mutex. A drop that waited would
/// never return.
fn m11_no_drop_waits_for_the_mutex<P: Platform>() {
    let mutex = Arc::new(Mutex::<_, P>::new(()));
    let guard = mutex.try_lock().expect("free");
    drop(Task::new(mutex.lock()));
    drop(Task::queued(mutex.lock()));
    drop(Task::queued(Arc::clone(&mutex).lock_owned()));
    drop(Task::queued(mutex.run_exclusive(async |()| ())));
    drop(Task::queued(mutex.lock_until(pending::<()>())));
    assert_eq!(state(&mutex), (true, 0));

    // A granted future is dropped while the next waiter is not polled.
    let granted = Task::queued(mutex.lock());
    let mut next = Task::queued(mutex.lock());
    drop(guard);
    drop(granted);
    assert_eq!(state(&mutex), (true, 0));
    drop(next.ready());
    assert_free(&mutex);
}

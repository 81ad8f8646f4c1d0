//! The rules of time: T1 to T5, on any clock that a test can advance, and the scenarios H02, H04 (c), H05 and H06.
//!
//! The rules that need a manual clock are in [`time_foreign`](crate::time_foreign): when the lock uses the clock, and
//! what a clock that calls back or panics may do. The rules that need no clock are in [`until`](crate::until).

mod edges;
pub(crate) mod fixture;
mod outcome;
mod scenes;
mod wait;

use crate::tools::clock::TestTimer;
use edges::*;
use fifolock_core::RwLock;
use fixture::{Fixture, Op, State};
use outcome::*;
use scenes::*;
use wait::*;

crate::rules! { ($) time_rules in time where TestTimer:
    t1_a_free_lock_is_taken_by_the_first_poll,
    t1_the_time_runs_from_the_first_poll,
    t1_later_polls_do_not_extend_the_time,
    t1_the_holding_is_not_limited,
    t1_run_limits_the_wait_not_the_run,
    t1_run_ends_without_running_when_the_time_is_over,
    t1_the_sleep_is_gone_when_the_future_ends,
    t2_zero_is_refused_and_the_lock_untouched,
    t2_zero_is_refused_by_run,
    t2_the_smallest_duration_is_not_zero,
    t2_a_past_deadline_is_one_attempt,
    t2_a_past_deadline_does_not_pass_readers_by_a_writer,
    t3_a_duration_past_the_clocks_end_waits_for_ever,
    t3_a_far_deadline_waits,
    t4_a_grant_in_time_wins_however_late_the_poll,
    t4_a_grant_after_the_deadline_but_before_the_poll_wins,
    t4_elapsed_is_out_of_the_queue,
    t4_elapsed_in_the_middle_keeps_the_order,
    t4_a_late_drop_passes_the_grant_on,
    t4_an_elapsed_writer_lets_the_readers_in,
    t4_an_elapsed_writer_lets_nobody_past_another_writer,
    t4_an_elapsed_writer_lets_nobody_past_a_holder,
    t4_an_elapsed_writer_lets_in_as_many_as_there_is_room_for,
    t4_an_elapsed_upgradable_reader_lets_in_whom_it_kept_out,
    t4_a_reader_timing_out_while_its_batch_is_marked_has_one_outcome,
    t4_an_error_says_what_it_waited_for,
    t4_a_finished_future_panics_when_polled,
    t5_a_timed_out_waiter_is_never_granted_and_never_woken,
    k1_the_newest_waker_is_woken_by_lock_and_timer,
    h02_a_queued_writer_times_out_under_a_reader,
    h04_c_no_barging_by_a_late_deadline,
    h05_1_granted_then_late,
    h05_2_late_then_granted,
    h05_3_late_and_polled_then_granted,
    h06_a_zero_on_a_free_lock,
}

const OWNED: State = State { owners: 1, waiters: 0 };
const CONTENDED: State = State { owners: 1, waiters: 1 };

/// `write_timeout` or `write_deadline` of 10 ms on the fixture's lock.
fn every_write<P: TestTimer>(rule: impl Fn(&Fixture<P>, &RwLock<u32, P>)) {
    Fixture::<P>::each(|op, _| op == Op::Write, |f| rule(f, &f.rwlock));
}

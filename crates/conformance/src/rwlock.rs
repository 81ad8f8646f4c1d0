//! The rules of the read-write lock: W1 to W9, the conversions of guards (F18), and the scenario H02 (by drop).
//!
//! W8 takes M5 to M10 over from the mutex. The part of W8 about locks that let in one guard at a time is with the
//! [`mutex`](crate::mutex). Most rules run in both forms, with borrowed and with owned futures and guards.

mod batch;
mod downgrade;
mod enter;
mod guards;
mod leave;
mod limit;
mod waiting;
mod window;

use crate::rules_in_forms;
use crate::tools::form::Form;
use crate::tools::{Platform, Task};
use fifolock_core::RwLock;
use std::sync::Arc;

/// The data of the locks.
#[derive(Debug, Default, PartialEq)]
struct Data {
    left: u32,
    right: u32,
}

fn new_lock<P: Platform>() -> Arc<RwLock<Data, P>> {
    Arc::default()
}

fn new_limited<P: Platform>(max_readers: u32) -> Arc<RwLock<Data, P>> {
    Arc::new(RwLock::with_max_readers(Data::default(), max_readers))
}

/// Readers and writer inside; waiting readers and writers.
type Counts = (usize, bool, usize, usize);

const FREE: Counts = (0, false, 0, 0);

fn counts<T, P: Platform>(lock: &RwLock<T, P>) -> Counts {
    let state = lock.state();
    (state.readers, state.writer, state.waiting_readers, state.waiting_writers)
}

/// Asserts that the lock is free, and that every operation succeeds.
#[track_caller]
fn assert_free<P: Platform>(lock: &Arc<RwLock<Data, P>>) {
    assert_eq!(counts(lock), FREE);
    assert!(lock.try_write().is_ok(), "a free lock can be written");
    assert!(lock.try_read().is_ok(), "a free lock can be read");
    assert_eq!(Arc::strong_count(lock), 1, "an owned future or guard is left");
}

/// Asserts that a newcomer of either kind fails.
#[track_caller]
fn assert_shut<P: Platform>(lock: &Arc<RwLock<Data, P>>) {
    assert!(lock.try_read().is_err(), "try_read barges");
    assert!(lock.try_write().is_err(), "try_write barges");
    assert!(Arc::clone(lock).try_read_owned().is_err(), "try_read_owned barges");
    assert!(Arc::clone(lock).try_write_owned().is_err(), "try_write_owned barges");
}

/// Whether each of the tasks was woken `times` times.
fn all_woken<F: Future>(tasks: &[Task<F>], times: usize) -> bool {
    tasks.iter().all(|task| task.wakes() == times)
}

rules_in_forms! {
    ($) rwlock_rules in rwlock
    both forms {
        enter:
            w1_readers_enter_together_if_no_writer_holds_or_waits,
            w1_reader_queues_behind_a_writer_that_holds,
            w1_reader_queues_behind_a_writer_that_waits,
            w2_writer_enters_a_free_lock,
            w2_writer_queues_while_anyone_holds,
            w2_writer_queues_behind_earlier_writers,
            w2_writer_queues_behind_a_granted_batch,
            w3_last_reader_hands_over_to_the_head_writer,
            w3_unclaimed_last_reader_hands_over_too,
            w9_writers_without_a_pause_keep_readers_waiting;
        batch:
            w4_next_writer_goes_before_a_reader_that_has_waited_longer,
            w4_writers_hand_over_from_one_to_the_next,
            w4_all_waiting_readers_enter_in_one_batch,
            w4_batch_of_several_chunks_enters_by_one_release,
            w4_no_writer_enters_before_the_whole_batch_has_left,
            w4_unclaimed_writer_that_is_dropped_admits_the_batch;
        leave:
            w5_last_waiting_writer_that_is_dropped_admits_the_readers,
            w5_last_waiting_writer_that_gives_up_admits_the_readers,
            w5_admits_a_batch_of_several_chunks,
            w5_admits_as_many_as_there_is_room_for,
            w5_nobody_enters_while_another_writer_waits,
            w5_nobody_enters_while_a_writer_holds,
            w5_nobody_enters_while_a_granted_writer_is_unclaimed,
            w5_unpolled_writer_keeps_nobody_out,
            h02_queued_writer_is_dropped_under_a_reader;
        downgrade:
            w6_downgrade_admits_all_waiting_readers,
            w6_downgrade_admits_a_batch_of_several_chunks,
            w6_downgrade_admits_nobody_while_a_writer_waits,
            w6_downgrade_admits_as_many_as_there_is_room_for,
            w6_downgrade_without_waiters_lets_readers_in_and_no_writer,
            w6_downgraded_reader_that_leaves_hands_over;
        limit:
            w7_reader_beyond_the_limit_queues,
            w7_reader_beyond_the_limit_enters_when_one_leaves,
            w7_reader_beyond_the_limit_stays_out_while_a_writer_waits,
            w7_batch_admits_what_there_is_room_for,
            w7_waiter_at_the_limit_that_is_dropped_takes_no_share,
            w7_unclaimed_share_that_is_dropped_goes_to_the_next,
            w7_limit_of_one_serves_readers_in_order;
        waiting:
            w8_m5_dropped_readers_leave_from_anywhere,
            w8_m6_dropped_batch_admits_the_next_writer,
            w8_m6_part_of_the_batch_is_dropped,
            w8_m7_guards_release_once_also_on_panic,
            w8_m9_a_task_that_locks_twice_waits_for_itself,
            w8_m10_snapshots_are_right_at_once;
        guards:
            f18_read_map_keeps_the_share,
            f18_read_try_map_refused_gives_the_guard_back,
            f18_read_map_that_panics_gives_the_share_back_once,
            f18_write_map_keeps_the_lock,
            f18_write_try_map_refused_gives_the_guard_back,
            f18_write_map_that_panics_releases_once,
            f18_downgrade_keeps_the_value,
            f18_downgrade_map_admits_waiting_readers,
            f18_downgrade_map_that_panics_releases_once,
            f18_try_downgrade_map_admits_waiting_readers,
            f18_try_downgrade_map_refused_is_still_for_writing,
            f18_try_downgrade_map_that_panics_releases_once,
            f18_mapped_guards_hand_over;
    }
    once {
        enter:
            w2_owner_of_the_lock_needs_no_guard,
            w3_lock_is_not_free_while_the_last_reader_wakes_the_writer;
        window:
            w4_shares_are_reserved_before_the_first_wake,
            w4_member_polled_before_its_mark_is_pending_and_then_woken,
            w4_member_dropped_before_its_mark_gives_its_share_back,
            w4_member_marked_and_dropped_before_its_wake_gives_its_share_back,
            w4_reader_that_comes_during_marking_enters_if_no_writer_waits,
            w4_reader_that_comes_behind_a_writer_during_marking_does_not_join,
            w4_reader_behind_the_ticket_that_leaves_gives_no_share_back,
            w4_writer_that_leaves_during_marking_admits_the_readers_behind_the_ticket,
            w4_members_all_dropped_during_marking_admit_the_writer,
            w4_member_that_leaves_during_marking_admits_the_writer_last,
            w4_random_drops_during_marking,
            w7_member_dropped_before_its_mark_leaves_its_share_to_the_next,
            w7_share_given_back_during_marking_goes_to_a_waiting_reader,
            w7_reader_that_comes_during_marking_waits_for_room,
            w5_during_a_drop_a_new_writer_waits_for_the_batch,
            w6_downgrade_is_a_reader_before_it_wakes;
        limit:
            w7_limits_out_of_range_are_refused,
            w7_forgotten_guards_never_let_a_writer_in,
            w7_forgotten_guards_do_not_wrap_the_count;
        waiting:
            w8_m10_debug_never_waits,
            w8_m10_debug_holds_a_share_while_it_prints;
        guards:
            f18_guards_name_their_lock;
    }
}

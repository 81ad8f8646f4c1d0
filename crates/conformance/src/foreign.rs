//! The K rules about foreign code and memory, for the mutex and both sides of the read-write lock.
//!
//! The parts of K4 and K9 that concern raw locks are in [`raw`](crate::raw). The rules that need threads or an
//! allocator of their own are in `tests/`.

mod drops;
mod kind;
mod memory;
mod panics;
mod wakers;

use crate::rules;
use crate::tools::Platform;
use drops::*;
use memory::*;
use panics::*;
use wakers::*;

rules! { ($) foreign_rules in foreign where Platform:
    k1_the_newest_waker_is_the_one_woken,
    k1_a_waker_that_comes_back_is_woken,
    k1_a_new_waker_keeps_the_place,
    k1_a_granted_waiter_may_be_claimed_with_any_waker,
    k2_wakers_may_call_back,
    k2_closures_and_data_run_outside,
    k3_a_waiter_whose_waker_panics_was_granted,
    k3_a_waker_that_panics_when_a_grant_is_passed_on,
    k3_a_waker_that_panics_in_a_batch_keeps_nobody_from_being_woken,
    k3_a_waker_whose_drop_panics_in_a_batch_keeps_nobody_from_being_woken,
    k3_a_waker_that_panics_when_readers_join_or_a_writer_leaves,
    k3_a_clone_that_panics_changes_nothing,
    k3_an_old_waker_whose_drop_panics_was_replaced,
    k3_a_waiter_whose_waker_panics_when_it_leaves_has_left,
    k3_a_first_poll_that_panics_as_owner_gives_the_ownership_back,
    k3_a_later_poll_that_panics_as_owner_gives_the_ownership_back,
    k5_a_forgotten_mutex_guard_keeps_it_locked,
    k5_a_forgotten_waiter_of_a_mutex_leaves_memory_valid,
    k5_a_forgotten_grant_of_a_mutex_keeps_it_locked,
    k5_forgotten_read_and_write_guards_keep_their_shares,
    k5_forgotten_waiters_of_a_rwlock_leave_memory_valid,
    k5_a_forgotten_member_of_a_batch_keeps_its_share,
    k5_a_forgotten_future_that_was_not_polled_has_no_effect,
    k5_the_releaser_touches_nothing_of_the_waiter,
    k5_an_owned_guard_drops_its_arc_last,
    k10_a_cancelled_run_drops_the_users_future_before_it_releases,
    k10_a_finished_run_drops_the_users_future_before_it_releases,
    k10_a_map_that_panics_releases_a_mutex_once,
    k10_a_map_that_panics_gives_the_arc_back,
    h07_waker_replaced,
    h08_wakers_that_call_back,
}

//! The rescue: R1 to R8, R10 and R11 (`docs/CONTRACT.md`). R9 is about time: [`timed`]. R0 is about programs of tasks,
//! which `crates/model` runs.
//!
//! A task is a waker (`Actor`) with as many futures as a rule needs. A *parked* future is granted, and its task does
//! not poll it.

mod cross;
pub(crate) mod fixture;
mod foreign;
mod harm;
mod many;
mod place;
mod serial;
pub mod timed;

use crate::rules;
use crate::tools::Platform;
use cross::*;
use foreign::*;
use harm::*;
use many::*;
use place::*;
use serial::*;

rules! { ($) rescue_rules in rescue where Platform:
    r1_the_first_poll_notes_and_wakes_and_the_next_rescues,
    r1_a_new_grant_is_noted_anew,
    r1_a_grant_to_the_same_future_is_noted_anew,
    r1_a_claim_in_between_ends_it,
    r1_without_another_poll_nothing_is_robbed,
    r1_a_waiter_that_was_queued_before_the_grant_rescues,
    r2_the_robbed_future_is_claimed_in_its_turn,
    r2_the_robbed_future_is_dropped_while_it_waits,
    r2_the_robbed_future_is_dropped_before,
    r2_the_robbed_future_is_forgotten,
    r2_the_robber_is_dropped_after_its_note,
    r2_robbed_again_and_again,
    r2_a_robbed_future_robs_back,
    r2_wakers_are_given_back,
    r3_places_are_swapped_wherever_the_robber_stands,
    r3_readers_of_a_batch_swap_with_one_that_waits_for_room,
    r4_a_share_that_robs_the_write_lock_has_it_at_once,
    r4_a_robbed_writer_goes_to_the_tail,
    r1_a_grant_that_is_of_no_use_is_not_noted,
    r4_shares_of_the_other_kind_rob_each_other,
    r5_a_write_that_robs_a_share_gives_it_back,
    r5_a_write_that_robs_waits_for_other_readers,
    r5_the_policy_chooses_who_is_next,
    r5_a_write_robs_every_share_of_its_task,
    r5_an_upgrade_robs_a_share,
    r5_an_upgrade_robs_every_share_of_its_task,
    r5_an_upgradable_read_that_waits_for_another_takes_nothing,
    r5_an_upgradable_read_steals_once_the_other_one_has_left,
    r7_a_bystander_has_its_turn,
    r1_a_reader_of_a_later_chunk_robs_nobody,
    r8_one_among_many_is_found,
    r8_two_tasks_with_two_parked_shares_each_find_them,
    r8_readers_that_have_claimed_cost_no_look,
    r10_other_tasks_are_never_robbed,
    r10_a_granted_upgrade_is_passed_by_reads_only,
    r10_no_foreign_code_inside_a_section,
    r10_wakers_that_lock_the_same_lock,
    r10_a_waker_whose_wake_panics_keeps_the_rest,
    r10_a_waker_whose_drop_panics_keeps_the_rest,
    r10_a_waker_whose_clone_panics_keeps_the_rest,
    p3_adjacent_readers_enter_although_the_first_upgrades_in_its_wake,
    w5_all_readers_are_woken_although_a_waker_polls_amid_the_batch,
    w4_all_readers_are_woken_although_a_waker_polls_amid_the_batch,
    r10_a_new_waker_at_the_address_of_one_that_is_gone_may_steal,
    r11_without_the_rescue_a_parked_grant_is_waited_for,
    r11_two_platforms_on_one_lock,
}

//! Upgradable reads: U1 to U6 (`docs/CONTRACT.md`), in both forms, under each policy. Upgrades with limits are in
//! [`limited`]. Reads with limits are among the rules of [`time`](crate::time), and threads that block are in `tests/`.

mod cancel;
mod downgrade;
pub mod limited;
mod turns;
mod upgrade;

use crate::rules_in_forms;
use crate::tools::Platform;
use crate::tools::subject::{Case, POLICIES};
use fifolock_core::RwLock;
use fifolock_core::rwlock::RwLockPolicy;
use std::sync::Arc;

rules_in_forms! {
    ($) upgradable_rules in upgradable
    both forms {
        turns:
            u1_one_upgradable_reader_at_a_time,
            u1_plain_readers_come_and_go_beside_it,
            u1_a_guard_gives_its_share_and_its_arc_back,
            u2_its_turn_is_among_writers,
            u2_waiting_for_another_one_it_keeps_only_those_behind_it_out,
            u2_a_newcomer_between_two_chunks_passes_nobody;
        upgrade:
            u3_an_upgrade_goes_before_queued_writers,
            u3_no_new_reader_enters_before_an_upgrade,
            u3_what_was_read_is_still_so,
            u3_an_upgrade_of_the_only_reader_is_ready_at_once,
            u3_an_upgrade_where_there_is_room_for_one,
            u3_after_the_upgrade_the_policy_goes_on,
            u6_try_upgrade,
            u6_an_upgrade_polled_again_keeps_its_place;
        cancel:
            u4_an_upgrade_that_was_never_polled_gives_its_share_back,
            u4_a_queued_upgrade_that_is_dropped_lets_in_whom_it_kept_out,
            u4_a_granted_upgrade_that_is_dropped_passes_the_lock_on,
            u4_a_forgotten_upgrade_keeps_its_share,
            u4_a_waiting_upgradable_read_that_is_dropped_leaves;
        downgrade:
            u5_a_downgrade_lets_the_next_upgradable_reader_in,
            u5_a_writer_becomes_the_upgradable_reader,
            u5_never_two_owners_or_none;
    }
    once {}
}

/// Readers, upgradable, writer; waiting readers, upgradable readers, writers.
type Counts = (usize, bool, bool, usize, usize, usize);

const FREE: Counts = (0, false, false, 0, 0, 0);

fn counts<P: Platform>(lock: &RwLock<u32, P>) -> Counts {
    let state = lock.state();
    (
        state.readers,
        state.upgradable,
        state.writer,
        state.waiting_readers,
        state.waiting_upgradable,
        state.waiting_writers,
    )
}

#[track_caller]
fn assert_free<P: Platform>(lock: &Arc<RwLock<u32, P>>) {
    assert_eq!(counts(lock), FREE);
    assert!(lock.try_write().is_ok() && lock.try_read().is_ok() && lock.try_upgradable_read().is_ok());
    assert_eq!(Arc::strong_count(lock), 1, "an owned future or guard is left");
}

/// Runs the rule on a lock of each policy. At the end the lock must be free.
fn each<P: Platform>(rule: impl Fn(&Arc<RwLock<u32, P>>, RwLockPolicy)) {
    each_with(RwLock::<u32, P>::MAX_READERS, rule);
}

#[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
fn each_with<P: Platform>(most: u32, rule: impl Fn(&Arc<RwLock<u32, P>>, RwLockPolicy)) {
    for policy in POLICIES {
        let _case = Case(policy);
        let lock = Arc::new(RwLock::with_policy_and_max_readers(0, policy, most));
        rule(&lock, policy);
        assert_free(&lock);
    }
}

//! The policies of the read-write lock: P1 to P6 (`docs/CONTRACT.md`).

mod handoff;
mod phase_fair;
mod task_fair;

use crate::rescue::fixture::{Actor, Op, Subject};
use crate::rules;
use crate::tools::Platform;
use handoff::*;
use phase_fair::*;
use task_fair::*;

rules! { ($) policy_rules in policies where Platform:
    p1_a_waiting_writer_keeps_readers_out_and_writers_follow_each_other,
    p1_is_the_default,
    p2_turns_come_in_order_of_arrival,
    p2_a_newcomer_enters_only_if_nobody_is_queued,
    p3_adjacent_readers_enter_together,
    p3_cancellations_bring_readers_together,
    p3_a_newcomer_between_two_chunks_queues,
    p4_all_readers_that_wait_enter_after_a_writer,
    p4_readers_beyond_the_room_wait_for_the_next_turn,
    p4_a_downgrade_lets_the_readers_in,
    p4_a_granted_writer_that_is_dropped_lets_the_readers_in,
    p4_the_last_reader_lets_the_next_writer_in,
    p5_a_reader_waits_for_one_writer,
    p5_a_writer_waits_for_the_readers_inside,
    p6_h01_chosen_then_dropped,
    p6_h02_the_last_blocker_leaves,
    p6_h09_reader_batch,
    p6_h10_overlapping_readers_do_not_starve_a_writer,
    p6_h11_downgrade,
    p6_no_gap_in_a_hand_off,
    p6_the_limit_of_readers,
    p6_cancelled_anywhere,
}

/// The names of the tasks that are woken and then ready, in the order of their turns. Each task releases before the
/// next turn.
#[track_caller]
fn serve<'a>(waiting: &mut Vec<(char, &'a Actor, crate::rescue::fixture::Hidden<'a>)>) -> String {
    let mut turns = String::new();
    while !waiting.is_empty() {
        let woken: Vec<_> = (0..waiting.len()).filter(|n| waiting[*n].1.is_woken()).collect();
        if woken.is_empty() {
            break;
        }
        turns.push(' ');
        // All waiters that were let in together are inside together.
        let mut inside = Vec::new();
        for n in woken.into_iter().rev() {
            let (name, actor, mut future) = waiting.remove(n);
            inside.push(actor.served(&mut future));
            turns.insert(turns.rfind(' ').map_or(0, |at| at + 1), name);
        }
        drop(inside);
    }
    turns.trim().to_owned()
}

/// Queues a waiter for each letter: `r` reads, `w` writes, `u` reads upgradably. The waiters are named with letters
/// from `a` on.
#[track_caller]
fn queue<'a, P: Platform>(
    subject: &'a Subject<P>,
    actors: &'a [Actor],
    kinds: &str,
) -> Vec<(char, &'a Actor, crate::rescue::fixture::Hidden<'a>)> {
    let of = |kind| match kind {
        'r' => Op::Read,
        'w' => Op::Write,
        _ => Op::Upgradable,
    };
    let names = 'a'..='z';
    kinds
        .chars()
        .zip(names)
        .zip(actors)
        .map(|((kind, name), actor)| (name, actor, actor.queue(subject.op(of(kind)))))
        .collect()
}

/// The turns after a holder of this kind has left.
#[track_caller]
fn turns<P: Platform>(subject: &Subject<P>, holder: Op, kinds: &str) -> String {
    let actors = Actor::many(kinds.len());
    let held = subject.hold(holder);
    let mut waiting = queue(subject, &actors, kinds);
    drop(held);
    let turns = serve(&mut waiting);
    assert!(waiting.is_empty(), "waiters are left: {turns}");
    subject.assert_over();
    turns
}

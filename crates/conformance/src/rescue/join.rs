//! Combinators that poll every child in each round (R6): the order is as if there were no rescue.

use super::fixture::{Actor, Hidden, Op, Subject, each_serial};
use crate::tools::Platform;
use crate::tools::Random;
use core::task::Poll;

/// A task that polls all of its futures whenever it is woken. Who is ready lets go at once.
struct Join<'a> {
    task: Actor,
    children: Vec<(usize, Hidden<'a>)>,
}

impl Join<'_> {
    /// A round. `turn`: how far the order of the children is turned.
    fn round(&mut self, turn: usize, served: &mut Vec<usize>) {
        let children = self.children.len();
        let mut ready = Vec::new();
        for n in 0..children {
            let (name, child) = &mut self.children[(n + turn) % children];
            if let Poll::Ready(guard) = self.task.poll(child) {
                served.push(*name);
                ready.push(*name);
                drop(guard);
            }
        }
        self.children.retain(|(name, _)| !ready.contains(name));
    }
}

/// Tasks with up to four futures each, queued in a random order, are polled when they are woken. Returns how they were
/// served: in order of queueing, the numbers go up.
fn served<P: Platform>(subject: &Subject<P>, op: Op, seed: u64, turned: bool) -> Vec<usize> {
    let mut random = Random::new(seed);
    let mut tasks: Vec<_> = (0..3).map(|_| Join { task: Actor::new(), children: Vec::new() }).collect();
    let held = subject.hold(op);
    let futures = 4 + random.below(6);
    for name in 0..futures {
        let join = &mut tasks[random.below(3)];
        let child = join.task.queue(subject.op(op));
        // The order of the polls is another than that of queueing.
        let at = random.below(join.children.len() + 1);
        join.children.insert(at, (name, child));
    }
    let mut held = Some(held);
    let mut served = Vec::new();
    let mut rounds = 0;
    let mut idle = false;
    while served.len() < futures {
        rounds += 1;
        assert!(rounds < 1000, "it hangs");
        if rounds == 3 {
            held = None;
        }
        let woken: Vec<_> = (0..3).filter(|n| tasks[*n].task.woken() > 0).collect();
        assert!(held.is_some() || !woken.is_empty() || !idle, "it hangs: {served:?}");
        idle = woken.is_empty();
        for n in woken {
            tasks[n].round(if turned { rounds } else { 0 }, &mut served);
        }
        if held.is_some() {
            // Polls that nothing asked for.
            tasks[random.below(3)].round(rounds, &mut served);
        }
    }
    drop(tasks);
    subject.assert_over();
    served
}

pub(super) fn r6_children_polled_in_one_order_keep_theirs<P: Platform>() {
    each_serial::<P>(|subject, op| {
        for seed in 0..40 {
            let served = served(subject, op, seed, false);
            assert!(served.is_sorted(), "seed {seed}: {served:?}");
        }
    });
}

/// As `tokio::join!` does it, which begins each round with the next child: there a later child of the same task may be
/// served before an earlier one, and each is served once.
pub(super) fn r6_children_polled_in_another_order_each_round_are_all_served<P: Platform>() {
    each_serial::<P>(|subject, op| {
        for seed in 0..40 {
            let mut served = served(subject, op, seed, true);
            served.sort_unstable();
            assert!(served.iter().copied().eq(0..served.len()), "seed {seed}: {served:?}");
        }
    });
}

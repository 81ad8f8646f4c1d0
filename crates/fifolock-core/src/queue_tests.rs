//! The queue without a lock: one thread, so all of a test is one section.

extern crate std;

use super::*;
use std::boxed::Box;
use std::sync::Arc;
use std::task::Wake;
use std::vec;
use std::vec::Vec;

/// Wakes nobody; its count of owners tells who keeps it.
struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

/// A waiter with its waker, and what happened to it.
struct Member {
    waiter: Pin<Box<Waiter>>,
    owners: Arc<Nobody>,
}

impl Member {
    fn new() -> Self {
        Self { waiter: Box::pin(Waiter::new(Place::here())), owners: Arc::new(Nobody) }
    }

    fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.owners))
    }

    fn node(&self) -> Node {
        Node::of(self.waiter.as_ref())
    }

    /// How many wakers the queue keeps, or has handed out.
    fn wakers(&self) -> usize {
        Arc::strong_count(&self.owners) - 1
    }
}

/// Waiters by number, and the queue that they go through.
struct Bench {
    members: Vec<Member>,
    queue: WaitQueue,
    granted: GrantedSet,
}

impl Bench {
    fn new(members: usize) -> Self {
        Self {
            members: (0..members).map(|_| Member::new()).collect(),
            queue: WaitQueue::new(),
            granted: GrantedSet::new(),
        }
    }

    /// A bench whose members are queued in order.
    fn queued(members: usize) -> Self {
        let mut bench = Self::new(members);
        (0..members).for_each(|i| bench.push(i));
        bench
    }

    fn push(&mut self, i: usize) {
        let waker = self.members[i].waker();
        // SAFETY: one section; a bench unlinks its members, or drops them together with the queue.
        unsafe { self.queue.push(self.members[i].waiter.as_ref(), waker, i as u32 + 100) };
    }

    fn leave(&mut self, i: usize) -> Waker {
        // SAFETY: one section; the tests name queued members.
        unsafe { self.queue.leave(self.members[i].waiter.as_ref()) }
    }

    fn grant_first(&mut self) -> Option<(usize, Waker)> {
        let (node, waker) = self.queue.grant_first()?;
        Some((self.number(node), waker))
    }

    fn number(&self, node: Node) -> usize {
        self.members.iter().position(|member| member.node() == node).expect("a member")
    }

    /// The members of a ring from the head, which must be the same backwards, as far as there are any.
    fn members_of(&self, ring: &Ring) -> Vec<usize> {
        let Some(head) = ring.head() else { return Vec::new() };
        let walk = |step: fn(Links) -> *const Waiter| {
            let mut walked = Vec::new();
            let mut node = head;
            loop {
                walked.push(self.number(node));
                assert!(walked.len() <= self.members.len(), "the ring does not close");
                // SAFETY: linked members are alive as long as the bench.
                let next = step(unsafe { node.waiter() }.links());
                node = Node(NonNull::new(next.cast_mut()).expect("linked"));
                if node == head {
                    return walked;
                }
            }
        };
        let forwards = walk(|links| links.next);
        let mut backwards = walk(|links| links.prev);
        backwards[1..].reverse();
        assert_eq!(forwards, backwards);
        forwards
    }

    fn waiting(&self) -> Vec<usize> {
        self.members_of(&self.queue.0)
    }

    fn granted(&self) -> Vec<usize> {
        self.members_of(&self.granted.0)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // A waiter's waker is dropped by who takes it out.
        while self.queue.grant_first().is_some() {}
    }
}

/// All orders of `0..n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let Some(last) = n.checked_sub(1) else { return vec![Vec::new()] };
    let with_last = |order: Vec<usize>| {
        (0..n).map(move |at| {
            let mut order = order.clone();
            order.insert(at, last);
            order
        })
    };
    orders(last).into_iter().flat_map(with_last).collect()
}

#[test]
fn an_empty_queue_grants_nobody() {
    let mut bench = Bench::new(0);
    // []
    assert!(bench.grant_first().is_none());
    assert_eq!(bench.waiting(), []);
}

#[test]
fn waiters_are_granted_in_the_order_in_which_they_came() {
    let mut bench = Bench::queued(3);
    // [0 1 2]
    assert_eq!(bench.waiting(), [0, 1, 2]);
    // [1 2] ^0
    assert_eq!(bench.grant_first().map(|(i, _)| i), Some(0));
    assert_eq!(bench.waiting(), [1, 2]);
    // [2] ^1
    assert_eq!(bench.grant_first().map(|(i, _)| i), Some(1));
    assert_eq!(bench.waiting(), [2]);
    // [] ^2
    assert_eq!(bench.grant_first().map(|(i, _)| i), Some(2));
    assert_eq!(bench.waiting(), []);
    assert!(bench.grant_first().is_none());
}

#[test]
fn a_newcomer_goes_last_after_anyone_left() {
    let mut bench = Bench::new(6);
    bench.push(3);
    bench.push(0);
    // [3 0]
    drop(bench.leave(0));
    // [3] ^0
    bench.push(4);
    // [3 4]
    drop(bench.leave(3));
    // [4] ^3
    bench.push(1);
    // [4 1]
    assert_eq!(bench.waiting(), [4, 1]);
    drop(bench.grant_first());
    // [1] ^4
    bench.push(5);
    bench.push(2);
    // [1 5 2]
    assert_eq!(bench.waiting(), [1, 5, 2]);
}

#[test]
fn any_waiter_can_leave_from_anywhere_in_any_order() {
    for order in orders(4) {
        let mut bench = Bench::queued(4);
        let mut rest: Vec<_> = (0..4).collect();
        // [0 1 2 3], [0 1 3] ^2, …
        for i in order {
            drop(bench.leave(i));
            rest.retain(|&other| other != i);
            assert_eq!(bench.waiting(), rest);
        }
    }
}

#[test]
fn leaving_and_coming_touch_the_neighbours_only() {
    let mut bench = Bench::queued(6);
    // [0 1 2 3 4 5], but who walks on from 1, or back from 5, never meets 2, 3 or 4.
    let at = |bench: &Bench, i: usize| bench.members[i].node().as_ptr().cast_const();
    let (first, last) = (at(&bench, 0), at(&bench, 5));
    bench.members[1].waiter.set_next(last);
    bench.members[5].waiter.set_prev(at(&bench, 1));
    bench.members[0].waiter.set_next(last);
    drop(bench.leave(3));
    // [0 1 2 4 5] ^3
    assert!(ptr::eq(bench.members[2].waiter.links().next, at(&bench, 4)));
    assert!(ptr::eq(bench.members[4].waiter.links().prev, at(&bench, 2)));
    assert!(ptr::eq(bench.members[0].waiter.links().next, last), "a stranger's links were changed");
    assert!(ptr::eq(bench.members[1].waiter.links().next, last), "a stranger's links were changed");

    // The same for a newcomer: [0 … 5 6].
    bench.members.push(Member::new());
    bench.push(6);
    let links = bench.members[6].waiter.links();
    assert!(ptr::eq(links.prev, last) && ptr::eq(links.next, first));
    assert!(ptr::eq(bench.members[5].waiter.links().next, at(&bench, 6)));
    assert!(ptr::eq(bench.members[0].waiter.links().prev, at(&bench, 6)));

    for (i, next) in [(0, 1), (1, 2)] {
        bench.members[i].waiter.set_next(at(&bench, next));
    }
    bench.members[5].waiter.set_prev(at(&bench, 4));
    assert_eq!(bench.waiting(), [0, 1, 2, 4, 5, 6]);
}

#[test]
fn a_grant_marks_the_waiter_and_hands_out_its_waker() {
    let mut bench = Bench::queued(2);
    assert!(bench.members.iter().all(|member| !member.waiter.is_granted()));
    let (granted, waker) = bench.grant_first().expect("two wait");
    // [1] ^0
    assert_eq!(granted, 0);
    assert!(bench.members[0].waiter.is_granted() && !bench.members[1].waiter.is_granted());
    assert!(waker.will_wake(&bench.members[0].waker()));
    assert_eq!((bench.members[0].wakers(), bench.members[1].wakers()), (1, 1));
    drop(waker);
    assert_eq!((bench.members[0].wakers(), bench.members[1].wakers()), (0, 1));
    // It is still its owner's: the lock does not say when it is done.
    assert_eq!(bench.members[0].waiter.stage(), Stage::Queued);
}

#[test]
fn a_waiter_that_leaves_takes_its_own_waker_along() {
    let mut bench = Bench::queued(3);
    let waker = bench.leave(1);
    // [0 2] ^1
    assert!(waker.will_wake(&bench.members[1].waker()));
    assert_eq!(bench.members[1].wakers(), 1);
    drop(waker);
    assert_eq!(bench.members[1].wakers(), 0);
    assert!(!bench.members[1].waiter.is_granted());
    assert_eq!((bench.members[0].wakers(), bench.members[2].wakers()), (1, 1));
}

#[test]
fn a_replaced_waker_comes_back() {
    let mut bench = Bench::queued(2);
    let other = Arc::new(Nobody);
    let waker = Waker::from(Arc::clone(&other));
    assert!(!bench.members[0].waiter.will_wake(&waker));
    assert!(bench.members[0].waiter.will_wake(&bench.members[0].waker()));
    // SAFETY: one section, and it waits.
    let old = unsafe { bench.queue.replace_waker(bench.members[0].waiter.as_ref(), waker.clone()) };
    assert!(old.will_wake(&bench.members[0].waker()));
    assert!(bench.members[0].waiter.will_wake(&waker));
    drop((old, waker));
    assert_eq!((bench.members[0].wakers(), Arc::strong_count(&other)), (0, 2));
    // [0 1]
    assert_eq!(bench.waiting(), [0, 1], "it kept its place");
    let (_, granted) = bench.grant_first().expect("two wait");
    assert!(granted.will_wake(&Waker::from(Arc::clone(&other))));
    drop(granted);
    assert_eq!(Arc::strong_count(&other), 1);
}

#[test]
fn a_waiter_knows_its_last_waker_after_that_was_taken() {
    let mut bench = Bench::queued(1);
    let taken = bench.grant_first();
    assert!(bench.members[0].waiter.will_wake(&bench.members[0].waker()));
    assert!(!bench.members[0].waiter.will_wake(&Member::new().waker()));
    drop(taken);
}

#[test]
fn stages_go_from_idle_to_queued_to_done() {
    let mut bench = Bench::new(1);
    assert_eq!(bench.members[0].waiter.stage(), Stage::Idle);
    bench.push(0);
    assert_eq!(bench.members[0].waiter.stage(), Stage::Queued);
    bench.members[0].waiter.set_done();
    assert_eq!(bench.members[0].waiter.stage(), Stage::Done);
}

#[test]
fn a_waiter_keeps_the_ticket_that_it_was_queued_with() {
    let mut bench = Bench::queued(3);
    drop(bench.leave(1));
    for i in [0, 2] {
        // SAFETY: one section.
        assert_eq!(unsafe { bench.members[i].waiter.ticket() }, i as u32 + 100);
    }
}

#[test]
fn granted_waiters_leave_their_set_in_any_order() {
    for order in orders(4) {
        let mut bench = Bench::queued(5);
        for _ in 0..4 {
            let (node, _waker) = bench.queue.grant_first().expect("five wait");
            // SAFETY: granted in this section.
            unsafe { bench.granted.insert(node) };
        }
        // [4], and {0 1 2 3}
        assert_eq!((bench.waiting(), bench.granted()), (vec![4], vec![0, 1, 2, 3]));
        let mut rest: Vec<_> = (0..4).collect();
        for i in order {
            // SAFETY: one section, and it is in the set.
            unsafe { bench.granted.remove(bench.members[i].waiter.as_ref()) };
            rest.retain(|&other| other != i);
            assert_eq!((bench.waiting(), bench.granted()), (vec![4], rest.clone()));
        }
    }
}

/// Some thousand random steps, beside a list that does the same.
#[test]
fn the_queue_does_what_a_list_does() {
    const MEMBERS: usize = if cfg!(miri) { 60 } else { 400 };
    let mut bench = Bench::new(0);
    let mut list = Vec::new();
    let mut seed = 1_u32;
    let mut below = |limit: usize| {
        // A multiplicative generator: the high bits are good enough.
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % limit
    };
    let mut kept = Vec::new();
    while bench.members.len() < MEMBERS {
        match below(5) {
            0..=2 if list.len() < 20 => {
                let i = bench.members.len();
                bench.members.push(Member::new());
                bench.push(i);
                list.push(i);
            }
            3 if !list.is_empty() => {
                let i = list.remove(below(list.len()));
                kept.push((i, bench.leave(i)));
            }
            _ => {
                let expected = (!list.is_empty()).then(|| list.remove(0));
                let granted = bench.grant_first();
                assert_eq!(granted.as_ref().map(|(i, _)| *i), expected);
                kept.extend(granted);
            }
        }
        assert_eq!(bench.waiting(), list);
    }
    for (i, waker) in kept.drain(..) {
        assert!(waker.will_wake(&bench.members[i].waker()));
    }
    for (i, member) in bench.members.iter().enumerate() {
        assert_eq!(member.wakers(), usize::from(list.contains(&i)), "{i}");
    }
}

#[test]
#[cfg(debug_assertions)]
#[should_panic = "a waiter queues once"]
fn a_waiter_does_not_queue_twice() {
    let mut bench = Bench::queued(1);
    drop(bench.leave(0));
    bench.push(0);
}

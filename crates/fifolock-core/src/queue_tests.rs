//! The queue without a lock: one thread, so all of a test is one section.

extern crate std;

use super::granted::{LOOK_BATCH, LOOK_SECTIONS};
use super::*;
use crate::diagnostics::Place;
use core::task::{RawWaker, RawWakerVTable};
use std::boxed::Box;
use std::sync::Arc;
use std::vec;
use std::vec::Vec;

/// Wakes nobody; its count of owners tells who keeps it.
struct Nobody;

impl Nobody {
    fn waker(self: &Arc<Self>) -> Waker {
        let data = Arc::into_raw(Arc::clone(self)).cast();
        // SAFETY: the data is a share of an `Arc<Nobody>`, as the vtable's functions take it for; `Nobody` is Send and Sync.
        unsafe { Waker::new(data, &VTABLE) }
    }
}

// One vtable for all, so that two wakers are the same exactly if their owner is. Those of `Waker::from` may have more.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, drop_share, |_| (), drop_share);

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the vtable's contract: the waker's share is there.
    unsafe { Arc::increment_strong_count(data.cast::<Nobody>()) };
    RawWaker::new(data, &VTABLE)
}

unsafe fn drop_share(data: *const ()) {
    // SAFETY: the vtable's contract: this is the last use of the waker's share.
    unsafe { Arc::decrement_strong_count(data.cast::<Nobody>()) };
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
        self.owners.waker()
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
    grants: u32,
}

impl Bench {
    fn new(members: usize) -> Self {
        Self {
            members: (0..members).map(|_| Member::new()).collect(),
            queue: WaitQueue::new(),
            granted: GrantedSet::new(),
            grants: 0,
        }
    }

    /// A bench whose members are queued in order.
    fn queued(members: usize) -> Self {
        let mut bench = Self::new(members);
        (0..members).for_each(|i| bench.push(i));
        bench
    }

    fn push(&mut self, i: usize) {
        self.push_as(i, Kind::Write);
    }

    fn push_as(&mut self, i: usize, kind: Kind) {
        let waker = self.members[i].waker();
        // SAFETY: one section; a bench unlinks its members, or drops them together with the queue.
        unsafe { self.queue.push(self.members[i].waiter.as_ref(), waker, i as u32 + 100, kind) };
    }

    fn leave(&mut self, i: usize) -> Waker {
        // SAFETY: one section; the tests name queued members.
        let (waker, others) = unsafe { self.queue.leave(self.members[i].waiter.as_ref()) };
        assert_eq!(others.0, self.queue.first_kind().is_some());
        waker
    }

    fn grant_first(&mut self) -> Option<(usize, Waker)> {
        let (node, waker, others) = self.queue.grant_first(next_grant(&mut self.grants))?;
        assert_eq!(others.0, self.queue.first_kind().is_some());
        Some((self.number(node), waker))
    }

    /// Grants the first, whose waker is used up.
    fn wake_first(&mut self) -> usize {
        let (first, waker) = self.grant_first().expect("somebody waits");
        waker.wake();
        first
    }

    /// The first, granted, is put into the set.
    fn grant_first_reader(&mut self) -> usize {
        let first = self.wake_first();
        // SAFETY: granted in this section.
        unsafe { self.granted.insert(self.members[first].node()) };
        first
    }

    /// A granted member that claims, or is robbed.
    fn remove(&mut self, i: usize) {
        // SAFETY: one section; the tests name members of the set.
        unsafe { self.granted.remove(self.members[i].node()) };
    }

    /// `i`, who waits, takes the grant of `robbed` over.
    fn trade(&mut self, i: usize, robbed: usize) {
        let robbed = self.members[robbed].node();
        // SAFETY: one section; the tests name a member that waits, and one that is granted and in no ring.
        unsafe { self.queue.trade(self.members[i].waiter.as_ref(), robbed) };
    }

    /// A granted member waits again.
    fn push_again(&mut self, robbed: usize, waker: Waker, ticket: u32) {
        let (node, kind) = (self.members[robbed].node(), self.kind(robbed));
        // SAFETY: one section; the tests name a member that is granted and in no ring.
        unsafe { self.queue.push_again(node, waker, ticket, kind) };
    }

    fn kind(&self, i: usize) -> Kind {
        // SAFETY: one section; the tests name members that wait, or are granted.
        unsafe { self.members[i].node().kind() }
    }

    fn ticket(&self, i: usize) -> u32 {
        // SAFETY: one section; the tests name members that wait.
        unsafe { self.members[i].waiter.ticket() }
    }

    /// `i`, who waits, looks at one grant.
    fn look_at(&mut self, i: usize, granted: usize) -> Found {
        // SAFETY: one section; the tests name a member that waits, and one that is granted.
        unsafe { find_granted(self.members[i].waiter.as_ref(), self.members[granted].node(), self.grants) }
    }

    /// One section in which `i`, who waits, looks for a grant of its own task.
    fn look_in_section(&mut self, i: usize, most: usize, look: &mut Look) -> Found {
        // SAFETY: one section; the tests name a member that waits.
        unsafe { self.granted.find(self.members[i].waiter.as_ref(), most as u32, self.grants, look, |_| true) }
    }

    /// A poll of `i`, who waits and looks for a grant of its own task.
    fn look(&mut self, i: usize, most: usize) -> Found {
        self.look_and_count(i, most).1
    }

    /// The same; also in how many sections.
    fn look_and_count(&mut self, i: usize, most: usize) -> (u32, Found) {
        let mut look = Look::default();
        for sections in 1..10_000 {
            let found = self.look_in_section(i, most, &mut look);
            if found != Found::More {
                return (sections, found);
            }
        }
        panic!("a poll would look for ever");
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
        while self.grant_first().is_some() {}
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
    let waker = other.waker();
    assert!(!bench.members[0].waiter.will_wake(&waker));
    assert!(bench.members[0].waiter.will_wake(&bench.members[0].waker()));
    // SAFETY: one section, and it waits.
    let old = unsafe { replace_waker(bench.members[0].waiter.as_ref(), waker.clone()) };
    assert!(old.will_wake(&bench.members[0].waker()));
    assert!(bench.members[0].waiter.will_wake(&waker));
    drop((old, waker));
    assert_eq!((bench.members[0].wakers(), Arc::strong_count(&other)), (0, 2));
    // [0 1]
    assert_eq!(bench.waiting(), [0, 1], "it kept its place");
    let (_, granted) = bench.grant_first().expect("two wait");
    assert!(granted.will_wake(&other.waker()));
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
        assert_eq!(bench.ticket(i), i as u32 + 100);
    }
}

#[test]
fn granted_waiters_leave_their_set_in_any_order() {
    for order in orders(4) {
        let mut bench = Bench::queued(5);
        for _ in 0..4 {
            bench.grant_first_reader();
        }
        // [4], and {0 1 2 3}
        assert_eq!((bench.waiting(), bench.granted()), (vec![4], vec![0, 1, 2, 3]));
        let mut rest: Vec<_> = (0..4).collect();
        for i in order {
            bench.remove(i);
            rest.retain(|&other| other != i);
            assert_eq!((bench.waiting(), bench.granted()), (vec![4], rest.clone()));
        }
    }
}

/// All lengths; into an empty set and beside others.
#[test]
fn many_are_granted_as_they_would_be_one_by_one() {
    for before in 0..3 {
        for waiting in 1..5 {
            for n in 1..=waiting {
                let mut bench = Bench::queued(before + waiting);
                (0..before).for_each(|i| assert_eq!(bench.grant_first_reader(), i));
                let mut wakers = Vec::new();
                let last = bench.grants;
                // {0 …}, [… ]
                // SAFETY: one section, and so many wait.
                unsafe {
                    bench.queue.grant_many(n as u32, &mut bench.grants, &mut bench.granted, |waker| wakers.push(waker));
                }
                // {0 … n}, [n …]
                let granted = before + n;
                assert_eq!(bench.granted(), (0..granted).collect::<Vec<_>>());
                assert_eq!(bench.waiting(), (granted..before + waiting).collect::<Vec<_>>());
                assert_eq!(wakers.len(), n);
                for (i, member) in bench.members.iter().enumerate() {
                    assert_eq!(member.waiter.is_granted(), i < granted);
                    assert_eq!(member.wakers(), usize::from(i >= before), "{i}");
                }
                assert!((0..n).all(|i| wakers[i].will_wake(&bench.members[before + i].waker())));
                // Each has a number of its own.
                let mut number = last;
                for i in before..granted {
                    assert_eq!(bench.ticket(i), next_grant(&mut number));
                }
                // Both go on as before.
                bench.members.push(Member::new());
                bench.push(before + waiting);
                assert_eq!(bench.grant_first_reader(), granted);
                assert_eq!(bench.granted(), (0..=granted).collect::<Vec<_>>());
                assert_eq!(bench.waiting(), (granted + 1..=before + waiting).collect::<Vec<_>>());
                (0..granted).for_each(|i| bench.remove(i));
                assert_eq!(bench.granted(), [granted]);
            }
        }
    }
}

/// Some thousand random steps, beside a list that does the same.
#[test]
fn the_queue_does_what_a_list_does() {
    const MEMBERS: usize = if cfg!(miri) { 20 } else { 400 };
    let mut bench = Bench::new(0);
    let mut list = Vec::new();
    // Granted and not claimed.
    let mut granted = Vec::new();
    // Whose waker and ticket a member has.
    let mut has_of: Vec<usize> = Vec::new();
    let mut seed = 1_u32;
    let mut below = |limit: usize| {
        // A multiplicative generator: the high bits are good enough.
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % limit
    };
    let mut kept = Vec::new();
    while bench.members.len() < MEMBERS {
        match below(8) {
            0..=2 if list.len() < 20 => {
                let i = bench.members.len();
                bench.members.push(Member::new());
                has_of.push(i);
                if below(4) == 0 {
                    bench.push_as(i, Kind::Upgrade);
                    list.insert(0, i);
                } else {
                    bench.push(i);
                    list.push(i);
                }
            }
            3 if !list.is_empty() => {
                let i = list.remove(below(list.len()));
                kept.push((has_of[i], bench.leave(i)));
            }
            4 if !list.is_empty() && !granted.is_empty() => {
                let at = below(list.len());
                let of_its_kind = |i: &usize| bench.kind(*i) == bench.kind(list[at]);
                if let Some(robbed) = granted.iter().position(of_its_kind) {
                    let robbed = granted.swap_remove(robbed);
                    let waiter = core::mem::replace(&mut list[at], robbed);
                    bench.trade(waiter, robbed);
                    has_of[robbed] = has_of[waiter];
                }
            }
            5 if !granted.is_empty() => {
                let robbed = granted.swap_remove(below(granted.len()));
                has_of[robbed] = below(bench.members.len());
                let waker = bench.members[has_of[robbed]].waker();
                bench.push_again(robbed, waker, has_of[robbed] as u32 + 100);
                let at = if bench.kind(robbed) == Kind::Upgrade { 0 } else { list.len() };
                list.insert(at, robbed);
            }
            _ => {
                let expected = (!list.is_empty()).then(|| list.remove(0));
                let first = bench.grant_first();
                assert_eq!(first.as_ref().map(|(i, _)| *i), expected);
                granted.extend(expected);
                kept.extend(first.map(|(i, waker)| (has_of[i], waker)));
            }
        }
        assert_eq!(bench.waiting(), list);
        assert!(list.iter().all(|i| bench.ticket(*i) == has_of[*i] as u32 + 100));
        assert!(list.iter().all(|i| !bench.members[*i].waiter.is_granted()));
        assert!(granted.iter().all(|i| bench.members[*i].waiter.is_granted()));
    }
    for (i, waker) in kept.drain(..) {
        assert!(waker.will_wake(&bench.members[i].waker()));
    }
    for (i, member) in bench.members.iter().enumerate() {
        let wakers = list.iter().filter(|queued| has_of[**queued] == i).count();
        assert_eq!(member.wakers(), wakers, "{i}");
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

#[test]
fn the_first_kind_is_the_heads() {
    let mut bench = Bench::new(4);
    // []
    assert_eq!(bench.queue.first_kind(), None);
    for (i, kind) in [Kind::Read, Kind::Upgradable, Kind::Write].into_iter().enumerate() {
        bench.push_as(i, kind);
    }
    // [0 1 2]
    for kind in [Kind::Read, Kind::Upgradable, Kind::Write] {
        assert_eq!(bench.queue.first_kind(), Some(kind));
        let first = bench.wake_first();
        // SAFETY: one section; it is granted and not claimed.
        assert_eq!(unsafe { bench.members[first].node().kind() }, kind);
    }
    assert_eq!(bench.queue.first_kind(), None);
}

#[test]
fn only_a_share_is_shared() {
    for (kind, shared) in [(Kind::Read, true), (Kind::Upgradable, true), (Kind::Write, false), (Kind::Upgrade, false)] {
        assert_eq!(kind.is_shared(), shared);
    }
}

#[test]
fn an_upgrade_goes_to_the_head() {
    for waiting in 0..4 {
        let mut bench = Bench::queued(waiting);
        bench.members.push(Member::new());
        // [0 1 …]
        bench.push_as(waiting, Kind::Upgrade);
        // [upgrade 0 1 …]
        let order: Vec<_> = [waiting].into_iter().chain(0..waiting).collect();
        assert_eq!((bench.waiting(), bench.queue.first_kind()), (order, Some(Kind::Upgrade)));
        // The next newcomer goes last all the same.
        bench.members.push(Member::new());
        bench.push(waiting + 1);
        // [upgrade 0 1 … newcomer]
        assert_eq!(bench.waiting().last(), Some(&(waiting + 1)));
        drop(bench.leave(waiting));
        // [0 1 … newcomer] ^upgrade
        assert_eq!(bench.waiting(), (0..waiting).chain([waiting + 1]).collect::<Vec<_>>());
    }
}

/// All lengths, all places.
#[test]
fn a_trade_gives_the_robbed_one_the_robbers_place() {
    for len in 1..5 {
        for robber in 1..=len {
            let mut bench = Bench::queued(len + 1);
            assert_eq!(bench.wake_first(), 0);
            // [1 … robber …] ^0
            bench.trade(robber, 0);
            // [1 … 0 …] ^robber
            let mut order: Vec<_> = (1..=len).collect();
            order[robber - 1] = 0;
            assert_eq!(bench.waiting(), order);
            assert!(!bench.members[0].waiter.is_granted());
            // What belongs to the place: the ticket, and the waker.
            assert_eq!(bench.ticket(0), robber as u32 + 100);
            assert_eq!((bench.members[0].wakers(), bench.members[robber].wakers()), (0, 1));
            assert!(bench.members[0].waiter.will_wake(&bench.members[robber].waker()));

            // It is granted in its turn, or leaves.
            for i in order {
                if i == 0 && len % 2 == 0 {
                    let waker = bench.leave(0);
                    assert!(waker.will_wake(&bench.members[robber].waker()));
                } else {
                    let (granted, waker) = bench.grant_first().expect("they wait");
                    assert_eq!(granted, i);
                    let of = if i == 0 { robber } else { i };
                    assert!(waker.will_wake(&bench.members[of].waker()));
                }
            }
            assert_eq!(bench.waiting(), []);
            assert!(bench.members.iter().all(|member| member.wakers() == 0));
        }
    }
}

#[test]
fn a_newcomer_goes_behind_a_robbed_tail() {
    let mut bench = Bench::queued(3);
    bench.wake_first();
    bench.trade(2, 0);
    // [1 0] ^2
    bench.members.push(Member::new());
    bench.push(3);
    // [1 0 3]
    assert_eq!(bench.waiting(), [1, 0, 3]);
}

#[test]
fn a_trade_touches_the_neighbours_only() {
    let mut bench = Bench::queued(6);
    bench.wake_first();
    // [1 2 3 4 5], but who walks on from 1, or back from 5, never meets the others.
    let at = |bench: &Bench, i: usize| bench.members[i].node().as_ptr().cast_const();
    bench.members[1].waiter.set_next(at(&bench, 5));
    bench.members[5].waiter.set_prev(at(&bench, 1));
    bench.trade(3, 0);
    // [1 2 0 4 5] ^3
    let links = bench.members[0].waiter.links();
    assert!(ptr::eq(links.prev, at(&bench, 2)) && ptr::eq(links.next, at(&bench, 4)));
    assert!(ptr::eq(bench.members[1].waiter.links().next, at(&bench, 5)), "a stranger's links were changed");
    assert!(ptr::eq(bench.members[5].waiter.links().prev, at(&bench, 1)), "a stranger's links were changed");
    bench.members[1].waiter.set_next(at(&bench, 2));
    bench.members[5].waiter.set_prev(at(&bench, 4));
    assert_eq!(bench.waiting(), [1, 2, 0, 4, 5]);
}

#[test]
fn a_robbed_waiter_waits_again_at_the_tail() {
    for waiting in 0..3 {
        let mut bench = Bench::queued(waiting + 1);
        assert_eq!(bench.wake_first(), 0);
        let other = Member::new();
        // [1 …] ^0
        bench.push_again(0, other.waker(), 7);
        // [1 … 0]
        assert_eq!(bench.waiting(), (1..=waiting).chain([0]).collect::<Vec<_>>());
        assert!(!bench.members[0].waiter.is_granted());
        assert_eq!((bench.ticket(0), bench.members[0].waiter.stage()), (7, Stage::Queued));
        assert_eq!((bench.members[0].wakers(), other.wakers()), (0, 1));
        assert!(bench.members[0].waiter.will_wake(&other.waker()));
        for _ in 0..waiting {
            bench.wake_first();
        }
        let (granted, waker) = bench.grant_first().expect("it waits");
        assert!(granted == 0 && waker.will_wake(&other.waker()));
        drop(waker);
        assert_eq!(other.wakers(), 0);
    }
}

#[test]
fn a_robbed_upgrade_waits_again_at_the_head() {
    let mut bench = Bench::new(3);
    bench.push(0);
    bench.push(1);
    bench.push_as(2, Kind::Upgrade);
    // [2 0 1]
    assert_eq!(bench.wake_first(), 2);
    // [0 1] ^2
    let waker = bench.members[2].waker();
    bench.push_again(2, waker, 0);
    // [2 0 1]
    assert_eq!((bench.waiting(), bench.queue.first_kind()), (vec![2, 0, 1], Some(Kind::Upgrade)));
}

#[test]
fn grant_numbers_are_odd_and_wrap_past_zero() {
    let mut grants = NO_GRANTS;
    let numbers = [1, 3, 5].map(|_| next_grant(&mut grants));
    assert!(numbers.iter().all(|number| number % 2 == 1));
    assert!(numbers[0] != numbers[1] && numbers[1] != numbers[2] && numbers[2] == grants);
    grants = u32::MAX - 4;
    let wrapped: Vec<_> = (0..4).map(|_| next_grant(&mut grants)).collect();
    assert_eq!(wrapped, [u32::MAX - 2, u32::MAX, 1, 3]);
}

/// Members of tasks by number. The first ones are granted, and in the set.
fn bench_of(granted: &[usize], waiting: &[usize]) -> Bench {
    let mut bench = Bench::new(0);
    let tasks = granted.iter().chain(waiting).max().map_or(0, |last| last + 1);
    let tasks: Vec<_> = (0..tasks).map(|_| Arc::new(Nobody)).collect();
    for task in granted.iter().chain(waiting) {
        bench.members.push(Member { owners: Arc::clone(&tasks[*task]), ..Member::new() });
        bench.push(bench.members.len() - 1);
    }
    (0..granted.len()).for_each(|i| assert_eq!(bench.grant_first_reader(), i));
    bench
}

/// Another one of that member's task is granted.
fn join(bench: &mut Bench, of: usize) -> usize {
    let joined = bench.members.len();
    let owners = Arc::clone(&bench.members[of].owners);
    bench.members.push(Member { owners, ..Member::new() });
    // To the head, so that it is the next.
    bench.push_as(joined, Kind::Upgrade);
    assert_eq!(bench.grant_first_reader(), joined);
    joined
}

/// How many polls it looks for until it finds something or gives up, and what.
fn look_on(bench: &mut Bench, i: usize, most: usize) -> (usize, Option<usize>) {
    for polls in 1..1000 {
        match bench.look(i, most) {
            Found::Suspect => {}
            Found::Abandoned(node) => return (polls, Some(bench.number(node))),
            _ => return (polls, None),
        }
    }
    panic!("it would look for ever");
}

const BATCH: usize = LOOK_BATCH as usize;
/// The most that one poll looks at.
const MANY: usize = LOOK_SECTIONS as usize * BATCH;

#[test]
fn r_a_grant_is_suspect_first_and_then_abandoned() {
    let mut bench = bench_of(&[0, 1], &[0]);
    assert_eq!(bench.look_at(2, 0), Found::Suspect);
    for _ in 0..3 {
        let node = bench.members[0].node();
        assert_eq!(bench.look_at(2, 0), Found::Abandoned(node));
    }
    // Another task's.
    assert_eq!(bench.look_at(2, 1), Found::Nothing);
}

#[test]
fn r_what_was_there_at_the_first_poll_is_abandoned_at_the_next() {
    let mut bench = bench_of(&[0, 1, 0], &[0]);
    assert_eq!(bench.look_at(3, 0), Found::Suspect);
    // It has been polled since, and this one was granted before.
    let node = bench.members[2].node();
    assert_eq!(bench.look_at(3, 2), Found::Abandoned(node));
    // This one is newer.
    let newer = join(&mut bench, 3);
    assert_eq!(bench.look_at(3, newer), Found::Suspect);
    let node = bench.members[newer].node();
    assert_eq!(bench.look_at(3, newer), Found::Abandoned(node));
}

#[test]
fn r_grants_are_told_apart_while_their_numbers_wrap() {
    for last in (u32::MAX - 8..=u32::MAX).step_by(2) {
        let mut bench = bench_of(&[], &[0, 0, 0]);
        bench.grants = last;
        bench.grant_first_reader();
        assert_eq!(bench.look_at(2, 0), Found::Suspect);
        bench.grant_first_reader();
        let nodes = [0, 1].map(|i| bench.members[i].node());
        assert_eq!(bench.look_at(2, 0), Found::Abandoned(nodes[0]));
        assert_eq!(bench.look_at(2, 1), Found::Suspect);
        assert_eq!(bench.look_at(2, 1), Found::Abandoned(nodes[1]));
    }
}

#[test]
fn r_each_waiter_has_its_own_strike() {
    let mut bench = bench_of(&[0], &[0, 0]);
    assert_eq!(bench.look_at(1, 0), Found::Suspect);
    assert_eq!(bench.look_at(2, 0), Found::Suspect);
    let node = bench.members[0].node();
    assert_eq!(bench.look_at(1, 0), Found::Abandoned(node));
    assert_eq!(bench.look_at(2, 0), Found::Abandoned(node));
}

#[test]
fn r_the_next_grant_of_the_same_waiter_starts_anew() {
    let mut bench = bench_of(&[0], &[0]);
    assert_eq!(bench.look_at(1, 0), Found::Suspect);
    bench.remove(0);
    // It is robbed, and granted before the other one again.
    let waker = bench.members[0].waker();
    bench.push_again(0, waker, 0);
    drop(bench.leave(1));
    assert_eq!(bench.grant_first_reader(), 0);
    let looker = bench.members.len();
    let owners = Arc::clone(&bench.members[0].owners);
    bench.members.push(Member { owners, ..Member::new() });
    bench.push(looker);
    assert_eq!(bench.look_at(looker, 0), Found::Suspect);
    bench.remove(0);
    let (waker, last) = (bench.members[0].waker(), bench.leave(looker));
    bench.push_again(0, waker, 0);
    assert_eq!(bench.grant_first_reader(), 0);
    drop(last);
    // The number is another one: the strike of the one before says nothing.
    assert_eq!(bench.look_at(looker, 0), Found::Suspect);
}

#[test]
fn r_a_task_is_told_by_its_last_waker() {
    let mut bench = bench_of(&[0], &[1]);
    assert_eq!(bench.look_at(1, 0), Found::Nothing);
    // The waiter has moved to the task of the grant.
    let waker = bench.members[0].waker();
    // SAFETY: one section, and it waits.
    drop(unsafe { replace_waker(bench.members[1].waiter.as_ref(), waker) });
    assert_eq!(bench.look_at(1, 0), Found::Suspect);
}

#[test]
fn r_nobody_is_found_in_an_empty_set() {
    let mut bench = bench_of(&[], &[0]);
    assert_eq!(bench.look(0, 0), Found::Nothing);
    assert_eq!(bench.look(0, 1000), Found::Nothing);
}

#[test]
fn r_the_own_grant_is_found_wherever_it_is() {
    let step = if cfg!(miri) { 15 } else { 1 };
    for members in [1, 2, 31, 32, 33, 64, 65, 100] {
        // As many shares as are granted, or many more that have been claimed.
        for most in [members, members + 1, 5000] {
            for own in (0..members).step_by(step) {
                let mut granted = vec![0; members];
                granted[own] = 1;
                let mut bench = bench_of(&granted, &[1]);
                let (polls, found) = look_on(&mut bench, members, most);
                assert_eq!((polls, found), (2, Some(own)), "of {members}, {most}");
            }
        }
    }
}

#[test]
fn r_a_section_looks_at_a_bounded_number_and_the_next_one_goes_on() {
    for own in [0, BATCH - 1, BATCH, 2 * BATCH - 1, 2 * BATCH, 3 * BATCH - 1] {
        let mut granted = vec![0; 3 * BATCH];
        granted[own] = 1;
        let mut bench = bench_of(&granted, &[1]);
        let looker = granted.len();
        let sections = (own / BATCH + 1) as u32;
        assert_eq!(bench.look_and_count(looker, looker), (sections, Found::Suspect));
        // The next look begins with it.
        let node = bench.members[own].node();
        assert_eq!(bench.look_and_count(looker, looker), (1, Found::Abandoned(node)));
    }
}

#[test]
fn r_a_look_ends_if_there_is_nothing() {
    let many = if cfg!(miri) { &[][..] } else { &[MANY - 1, MANY, MANY + 1, 2 * MANY + 5] };
    for members in [1, 2, 31, 32, 33, 63, 64, 65, 96, 100].iter().chain(many) {
        for most in [*members, members + 1, members + 40, 5000] {
            let mut bench = bench_of(&vec![0; *members], &[1]);
            for _ in 0..2 {
                let (polls, found) = look_on(&mut bench, *members, most);
                assert_eq!(found, None);
                // Shares that have been claimed count when there are more than one poll looks at.
                let most_polls = if *members <= MANY { 1 } else { most.max(*members).div_ceil(MANY) };
                assert!(polls <= most_polls, "{polls} polls look at {members}, {most}");
            }
        }
    }
}

#[test]
fn r_members_leave_between_the_sections() {
    let step = if cfg!(miri) { 30 } else { 3 };
    for own in (0..100).step_by(step) {
        for leaving in 0..4 {
            let mut granted = vec![0; 100];
            granted[own] = 1;
            let mut bench = bench_of(&granted, &[1]);
            let mut look = Look::default();
            let mut polls = 0;
            let found = loop {
                match bench.look_in_section(100, 100, &mut look) {
                    Found::More => {}
                    Found::Suspect => {
                        polls += 1;
                        assert!(polls < 10, "it would look for ever");
                        look = Look::default();
                    }
                    Found::Abandoned(node) => break Some(bench.number(node)),
                    Found::Nothing => break None,
                }
                // The first, the last, every second, all the others.
                let others: Vec<_> = bench.granted().into_iter().filter(|i| *i != own).collect();
                let gone: Vec<_> = match leaving {
                    0 => others.first().copied().into_iter().collect(),
                    1 => others.last().copied().into_iter().collect(),
                    2 => others.into_iter().step_by(2).collect(),
                    _ => others,
                };
                gone.into_iter().for_each(|i| bench.remove(i));
            };
            assert_eq!(found, Some(own), "{leaving}");
        }
    }
}

#[test]
fn r_a_claimed_suspect_is_forgotten() {
    let mut granted = vec![0; 40];
    granted[35] = 1;
    let mut bench = bench_of(&granted, &[1]);
    assert_eq!(bench.look(40, 40), Found::Suspect);
    bench.remove(35);
    assert_eq!(look_on(&mut bench, 40, 39), (1, None));
}

#[test]
fn r_several_of_one_task_are_found_one_after_the_other() {
    for own in [[0, 1], [0, 99], [40, 41], [40, 80], [98, 99]] {
        let mut granted = vec![0; 100];
        own.iter().for_each(|i| granted[*i] = 1);
        let mut bench = bench_of(&granted, &[1]);
        let mut left = own.to_vec();
        while !left.is_empty() {
            let (polls, found) = look_on(&mut bench, 100, 98 + left.len());
            let found = found.expect("there is one");
            assert!(polls <= 2, "{polls} polls");
            assert!(left.contains(&found));
            left.retain(|i| *i != found);
            bench.remove(found);
        }
        assert_eq!(look_on(&mut bench, 100, 98).1, None);
    }
}

/// Several look in turn, by whole polls or section by section, until each has found something or nothing.
fn look_in_turn(bench: &mut Bench, lookers: &[usize], most: usize, by_section: bool) -> Vec<Option<usize>> {
    let mut found = vec![None; lookers.len()];
    let mut open = vec![true; lookers.len()];
    let mut looks: Vec<_> = lookers.iter().map(|_| Look::default()).collect();
    for _ in 0..1000 {
        for (n, looker) in lookers.iter().enumerate() {
            if !open[n] {
                continue;
            }
            let seen = if by_section {
                bench.look_in_section(*looker, most, &mut looks[n])
            } else {
                bench.look(*looker, most)
            };
            match seen {
                Found::More => {}
                Found::Suspect => looks[n] = Look::default(),
                Found::Nothing => open[n] = false,
                Found::Abandoned(node) => {
                    found[n] = Some(bench.number(node));
                    open[n] = false;
                }
            }
        }
        if open.iter().all(|open| !open) {
            return found;
        }
    }
    panic!("they would look for ever");
}

/// The looks of others move the place where a look goes on.
#[test]
fn r_two_tasks_that_look_in_turn_find_their_own() {
    let mut granted = vec![0; 2 * BATCH];
    granted[BATCH + 5] = 1;
    granted[5] = 2;
    let mut bench = bench_of(&granted, &[1, 2]);
    let found = look_in_turn(&mut bench, &[2 * BATCH, 2 * BATCH + 1], 2 * BATCH, false);
    assert_eq!(found, [Some(BATCH + 5), Some(5)]);
}

/// On two threads, between each other's sections.
#[test]
fn r_two_tasks_that_look_at_the_same_time_find_their_own() {
    for members in [2 * BATCH, 3 * BATCH] {
        let mut granted = vec![0; members];
        granted[BATCH + 5] = 1;
        granted[5] = 2;
        let mut bench = bench_of(&granted, &[1, 2]);
        let found = look_in_turn(&mut bench, &[members, members + 1], members, true);
        assert_eq!(found, [Some(BATCH + 5), Some(5)], "of {members}");
    }
}

/// Each meets its other grant first.
#[test]
fn r_two_tasks_with_two_grants_each_find_one() {
    for by_section in [false, true] {
        let mut bench = bench_of(&[1, 2, 1, 2], &[1, 2]);
        let found = look_in_turn(&mut bench, &[4, 5], 4, by_section);
        assert!(found[0].is_some_and(|i| [0, 2].contains(&i)), "{found:?}");
        assert!(found[1].is_some_and(|i| [1, 3].contains(&i)), "{found:?}");
    }
}

/// Its wake has come together with the wake for the next look.
#[test]
fn r_a_grant_that_comes_between_two_looks_is_found() {
    let mut bench = bench_of(&[0; BATCH + 1], &[1]);
    let looker = BATCH + 1;
    assert_eq!(bench.look(looker, BATCH + 1), Found::Nothing);
    let joined = join(&mut bench, looker);
    assert_eq!(look_on(&mut bench, looker, BATCH + 2).1, Some(joined));
}

/// All go, and others come, between two sections.
#[test]
fn r_a_look_begins_anew_after_all_have_claimed() {
    let mut bench = bench_of(&[0; 2 * BATCH], &[0, 1]);
    let looker = 2 * BATCH + 1;
    let mut look = Look::default();
    assert_eq!(bench.look_in_section(looker, 2 * BATCH, &mut look), Found::More);
    (0..2 * BATCH).for_each(|i| bench.remove(i));
    (0..BATCH).for_each(|_| {
        join(&mut bench, 2 * BATCH);
    });
    let own = join(&mut bench, looker);
    assert_eq!(bench.look_in_section(looker, BATCH + 1, &mut look), Found::More);
    assert_eq!(bench.look_in_section(looker, BATCH + 1, &mut look), Found::Suspect);
    assert_eq!(look_on(&mut bench, looker, BATCH + 1).1, Some(own));
}

/// Others that look or leave all the time don't keep a poll from ending: its task is woken to look again.
#[test]
fn r_a_look_that_is_always_disturbed_ends() {
    let mut bench = bench_of(&[0; 3 * BATCH], &[1, 2]);
    let lookers = [3 * BATCH, 3 * BATCH + 1];
    let mut look = Look::default();
    for sections in 0.. {
        assert!(sections < 100, "it looks for ever");
        if bench.look_in_section(lookers[0], 3 * BATCH, &mut look) == Found::Suspect {
            break;
        }
        let _ = bench.look_in_section(lookers[1], 3 * BATCH, &mut Look::default());
    }
}

/// More than one poll looks at: each poll goes on behind the last one.
#[test]
#[cfg_attr(miri, ignore = "too many")]
fn r_a_poll_looks_at_a_bounded_number_and_the_next_one_goes_on() {
    for own in [0, MANY - 1, MANY, MANY + 40, 2 * MANY] {
        let mut granted = vec![0; 2 * MANY + 1];
        granted[own] = 1;
        let mut bench = bench_of(&granted, &[1]);
        let looker = granted.len();
        // In the first poll it is suspect; what a later poll comes to was there at the first.
        assert_eq!(look_on(&mut bench, looker, looker), ((own / MANY + 1).max(2), Some(own)));
    }
}

/// Its wake has come together with the wake to look on.
#[test]
#[cfg_attr(miri, ignore = "too many")]
fn r_a_grant_that_comes_between_the_polls_of_a_look_is_found() {
    let mut bench = bench_of(&[0; MANY + 1], &[1]);
    let looker = MANY + 1;
    assert_eq!(bench.look(looker, MANY + 1), Found::Suspect);
    let joined = join(&mut bench, looker);
    assert_eq!(look_on(&mut bench, looker, MANY + 2).1, Some(joined));
}

/// The rest of a look that was cut off is not the measure of the next one.
#[test]
#[cfg_attr(miri, ignore = "too many")]
fn r_the_rest_of_a_look_is_forgotten_after_all_have_claimed() {
    let mut bench = bench_of(&[0; MANY + 1], &[0, 1]);
    let looker = MANY + 2;
    assert_eq!(bench.look(looker, MANY + 1), Found::Suspect);
    (0..=MANY).for_each(|i| bench.remove(i));
    assert_eq!(bench.look(looker, 0), Found::Nothing);
    (0..BATCH).for_each(|_| {
        join(&mut bench, MANY + 1);
    });
    let own = join(&mut bench, looker);
    assert_eq!(look_on(&mut bench, looker, BATCH + 1).1, Some(own));
}

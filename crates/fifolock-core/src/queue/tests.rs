//! The queue without a lock: one thread, so all of a test is one section. The rescue's part stands in [`rescue`].

extern crate std;

mod rescue;

use super::*;
use crate::call_site::CallSite;
use core::pin::Pin;
use core::ptr::NonNull;
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

/// All of a test is one section.
fn section() -> InSection<'static> {
    // SAFETY: the queue of a test has no lock, and one thread.
    unsafe { InSection::new() }
}

/// A waiter with its waker, and what happened to it.
struct Entry {
    waiter: Pin<Box<Waiter>>,
    owners: Arc<Nobody>,
}

impl Entry {
    fn new() -> Self {
        Self { waiter: Box::pin(Waiter::new(CallSite::here())), owners: Arc::new(Nobody) }
    }

    fn waker(&self) -> Waker {
        self.owners.waker()
    }

    fn node(&self) -> WaiterPtr {
        WaiterPtr(NonNull::from(self.waiter.as_ref().get_ref()))
    }

    fn own(&mut self) -> OwnWaiter<'_> {
        OwnWaiter::new(self.waiter.as_mut())
    }

    /// Only of one that was queued.
    fn member(&self) -> Member<'static> {
        // SAFETY: I1, I6: a bench keeps its waiters as long as the queue.
        unsafe { self.node().member(section()) }
    }

    /// How many wakers the queue keeps, or has handed out.
    fn wakers(&self) -> usize {
        Arc::strong_count(&self.owners) - 1
    }
}

/// Waiters by number, and the queue that they go through.
struct Bench {
    members: Vec<Entry>,
    queue: WaitQueue,
    granted: GrantedSet,
    grants: Grants,
}

impl Bench {
    fn new(members: usize) -> Self {
        Self {
            members: (0..members).map(|_| Entry::new()).collect(),
            queue: WaitQueue::new(),
            granted: GrantedSet::new(),
            grants: Grants::NONE,
        }
    }

    /// A bench whose members are queued in order.
    fn queued(members: usize) -> Self {
        let mut bench = Self::new(members);
        (0..members).for_each(|i| bench.push(i));
        bench
    }

    fn push(&mut self, i: usize) {
        self.push_as(i, Mode::Write);
    }

    fn push_as(&mut self, i: usize, mode: Mode) {
        let waker = self.members[i].waker();
        // SAFETY: I1: a bench unlinks its members, or drops them together with the queue.
        unsafe { self.queue.push(self.members[i].own(), waker, (i as u32 + 100, mode), section()) };
    }

    fn leave(&mut self, i: usize) -> Waker {
        // SAFETY: I1, I3: the tests name members that wait.
        let (waker, others) = unsafe { self.queue.remove(self.members[i].member()) };
        assert_eq!(others.0, self.queue.first_mode(section()).is_some());
        waker
    }

    fn grant_first(&mut self) -> Option<(usize, Waker)> {
        let (first, waker, others) = self.queue.grant_first(self.grants.next(), section())?;
        assert_eq!(others.0, self.queue.first_mode(section()).is_some());
        Some((self.number(first), waker))
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
        // SAFETY: I1: granted above, and in no ring.
        unsafe { self.granted.insert(self.members[first].member()) };
        first
    }

    /// A granted member that claims, or is robbed.
    fn remove(&mut self, i: usize) {
        // SAFETY: I1: the tests name members of the set.
        unsafe { self.granted.remove(self.members[i].member()) };
    }

    /// The thief, which waits, takes the victim's grant over.
    fn trade(&mut self, thief: usize, victim: usize) {
        let (thief, victim) = (self.members[thief].member(), self.members[victim].member());
        // SAFETY: I1, I3: the tests name a member that waits, and one that is granted and in no ring.
        unsafe { self.queue.trade(thief, victim, self.grants) };
    }

    /// A granted member waits again.
    fn push_again(&mut self, robbed: usize, waker: Waker, batch_id: u32) {
        let mode = (batch_id, self.mode(robbed));
        // SAFETY: I1: the tests name a member that is granted and in no ring.
        unsafe { self.queue.push_again(self.members[robbed].member(), waker, self.grants, mode) };
    }

    fn mode(&self, i: usize) -> Mode {
        self.members[i].member().mode()
    }

    fn batch_id(&self, i: usize) -> u32 {
        self.members[i].member().batch_id()
    }

    fn number(&self, member: Member<'_>) -> usize {
        self.members.iter().position(|entry| ptr::eq(entry.node().as_ptr(), member.as_ptr())).expect("a member")
    }

    /// The members of a ring from the head, which must be the same backwards, as far as there are any; `None` is a cursor.
    fn places_of(&self, ring: &Ring) -> Vec<Option<usize>> {
        let Some(head) = ring.head(section()) else { return Vec::new() };
        let walk = |step: fn(Links) -> *const Waiter| {
            let mut walked = Vec::new();
            let mut node = head;
            loop {
                walked.push((!node.is_cursor()).then(|| self.number(node)));
                assert!(walked.len() <= 2 * self.members.len() + 9, "the ring does not close");
                // SAFETY: I1: linked members are alive as long as the bench.
                node = unsafe { linked(step(node.links()), section()) };
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
        self.places_of(&self.queue.0).into_iter().flatten().collect()
    }

    fn granted(&self) -> Vec<usize> {
        self.places_of(&self.granted.0).into_iter().flatten().collect()
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
    bench.members[1].member().set_next(last);
    bench.members[5].member().set_prev(at(&bench, 1));
    bench.members[0].member().set_next(last);
    drop(bench.leave(3));
    // [0 1 2 4 5] ^3
    assert!(ptr::eq(bench.members[2].member().links().next, at(&bench, 4)));
    assert!(ptr::eq(bench.members[4].member().links().prev, at(&bench, 2)));
    assert!(ptr::eq(bench.members[0].member().links().next, last), "a stranger's links were changed");
    assert!(ptr::eq(bench.members[1].member().links().next, last), "a stranger's links were changed");

    // The same for a newcomer: [0 … 5 6].
    bench.members.push(Entry::new());
    bench.push(6);
    let links = bench.members[6].member().links();
    assert!(ptr::eq(links.prev, last) && ptr::eq(links.next, first));
    assert!(ptr::eq(bench.members[5].member().links().next, at(&bench, 6)));
    assert!(ptr::eq(bench.members[0].member().links().prev, at(&bench, 6)));

    for (i, next) in [(0, 1), (1, 2)] {
        bench.members[i].member().set_next(at(&bench, next));
    }
    bench.members[5].member().set_prev(at(&bench, 4));
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
    assert_eq!(bench.members[0].own().stage(), Stage::Queued);
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
    assert!(!bench.members[0].member().will_wake(&waker));
    assert!(bench.members[0].member().will_wake(&bench.members[0].waker()));
    // SAFETY: I3: it waits.
    let old = unsafe { replace_waker(bench.members[0].member(), waker.clone()) };
    assert!(old.will_wake(&bench.members[0].waker()));
    assert!(bench.members[0].member().will_wake(&waker));
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
    assert!(bench.members[0].member().will_wake(&bench.members[0].waker()));
    assert!(!bench.members[0].member().will_wake(&Entry::new().waker()));
    drop(taken);
}

#[test]
fn stages_go_from_idle_to_queued_to_done() {
    let mut bench = Bench::new(1);
    assert_eq!(bench.members[0].own().stage(), Stage::Idle);
    bench.push(0);
    assert_eq!(bench.members[0].own().stage(), Stage::Queued);
    bench.members[0].own().set_done();
    assert_eq!(bench.members[0].own().stage(), Stage::Done);
}

#[test]
fn a_waiter_keeps_the_ticket_that_it_was_queued_with() {
    let mut bench = Bench::queued(3);
    drop(bench.leave(1));
    for i in [0, 2] {
        assert_eq!(bench.batch_id(i), i as u32 + 100);
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
                // SAFETY: I1: so many wait.
                unsafe {
                    bench.queue.grant_many(n as u32, &mut bench.grants, &mut bench.granted, section(), |waker| {
                        wakers.push(waker)
                    });
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
                    assert_eq!(bench.batch_id(i), number.next());
                }
                // Both go on as before.
                bench.members.push(Entry::new());
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
    // Whose waker and batch number a member has.
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
                bench.members.push(Entry::new());
                has_of.push(i);
                if below(4) == 0 {
                    bench.push_as(i, Mode::Upgrade);
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
                let of_its_kind = |i: &usize| bench.mode(*i) == bench.mode(list[at]);
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
                let at = if bench.mode(robbed) == Mode::Upgrade { 0 } else { list.len() };
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
        assert!(list.iter().all(|i| bench.batch_id(*i) == has_of[*i] as u32 + 100));
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
    assert_eq!(bench.queue.first_mode(section()), None);
    for (i, mode) in [Mode::Read, Mode::Upgradable, Mode::Write].into_iter().enumerate() {
        bench.push_as(i, mode);
    }
    // [0 1 2]
    for mode in [Mode::Read, Mode::Upgradable, Mode::Write] {
        assert_eq!(bench.queue.first_mode(section()), Some(mode));
        let first = bench.wake_first();
        assert_eq!(bench.members[first].member().mode(), mode);
    }
    assert_eq!(bench.queue.first_mode(section()), None);
}

#[test]
fn only_a_share_is_shared() {
    for (mode, shared) in [(Mode::Read, true), (Mode::Upgradable, true), (Mode::Write, false), (Mode::Upgrade, false)] {
        assert_eq!(mode.is_shared(), shared);
    }
}

#[test]
fn an_upgrade_goes_to_the_head() {
    for waiting in 0..4 {
        let mut bench = Bench::queued(waiting);
        bench.members.push(Entry::new());
        // [0 1 …]
        bench.push_as(waiting, Mode::Upgrade);
        // [upgrade 0 1 …]
        let order: Vec<_> = [waiting].into_iter().chain(0..waiting).collect();
        assert_eq!((bench.waiting(), bench.queue.first_mode(section())), (order, Some(Mode::Upgrade)));
        // The next newcomer goes last all the same.
        bench.members.push(Entry::new());
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
fn a_trade_gives_the_victim_the_thiefs_place() {
    for len in 1..5 {
        for thief in 1..=len {
            let mut bench = Bench::queued(len + 1);
            assert_eq!(bench.wake_first(), 0);
            // [1 … thief …] ^0
            bench.trade(thief, 0);
            // [1 … 0 …] ^thief
            let mut order: Vec<_> = (1..=len).collect();
            order[thief - 1] = 0;
            assert_eq!(bench.waiting(), order);
            assert!(!bench.members[0].waiter.is_granted());
            // What belongs to the place: the batch number, and the waker.
            assert_eq!(bench.batch_id(0), thief as u32 + 100);
            assert_eq!((bench.members[0].wakers(), bench.members[thief].wakers()), (0, 1));
            assert!(bench.members[0].member().will_wake(&bench.members[thief].waker()));

            // It is granted in its turn, or leaves.
            for i in order {
                if i == 0 && len % 2 == 0 {
                    let waker = bench.leave(0);
                    assert!(waker.will_wake(&bench.members[thief].waker()));
                } else {
                    let (granted, waker) = bench.grant_first().expect("they wait");
                    assert_eq!(granted, i);
                    let of = if i == 0 { thief } else { i };
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
    bench.members.push(Entry::new());
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
    bench.members[1].member().set_next(at(&bench, 5));
    bench.members[5].member().set_prev(at(&bench, 1));
    bench.trade(3, 0);
    // [1 2 0 4 5] ^3
    let links = bench.members[0].member().links();
    assert!(ptr::eq(links.prev, at(&bench, 2)) && ptr::eq(links.next, at(&bench, 4)));
    assert!(ptr::eq(bench.members[1].member().links().next, at(&bench, 5)), "a stranger's links were changed");
    assert!(ptr::eq(bench.members[5].member().links().prev, at(&bench, 1)), "a stranger's links were changed");
    bench.members[1].member().set_next(at(&bench, 2));
    bench.members[5].member().set_prev(at(&bench, 4));
    assert_eq!(bench.waiting(), [1, 2, 0, 4, 5]);
}

#[test]
fn a_robbed_waiter_waits_again_at_the_tail() {
    for waiting in 0..3 {
        let mut bench = Bench::queued(waiting + 1);
        assert_eq!(bench.wake_first(), 0);
        let other = Entry::new();
        // [1 …] ^0
        bench.push_again(0, other.waker(), 7);
        // [1 … 0]
        assert_eq!(bench.waiting(), (1..=waiting).chain([0]).collect::<Vec<_>>());
        assert!(!bench.members[0].waiter.is_granted());
        assert_eq!((bench.batch_id(0), bench.members[0].own().stage()), (7, Stage::Queued));
        assert_eq!((bench.members[0].wakers(), other.wakers()), (0, 1));
        assert!(bench.members[0].member().will_wake(&other.waker()));
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
    bench.push_as(2, Mode::Upgrade);
    // [2 0 1]
    assert_eq!(bench.wake_first(), 2);
    // [0 1] ^2
    let waker = bench.members[2].waker();
    bench.push_again(2, waker, 0);
    // [2 0 1]
    assert_eq!((bench.waiting(), bench.queue.first_mode(section())), (vec![2, 0, 1], Some(Mode::Upgrade)));
}

#[test]
fn grant_numbers_are_odd_and_wrap_past_zero() {
    let mut grants = Grants::NONE;
    let numbers = [1, 2, 3].map(|_| grants.next());
    assert_eq!(numbers, [65, 129, 193]);
    assert_eq!(numbers[2], grants.newest());
    grants.advance_to(u32::MAX - 126);
    let wrapped: Vec<_> = (0..3).map(|_| grants.next()).collect();
    assert_eq!(wrapped, [u32::MAX - 62, 1, 65]);
}

/// A doubt changes no number, and there are no more than 31.
#[test]
fn r1_a_lock_doubles_with_every_fourth_disturbed_wait() {
    let mut grants = Grants::NONE;
    for wrong in 0..40_u16 {
        assert_eq!(grants.level(), (wrong / 4).min(7), "{wrong}");
        let newest = grants.newest();
        grants.doubt();
        assert!(grants.is_newest(newest), "no grant was made");
        let next = grants.next();
        assert!(next > newest && !grants.is_newest(newest), "numbers stay in the order of their grants");
    }
}

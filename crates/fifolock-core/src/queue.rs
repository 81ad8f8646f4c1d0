//! The intrusive queue of waiters: the one home of pointers.
//!
//! A waiter lives inside its pinned future, so queueing allocates nothing and has no capacity. The waiters of a queue
//! form a ring; push, pop and removal from anywhere are O(1).
//!
//! ```text
//!  Queue          ┌───────────────────────────────────────┐
//!  ┌──────┐       ▼  next            next            next │
//!  │ head ├──▶ ┌────┐ ────────▶ ┌────┐ ────────▶ ┌────┐ ──┘
//!  └──────┘    │ w1 │           │ w2 │           │ w3 │
//!          ┌── └────┘ ◀──────── └────┘ ◀──────── └────┘
//!          │ prev      prev            prev        ▲
//!          └───────────────────────────────────────┘
//!              served first                    tail = head.prev
//! ```
//!
//! # Invariants
//!
//! - **I1 (linked or granted ⇒ pinned):** a waiter that is linked, or is granted and has not claimed, stays where it is and
//!   is alive. It is linked from its pinned place, and the future that holds it takes it out before the future is gone: by a
//!   claim, a cancellation, or a drop. A waiter that is forgotten while pinned is never freed or reused. All of these need a
//!   section, or an exchange that fails in a section. So a waiter that a section finds lives until the section has ended.
//! - **I2 (sections):** links, heads, numbers and role are read and written only inside a section of the one lock
//!   that the waiter belongs to. A [`Member`] is a waiter inside such a section, and nothing else reaches these parts.
//! - **I3 (the waker's slot):** a waiter that waits owns the waker in its slot; the slot is written in sections only. The
//!   section that grants or removes the waiter takes the waker over, and leaves the addresses in the slot, so that the task of
//!   a granted waiter can still be told. Outside a section only the addresses are read, which are atomics.
//! - **I4 (stage):** the stage is touched only by the call that polls or drops the future, which has the future
//!   exclusively. An [`OwnWaiter`] is a waiter in such a call.
//! - **I5 (no way back):** no pointer in a queue or a waiter points into a lock, so a lock whose waiters were forgotten
//!   can move.
//! - **I6 (written):** a waiter that has been queued has links, a slot and numbers; so has a linked cursor.
//! - **I7 (cursors):** a scan's cursor lies on the stack of the poll that scans. It is linked only between two sections of
//!   that poll, and no foreign code runs between those.
//!
//! No `&mut Waiter` is used while the waiter is linked: everything that changes is in a cell, and is reached through a shared
//! reference or a raw pointer from the pinned place itself.

mod granted;
mod member;
mod rescue;
mod waiter;

pub(crate) use granted::{GrantedSet, Grants};
pub(crate) use member::Membership;
pub use member::{Member, OwnWaiter, Queued};
pub use rescue::{Found, Scan};
pub(crate) use rescue::{Trade, visit};
pub use waiter::{Mode, Waiter, WaiterPtr};

use waiter::{Links, Numbers, Role, Stage, WakerSlot};

#[cfg(feature = "diagnostics")]
use crate::call_site::CallSite;
use crate::raw::InSection;
use core::ptr;
use core::task::Waker;

/// Waiters in a ring, in the order in which they were linked.
#[derive(Debug)]
struct Ring {
    head: *const Waiter,
}

// SAFETY: I2: the pointer is followed inside sections only, and a waiter is Send and Sync.
unsafe impl Send for Ring {}
// SAFETY: I2: a shared ring offers nothing outside sections.
unsafe impl Sync for Ring {}

/// A waiter that a ring's link leads to.
///
/// # Safety
///
/// I1: the link is that of a linked waiter, or a head, in a ring of the section's lock.
#[inline(always)]
unsafe fn linked<'s>(link: *const Waiter, section: InSection<'s>) -> Member<'s> {
    // SAFETY: I1, I6: linked.
    Member::new(unsafe { &*link }, section)
}

impl Ring {
    const fn new() -> Self {
        Self { head: ptr::null() }
    }

    #[inline(always)]
    fn head<'s>(&self, section: InSection<'s>) -> Option<Member<'s>> {
        // SAFETY: I1: the head is linked.
        (!self.head.is_null()).then(|| unsafe { linked(self.head, section) })
    }

    /// | before | after |
    /// |---|---|
    /// | `[]` | `[new]` |
    /// | `[a, b]` | `[a, b, new]` |
    ///
    /// # Safety
    ///
    /// I1: the waiter stays pinned and alive until it is unlinked, and is in no ring.
    #[inline(always)]
    unsafe fn link_last(&mut self, new: Member<'_>) {
        let section = new.section();
        let node = new.as_ptr().cast_const();
        match self.head(section) {
            None => {
                new.set_links(Links { prev: node, next: node });
                self.head = node;
            }
            Some(first) => {
                let tail = first.links().prev;
                new.set_links(Links { prev: tail, next: self.head });
                // SAFETY: I1: the tail is linked.
                unsafe { linked(tail, section) }.set_next(node);
                first.set_prev(node);
            }
        }
    }

    /// | before | after |
    /// |---|---|
    /// | `[waiter]` | `[]` |
    /// | `[waiter, b]` | `[b]` |
    /// | `[a, waiter, b]` | `[a, b]` |
    ///
    /// # Safety
    ///
    /// I1: the waiter is linked in this ring.
    #[inline(always)]
    unsafe fn unlink(&mut self, waiter: Member<'_>) -> MoreWait {
        let section = waiter.section();
        let Links { prev, next } = waiter.links();
        let this = waiter.as_ptr().cast_const();
        if ptr::eq(next, this) {
            debug_assert!(ptr::eq(self.head, this), "a ring of one is its head");
            self.head = ptr::null();
            return MoreWait(false);
        }
        // SAFETY: I1: the neighbour is linked.
        unsafe { linked(prev, section) }.set_next(next);
        // SAFETY: I1: the neighbour is linked.
        unsafe { linked(next, section) }.set_prev(prev);
        if ptr::eq(self.head, this) {
            self.head = next;
        }
        MoreWait(true)
    }

    /// Moves the waiters from the head, `first`, to `last` to the end of another ring; `next` follows `last` here.
    ///
    /// | before | after |
    /// |---|---|
    /// | `[first, last]`, `[x]` | `[]`, `[x, first, last]` |
    /// | `[first, last, next]`, `[]` | `[next]`, `[first, last]` |
    ///
    /// # Safety
    ///
    /// I1: linked here as described; both rings are of the section's lock.
    #[inline(always)]
    unsafe fn move_front(&mut self, first: Member<'_>, last: Member<'_>, next: *const Waiter, to: &mut Self) {
        let section = first.section();
        if ptr::eq(next, first.as_ptr()) {
            self.head = ptr::null();
        } else {
            let tail = first.links().prev;
            // SAFETY: I1: linked, and stays here.
            unsafe { linked(tail, section) }.set_next(next);
            // SAFETY: I1: linked, and stays here.
            unsafe { linked(next, section) }.set_prev(tail);
            self.head = next;
        }
        match to.head(section) {
            None => {
                first.set_prev(last.as_ptr());
                last.set_next(first.as_ptr());
                to.head = first.as_ptr();
            }
            Some(other) => {
                let tail = other.links().prev;
                first.set_prev(tail);
                // SAFETY: I1: the other ring's tail is linked.
                unsafe { linked(tail, section) }.set_next(first.as_ptr());
                last.set_next(other.as_ptr());
                other.set_prev(last.as_ptr());
            }
        }
    }

    /// | before | after |
    /// |---|---|
    /// | `[old]` | `[new]` |
    /// | `[a, old, b]` | `[a, new, b]` |
    ///
    /// # Safety
    ///
    /// I1: `old` is linked in this ring; `new` stays pinned and alive until it is unlinked, and is in no ring.
    #[inline(always)]
    unsafe fn replace(&mut self, old: Member<'_>, new: Member<'_>) {
        let section = old.section();
        let Links { prev, next } = old.links();
        let node = new.as_ptr().cast_const();
        if ptr::eq(next, old.as_ptr()) {
            new.set_links(Links { prev: node, next: node });
        } else {
            new.set_links(Links { prev, next });
            // SAFETY: I1: the neighbour is linked.
            unsafe { linked(prev, section) }.set_next(node);
            // SAFETY: I1: the neighbour is linked.
            unsafe { linked(next, section) }.set_prev(node);
        }
        if ptr::eq(self.head, old.as_ptr()) {
            self.head = node;
        }
    }
}

/// For scans, which go from the end to the head.
impl Ring {
    /// The last member.
    #[inline(always)]
    fn tail<'s>(&self, section: InSection<'s>) -> Option<Member<'s>> {
        // SAFETY: I1: the head is linked, and so is the one before it.
        self.head(section).map(|head| unsafe { linked(head.links().prev, section) })
    }

    /// The one before this; `None` for the head.
    ///
    /// # Safety
    ///
    /// I1: the waiter is linked in this ring.
    #[inline(always)]
    unsafe fn before<'s>(&self, waiter: Member<'s>) -> Option<Member<'s>> {
        // SAFETY: I1: linked, and so is the one before it.
        (!ptr::eq(self.head, waiter.as_ptr())).then(|| unsafe { linked(waiter.links().prev, waiter.section()) })
    }

    /// | before | after |
    /// |---|---|
    /// | `[node]` | `[node, new]` |
    /// | `[node, b]` | `[node, new, b]` |
    ///
    /// # Safety
    ///
    /// I1, I7: `node` is linked in this ring; `new` stays pinned and alive until it is unlinked, and is in no ring.
    #[inline(always)]
    unsafe fn link_behind(&mut self, node: Member<'_>, new: Member<'_>) {
        let next = node.links().next;
        new.set_links(Links { prev: node.as_ptr(), next });
        // SAFETY: I1: the neighbour is linked.
        unsafe { linked(next, node.section()) }.set_prev(new.as_ptr());
        node.set_next(new.as_ptr());
    }
}

/// Whether others are left in the ring that a waiter was taken out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MoreWait(pub(crate) bool);

/// Waiters that wait, first come first served.
#[derive(Debug)]
pub(crate) struct WaitQueue(Ring);

impl WaitQueue {
    pub(crate) const fn new() -> Self {
        Self(Ring::new())
    }

    /// What the first waiter waits for.
    #[inline(always)]
    pub(crate) fn first_mode(&self, section: InSection<'_>) -> Option<Mode> {
        self.0.head(section).map(Member::mode)
    }

    /// Whether the grant of the first waiter was stolen, and it has not been polled since.
    #[inline(always)]
    pub(crate) fn is_first_robbed(&self, section: InSection<'_>) -> bool {
        self.0.head(section).is_some_and(|first| first.is_robbed())
    }

    /// Takes the first waiter out for the rest of the section, if it waits for an upgrade.
    pub(crate) fn set_upgrade_aside<'s>(&mut self, section: InSection<'s>) -> Option<Member<'s>> {
        let first = self.0.head(section).filter(|first| first.mode() == Mode::Upgrade)?;
        // SAFETY: I1: the head is linked here.
        let _ = unsafe { self.0.unlink(first) };
        Some(first)
    }

    /// Puts the upgrade back that was set aside.
    ///
    /// # Safety
    ///
    /// I1: [`set_upgrade_aside`](Self::set_upgrade_aside) of this queue took it out in this section.
    pub(crate) unsafe fn put_upgrade_back(&mut self, upgrade: Member<'_>) {
        // SAFETY: I1: alive since the section began, and in no ring.
        unsafe { self.link(upgrade, Mode::Upgrade) };
    }

    /// Queues a waiter with the waker to wake it by.
    ///
    /// # Safety
    ///
    /// I1: the waiter was never queued, and its future's drop unlinks it from the section's lock if nothing did before.
    #[inline(always)]
    pub(crate) unsafe fn push<'s>(
        &mut self,
        own: OwnWaiter<'_>,
        waker: Waker,
        (batch_id, mode): (u32, Mode),
        section: InSection<'s>,
    ) -> Member<'s> {
        debug_assert!(own.is_idle(), "a waiter queues once");
        own.set_stage(Stage::Queued);
        // SAFETY: I2: in no ring, so no section knows the slot.
        own.slot.with_mut(|slot| unsafe { slot.cast::<WakerSlot>().write(WakerSlot::new(waker)) });
        let numbers = Numbers { number: batch_id, since: 0, scanned: 0 };
        // SAFETY: I2: in no ring, so no section knows the numbers.
        own.numbers.with_mut(|slot| unsafe { slot.cast::<Numbers>().write(numbers) });
        // SAFETY: I1: the polled waiter; I6: slot and numbers are written above, links below.
        let waiter = unsafe { own.ptr().member(section) };
        if mode != Mode::Write {
            // The waiter was made with `Write`.
            waiter.set_role(Role::new(mode));
        }
        // SAFETY: I1: pinned, its future's drop unlinks it, and in no ring.
        unsafe { self.link(waiter, mode) };
        waiter
    }

    /// A waiter whose grant was stolen waits again, with the waker to wake it by.
    ///
    /// # Safety
    ///
    /// I1: the waiter is granted and not claimed, in no ring, and waits for this mode.
    #[inline(always)]
    pub(crate) unsafe fn push_again(
        &mut self,
        victim: Member<'_>,
        waker: Waker,
        grants: Grants,
        (batch_id, mode): (u32, Mode),
    ) {
        victim.slot().put(waker);
        victim.wait_again(batch_id, grants.newest());
        // SAFETY: I1: unclaimed, so pinned and alive, and in no ring.
        unsafe { self.link(victim, mode) };
    }

    /// # Safety
    ///
    /// I1: as [`Ring::link_last`].
    #[inline(always)]
    unsafe fn link(&mut self, waiter: Member<'_>, mode: Mode) {
        // SAFETY: I1: as this function's caller promises.
        unsafe { self.0.link_last(waiter) };
        if mode == Mode::Upgrade {
            // Last in a ring is just before the first.
            self.0.head = waiter.as_ptr();
        }
    }

    /// Takes the first waiter out, marks it as granted, and takes its waker, to be woken once the section has ended.
    #[inline(always)]
    pub(crate) fn grant_first<'s>(
        &mut self,
        grant: u32,
        section: InSection<'s>,
    ) -> Option<(Member<'s>, Waker, MoreWait)> {
        let first = self.0.head(section)?;
        // SAFETY: I1: the head is linked here.
        let others = unsafe { self.0.unlink(first) };
        // SAFETY: I3: it waited, and is granted now.
        let waker = unsafe { first.take_waker() };
        first.set_granted(grant);
        Some((first, waker, others))
    }

    /// Takes so many waiters out from the head, marks them as granted and puts them into `set`, in order, all at once. `f`
    /// gets their wakers, to be woken once the section has ended.
    ///
    /// | before | after |
    /// |---|---|
    /// | `[a, b, c, d]`, granted `[x]` | `[c, d]`, granted `[x, a, b]` |
    ///
    /// # Safety
    ///
    /// I1: at least so many are linked here, and `set` is of the section's lock.
    #[inline(always)]
    pub(crate) unsafe fn grant_many(
        &mut self,
        n: u32,
        grants: &mut Grants,
        set: &mut GrantedSet,
        section: InSection<'_>,
        mut f: impl FnMut(Waker),
    ) {
        let Some(first) = self.0.head(section) else { return };
        let (mut last, mut next) = (first, first.as_ptr().cast_const());
        let mut grant = grants.newest();
        for _ in 0..n {
            // SAFETY: I1: so many are linked here.
            last = unsafe { linked(next, section) };
            // SAFETY: I3: it waited, and is granted now.
            f(unsafe { last.take_waker() });
            Grants::after(&mut grant);
            last.set_granted(grant);
            next = last.links().next;
        }
        grants.advance_to(grant);
        // SAFETY: I1: linked here in this order, and `next` follows.
        unsafe { self.0.move_front(first, last, next, &mut set.0) };
    }

    /// Takes a waiter out that leaves ungranted, and its waker, to be dropped once the section has ended.
    ///
    /// # Safety
    ///
    /// I1: the waiter is linked in this queue. I3: it waits no more, or is queued again with this waker.
    #[inline(always)]
    pub(crate) unsafe fn remove(&mut self, waiter: Member<'_>) -> (Waker, MoreWait) {
        debug_assert!(!waiter.is_granted(), "a granted waiter is in no wait queue");
        // SAFETY: I1: linked here.
        let others = unsafe { self.0.unlink(waiter) };
        // SAFETY: I3: it waited, and waits no more.
        (unsafe { waiter.take_waker() }, others)
    }

    /// The thief takes a grant over, and the victim the thief's place in the queue and its waker.
    ///
    /// | before | after |
    /// |---|---|
    /// | victim granted, `[a, thief, b]` | thief out, `[a, victim, b]` |
    ///
    /// # Safety
    ///
    /// I1: the thief is linked in this queue; the victim is granted and not claimed, in no ring, and waited for the same.
    /// I3: the thief never waits again.
    #[inline]
    pub(crate) unsafe fn trade(&mut self, thief: Member<'_>, victim: Member<'_>, grants: Grants) {
        debug_assert!(victim.is_granted() && !thief.is_granted(), "a waiter steals from a granted one");
        debug_assert_eq!(thief.mode(), victim.mode(), "they want the same");
        // SAFETY: I3: the thief waited, and waits no more.
        victim.slot().put(unsafe { thief.take_waker() });
        victim.wait_again(thief.batch_id(), grants.newest());
        // SAFETY: I1: the thief is linked here, and the victim in no ring.
        unsafe { self.0.replace(thief, victim) };
    }
}

/// Stores another waker; returns the old one, to be dropped once the section has ended.
///
/// # Safety
///
/// I3: the waiter waits.
#[inline(always)]
pub(crate) unsafe fn replace_waker(waiter: Member<'_>, waker: Waker) -> Waker {
    debug_assert!(!waiter.is_granted(), "a granted waiter is in no wait queue");
    // SAFETY: I3: it waits, and gets another waker.
    let old = unsafe { waiter.take_waker() };
    // Another task may have the waiter now: grants of that task have not been visited. The clones of one waker may differ
    // in their vtables' addresses.
    if !ptr::eq(old.data(), waker.data()) {
        waiter.forget_scans();
    }
    waiter.slot().put(waker);
    old
}

/// For reports, which name a bounded number of waiters.
#[cfg(feature = "diagnostics")]
impl Ring {
    /// What the waiters wait for and where they asked, from the head on.
    fn places(&self, section: InSection<'_>) -> impl Iterator<Item = (Mode, CallSite)> {
        core::iter::successors(self.head(section), move |node| {
            let next = node.links().next;
            // SAFETY: I1: linked, and so is the next.
            (!ptr::eq(next, self.head)).then(|| unsafe { linked(next, section) })
        })
        .filter(|node| !node.is_cursor())
        .map(|node| (node.mode(), node.call_site()))
    }
}

#[cfg(feature = "diagnostics")]
impl WaitQueue {
    /// Those who wait, first come first.
    pub(crate) fn places(&self, section: InSection<'_>) -> impl Iterator<Item = (Mode, CallSite)> {
        self.0.places(section)
    }
}

#[cfg(feature = "diagnostics")]
impl GrantedSet {
    /// The granted.
    pub(crate) fn places(&self, section: InSection<'_>) -> impl Iterator<Item = (Mode, CallSite)> {
        self.0.places(section)
    }
}

/// A future was polled after it had returned `Ready`.
#[cold]
#[inline(never)]
pub(crate) fn polled_after_ready() -> ! {
    panic!("a lock future was polled after it was ready; make a new one for the next wait")
}

#[cfg(all(test, not(fifolock_loom)))]
mod tests;

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
//!   is alive. It is linked through a `Pin<&Waiter>`, and the future that holds it takes it out before it is gone: on claim,
//!   on leaving, on drop. One that is forgotten while pinned is never freed or reused.
//! - **I2 (sections):** links, heads, numbers and role are read and written only inside a section of the one lock
//!   that the waiter belongs to.
//! - **I3 (the waker's slot):** a waiter that waits owns the waker in its slot; the slot is written in sections only.
//!   Whoever grants or removes it takes the waker over and leaves the slot as it is, so that the task of a granted waiter
//!   can still be told. Outside a section only the slot's addresses are looked at, which are atomics.
//! - **I4 (stage):** `membership` is touched only by who polls or drops the future, and they have it exclusively.
//! - **I5 (no way back):** no pointer in a queue or a waiter points into a lock, so a lock whose waiters were forgotten
//!   can move.
//! - **I6 (written):** a waiter that has been queued has links, a slot and numbers.
//! - **I7 (cursors):** a scan's cursor lies on the stack of the poll that scans. It is linked only between two sections of
//!   that poll, and no foreign code runs between those.
//!
//! No `&mut Waiter` exists while it is linked: everything that changes is in a cell and reached through a shared
//! reference or a raw pointer from the pinned place itself.

mod granted;
mod rescue;
mod waiter;

pub(crate) use granted::{GrantedSet, Grants};
pub use rescue::{Found, Scan};
pub(crate) use rescue::{Trade, visit};
pub(crate) use waiter::Membership;
pub use waiter::{Mode, Waiter, WaiterPtr};

use waiter::{GRANTED, Links, Numbers, Role, WakerSlot};

#[cfg(feature = "diagnostics")]
use crate::call_site::CallSite;
use crate::sync_shim::Ordering;
use core::pin::Pin;
use core::ptr::{self, NonNull};
use core::task::Waker;

/// Waiters in a ring, in the order in which they were linked. Used inside sections only, which is what `&mut self`
/// stands for.
#[derive(Debug)]
struct Ring {
    head: *const Waiter,
}

// SAFETY: the pointer is followed inside sections only (I2), and a waiter is Send and Sync.
unsafe impl Send for Ring {}
// SAFETY: a shared ring offers nothing.
unsafe impl Sync for Ring {}

impl Ring {
    const fn new() -> Self {
        Self { head: ptr::null() }
    }

    #[inline(always)]
    fn head(&self) -> Option<WaiterPtr> {
        NonNull::new(self.head.cast_mut()).map(WaiterPtr)
    }

    /// | before | after |
    /// |---|---|
    /// | `[]` | `[new]` |
    /// | `[a, b]` | `[a, b, new]` |
    ///
    /// # Safety
    ///
    /// In a section; the waiter is alive, pinned (I1), of this ring's lock, and in no ring.
    #[inline(always)]
    unsafe fn link_last(&mut self, node: WaiterPtr) {
        // SAFETY: alive, as the caller promises.
        let waiter = unsafe { node.waiter() };
        let new = node.as_ptr().cast_const();
        match self.head() {
            None => {
                waiter.set_links(Links { prev: new, next: new });
                self.head = new;
            }
            Some(head) => {
                // SAFETY: I1: the head is linked.
                let first = unsafe { head.waiter() };
                let tail = first.links().prev;
                waiter.set_links(Links { prev: tail, next: self.head });
                // SAFETY: I1: the tail is linked.
                unsafe { &*tail }.set_next(new);
                first.set_prev(new);
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
    /// In a section; the waiter is linked in this ring.
    #[inline(always)]
    unsafe fn unlink(&mut self, node: WaiterPtr) -> MoreWait {
        // SAFETY: linked, as the caller promises.
        let Links { prev, next } = unsafe { node.waiter() }.links();
        let this = node.as_ptr().cast_const();
        if ptr::eq(next, this) {
            debug_assert!(ptr::eq(self.head, this), "a ring of one is its head");
            self.head = ptr::null();
            return MoreWait(false);
        }
        // SAFETY: I1: the neighbours are linked.
        unsafe { &*prev }.set_next(next);
        // SAFETY: as above.
        unsafe { &*next }.set_prev(prev);
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
    /// In a section; as described; both rings are of the same lock.
    #[inline(always)]
    unsafe fn move_front(&mut self, first: *const Waiter, last: *const Waiter, next: *const Waiter, to: &mut Self) {
        // SAFETY: I1: linked, as the caller promises.
        let head = unsafe { &*first };
        // SAFETY: as above.
        let end = unsafe { &*last };
        if ptr::eq(next, first) {
            self.head = ptr::null();
        } else {
            let tail = head.links().prev;
            // SAFETY: I1: linked, and stay here.
            unsafe { &*tail }.set_next(next);
            // SAFETY: as above.
            unsafe { &*next }.set_prev(tail);
            self.head = next;
        }
        match to.head() {
            None => {
                head.set_prev(last);
                end.set_next(first);
                to.head = first;
            }
            Some(node) => {
                // SAFETY: I1: the other ring's head is linked.
                let other = unsafe { node.waiter() };
                let tail = other.links().prev;
                head.set_prev(tail);
                // SAFETY: I1: the other ring's tail is linked.
                unsafe { &*tail }.set_next(first);
                end.set_next(node.as_ptr());
                other.set_prev(last);
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
    /// In a section; `old` is linked in this ring; `new` is alive, pinned (I1), of the same lock, and in no ring.
    #[inline(always)]
    unsafe fn replace(&mut self, old: WaiterPtr, new: WaiterPtr) {
        // SAFETY: linked, as the caller promises.
        let Links { prev, next } = unsafe { old.waiter() }.links();
        // SAFETY: alive, as the caller promises.
        let waiter = unsafe { new.waiter() };
        let new = new.as_ptr().cast_const();
        if ptr::eq(next, old.as_ptr()) {
            waiter.set_links(Links { prev: new, next: new });
        } else {
            waiter.set_links(Links { prev, next });
            // SAFETY: I1: the neighbours are linked.
            unsafe { &*prev }.set_next(new);
            // SAFETY: as above.
            unsafe { &*next }.set_prev(new);
        }
        if ptr::eq(self.head, old.as_ptr()) {
            self.head = new;
        }
    }
}

/// For scans, which go from the end to the head.
impl Ring {
    /// The last of a ring with this head.
    ///
    /// # Safety
    ///
    /// In a section; `head` is the head.
    #[inline(always)]
    unsafe fn tail_of(&self, head: WaiterPtr) -> WaiterPtr {
        // SAFETY: I1: linked, as the caller promises.
        let tail = unsafe { head.waiter() }.links().prev.cast_mut();
        // SAFETY: I6: links of a linked waiter lead to waiters.
        WaiterPtr(unsafe { NonNull::new_unchecked(tail) })
    }

    /// The one before this; `None` for the head.
    ///
    /// # Safety
    ///
    /// In a section; the waiter is linked in this ring.
    #[inline(always)]
    unsafe fn before(&self, node: WaiterPtr) -> Option<WaiterPtr> {
        // SAFETY: as the caller promises.
        (!ptr::eq(self.head, node.as_ptr())).then(|| unsafe { self.tail_of(node) })
    }

    /// | before | after |
    /// |---|---|
    /// | `[node]` | `[node, new]` |
    /// | `[node, b]` | `[node, new, b]` |
    ///
    /// # Safety
    ///
    /// In a section; `node` is linked in this ring; `new` is alive, pinned (I1, I7), and in no ring.
    #[inline(always)]
    unsafe fn link_behind(&mut self, node: WaiterPtr, new: WaiterPtr) {
        // SAFETY: linked, as the caller promises.
        let before = unsafe { node.waiter() };
        let next = before.links().next;
        // SAFETY: alive, as the caller promises.
        unsafe { new.waiter() }.set_links(Links { prev: node.as_ptr(), next });
        // SAFETY: I1: the neighbour is linked.
        unsafe { &*next }.set_prev(new.as_ptr());
        before.set_next(new.as_ptr());
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
    pub(crate) fn first_mode(&self) -> Option<Mode> {
        // SAFETY: I1, I2: the head is linked, and this is a section.
        self.0.head().map(|first| unsafe { first.mode() })
    }

    /// Whether the grant of the first waiter was stolen, and it has not been polled since.
    #[inline(always)]
    pub(crate) fn is_first_robbed(&self) -> bool {
        // SAFETY: I1: the head is linked, and this is a section.
        self.0.head().is_some_and(|first| unsafe { first.waiter() }.is_robbed())
    }

    /// Takes the first waiter out for the rest of the section, if it waits for an upgrade.
    pub(crate) fn set_upgrade_aside(&mut self) -> Option<WaiterPtr> {
        let first = self.0.head()?;
        // SAFETY: I1, I2: the head is linked, and this is a section.
        if unsafe { first.mode() } != Mode::Upgrade {
            return None;
        }
        // SAFETY: I1: the head is linked here.
        let _ = unsafe { self.0.unlink(first) };
        Some(first)
    }

    /// Puts the upgrade back that was set aside.
    ///
    /// # Safety
    ///
    /// In the section in which [`set_upgrade_aside`](Self::set_upgrade_aside) of this queue took it out.
    pub(crate) unsafe fn put_upgrade_back(&mut self, upgrade: WaiterPtr) {
        // SAFETY: I1: alive since the section began, and in no ring.
        unsafe { self.link(upgrade, Mode::Upgrade) };
    }

    /// Queues a waiter with the waker to wake it by.
    ///
    /// # Safety
    ///
    /// In a section of the waiter's lock, by who has the waiter's future exclusively. The waiter was never queued, and
    /// its future's drop unlinks it if nothing did before.
    #[inline(always)]
    pub(crate) unsafe fn push(&mut self, waiter: Pin<&Waiter>, waker: Waker, batch_id: u32, mode: Mode) {
        debug_assert_eq!(waiter.membership(), Membership::Idle, "a waiter queues once");
        waiter.set_membership(Membership::Queued);
        if mode != Mode::Write {
            // SAFETY: I2, as the caller promises. It was made with `Write`.
            unsafe { waiter.set_role(Role::new(mode)) };
        }
        // SAFETY: in no ring, so nobody else knows the slot.
        waiter.slot.with_mut(|slot| unsafe { slot.cast::<WakerSlot>().write(WakerSlot::new(waker)) });
        let numbers = Numbers { number: batch_id, since: 0, scanned: 0 };
        // SAFETY: I2, as the caller promises.
        waiter.numbers.with_mut(|slot| unsafe { slot.cast::<Numbers>().write(numbers) });
        // SAFETY: pinned, and in no ring.
        unsafe { self.link(WaiterPtr::of(waiter), mode) };
    }

    /// A waiter whose grant was stolen waits again, with the waker to wake it by.
    ///
    /// # Safety
    ///
    /// In a section of the waiter's lock; it is granted and not claimed, in no ring, and waits for this kind.
    #[inline(always)]
    pub(crate) unsafe fn push_again(
        &mut self,
        victim: WaiterPtr,
        waker: Waker,
        batch_id: u32,
        mode: Mode,
        grants: Grants,
    ) {
        // SAFETY: I1: unclaimed, so its future has not ended.
        let waiter = unsafe { victim.waiter() };
        // SAFETY: I3, I6: granted, so it was queued, and its waker was taken.
        unsafe { waiter.slot() }.put(waker);
        // SAFETY: I2, as the caller promises.
        unsafe { waiter.wait_again(batch_id, grants.newest()) };
        // SAFETY: I1: pinned, and in no ring.
        unsafe { self.link(victim, mode) };
    }

    /// # Safety
    ///
    /// As `link_last`.
    #[inline(always)]
    unsafe fn link(&mut self, node: WaiterPtr, mode: Mode) {
        // SAFETY: as the caller promises.
        unsafe { self.0.link_last(node) };
        if mode == Mode::Upgrade {
            // Last in a ring is just before the first.
            self.0.head = node.as_ptr();
        }
    }

    /// Takes the first waiter out, marks it as granted, and takes its waker, to be woken once the section has ended.
    #[inline(always)]
    pub(crate) fn grant_first(&mut self, grant: u32) -> Option<(WaiterPtr, Waker, MoreWait)> {
        let first = self.0.head()?;
        // SAFETY: I1: the head is linked here.
        let others = unsafe { self.0.unlink(first) };
        // SAFETY: I1: it was linked a moment ago, and the section goes on.
        let waiter = unsafe { first.waiter() };
        debug_assert!(!waiter.is_granted(), "granted twice");
        // SAFETY: I3: it waited, so the slot's waker is its own, and leaves with this.
        let waker = unsafe { waiter.take_waker() };
        // SAFETY: I2.
        unsafe { waiter.update(|numbers| numbers.number = grant) };
        // Ordering: Relaxed. The end of the section, or the word that it stores, publishes it: see `is_granted`.
        waiter.grant_state.store(GRANTED, Ordering::Relaxed);
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
    /// In a section; at least so many are linked here, and there is at least one; `set` is of the same lock.
    #[inline(always)]
    pub(crate) unsafe fn grant_many(
        &mut self,
        n: u32,
        grants: &mut Grants,
        set: &mut GrantedSet,
        mut f: impl FnMut(Waker),
    ) {
        debug_assert!(n > 0, "nobody is granted");
        let first = self.0.head;
        let (mut last, mut next) = (first, first);
        let mut grant = grants.newest();
        for _ in 0..n {
            last = next;
            // SAFETY: I1: so many are linked here, as the caller promises.
            let waiter = unsafe { &*last };
            debug_assert!(!waiter.is_granted(), "granted twice");
            // SAFETY: I3: it waited, so the slot's waker is its own, and leaves with this.
            f(unsafe { waiter.take_waker() });
            Grants::after(&mut grant);
            // SAFETY: I2.
            unsafe { waiter.update(|numbers| numbers.number = grant) };
            // Ordering: Relaxed, as in `grant_first`.
            waiter.grant_state.store(GRANTED, Ordering::Relaxed);
            next = waiter.links().next;
        }
        grants.advance_to(grant);
        // SAFETY: I1: linked here in this order, and `next` follows.
        unsafe { self.0.move_front(first, last, next, &mut set.0) };
    }

    /// Takes a waiter out that leaves ungranted, and its waker, to be dropped once the section has ended.
    ///
    /// # Safety
    ///
    /// In a section; the waiter is linked in this queue, and waits no more, or is queued again with this waker.
    #[inline(always)]
    pub(crate) unsafe fn remove(&mut self, waiter: Pin<&Waiter>) -> (Waker, MoreWait) {
        debug_assert!(!waiter.is_granted(), "a granted waiter is in no wait queue");
        // SAFETY: linked here, as the caller promises.
        let others = unsafe { self.0.unlink(WaiterPtr::of(waiter)) };
        // SAFETY: I3: it waited, so the slot's waker is its own, and leaves with this.
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
    /// In a section, by the poll of the thief's future; the thief is linked in this queue and never waits again;
    /// `victim` is granted and not claimed, in no ring, and waited for the same.
    #[inline]
    pub(crate) unsafe fn trade(&mut self, thief: Pin<&Waiter>, victim: WaiterPtr, grants: Grants) {
        // SAFETY: I1: unclaimed, so its future has not ended.
        let other = unsafe { victim.waiter() };
        debug_assert!(other.is_granted() && !thief.is_granted(), "a waiter steals from a granted one");
        // SAFETY: I3: it waits, so the slot's waker is its own, and goes to the other's slot.
        let waker = unsafe { thief.take_waker() };
        // SAFETY: I3, I6: granted, so it was queued, and its waker was taken.
        unsafe { other.slot() }.put(waker);
        // SAFETY: I2: it waits.
        let batch_id = unsafe { thief.batch_id() };
        // SAFETY: I2: in a section.
        debug_assert_eq!(unsafe { thief.mode() }, unsafe { other.mode() }, "they want the same");
        // SAFETY: I2, I6: it was queued.
        unsafe { other.wait_again(batch_id, grants.newest()) };
        // SAFETY: I1: one is linked here, the other in no ring.
        unsafe { self.0.replace(WaiterPtr::of(thief), victim) };
    }
}

/// Stores another waker; returns the old one, to be dropped once the section has ended.
///
/// # Safety
///
/// In a section, by who has the waiter's future exclusively; the waiter waits in a queue.
#[inline(always)]
pub(crate) unsafe fn replace_waker(waiter: Pin<&Waiter>, waker: Waker) -> Waker {
    debug_assert!(!waiter.is_granted(), "a granted waiter is in no wait queue");
    // SAFETY: I3: it waits, so the slot's waker is its own.
    let old = unsafe { waiter.take_waker() };
    // Another task may have the waiter now: grants of that task have not been visited. The clones of one waker may differ
    // in their vtables' addresses.
    if !ptr::eq(old.data(), waker.data()) {
        // SAFETY: I2, I6: in a section; it was queued.
        unsafe { waiter.forget_scans() };
    }
    // SAFETY: as above, and it has just been taken.
    unsafe { waiter.slot() }.put(waker);
    old
}

/// For reports, which name a bounded number of waiters.
#[cfg(feature = "diagnostics")]
impl Ring {
    /// What the waiters wait for and where they asked, from the head on. In one section, as every use of a ring.
    fn places(&self) -> impl Iterator<Item = (Mode, CallSite)> {
        core::iter::successors(self.head(), move |node| {
            // SAFETY: I1, I2: linked, and the section goes on.
            let next = unsafe { node.waiter() }.links().next;
            NonNull::new(next.cast_mut()).filter(|_| !ptr::eq(next, self.head)).map(WaiterPtr)
        })
        // SAFETY: as above.
        .filter(|node| !unsafe { node.waiter() }.is_cursor())
        .map(|node| {
            // SAFETY: as above.
            let mode = unsafe { node.mode() };
            // SAFETY: as above.
            (mode, unsafe { node.call_site() })
        })
    }
}

#[cfg(feature = "diagnostics")]
impl WaitQueue {
    /// Those who wait, first come first.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Mode, CallSite)> {
        self.0.places()
    }
}

#[cfg(feature = "diagnostics")]
impl GrantedSet {
    /// The granted.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Mode, CallSite)> {
        self.0.places()
    }
}

/// What a granted waiter waited for, and where it asked.
///
/// # Safety
///
/// In a section, which found the waiter as the granted one: it has not claimed, so it is alive (I1).
#[cfg(feature = "diagnostics")]
pub(crate) unsafe fn place_of(granted: NonNull<Waiter>) -> (Mode, CallSite) {
    let node = WaiterPtr(granted);
    // SAFETY: alive, as the caller promises.
    let mode = unsafe { node.mode() };
    // SAFETY: as above.
    (mode, unsafe { node.call_site() })
}

/// A future was polled after it had returned `Ready`.
#[cold]
#[inline(never)]
pub(crate) fn polled_after_ready() -> ! {
    panic!("a lock future was polled after it was ready; make a new one for the next wait")
}

#[cfg(all(test, not(fifolock_loom)))]
mod tests;

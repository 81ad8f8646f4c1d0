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
//! - **I1 (linked ⇒ pinned):** a linked waiter stays where it is until it is unlinked. It is linked through a
//!   `Pin<&Waiter>`, and the future that holds it unlinks it before it is gone: on claim, on leaving, on drop. One that
//!   is forgotten while pinned is never freed or reused.
//! - **I2 (sections):** links, heads and tickets are read and written only inside a section of the one lock that the
//!   waiter belongs to.
//! - **I3 (the waker's slot):** a waiter owns the waker in its slot from being pushed until it is granted or removed.
//!   Only its owner writes the slot, inside a section. Whoever grants copies the waker out and writes nothing, so that
//!   the owner may compare the slot's identity at any time without a section.
//! - **I4 (stage):** `stage` is touched only by who polls or drops the future, and they have it exclusively.
//! - **I5 (no way back):** no pointer in a queue or a waiter points into a lock, so a lock whose waiters were forgotten
//!   can move.
//!
//! No `&mut Waiter` exists while it is linked: everything that changes is in a cell and reached through a shared
//! reference or a raw pointer from the pinned place itself.

use crate::diagnostics::Place;
use crate::sync_shim::{AtomicU8, Ordering, UnsafeCell};
use core::fmt;
use core::marker::PhantomPinned;
use core::mem::MaybeUninit;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::pin::Pin;
use core::ptr::{self, NonNull};
use core::task::Waker;

/// Where a waiter stands, as its owner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Never polled: it has no part in anything.
    Idle,
    /// In the hands of the lock: linked, waiting or granted.
    Queued,
    /// Claimed or left: never in a queue again.
    Done,
}

/// In the queue. The slot holds a waker.
const WAITING: u8 = 0;
/// Owner of the lock, or of a reader's share, that has not claimed it. The waker was taken out.
const GRANTED: u8 = 1;

/// A place in a queue, inside a pinned future.
#[repr(align(8))]
#[allow(unnameable_types, unreachable_pub, reason = "a parameter of a sealed trait")]
pub struct Waiter {
    links: UnsafeCell<Links>,
    waker: UnsafeCell<MaybeUninit<Waker>>,
    ticket: UnsafeCell<u32>,
    phase: AtomicU8,
    stage: UnsafeCell<Stage>,
    place: Place,
    _pinned: PhantomPinned,
}

// The bits of a word below a waiter's address are the word's flags.
const _: () = assert!(align_of::<Waiter>() > crate::raw::Word::BUSY_BIT);

#[derive(Clone, Copy)]
struct Links {
    prev: *const Waiter,
    next: *const Waiter,
}

// SAFETY: the pointers are followed in sections only (I2), which exclude each other across threads wherever the lock
// may be shared; `stage` and the slot are written by who has the future exclusively (I3, I4). A waker is Send and Sync.
unsafe impl Send for Waiter {}
// SAFETY: as above. A shared waiter offers nothing outside the crate.
unsafe impl Sync for Waiter {}

impl Waiter {
    /// A waiter for whoever asked at `place`.
    #[inline(always)]
    pub(crate) fn new(place: Place) -> Self {
        Self {
            links: UnsafeCell::new(Links { prev: ptr::null(), next: ptr::null() }),
            waker: UnsafeCell::new(MaybeUninit::uninit()),
            ticket: UnsafeCell::new(0),
            phase: AtomicU8::new(WAITING),
            stage: UnsafeCell::new(Stage::Idle),
            place,
            _pinned: PhantomPinned,
        }
    }

    /// Where the lock was asked for.
    #[inline(always)]
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    #[inline(always)]
    pub(crate) fn stage(&self) -> Stage {
        // SAFETY: I4.
        self.stage.with(|stage| unsafe { *stage })
    }

    #[inline(always)]
    pub(crate) fn set_done(&self) {
        self.set_stage(Stage::Done);
    }

    #[inline(always)]
    fn set_stage(&self, to: Stage) {
        // SAFETY: I4.
        self.stage.with_mut(|stage| unsafe { *stage = to });
    }

    /// Whether the waiter was granted. Outside a section this is a hint; the section, or the word, decides.
    #[inline(always)]
    pub(crate) fn is_granted(&self) -> bool {
        // Ordering: Relaxed. Inside a section the section orders it. Outside, `true` is confirmed by an acquire on the
        // word, and `false` is the truth unless a grant is on its way, whose wake comes after it.
        self.phase.load(Ordering::Relaxed) == GRANTED
    }

    /// Whether the waker stored last wakes the same task as `waker`. Only for the owner of a queued waiter.
    #[inline(always)]
    pub(crate) fn will_wake(&self, waker: &Waker) -> bool {
        debug_assert_eq!(self.stage(), Stage::Queued);
        self.waker.with(|slot| {
            // SAFETY: I3: the slot was written when the waiter was queued, and nobody but the caller writes it. The
            // waker may have been taken since: then this is a copy of its two pointers, of which only the addresses
            // are looked at, and which is never dropped.
            let stored = unsafe { &*slot.cast::<Waker>() };
            stored.data() == waker.data() && ptr::eq(stored.vtable(), waker.vtable())
        })
    }

    /// The ticket that the waiter was queued with.
    ///
    /// # Safety
    ///
    /// In a section.
    #[inline(always)]
    pub(crate) unsafe fn ticket(&self) -> u32 {
        // SAFETY: I2, as the caller promises.
        self.ticket.with(|ticket| unsafe { *ticket })
    }

    /// Copies the waker out of the slot; the copy is the owner from now on.
    ///
    /// # Safety
    ///
    /// In a section; the slot holds a waker, and the caller sees to it that nobody takes it again (I3).
    #[inline(always)]
    unsafe fn take_waker(&self) -> Waker {
        // SAFETY: as the caller promises. Nothing is written, so the waiter's owner may look at the slot meanwhile.
        self.waker.with(|slot| unsafe { slot.cast::<Waker>().read() })
    }

    #[inline(always)]
    fn links(&self) -> Links {
        // SAFETY: I2, the caller is in a section.
        self.links.with(|links| unsafe { *links })
    }

    #[inline(always)]
    fn set_links(&self, to: Links) {
        // SAFETY: I2, the caller is in a section.
        self.links.with_mut(|links| unsafe { *links = to });
    }

    fn set_prev(&self, to: *const Waiter) {
        // SAFETY: I2, the caller is in a section.
        self.links.with_mut(|links| unsafe { (*links).prev = to });
    }

    fn set_next(&self, to: *const Waiter) {
        // SAFETY: I2, the caller is in a section.
        self.links.with_mut(|links| unsafe { (*links).next = to });
    }
}

// A panic never leaves a queue or a waiter half changed: no foreign code runs inside a section.
impl UnwindSafe for Waiter {}
impl RefUnwindSafe for Waiter {}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Waiter")
    }
}

/// A linked waiter, as the queue's pointers know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node(NonNull<Waiter>);

impl Node {
    #[inline(always)]
    pub(crate) fn of(waiter: Pin<&Waiter>) -> Self {
        Self(NonNull::from(waiter.get_ref()))
    }

    #[inline(always)]
    pub(crate) fn as_ptr(self) -> *mut Waiter {
        self.0.as_ptr()
    }

    /// # Safety
    ///
    /// The waiter is linked, or owned by the caller.
    #[inline(always)]
    unsafe fn waiter<'a>(self) -> &'a Waiter {
        // SAFETY: I1: it is where it was when it was linked. Shared access only (see the module's last paragraph).
        unsafe { self.0.as_ref() }
    }
}

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
    fn head(&self) -> Option<Node> {
        NonNull::new(self.head.cast_mut()).map(Node)
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
    unsafe fn link_last(&mut self, node: Node) {
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
    unsafe fn unlink(&mut self, node: Node) {
        // SAFETY: linked, as the caller promises.
        let Links { prev, next } = unsafe { node.waiter() }.links();
        let this = node.as_ptr().cast_const();
        if ptr::eq(next, this) {
            debug_assert!(ptr::eq(self.head, this), "a ring of one is its head");
            self.head = ptr::null();
            return;
        }
        // SAFETY: I1: the neighbours are linked.
        unsafe { &*prev }.set_next(next);
        // SAFETY: as above.
        unsafe { &*next }.set_prev(prev);
        if ptr::eq(self.head, this) {
            self.head = next;
        }
    }
}

/// The waiters that wait, first come first served.
#[derive(Debug)]
pub(crate) struct WaitQueue(Ring);

impl WaitQueue {
    pub(crate) const fn new() -> Self {
        Self(Ring::new())
    }

    /// Queues a waiter with the waker to wake it by.
    ///
    /// # Safety
    ///
    /// In a section of the waiter's lock, by who has the waiter's future exclusively. The waiter was never queued, and
    /// its future's drop unlinks it if nothing did before.
    #[inline(always)]
    pub(crate) unsafe fn push(&mut self, waiter: Pin<&Waiter>, waker: Waker, ticket: u32) {
        debug_assert_eq!(waiter.stage(), Stage::Idle, "a waiter queues once");
        // SAFETY: I3: in no ring, so nobody else knows the slot.
        waiter.waker.with_mut(|slot| unsafe { slot.cast::<Waker>().write(waker) });
        // SAFETY: I2.
        waiter.ticket.with_mut(|slot| unsafe { *slot = ticket });
        waiter.set_stage(Stage::Queued);
        // SAFETY: pinned, and in no ring.
        unsafe { self.0.link_last(Node::of(waiter)) };
    }

    /// Takes the first waiter out, marks it as granted, and takes its waker, to be woken once the section has ended.
    #[inline(always)]
    pub(crate) fn grant_first(&mut self) -> Option<(Node, Waker)> {
        let first = self.0.head()?;
        // SAFETY: the head is linked here.
        unsafe { self.0.unlink(first) };
        // SAFETY: it was linked a moment ago, and the section goes on.
        let waiter = unsafe { first.waiter() };
        debug_assert!(!waiter.is_granted(), "granted twice");
        // SAFETY: I3: it waited, so the slot holds a waker, which leaves with this.
        let waker = unsafe { waiter.take_waker() };
        // Ordering: Relaxed. The end of the section, or the word that it stores, publishes it: see `is_granted`.
        waiter.phase.store(GRANTED, Ordering::Relaxed);
        Some((first, waker))
    }

    /// Takes a waiter out that leaves ungranted, and its waker, to be dropped once the section has ended.
    ///
    /// # Safety
    ///
    /// In a section; the waiter is linked in this queue. It never waits again.
    #[inline(always)]
    pub(crate) unsafe fn leave(&mut self, waiter: Pin<&Waiter>) -> Waker {
        debug_assert!(!waiter.is_granted(), "a granted waiter is in no wait queue");
        // SAFETY: linked here, as the caller promises.
        unsafe { self.0.unlink(Node::of(waiter)) };
        // SAFETY: I3: it waited, so the slot holds a waker, which leaves with this.
        unsafe { waiter.take_waker() }
    }

    /// Stores another waker; returns the old one, to be dropped once the section has ended.
    ///
    /// # Safety
    ///
    /// In a section, by who has the waiter's future exclusively; the waiter is linked in this queue.
    #[inline(always)]
    pub(crate) unsafe fn replace_waker(&mut self, waiter: Pin<&Waiter>, waker: Waker) -> Waker {
        debug_assert!(!waiter.is_granted(), "a granted waiter is in no wait queue");
        // SAFETY: I3: it waits, so the slot holds a waker, and only the caller may write it.
        waiter.waker.with_mut(|slot| unsafe { slot.cast::<Waker>().replace(waker) })
    }
}

/// The granted readers that have not claimed their shares yet.
#[derive(Debug)]
pub(crate) struct GrantedSet(Ring);

impl GrantedSet {
    pub(crate) const fn new() -> Self {
        Self(Ring::new())
    }

    /// # Safety
    ///
    /// In the section that granted it: `node` comes from [`WaitQueue::grant_first`] of the same lock.
    #[inline(always)]
    pub(crate) unsafe fn insert(&mut self, node: Node) {
        // SAFETY: it was linked when the section began, and is in no ring now.
        unsafe { self.0.link_last(node) };
    }

    /// # Safety
    ///
    /// In a section; the waiter is in this set.
    #[inline(always)]
    pub(crate) unsafe fn remove(&mut self, waiter: Pin<&Waiter>) {
        debug_assert!(waiter.is_granted(), "only granted waiters are in the set");
        // SAFETY: linked here, as the caller promises.
        unsafe { self.0.unlink(Node::of(waiter)) };
    }
}

/// For reports, which name a bounded number of waiters.
#[cfg(feature = "diagnostics")]
impl Ring {
    /// The places of the waiters, from the head on. In one section, as every use of a ring.
    fn places(&self) -> impl Iterator<Item = Place> {
        core::iter::successors(self.head(), move |node| {
            // SAFETY: I1, I2: linked, and the section goes on.
            let next = unsafe { node.waiter() }.links().next;
            NonNull::new(next.cast_mut()).filter(|_| !ptr::eq(next, self.head)).map(Node)
        })
        // SAFETY: as above.
        .map(|node| unsafe { node.waiter() }.place())
    }
}

#[cfg(feature = "diagnostics")]
impl WaitQueue {
    /// The places of those who wait, first come first.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> {
        self.0.places()
    }
}

#[cfg(feature = "diagnostics")]
impl GrantedSet {
    /// The places of the granted, in the order of their grants.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> {
        self.0.places()
    }
}

/// The place of a granted waiter.
///
/// # Safety
///
/// In a section, which found the waiter as the granted one: it has not claimed, so it is alive (I1).
#[cfg(feature = "diagnostics")]
pub(crate) unsafe fn place_of(granted: NonNull<Waiter>) -> Place {
    // SAFETY: alive, as the caller promises.
    unsafe { Node(granted).waiter() }.place()
}

/// A future was polled after it had returned `Ready`.
#[cold]
#[inline(never)]
pub(crate) fn polled_after_ready() -> ! {
    panic!("a lock future was polled after it was ready; make a new one for the next wait")
}

#[cfg(all(test, not(fifolock_loom)))]
#[path = "queue_tests.rs"]
mod tests;

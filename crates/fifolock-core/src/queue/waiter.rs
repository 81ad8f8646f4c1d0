//! A waiter: the place in a queue that lies in a future, and its parts. The invariants are those of [the queue](super).

use super::Member;
use crate::call_site::CallSite;
use crate::raw::InSection;
use crate::sync_shim::{AtomicPtr, AtomicU8, Ordering, UnsafeCell};
use core::fmt;
use core::marker::PhantomPinned;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::{self, NonNull};
use core::task::{RawWakerVTable, Waker};

/// How far a waiter has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Never polled: it has no part in anything.
    Idle,
    /// In the hands of the lock: linked, waiting or granted.
    Queued,
    /// Claimed or cancelled: never in a queue again.
    Done,
}

/// What a waiter waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A share in a read-write lock.
    Read,
    /// The one share that may become the lock.
    Upgradable,
    /// The lock for itself: a mutex, or a read-write lock to write.
    Write,
    /// The same, by the holder of the upgradable share.
    Upgrade,
}

impl Mode {
    /// Whether it ends in a share that others may have beside it.
    #[inline(always)]
    pub(crate) fn is_shared(self) -> bool {
        matches!(self, Self::Read | Self::Upgradable)
    }
}

/// In the queue. The slot holds a waker.
pub(super) const WAITING: u8 = 0;
/// Owner of the lock, or of a reader's share, that has not claimed it. The waker was taken out.
pub(super) const GRANTED: u8 = 1;
/// As `WAITING`, and another waiter of its task has stolen its grant. Its own next poll makes it `WAITING`.
pub(super) const ROBBED: u8 = 2;
/// No waiter: the place in the set of granted readers where a scan goes on.
const CURSOR: u8 = 3;

/// A place in a queue, inside a pinned future.
#[repr(align(8))]
pub struct Waiter {
    // I6: the first three are written when it is queued. A free lock's poll doesn't pay for them.
    pub(super) links: UnsafeCell<MaybeUninit<Links>>,
    pub(super) slot: UnsafeCell<MaybeUninit<WakerSlot>>,
    pub(super) numbers: UnsafeCell<MaybeUninit<Numbers>>,
    pub(super) role: UnsafeCell<Role>,
    pub(super) grant_state: AtomicU8,
    pub(super) stage: UnsafeCell<Stage>,
    call_site: CallSite,
    _pinned: PhantomPinned,
}

// The bits of a word below a waiter's address are the word's flags.
const _: () = assert!(align_of::<Waiter>() > crate::raw::Word::BUSY_BIT);

#[derive(Clone, Copy)]
pub(super) struct Links {
    pub(super) prev: *const Waiter,
    pub(super) next: *const Waiter,
}

/// What the lock remembers of a waiter. The last two are the rescue's.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    /// While it waits, the batch number that it was queued with; once granted, the number of its grant. A scan gives a grant of
    /// its own task the newest number, so that the set stays in the order of numbers.
    pub(super) number: u32,
    /// While it waits, the newest grant when it began to suspect its task, or the newest grant when it was robbed;
    /// once granted and renumbered, the number that the grant was made with.
    pub(super) since: u32,
    /// The newest grant that its scans have visited; 0 before the first scan.
    pub(super) scanned: u32,
}

/// What a waiter waits for, and its part in the rescue, in two bytes.
///
/// | bits | meaning |
/// |---|---|
/// | 0 and 1 | the [`Mode`] |
/// | 2 | its grant has been given a new number by a scan |
/// | 3 to 5 | how often a theft from it has turned out to be wrong |
/// | 6 to 15 | at how many polls in a row it has suspected its task |
#[derive(Clone, Copy)]
pub(super) struct Role(pub(super) u16);

/// The most times that the polls of a theft are doubled: 384, more than twice what tokio's budget allows in a round.
pub(super) const MOST_LEVEL: u16 = 7;

impl Role {
    pub(super) const RENUMBERED: u16 = 1 << 2;
    const ONE_LEVEL: u16 = 1 << 3;
    const LEVELS: u16 = MOST_LEVEL << 3;
    const ONE_POLL: u16 = 1 << 6;

    #[inline(always)]
    pub(super) const fn new(mode: Mode) -> Self {
        Self(mode as u16)
    }

    #[inline(always)]
    pub(super) fn mode(self) -> Mode {
        match self.0 & 0b11 {
            0 => Mode::Read,
            1 => Mode::Upgradable,
            2 => Mode::Write,
            _ => Mode::Upgrade,
        }
    }

    /// How often the polls of a theft from this waiter are doubled.
    #[inline(always)]
    pub(super) fn level(self) -> u16 {
        (self.0 & Self::LEVELS) / Self::ONE_LEVEL
    }

    #[inline(always)]
    pub(super) fn raise_level(self) -> Self {
        if self.level() < MOST_LEVEL { Self(self.0 + Self::ONE_LEVEL) } else { self }
    }

    /// At how many polls in a row it has suspected its task.
    #[inline(always)]
    pub(super) fn polls(self) -> u16 {
        self.0 / Self::ONE_POLL
    }

    #[inline(always)]
    pub(super) fn with_polls(self, polls: u16) -> Self {
        debug_assert!(polls < 1 << 10, "there is room for the polls of a theft");
        Self(self.0 % Self::ONE_POLL + polls * Self::ONE_POLL)
    }
}

/// Room for a waker, in its two parts.
pub(super) struct WakerSlot {
    data: AtomicPtr<()>,
    vtable: AtomicPtr<RawWakerVTable>,
}

// Ordering of the slot's accesses: Relaxed. Sections order those that matter. A look from outside compares two addresses;
// those of another waker of the same task, which a rescue may put there at the same time, lead to a section that decides.
impl WakerSlot {
    #[inline(always)]
    pub(super) fn new(waker: Waker) -> Self {
        let waker = ManuallyDrop::new(waker);
        let vtable = ptr::from_ref(waker.vtable()).cast_mut();
        Self { data: AtomicPtr::new(waker.data().cast_mut()), vtable: AtomicPtr::new(vtable) }
    }

    /// Puts another waker in. What was there must have been taken.
    #[inline(always)]
    pub(super) fn put(&self, waker: Waker) {
        let waker = ManuallyDrop::new(waker);
        self.data.store(waker.data().cast_mut(), Ordering::Relaxed);
        self.vtable.store(ptr::from_ref(waker.vtable()).cast_mut(), Ordering::Relaxed);
    }

    /// Takes the waker over. Its addresses stay.
    ///
    /// # Safety
    ///
    /// I3: in a section; the slot owns a waker, which is taken once.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> Waker {
        let vtable = self.vtable.load(Ordering::Relaxed);
        // SAFETY: I3: `put` and `new` store a `'static` reference.
        let vtable = unsafe { &*vtable };
        // SAFETY: I3: the parts of a waker that was put in whole, and is taken once.
        unsafe { Waker::new(self.data.load(Ordering::Relaxed), vtable) }
    }

    /// Whether `waker` and the last waker that was put in wake the same task, by their addresses.
    #[inline(always)]
    pub(super) fn is_of(&self, data: *const (), vtable: *const RawWakerVTable) -> bool {
        ptr::eq(self.data.load(Ordering::Relaxed), data) && ptr::eq(self.vtable.load(Ordering::Relaxed), vtable)
    }

    /// Whether the last wakers of both wake the same task, by their addresses.
    #[inline(always)]
    pub(super) fn is_as(&self, other: &Self) -> bool {
        self.is_of(other.data.load(Ordering::Relaxed), other.vtable.load(Ordering::Relaxed))
    }
}

// SAFETY: I2: links, numbers and role are touched through a `Member`, in sections, which exclude each other across threads
// wherever the lock may be shared. I4: the stage is touched through an `OwnWaiter`, by the owner of the future. I3: the
// slot's parts are atomics. A waker is Send and Sync.
unsafe impl Send for Waiter {}
// SAFETY: I2, I3, I4, as for `Send`: a shared waiter offers atomics and its call site.
unsafe impl Sync for Waiter {}

impl Waiter {
    /// A waiter for whoever asked at `call_site`.
    #[inline(always)]
    pub(crate) fn new(call_site: CallSite) -> Self {
        Self {
            links: UnsafeCell::new(MaybeUninit::uninit()),
            slot: UnsafeCell::new(MaybeUninit::uninit()),
            numbers: UnsafeCell::new(MaybeUninit::uninit()),
            role: UnsafeCell::new(Role::new(Mode::Write)),
            grant_state: AtomicU8::new(WAITING),
            stage: UnsafeCell::new(Stage::Idle),
            call_site,
            _pinned: PhantomPinned,
        }
    }

    /// The cursor of a scan: see [`Scan`](super::Scan). Its parts are written, as those of each linked waiter (I6), though
    /// nobody asks for its task.
    #[inline(always)]
    pub(super) fn cursor() -> Self {
        let this = Self::new(CallSite::here());
        let nobody = WakerSlot { data: AtomicPtr::new(ptr::null_mut()), vtable: AtomicPtr::new(ptr::null_mut()) };
        Self {
            slot: UnsafeCell::new(MaybeUninit::new(nobody)),
            numbers: UnsafeCell::new(MaybeUninit::new(Numbers { number: 0, since: 0, scanned: 0 })),
            grant_state: AtomicU8::new(CURSOR),
            ..this
        }
    }

    /// Whether it is the cursor of a scan, and no waiter.
    #[inline(always)]
    pub(super) fn is_cursor(&self) -> bool {
        // Ordering: Relaxed. It never changes once it is linked.
        self.grant_state.load(Ordering::Relaxed) == CURSOR
    }

    /// Where the lock was asked for.
    #[inline(always)]
    pub(crate) fn call_site(&self) -> CallSite {
        self.call_site
    }

    /// Whether the waiter was granted. Outside a section this is a hint; the section, or the word, decides.
    #[inline(always)]
    pub(crate) fn is_granted(&self) -> bool {
        // Ordering: Relaxed. Inside a section the section orders it. Outside, `true` is confirmed by an acquire on the
        // word, and `false` is the truth unless a grant is on its way, whose wake comes after it.
        self.grant_state.load(Ordering::Relaxed) == GRANTED
    }

    /// Whether it is neither granted nor robbed. Outside a section a hint, as above.
    #[inline(always)]
    pub(crate) fn just_waits(&self) -> bool {
        // Ordering: Relaxed, as in `is_granted`.
        self.grant_state.load(Ordering::Relaxed) == WAITING
    }

    /// Whether its grant was stolen, and it has not been polled since. Outside a section a hint, as above.
    #[inline(always)]
    pub(crate) fn is_robbed(&self) -> bool {
        // Ordering: Relaxed. The thief is a waiter of the same task, whose polls come one after the other.
        self.grant_state.load(Ordering::Relaxed) == ROBBED
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

/// A waiter as the lock's word and the queue's links know it: an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaiterPtr(pub(super) NonNull<Waiter>);

impl WaiterPtr {
    /// The waiter that an address in a lock's word stands for; `None` for null.
    #[inline(always)]
    pub(crate) fn new(waiter: *mut Waiter) -> Option<Self> {
        NonNull::new(waiter).map(Self)
    }

    #[inline(always)]
    pub(crate) fn as_ptr(self) -> *mut Waiter {
        self.0.as_ptr()
    }

    /// The waiter, for the rest of a section of its lock.
    ///
    /// # Safety
    ///
    /// I1: the waiter is linked in a queue of the section's lock, or granted there and not claimed; or it is the waiter of
    /// the poll, or the cursor of the poll, that runs this section. I6: it has been queued, or is a cursor.
    #[inline(always)]
    pub(crate) unsafe fn member<'s>(self, section: InSection<'s>) -> Member<'s> {
        // SAFETY: I1: it is where it was when it was linked. Shared access only: see the last paragraph of the module.
        Member::new(unsafe { self.0.as_ref() }, section)
    }
}

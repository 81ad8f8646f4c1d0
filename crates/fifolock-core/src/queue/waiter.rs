//! A waiter: the place in a queue that lies in a future, and its parts. The invariants are those of [the queue](super).

use crate::call_site::CallSite;
use crate::sync_shim::{AtomicPtr, AtomicU8, Ordering, UnsafeCell};
use core::fmt;
use core::marker::PhantomPinned;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::pin::Pin;
use core::ptr::{self, NonNull};
use core::task::{RawWakerVTable, Waker};

/// Where a waiter stands, as its owner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Membership {
    /// Never polled: it has no part in anything.
    Idle,
    /// In the hands of the lock: linked, waiting or granted.
    Queued,
    /// Claimed or left: never in a queue again.
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
const ROBBED: u8 = 2;
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
    membership: UnsafeCell<Membership>,
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
    /// In a section; a waker was put in, and is taken once.
    #[inline(always)]
    unsafe fn take(&self) -> Waker {
        let vtable = self.vtable.load(Ordering::Relaxed);
        // SAFETY: `put` has it from a reference that is good for ever.
        let vtable = unsafe { &*vtable };
        // SAFETY: the parts of a waker that was put in whole, as the caller promises.
        unsafe { Waker::new(self.data.load(Ordering::Relaxed), vtable) }
    }

    /// Whether `waker` and the last waker that was put in wake the same task, by their addresses.
    #[inline(always)]
    pub(super) fn is_of(&self, data: *const (), vtable: *const RawWakerVTable) -> bool {
        ptr::eq(self.data.load(Ordering::Relaxed), data) && ptr::eq(self.vtable.load(Ordering::Relaxed), vtable)
    }
}

// SAFETY: the pointers are followed in sections only (I2), which exclude each other across threads wherever the lock
// may be shared; so are links, numbers and role. `membership` is touched by who has the future exclusively (I4). The
// slot's parts are atomics, written in sections only (I3). A waker is Send and Sync.
unsafe impl Send for Waiter {}
// SAFETY: as above. A shared waiter offers nothing outside the crate.
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
            membership: UnsafeCell::new(Membership::Idle),
            call_site,
            _pinned: PhantomPinned,
        }
    }

    /// The cursor of a scan: see [`Scan`](super::Scan).
    #[inline(always)]
    pub(super) fn cursor() -> Self {
        let this = Self::new(CallSite::here());
        // Ordering: Relaxed. The section that links it publishes it.
        this.grant_state.store(CURSOR, Ordering::Relaxed);
        this
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

    #[inline(always)]
    pub(crate) fn membership(&self) -> Membership {
        // SAFETY: I4.
        self.membership.with(|membership| unsafe { *membership })
    }

    #[inline(always)]
    pub(crate) fn set_done(&self) {
        self.set_membership(Membership::Done);
    }

    #[inline(always)]
    pub(super) fn set_membership(&self, to: Membership) {
        // SAFETY: I4.
        self.membership.with_mut(|membership| unsafe { *membership = to });
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

    /// Its grant was stolen, and it waits again, with this batch number. `newest` is the number of the newest grant.
    ///
    /// # Safety
    ///
    /// In a section; it has been queued.
    #[inline(always)]
    pub(super) unsafe fn wait_again(&self, batch_id: u32, newest: u32) {
        // Ordering: Relaxed, as in `grant_first`.
        self.grant_state.store(ROBBED, Ordering::Relaxed);
        // SAFETY: I2, I6, as the caller promises.
        unsafe {
            self.update(|numbers| {
                numbers.since = newest;
                numbers.number = batch_id;
            });
        }
        // SAFETY: I2, as the caller promises.
        let role = unsafe { self.role() };
        let role = Role(role.0 & !Role::RENUMBERED).with_polls(0);
        // SAFETY: I2, as the caller promises.
        unsafe { self.set_role(role) };
    }

    /// # Safety
    ///
    /// It has been queued.
    #[inline(always)]
    pub(super) unsafe fn slot(&self) -> &WakerSlot {
        // SAFETY: I6, as the caller promises; what is in it are atomics.
        self.slot.with(|slot| unsafe { &*slot.cast::<WakerSlot>() })
    }

    /// Takes the waker over; its addresses stay in the slot.
    ///
    /// # Safety
    ///
    /// In a section; the waiter waits (I3), and does so no more.
    #[inline(always)]
    pub(super) unsafe fn take_waker(&self) -> Waker {
        // SAFETY: it waits, so it was queued.
        let slot = unsafe { self.slot() };
        // SAFETY: as the caller promises.
        unsafe { slot.take() }
    }

    /// Whether the waker stored last wakes the same task as `waker`. Only for the owner of a queued waiter.
    #[inline(always)]
    pub(crate) fn will_wake(&self, waker: &Waker) -> bool {
        debug_assert_eq!(self.membership(), Membership::Queued);
        // SAFETY: queued.
        unsafe { self.slot() }.is_of(waker.data(), waker.vtable())
    }

    /// Whether both were stored by the same task, as far as the addresses of their wakers tell.
    ///
    /// # Safety
    ///
    /// Both have been queued.
    #[inline(always)]
    pub(super) unsafe fn is_of_task(&self, other: &Self) -> bool {
        // SAFETY: as the caller promises.
        let slot = unsafe { other.slot() };
        // SAFETY: as the caller promises.
        unsafe { self.slot() }.is_of(slot.data.load(Ordering::Relaxed), slot.vtable.load(Ordering::Relaxed))
    }

    /// # Safety
    ///
    /// In a section; it has been queued.
    #[inline(always)]
    pub(super) unsafe fn numbers(&self) -> Numbers {
        // SAFETY: I2, I6, as the caller promises.
        self.numbers.with(|numbers| unsafe { *numbers.cast::<Numbers>() })
    }

    /// # Safety
    ///
    /// In a section; it has been queued.
    #[inline(always)]
    pub(super) unsafe fn update(&self, f: impl FnOnce(&mut Numbers)) {
        // SAFETY: I2, I6, as the caller promises: the only reference.
        self.numbers.with_mut(|numbers| f(unsafe { &mut *numbers.cast::<Numbers>() }));
    }

    /// # Safety
    ///
    /// In a section.
    #[inline(always)]
    pub(super) unsafe fn role(&self) -> Role {
        // SAFETY: I2, as the caller promises.
        self.role.with(|role| unsafe { *role })
    }

    /// # Safety
    ///
    /// In a section.
    #[inline(always)]
    pub(super) unsafe fn set_role(&self, to: Role) {
        // SAFETY: I2, as the caller promises.
        self.role.with_mut(|role| unsafe { *role = to });
    }

    /// # Safety
    ///
    /// In a section.
    #[inline(always)]
    pub(crate) unsafe fn mode(&self) -> Mode {
        // SAFETY: as the caller promises.
        unsafe { self.role() }.mode()
    }

    /// The batch number that the waiter was queued with.
    ///
    /// # Safety
    ///
    /// In a section; the waiter waits.
    #[inline(always)]
    pub(crate) unsafe fn batch_id(&self) -> u32 {
        // SAFETY: as the caller promises.
        unsafe { self.numbers() }.number
    }

    #[inline(always)]
    pub(super) fn links(&self) -> Links {
        // SAFETY: I2, the caller is in a section; the waiter is linked, so they were written.
        self.links.with(|links| unsafe { *links.cast::<Links>() })
    }

    #[inline(always)]
    pub(super) fn set_links(&self, to: Links) {
        // SAFETY: I2, the caller is in a section.
        self.links.with_mut(|links| unsafe { *links.cast::<Links>() = to });
    }

    pub(super) fn set_prev(&self, to: *const Waiter) {
        // SAFETY: I2, the caller is in a section.
        self.links.with_mut(|links| unsafe { (*links.cast::<Links>()).prev = to });
    }

    pub(super) fn set_next(&self, to: *const Waiter) {
        // SAFETY: I2, the caller is in a section.
        self.links.with_mut(|links| unsafe { (*links.cast::<Links>()).next = to });
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
pub struct WaiterPtr(pub(super) NonNull<Waiter>);

impl WaiterPtr {
    /// The waiter that an address in a lock's word stands for; `None` for null.
    #[inline(always)]
    pub(crate) fn new(waiter: *mut Waiter) -> Option<Self> {
        NonNull::new(waiter).map(Self)
    }

    #[inline(always)]
    pub(crate) fn of(waiter: Pin<&Waiter>) -> Self {
        Self(NonNull::from(waiter.get_ref()))
    }

    #[inline(always)]
    pub(crate) fn as_ptr(self) -> *mut Waiter {
        self.0.as_ptr()
    }

    /// What the waiter waits for.
    ///
    /// # Safety
    ///
    /// In a section; the waiter is queued, or granted and not claimed.
    #[inline(always)]
    pub(crate) unsafe fn mode(self) -> Mode {
        // SAFETY: as the caller promises.
        let waiter = unsafe { self.waiter() };
        // SAFETY: as the caller promises.
        unsafe { waiter.mode() }
    }

    /// Whether the waiter's task is the one that this waker wakes, as far as the addresses of its last one tell.
    ///
    /// # Safety
    ///
    /// In a section; the waiter is granted and not claimed.
    #[inline(always)]
    pub(crate) unsafe fn will_wake(self, waker: &Waker) -> bool {
        // SAFETY: as the caller promises.
        let waiter = unsafe { self.waiter() };
        // SAFETY: granted, so it was queued.
        unsafe { waiter.slot() }.is_of(waker.data(), waker.vtable())
    }

    /// Where the lock was asked for.
    ///
    /// # Safety
    ///
    /// In a section; the waiter is queued, or granted and not claimed.
    #[inline(always)]
    pub(crate) unsafe fn call_site(self) -> CallSite {
        // SAFETY: as the caller promises.
        unsafe { self.waiter() }.call_site()
    }

    /// # Safety
    ///
    /// The waiter is linked, or granted and not claimed, and the caller is in a section of its lock; or it is the caller's
    /// own.
    #[inline(always)]
    pub(super) unsafe fn waiter<'a>(self) -> &'a Waiter {
        // SAFETY: I1: it is where it was when it was linked. Shared access only (see the module's last paragraph).
        unsafe { self.0.as_ref() }
    }
}

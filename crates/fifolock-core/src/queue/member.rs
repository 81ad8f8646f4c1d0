//! A waiter in a section, and a waiter in the hands of its future: the two ways to reach its parts.

use super::waiter::{GRANTED, Links, Numbers, ROBBED, Role, Stage, WAITING, WakerSlot};
use super::{Mode, Waiter, WaiterPtr};
use crate::raw::InSection;
use crate::sync_shim::Ordering;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::pin::Pin;
use core::ptr::NonNull;
use core::task::Waker;

/// A waiter in the hands of the lock whose section runs: linked there, or granted and not claimed. Or a scan's cursor.
///
/// The waiter is alive for the rest of the section (I1), its parts are written (I6), and the section has them alone (I2).
#[derive(Clone, Copy)]
pub struct Member<'s> {
    waiter: &'s Waiter,
    section: InSection<'s>,
}

impl Deref for Member<'_> {
    type Target = Waiter;

    #[inline(always)]
    fn deref(&self) -> &Waiter {
        self.waiter
    }
}

impl fmt::Debug for Member<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Member")
    }
}

/// The same waiter.
impl PartialEq for Member<'_> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.waiter, other.waiter)
    }
}

impl Eq for Member<'_> {}

impl<'s> Member<'s> {
    /// Only for [`WaiterPtr::member`], which has the duties.
    #[inline(always)]
    pub(super) fn new(waiter: &'s Waiter, section: InSection<'s>) -> Self {
        Self { waiter, section }
    }

    #[inline(always)]
    pub(super) fn section(self) -> InSection<'s> {
        self.section
    }

    #[inline(always)]
    pub(crate) fn as_ptr(self) -> *mut Waiter {
        core::ptr::from_ref(self.waiter).cast_mut()
    }

    #[inline(always)]
    pub(super) fn links(self) -> Links {
        // SAFETY: I2, I6.
        self.links.with(|links| unsafe { *links.cast::<Links>() })
    }

    #[inline(always)]
    pub(super) fn set_links(self, to: Links) {
        // SAFETY: I2.
        self.links.with_mut(|links| unsafe { *links.cast::<Links>() = to });
    }

    #[inline(always)]
    pub(super) fn set_prev(self, to: *const Waiter) {
        // SAFETY: I2.
        self.links.with_mut(|links| unsafe { (*links.cast::<Links>()).prev = to });
    }

    #[inline(always)]
    pub(super) fn set_next(self, to: *const Waiter) {
        // SAFETY: I2.
        self.links.with_mut(|links| unsafe { (*links.cast::<Links>()).next = to });
    }

    #[inline(always)]
    pub(super) fn numbers(self) -> Numbers {
        // SAFETY: I2, I6.
        self.numbers.with(|numbers| unsafe { *numbers.cast::<Numbers>() })
    }

    #[inline(always)]
    pub(super) fn set_number(self, to: u32) {
        // SAFETY: I2, I6.
        self.numbers.with_mut(|numbers| unsafe { (*numbers.cast::<Numbers>()).number = to });
    }

    #[inline(always)]
    pub(super) fn set_since(self, to: u32) {
        // SAFETY: I2, I6.
        self.numbers.with_mut(|numbers| unsafe { (*numbers.cast::<Numbers>()).since = to });
    }

    #[inline(always)]
    pub(super) fn set_scanned(self, to: u32) {
        // SAFETY: I2, I6.
        self.numbers.with_mut(|numbers| unsafe { (*numbers.cast::<Numbers>()).scanned = to });
    }

    #[inline(always)]
    pub(super) fn role(self) -> Role {
        // SAFETY: I2.
        self.role.with(|role| unsafe { *role })
    }

    #[inline(always)]
    pub(super) fn set_role(self, to: Role) {
        // SAFETY: I2.
        self.role.with_mut(|role| unsafe { *role = to });
    }

    /// What the waiter waits for.
    #[inline(always)]
    pub(crate) fn mode(self) -> Mode {
        self.role().mode()
    }

    /// The batch number that the waiter was queued with. Only of one that waits.
    #[inline(always)]
    pub(crate) fn batch_id(self) -> u32 {
        self.numbers().number
    }

    #[inline(always)]
    pub(super) fn slot(self) -> &'s WakerSlot {
        // SAFETY: I6; what is in it are atomics.
        self.waiter.slot.with(|slot| unsafe { &*slot.cast::<WakerSlot>() })
    }

    /// Takes the waker over; its addresses stay in the slot.
    ///
    /// # Safety
    ///
    /// I3: the waiter waits, and does so no more, or gets another waker in this section.
    #[inline(always)]
    pub(super) unsafe fn take_waker(self) -> Waker {
        // SAFETY: I3: it waits, so the slot's waker is its own, and leaves with this.
        unsafe { self.slot().take() }
    }

    /// Whether the waiter's task is the one that this waker wakes, as far as the addresses of its last one tell.
    #[inline(always)]
    pub(crate) fn will_wake(self, waker: &Waker) -> bool {
        self.slot().is_of(waker.data(), waker.vtable())
    }

    /// Whether both are of one task, as far as the addresses of their wakers tell.
    #[inline(always)]
    pub(super) fn is_of_task(self, other: Self) -> bool {
        self.slot().is_as(other.slot())
    }

    /// The waiter is granted; `number` is that of its grant.
    #[inline(always)]
    pub(super) fn set_granted(self, number: u32) {
        debug_assert!(!self.is_granted(), "granted twice");
        self.set_number(number);
        // Ordering: Relaxed. The end of the section, or the word that it stores, publishes it: see `is_granted`.
        self.grant_state.store(GRANTED, Ordering::Relaxed);
    }

    /// Its grant was stolen, and it waits again, with this batch number. `newest` is the number of the newest grant.
    #[inline(always)]
    pub(super) fn wait_again(self, batch_id: u32, newest: u32) {
        // Ordering: Relaxed, as in `set_granted`.
        self.grant_state.store(ROBBED, Ordering::Relaxed);
        self.set_since(newest);
        self.set_number(batch_id);
        self.set_role(Role(self.role().0 & !Role::RENUMBERED).with_polls(0));
    }

    /// A robbed waiter just waits again: its task is alive.
    #[inline(always)]
    pub(super) fn set_waiting(self) {
        // Ordering: Relaxed, as in `set_granted`.
        self.grant_state.store(WAITING, Ordering::Relaxed);
    }
}

/// A waiter in the hands of its future, which is polled or dropped: no other call has the waiter's stage (I4).
#[derive(Clone, Copy)]
pub struct OwnWaiter<'a> {
    waiter: Pin<&'a Waiter>,
    // The call that has the future does not share it with another thread.
    _here: PhantomData<*mut ()>,
}

/// How far an own waiter has come.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Membership<'a> {
    /// Never polled: it has no part in anything.
    Idle,
    /// In the hands of the lock: linked, waiting or granted.
    Queued(Queued<'a>),
    /// Claimed or cancelled: never in a queue again.
    Done,
}

/// An own waiter that is in the hands of the lock: its parts are written (I6).
#[derive(Clone, Copy, Debug)]
pub struct Queued<'a>(OwnWaiter<'a>);

impl Deref for OwnWaiter<'_> {
    type Target = Waiter;

    #[inline(always)]
    fn deref(&self) -> &Waiter {
        self.waiter.get_ref()
    }
}

impl<'a> Deref for Queued<'a> {
    type Target = OwnWaiter<'a>;

    #[inline(always)]
    fn deref(&self) -> &OwnWaiter<'a> {
        &self.0
    }
}

impl fmt::Debug for OwnWaiter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("OwnWaiter")
    }
}

impl<'a> OwnWaiter<'a> {
    #[inline(always)]
    pub(crate) fn new(waiter: Pin<&'a mut Waiter>) -> Self {
        Self { waiter: waiter.into_ref(), _here: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn ptr(self) -> WaiterPtr {
        WaiterPtr(NonNull::from(self.waiter.get_ref()))
    }

    #[inline(always)]
    pub(super) fn stage(self) -> Stage {
        // SAFETY: I4.
        self.waiter.get_ref().stage.with(|stage| unsafe { *stage })
    }

    #[inline(always)]
    pub(super) fn set_stage(self, to: Stage) {
        // SAFETY: I4.
        self.waiter.get_ref().stage.with_mut(|stage| unsafe { *stage = to });
    }

    #[inline(always)]
    pub(crate) fn membership(self) -> Membership<'a> {
        match self.stage() {
            Stage::Idle => Membership::Idle,
            Stage::Queued => Membership::Queued(Queued(self)),
            Stage::Done => Membership::Done,
        }
    }

    #[inline(always)]
    pub(crate) fn queued(self) -> Option<Queued<'a>> {
        (self.stage() == Stage::Queued).then_some(Queued(self))
    }

    #[inline(always)]
    pub(crate) fn is_idle(self) -> bool {
        self.stage() == Stage::Idle
    }

    #[inline(always)]
    pub(crate) fn set_done(self) {
        self.set_stage(Stage::Done);
    }
}

impl Queued<'_> {
    /// Whether the waker stored last wakes the same task as `waker`.
    #[inline(always)]
    pub(crate) fn will_wake(self, waker: &Waker) -> bool {
        // SAFETY: I6; what is in it are atomics.
        self.slot.with(|slot| unsafe { &*slot.cast::<WakerSlot>() }).is_of(waker.data(), waker.vtable())
    }

    /// The waiter, for the rest of a section of its lock.
    ///
    /// # Safety
    ///
    /// I1: the section is of the lock that queued the waiter, which has not claimed and was not removed.
    #[inline(always)]
    pub(crate) unsafe fn member<'s>(self, section: InSection<'s>) -> Member<'s> {
        // SAFETY: I1: as this function's caller promises; I6: queued.
        unsafe { self.ptr().member(section) }
    }
}

//! How each side of the read-write lock is acquired.

use super::super::ReadingUpgradable;
use super::side::{Side, UpgradeSide};
use super::{RawRwLock, Section, WORD_SECTIONS};
use crate::algorithm::{Algorithm, TooMany};
use crate::call_site::CallSite;
use crate::diagnostics::Recorded;
use crate::held::Held;
use crate::queue::{Member, OwnWaiter, Queued};
use crate::raw::{InSection, RawLock, Refusal};
use crate::wake::Wakers;
use core::marker::PhantomData;
use core::mem;
use core::task::Waker;

/// Acquiring one side of a lock.
pub struct OnSide<'a, R, S>(pub(super) &'a RawRwLock<R>, PhantomData<S>);

impl<R, S> Clone for OnSide<'_, R, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, S> Copy for OnSide<'_, R, S> {}

impl<'a, R: RawLock, S: Side> OnSide<'a, R, S> {
    #[inline(always)]
    pub(crate) fn to(lock: &'a RawRwLock<R>) -> Self {
        Self(lock, PhantomData)
    }
}

impl<R: RawLock, S: Side> Algorithm for OnSide<'_, R, S> {
    const HAS_FAST_PATH: bool = Recorded::<R>::HAS_FAST_PATH;
    const TRIES_FAST: bool = WORD_SECTIONS || Recorded::<R>::HAS_FAST_PATH;
    type Section<'s> = Section<'s>;
    type Wakers = Wakers;

    #[inline(always)]
    fn section<T>(self, refusal: Refusal, f: impl FnOnce(&mut Section<'_>) -> T) -> T {
        self.0.section(refusal, f)
    }

    #[inline(always)]
    fn wake_all(self, wakers: &mut Wakers) {
        self.0.wake_all(wakers);
    }

    #[inline(always)]
    fn fast_acquire(self) -> bool {
        S::fast_acquire(self.0)
    }

    #[inline(always)]
    fn may_enter(self) -> bool {
        self.0.raw.peek().is_none_or(S::may_enter)
    }

    #[inline(always)]
    fn fast_claim(self, waiter: Queued<'_>) -> bool {
        // A reader stands in the set of granted readers, which only a section may change.
        if S::MODE.is_shared() {
            // SAFETY: I1: the lock of an operation never changes, so this one queued the waiter, for a share.
            unsafe { self.0.claim_share(waiter) }
        } else {
            crate::algorithm::fast_claim(&self.0.raw, waiter)
        }
    }

    #[inline(always)]
    fn release(self, call_site: CallSite) {
        S::release(self.0, call_site);
    }

    #[inline(always)]
    fn in_section<'s>(section: &Self::Section<'s>) -> InSection<'s> {
        section.proof
    }

    #[inline(always)]
    fn try_acquire(section: &mut Section<'_>, call_site: CallSite) -> bool {
        section.holders.entered(section.state.try_acquire(S::MODE), S::MODE, call_site)
    }

    #[inline(always)]
    fn has_to_wait(section: &Section<'_>) -> bool {
        !section.state.may_enter(S::MODE)
    }

    #[inline(always)]
    unsafe fn acquire_or_claim(section: &mut Section<'_>, waiter: OwnWaiter<'_>) -> bool {
        let Some(queued) = waiter.queued() else { return Self::try_acquire(section, waiter.call_site()) };
        // SAFETY: I1: the lock of an operation never changes, so this one queued the waiter; it has neither claimed nor left.
        let member = unsafe { queued.member(section.proof) };
        let granted = Self::is_granted(section, member);
        if granted {
            // SAFETY: I1: granted, and a member until now, so not claimed.
            unsafe { Self::claim(section, member) };
        }
        granted
    }

    #[inline(always)]
    unsafe fn enqueue<'s>(
        section: &mut Self::Section<'s>,
        waiter: OwnWaiter<'_>,
        waker: Waker,
    ) -> Result<Member<'s>, TooMany> {
        match section.state.enqueue(S::MODE) {
            Err(full) => Err(TooMany(full, waker)),
            Ok(batch_id) => {
                let proof = section.proof;
                // SAFETY: I1: as this function's caller promises.
                Ok(unsafe { section.queue_of(S::MODE).push(waiter, waker, (batch_id, S::MODE), proof) })
            }
        }
    }

    #[inline(always)]
    fn is_granted<'s>(section: &Section<'s>, waiter: Member<'s>) -> bool {
        let granted = waiter.is_granted();
        debug_assert!(
            S::MODE.is_shared() || granted == (section.state.granted == waiter.as_ptr()),
            "the word and the waiter differ"
        );
        granted
    }

    #[inline(always)]
    unsafe fn claim<'s>(section: &mut Section<'s>, waiter: Member<'s>) {
        if S::MODE.is_shared() {
            // SAFETY: I1: granted and not claimed, so in the set.
            unsafe { section.granted_readers.remove(waiter) };
        } else {
            section.state.claim_writer();
        }
        section.holders.claimed(S::MODE, waiter.call_site());
    }

    #[inline(always)]
    unsafe fn remove<'s>(section: &mut Section<'s>, waiter: Member<'s>, wakers: &mut Wakers) -> Waker {
        let batch_id = waiter.batch_id();
        // SAFETY: I1, I3: it waits, so it is linked here, and never waits again, as this function's caller promises.
        let (own, _) = unsafe { section.queue_of(S::MODE).remove(waiter) };
        section.state.remove_waiter(S::MODE, batch_id);
        section.holders.cancelled(S::MODE);
        section.admit(wakers);
        own
    }
}

impl<R: RawLock> OnSide<'_, R, UpgradeSide> {
    /// Ends the wait of an upgrade that is not wanted any longer, but keeps its share. Only of a queued waiter.
    ///
    /// `true`: it was granted, and the caller owns the lock. `false`: the caller is the upgradable reader, and whom only the
    /// upgrade kept out was granted and woken (W5).
    ///
    /// | before | after |
    /// |---|---|
    /// | 2 readers, one upgrades; queue `[upgrade, w]`, readers `[r]` | 2 readers, one upgradable; queue `[w]`, readers `[r]` |
    /// | 2 readers, one upgrades; queue `[upgrade]`, readers `[r]` | 3 readers, one upgradable; r granted |
    /// | granted to the upgrade | owned by the caller |
    #[cold]
    #[inline(never)]
    pub(crate) fn claim_or_stay_reader(self, waiter: Queued<'_>) -> bool {
        waiter.set_done();
        let mut wakers = Wakers::default();
        let granted = &mut wakers;
        let left = self.0.section(Refusal::Aborts, move |section| {
            // SAFETY: I1: the lock of an operation never changes, so this one queued the waiter; it has neither claimed nor left.
            let member = unsafe { waiter.member(section.proof) };
            if Self::is_granted(section, member) {
                // SAFETY: I1: granted, and queued until now, so not claimed.
                unsafe { Self::claim(section, member) };
                return None;
            }
            // SAFETY: I1: queued and not granted, so linked here. I3: it is done.
            let (own, _) = unsafe { section.queue.remove(member) };
            // Not as `leave` does: the share stays counted, and its holder recorded.
            section.state.counts.waiting_writers -= 1;
            section.admit(granted);
            Some(own)
        });
        let Some(own) = left else { return true };
        // SAFETY: rule U4: the share that the upgrade was made from; only a panic of the foreign code below gives it back here.
        let share = unsafe { Held::new(ReadingUpgradable(self.0), waiter.call_site()) };
        self.0.wake_all(&mut wakers);
        drop(own);
        mem::forget(share);
        false
    }
}

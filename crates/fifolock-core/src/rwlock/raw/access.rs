//! How each side of the read-write lock is acquired.

use super::super::ReadingUpgradable;
use super::side::{Side, UpgradeSide};
use super::{RawRwLock, SHORT_SECTIONS, Section};
use crate::algorithm::{Acquisition, TooMany};
use crate::call_site::CallSite;
use crate::diagnostics::Recorded;
use crate::permit::Permit;
use crate::queue::{Node, Stage, Waiter};
use crate::raw::{RawLock, Refusal};
use crate::wake::Wakers;
use core::marker::PhantomData;
use core::mem;
use core::pin::Pin;
use core::task::Waker;

/// Acquiring one side of a lock.
pub struct Access<'a, R, S>(pub(super) &'a RawRwLock<R>, PhantomData<S>);

impl<R, S> Clone for Access<'_, R, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, S> Copy for Access<'_, R, S> {}

impl<'a, R: RawLock, S: Side> Access<'a, R, S> {
    #[inline(always)]
    pub(crate) fn to(lock: &'a RawRwLock<R>) -> Self {
        Self(lock, PhantomData)
    }
}

impl<R: RawLock, S: Side> Acquisition for Access<'_, R, S> {
    const SHORTCUTS: bool = Recorded::<R>::SHORTCUTS;
    const FAST: bool = SHORT_SECTIONS || Recorded::<R>::SHORTCUTS;
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
    fn try_fast(self) -> bool {
        S::acquire_fast(self.0)
    }

    #[inline(always)]
    fn may_enter(self) -> bool {
        self.0.raw.peek().is_none_or(S::may_enter)
    }

    #[inline(always)]
    fn claim_fast(self, waiter: Pin<&Waiter>) -> bool {
        // A reader stands in the set of granted readers, which only a section may change.
        if S::KIND.is_shared() {
            // SAFETY: a queued waiter of this lock and of a shared side, which is being polled.
            unsafe { self.0.claim_share(waiter) }
        } else {
            crate::algorithm::claim_fast(&self.0.raw, waiter)
        }
    }

    #[inline(always)]
    fn release(self, call_site: CallSite) {
        S::release(self.0, call_site);
    }

    #[inline(always)]
    fn enter(section: &mut Section<'_>, call_site: CallSite) -> bool {
        section.holders.entered(section.state.enter(S::KIND), S::KIND, call_site)
    }

    #[inline(always)]
    fn has_to_wait(section: &Section<'_>) -> bool {
        !section.state.may_enter(S::KIND)
    }

    #[inline(always)]
    fn own(section: &mut Section<'_>, waiter: Pin<&Waiter>, queued: bool) -> bool {
        if !queued {
            return Self::enter(section, waiter.call_site());
        }
        let granted = Self::is_granted(section, waiter);
        if granted {
            Self::claim(section, waiter);
        }
        granted
    }

    #[inline(always)]
    unsafe fn enqueue(section: &mut Section<'_>, waiter: Pin<&Waiter>, waker: Waker) -> Result<(), TooMany> {
        match section.state.enqueue(S::KIND) {
            Err(full) => Err(TooMany(full, waker)),
            Ok(ticket) => {
                // SAFETY: as the caller promises.
                unsafe { section.queue_of(S::KIND).push(waiter, waker, ticket, S::KIND) };
                Ok(())
            }
        }
    }

    #[inline(always)]
    fn is_granted(section: &Section<'_>, waiter: Pin<&Waiter>) -> bool {
        let granted = waiter.is_granted();
        debug_assert!(
            S::KIND.is_shared() || granted == (section.state.granted == Node::of(waiter).as_ptr()),
            "the word and the waiter differ"
        );
        granted
    }

    #[inline(always)]
    fn claim(section: &mut Section<'_>, waiter: Pin<&Waiter>) {
        if S::KIND.is_shared() {
            // SAFETY: I2: in a section; granted and not claimed, so in the set.
            unsafe { section.granted_readers.remove(Node::of(waiter)) };
        } else {
            section.state.claim_writer();
        }
        section.holders.claimed(S::KIND, waiter.call_site());
    }

    #[inline(always)]
    fn leave(section: &mut Section<'_>, waiter: Pin<&Waiter>, wakers: &mut Wakers) -> Waker {
        // SAFETY: I2: in a section; it waits.
        let ticket = unsafe { waiter.ticket() };
        // SAFETY: I2, I3: in a section; queued and not granted, so linked here. Its stage is `Done`, so it never waits again.
        let (own, _) = unsafe { section.queue_of(S::KIND).leave(waiter) };
        section.state.leave(S::KIND, ticket);
        section.holders.left(S::KIND);
        section.admit(wakers);
        own
    }
}

impl<R: RawLock> Access<'_, R, UpgradeSide> {
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
    pub(crate) fn claim_or_stay_reader(self, waiter: Pin<&Waiter>) -> bool {
        debug_assert_eq!(waiter.stage(), Stage::Queued, "it waits for nothing");
        waiter.set_done();
        let mut wakers = Wakers::default();
        let granted = &mut wakers;
        let left = self.0.section(Refusal::Aborts, move |section| {
            if Self::is_granted(section, waiter) {
                Self::claim(section, waiter);
                return None;
            }
            // SAFETY: I2, I3: in a section; queued and not granted, so linked here. Its stage is `Done`, so it never waits
            // again.
            let (own, _) = unsafe { section.queue.leave(waiter) };
            // Not as `leave` does: the share stays counted, and its holder recorded.
            section.state.counts.waiting_writers -= 1;
            section.admit(granted);
            Some(own)
        });
        let Some(own) = left else { return true };
        // SAFETY: the share that the upgrade was made from; only a panic of the foreign code below gives it back here.
        let share = unsafe { Permit::new(ReadingUpgradable(self.0), waiter.call_site()) };
        self.0.wake_all(&mut wakers);
        drop(own);
        mem::forget(share);
        false
    }
}

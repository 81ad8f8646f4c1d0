//! The rescue of the read-write lock: [the rescue](crate::rescue) between its sides.

use super::Section;
use super::access::OnSide;
use super::side::Side;
use crate::algorithm::Step;
use crate::queue::{Found, Member, Mode, Scan, visit};
use crate::raw::RawLock;
use crate::rescue::Rescuing;
use crate::state::rwlock::Theft;
use crate::wake::Wakers;
use core::pin::Pin;
use core::task::Waker;

impl<R: RawLock, S: Side> Rescuing for OnSide<'_, R, S> {
    type Scan = Scan;

    #[inline(always)]
    fn may_be_unclaimed(self) -> bool {
        self.0
            .raw
            .peek()
            .is_none_or(|word| if word.is_held() { !word.granted().is_null() } else { word.has_unclaimed() })
    }

    #[inline(always)]
    fn certainly_waits(section: &Section<'_>, waker: &Waker) -> bool {
        !section.state.may_enter(S::MODE)
            && match section.granted_writer() {
                Some(writer) => !writer.will_wake(waker),
                None => section.granted_readers.is_empty(),
            }
    }

    #[inline(always)]
    fn prove_alive<'s>(section: &mut Section<'s>, waiter: Member<'s>) {
        waiter.prove_alive(&mut section.state.counts.grants);
    }

    #[inline(always)]
    unsafe fn try_steal<'s>(
        section: &mut Section<'s>,
        waiter: Member<'s>,
        scan: Pin<&Scan>,
        spare: &mut Option<Waker>,
        wakers: &mut Wakers,
    ) -> Step {
        if section.state.granted.is_null() && section.granted_readers.is_empty() {
            return Step::Wait;
        }
        // SAFETY: I1, I7: as this function's caller promises.
        unsafe { scan_and_steal(S::MODE, section, waiter, scan, spare, wakers) }
    }

    #[inline(always)]
    fn has_new_waker(scan: Pin<&Scan>) -> bool {
        scan.has_new_waker.get()
    }

    #[inline(always)]
    fn set_new_waker(scan: Pin<&Scan>) {
        scan.get_ref().has_new_waker.set(true);
    }

    #[inline(always)]
    fn is_cut(scan: Pin<&Scan>) -> bool {
        scan.is_cut()
    }

    #[inline(always)]
    unsafe fn stop_scan(section: &mut Section<'_>, scan: Pin<&Scan>) {
        // SAFETY: I7: as this function's caller promises.
        unsafe { section.granted_readers.stop_scan(scan, section.proof) };
    }
}

/// [`Rescuing::try_steal`], if some grant is unclaimed.
///
/// # Safety
///
/// I1, I7: as there; the waiter waits for `thief`.
#[cold]
#[inline(never)]
unsafe fn scan_and_steal<'s>(
    thief: Mode,
    section: &mut Section<'s>,
    waiter: Member<'s>,
    scan: Pin<&Scan>,
    spare: &mut Option<Waker>,
    wakers: &mut Wakers,
) -> Step {
    // A theft may leave both waiting, each with a waker. A clone is foreign code, so it is made before the scan.
    if spare.is_none() && waiter.may_steal() {
        return Step::NeedsWaker;
    }
    let found = match section.granted_writer() {
        Some(writer) => {
            // Since the last section all readers may have gone, and this poll's cursor is alone.
            // SAFETY: I7: by the poll that the scan belongs to.
            unsafe { section.granted_readers.stop_scan(scan, section.proof) };
            section.visit_writer(thief, waiter, writer)
        }
        // SAFETY: I7: as this function's caller promises.
        None => unsafe { section.scan_readers(thief, waiter, scan) },
    };
    match found {
        Found::Nothing => Step::Wait,
        Found::Suspect => Step::WakeAgain,
        Found::More => Step::ScanOn,
        // SAFETY: I1: found in this section, by this poll.
        Found::Due(victim) if unsafe { section.steal(thief, waiter, victim, spare, wakers) } => Step::Owner,
        Found::Due(_) => Step::WakeAgain,
    }
}

impl<'s> Section<'s> {
    /// The thief takes the victim's grant over. Returns whether the thief owns what it waited for.
    ///
    /// | victim's grant | before | after |
    /// |---|---|---|
    /// | of the same kind | victim granted, `[a, thief, b]` | thief owns, `[a, victim, b]` |
    /// | of another kind | victim granted, `[a, thief, b]` | thief owns, or waits still, `[a, b, victim]` |
    ///
    /// # Safety
    ///
    /// I1: the thief waits for `wanted`, and is polled; the victim is granted and not claimed.
    unsafe fn steal(
        &mut self,
        wanted: Mode,
        thief: Member<'s>,
        victim: Member<'s>,
        spare: &mut Option<Waker>,
        wakers: &mut Wakers,
    ) -> bool {
        let mode = victim.mode();
        let theft = self.state.theft(wanted, mode);
        let grants = self.state.counts().grants;
        if mode.is_shared() {
            // SAFETY: I1: granted and not claimed, so in the set.
            unsafe { self.granted_readers.remove(victim) };
        }
        if theft == Theft::Trade {
            if !mode.is_shared() {
                self.state.claim_writer();
            }
            // SAFETY: I1: one is linked here, the other in no ring now, and both want the same. I3: the thief is the owner.
            unsafe { self.queue_of(mode).trade(thief, victim, grants) };
            self.holders.claimed(wanted, thief.call_site());
            return true;
        }
        let batch_id = self.state.rob(mode);
        if theft == Theft::TakeOver {
            self.state.take_over(wanted, thief.batch_id(), mode);
            // SAFETY: I1: it waits, so it is linked here. I3: it is the owner.
            let (waker, _) = unsafe { self.queue_of(wanted).remove(thief) };
            // SAFETY: I1: granted and not claimed, and in no ring now.
            unsafe { self.queue_of(mode).push_again(victim, waker, grants, (batch_id, mode)) };
            self.holders.robbed(mode, victim.call_site());
            self.holders.claimed(wanted, thief.call_site());
            if mode.is_shared() {
                self.admit(wakers);
            } else {
                // Nobody else is on the way: there was no reader.
                self.admit_batch(wakers);
            }
            return true;
        }
        debug_assert_eq!(theft, Theft::GiveBack, "a scan finds grants that help");
        if let Some(waker) = spare.take() {
            // SAFETY: I1: granted and not claimed, and in no ring now.
            unsafe { self.queue_of(mode).push_again(victim, waker, grants, (batch_id, mode)) };
        }
        self.admit(wakers);
        let granted = thief.is_granted();
        if granted {
            debug_assert!(!wanted.is_shared(), "a share takes over");
            self.state.claim_writer();
            self.holders.claimed(wanted, thief.call_site());
        }
        granted
    }

    #[inline(always)]
    fn visit_writer(&self, thief: Mode, waiter: Member<'s>, writer: Member<'s>) -> Found<'s> {
        if self.state.theft(thief, writer.mode()) == Theft::Nothing {
            return Found::Nothing;
        }
        visit(waiter, writer, self.state.counts().grants)
    }

    /// # Safety
    ///
    /// I7: as [`GrantedSet::scan`](crate::queue::GrantedSet::scan).
    unsafe fn scan_readers(&mut self, thief: Mode, waiter: Member<'s>, scan: Pin<&Scan>) -> Found<'s> {
        if thief == Mode::Read && self.state.has_share_reserved(waiter.batch_id()) {
            // It is about to be granted.
            // SAFETY: I7: by the poll that the scan belongs to.
            unsafe { self.granted_readers.stop_scan(scan, self.proof) };
            return Found::Nothing;
        }
        // The same answers whatever has been counted: a scan changes no state but the number of grants.
        let state = self.state.copied();
        let helps = |victim| state.theft(thief, victim) != Theft::Nothing;
        let grants = &mut self.state.counts.grants;
        // SAFETY: I7: as this function's caller promises.
        unsafe { self.granted_readers.scan(waiter, scan, grants, helps) }
    }
}

//! The rescue of the read-write lock: [the rescue](crate::rescue) between its sides.

use super::Section;
use super::access::OnSide;
use super::side::Side;
use crate::algorithm::Step;
use crate::queue::{Found, Mode, Scan, Waiter, WaiterPtr, visit};
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
            && match WaiterPtr::new(section.state.granted) {
                // SAFETY: I1: in a section, and the word says that the granted writer has not claimed.
                Some(writer) => !unsafe { writer.will_wake(waker) },
                None => section.granted_readers.is_empty(),
            }
    }

    #[inline(always)]
    unsafe fn prove_alive(section: &mut Section<'_>, waiter: Pin<&Waiter>) {
        // SAFETY: as the caller promises.
        unsafe { waiter.prove_alive(&mut section.state.counts.grants) };
    }

    #[inline(always)]
    unsafe fn try_steal(
        section: &mut Section<'_>,
        waiter: Pin<&Waiter>,
        scan: Pin<&Scan>,
        spare: &mut Option<Waker>,
        wakers: &mut Wakers,
    ) -> Step {
        if section.state.granted.is_null() && section.granted_readers.is_empty() {
            return Step::Wait;
        }
        // SAFETY: as the caller promises.
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
        // SAFETY: as the caller promises.
        unsafe { section.granted_readers.stop_scan(scan) };
    }
}

/// [`Rescuing::try_steal`], if some grant is unclaimed.
///
/// # Safety
///
/// As there; the waiter waits for `thief`.
#[cold]
#[inline(never)]
unsafe fn scan_and_steal(
    thief: Mode,
    section: &mut Section<'_>,
    waiter: Pin<&Waiter>,
    scan: Pin<&Scan>,
    spare: &mut Option<Waker>,
    wakers: &mut Wakers,
) -> Step {
    // A theft may leave both waiting, each with a waker. A clone is foreign code, so it is made before the scan.
    // SAFETY: I2: as the caller promises.
    if spare.is_none() && unsafe { waiter.may_steal() } {
        return Step::NeedsWaker;
    }
    let found = match WaiterPtr::new(section.state.granted) {
        Some(writer) => {
            // Since the last section all readers may have gone, and this poll's cursor is alone.
            // SAFETY: as the caller promises.
            unsafe { section.granted_readers.stop_scan(scan) };
            // SAFETY: as the caller promises; the word says that the granted writer has not claimed.
            unsafe { section.visit_writer(thief, waiter, writer) }
        }
        // SAFETY: as the caller promises.
        None => unsafe { section.scan_readers(thief, waiter, scan) },
    };
    match found {
        Found::Nothing => Step::Wait,
        Found::Suspect => Step::WakeAgain,
        Found::More => Step::ScanOn,
        // SAFETY: found in this section, by this poll.
        Found::Due(victim) if unsafe { section.steal(thief, waiter, victim, spare, wakers) } => Step::Owner,
        Found::Due(_) => Step::WakeAgain,
    }
}

impl Section<'_> {
    /// The thief takes the victim's grant over. Returns whether the thief owns what it waited for.
    ///
    /// | victim's grant | before | after |
    /// |---|---|---|
    /// | of the same kind | victim granted, `[a, thief, b]` | thief owns, `[a, victim, b]` |
    /// | of another kind | victim granted, `[a, thief, b]` | thief owns, or waits still, `[a, b, victim]` |
    ///
    /// # Safety
    ///
    /// In the section in which the poll of the thief, which waits for `wanted`, found the victim.
    unsafe fn steal(
        &mut self,
        wanted: Mode,
        thief: Pin<&Waiter>,
        victim: WaiterPtr,
        spare: &mut Option<Waker>,
        wakers: &mut Wakers,
    ) -> bool {
        // SAFETY: I2: as the caller promises, unclaimed.
        let mode = unsafe { victim.mode() };
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
            // SAFETY: as the caller promises; in no ring now, and both want the same.
            unsafe { self.queue_of(mode).trade(thief, victim, grants) };
            self.holders.claimed(wanted, thief.call_site());
            return true;
        }
        let batch_id = self.state.rob(mode);
        if theft == Theft::TakeOver {
            // SAFETY: I2: as the caller promises, it waits.
            self.state.take_over(wanted, unsafe { thief.batch_id() }, mode);
            // SAFETY: as the caller promises. The polled future is done with waiting.
            let (waker, _) = unsafe { self.queue_of(wanted).remove(thief) };
            // SAFETY: as the caller promises, and in no ring now.
            unsafe { self.queue_of(mode).push_again(victim, waker, batch_id, mode, grants) };
            // SAFETY: I1: as the caller promises, and it waits again.
            self.holders.robbed(mode, unsafe { victim.call_site() });
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
            // SAFETY: as the caller promises, and in no ring now.
            unsafe { self.queue_of(mode).push_again(victim, waker, batch_id, mode, grants) };
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

    /// # Safety
    ///
    /// In a section, by the waiter's poll; it waits, and `writer` is granted and not claimed.
    #[inline(always)]
    unsafe fn visit_writer(&self, thief: Mode, waiter: Pin<&Waiter>, writer: WaiterPtr) -> Found {
        // SAFETY: I2: as the caller promises.
        let mode = unsafe { writer.mode() };
        if self.state.theft(thief, mode) == Theft::Nothing {
            return Found::Nothing;
        }
        // SAFETY: as the caller promises.
        unsafe { visit(waiter, writer, self.state.counts().grants) }
    }

    /// # Safety
    ///
    /// As [`GrantedSet::scan`](crate::queue::GrantedSet::scan).
    unsafe fn scan_readers(&mut self, thief: Mode, waiter: Pin<&Waiter>, scan: Pin<&Scan>) -> Found {
        // SAFETY: I2: as the caller promises, it waits.
        let batch_id = unsafe { waiter.batch_id() };
        if thief == Mode::Read && self.state.has_share_reserved(batch_id) {
            // It is about to be granted.
            // SAFETY: as the caller promises.
            unsafe { self.granted_readers.stop_scan(scan) };
            return Found::Nothing;
        }
        // The same answers whatever has been counted: a scan changes no state but the number of grants.
        let state = self.state.copied();
        let helps = |victim| state.theft(thief, victim) != Theft::Nothing;
        let grants = &mut self.state.counts.grants;
        // SAFETY: as the caller promises.
        unsafe { self.granted_readers.scan(waiter, scan, grants, helps) }
    }
}

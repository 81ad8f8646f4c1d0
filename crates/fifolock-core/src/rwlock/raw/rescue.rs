//! The rescue of the read-write lock: [the rescue](crate::rescue) between its sides.

use super::Section;
use super::access::Access;
use super::side::Side;
use crate::queue::{Found, Kind, Node, Scan, Waiter, visit};
use crate::raw::RawLock;
use crate::rescue::Rescuing;
use crate::state::rwlock::Theft;
use crate::wake::Wakers;
use core::pin::Pin;
use core::task::Waker;

impl<R: RawLock, S: Side> Rescuing for Access<'_, R, S> {
    #[inline(always)]
    fn may_be_unclaimed(self) -> bool {
        self.0
            .raw
            .peek()
            .is_none_or(|word| if word.is_held() { !word.granted().is_null() } else { word.has_unclaimed() })
    }

    #[inline(always)]
    fn is_unclaimed(section: &Section<'_>) -> bool {
        !section.state.granted.is_null() || !section.granted_readers.is_empty()
    }

    #[inline(always)]
    fn certainly_waits(section: &Section<'_>, waker: &Waker) -> bool {
        !section.state.may_enter(S::KIND)
            && match Node::new(section.state.granted) {
                // SAFETY: I1: in a section, and the word says that the granted writer has not claimed.
                Some(writer) => !unsafe { writer.will_wake(waker) },
                None => section.granted_readers.is_empty(),
            }
    }

    #[inline(always)]
    unsafe fn find(section: &mut Section<'_>, waiter: Pin<&Waiter>, scan: Pin<&Scan>) -> Found {
        scan.begin(section.state.counts().grants);
        if let Some(writer) = Node::new(section.state.granted) {
            // SAFETY: as the caller promises; the word says that the granted writer has not claimed.
            return unsafe { section.visit_writer(S::KIND, waiter, writer, scan) };
        }
        // SAFETY: as the caller promises.
        unsafe { section.scan_readers(S::KIND, waiter, scan) }
    }

    #[inline(always)]
    unsafe fn stop_scan(section: &mut Section<'_>, scan: Pin<&Scan>) {
        // SAFETY: as the caller promises.
        unsafe { section.granted_readers.stop_scan(scan) };
    }

    /// | victim's grant | before | after |
    /// |---|---|---|
    /// | of the same kind | victim granted, `[a, thief, b]` | thief owns, `[a, victim, b]` |
    /// | of another kind | victim granted, `[a, thief, b]` | thief owns, or waits still, `[a, b, victim]` |
    #[cold]
    #[inline(never)]
    unsafe fn steal(
        section: &mut Section<'_>,
        thief: Pin<&Waiter>,
        victim: Node,
        spare: &mut Option<Waker>,
        wakers: &mut Wakers,
    ) -> bool {
        // SAFETY: I2: as the caller promises, unclaimed.
        let kind = unsafe { victim.kind() };
        let theft = section.state.theft(S::KIND, kind);
        if kind.is_shared() {
            // SAFETY: I1: granted and not claimed, so in the set.
            unsafe { section.granted_readers.remove(victim) };
        }
        if theft == Theft::Trade {
            if !kind.is_shared() {
                section.state.claim_writer();
            }
            // SAFETY: as the caller promises; in no ring now, and both want the same.
            unsafe { section.queue_of(kind).trade(thief, victim) };
            section.holders.claimed(S::KIND, thief.place());
            return true;
        }
        let ticket = section.state.rob(kind);
        if theft == Theft::TakeOver {
            // SAFETY: I2: as the caller promises, it waits.
            section.state.take_over(S::KIND, unsafe { thief.ticket() }, kind);
            // SAFETY: as the caller promises. The polled future is done with waiting.
            let (waker, _) = unsafe { section.queue_of(S::KIND).leave(thief) };
            // SAFETY: as the caller promises, and in no ring now.
            unsafe { section.queue_of(kind).push_again(victim, waker, ticket, kind) };
            // SAFETY: I1: as the caller promises, and it waits again.
            section.holders.robbed(kind, unsafe { victim.place() });
            section.holders.claimed(S::KIND, thief.place());
            section.admit_batch(wakers);
            return true;
        }
        debug_assert_eq!(theft, Theft::GiveBack, "a scan finds grants that help");
        if let Some(waker) = spare.take() {
            // SAFETY: as the caller promises, and in no ring now.
            unsafe { section.queue_of(kind).push_again(victim, waker, ticket, kind) };
        }
        section.admit(wakers);
        let granted = thief.is_granted();
        if granted {
            debug_assert!(!S::KIND.is_shared(), "a share takes over");
            section.state.claim_writer();
            section.holders.claimed(S::KIND, thief.place());
        }
        granted
    }
}

impl Section<'_> {
    /// # Safety
    ///
    /// In a section, by the waiter's poll; it waits, and `writer` is granted and not claimed.
    #[inline(always)]
    unsafe fn visit_writer(&self, thief: Kind, waiter: Pin<&Waiter>, writer: Node, scan: Pin<&Scan>) -> Found {
        // SAFETY: I2: as the caller promises.
        let kind = unsafe { writer.kind() };
        if self.state.theft(thief, kind) == Theft::Nothing {
            return Found::Visited;
        }
        // SAFETY: as the caller promises.
        unsafe { visit(waiter, writer, scan) }
    }

    /// # Safety
    ///
    /// As [`GrantedSet::scan`](crate::queue::GrantedSet::scan).
    #[cold]
    #[inline(never)]
    unsafe fn scan_readers(&mut self, thief: Kind, waiter: Pin<&Waiter>, scan: Pin<&Scan>) -> Found {
        // SAFETY: I2: as the caller promises, it waits.
        let ticket = unsafe { waiter.ticket() };
        if thief == Kind::Read && self.state.has_share_reserved(ticket) {
            // It is about to be granted.
            // SAFETY: as the caller promises.
            unsafe { self.granted_readers.stop_scan(scan) };
            return Found::Visited;
        }
        // The same answers whatever has been counted: a scan changes no state but the number of grants.
        let state = self.state.copied();
        let helps = |victim| state.theft(thief, victim) != Theft::Nothing;
        let grants = &mut self.state.counts.grants;
        // SAFETY: as the caller promises.
        unsafe { self.granted_readers.scan(waiter, scan, grants, helps) }
    }
}

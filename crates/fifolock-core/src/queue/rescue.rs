//! The rescue's part of the queue: what a waiter remembers of a suspicion, and the scan of the granted readers.
//!
//! The story stands in [the rescue](crate::rescue).

use super::granted::is_later;
use super::waiter::{Numbers, Role, WAITING};
use super::{GrantedSet, Grants, Mode, WaitQueue, Waiter, WaiterPtr};
use crate::sync_shim::Ordering;
use core::cell::{Cell, UnsafeCell};
use core::marker::PhantomPinned;
use core::mem::MaybeUninit;
use core::pin::Pin;
use core::ptr::NonNull;

/// At which poll in a row a waiter steals a grant that its own task leaves unclaimed.
pub(crate) const POLLS_TO_STEAL: u16 = 3;

/// How many granted readers one section visits. One in loom's models, so that few readers make a scan of several sections.
pub(crate) const SCAN_BATCH: u32 = if cfg!(fifolock_loom) { 1 } else { 32 };

/// What a poll finds among the unclaimed grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// None that the waiter could steal.
    Nothing,
    /// One of the waiter's own task. The waiter suspects its task, which must be woken once more.
    Suspect,
    /// A grant that the waiter's own task has left unclaimed for long enough to steal it.
    Due(WaiterPtr),
    /// There are more, to be visited in another section. The cursor is linked.
    More,
}

/// Whether a waiter, after so many polls with suspicion, steals the grant at this poll. `victim` is the role of the granted
/// waiter.
#[inline(always)]
fn is_due(polls: u16, victim: Role, grants: Grants) -> bool {
    polls + 1 >= POLLS_TO_STEAL << victim.level().max(grants.level())
}

/// What a scan has seen of its own task's unclaimed grants.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The newest grant when the scan began.
    newest: u32,
    /// Whether there is one that would help the waiter.
    any: bool,
    /// Whether one of those was there already when the suspicion began.
    known: bool,
}

/// A scan of the granted readers by one poll, on the stack of the poll.
#[derive(Debug)]
pub struct Scan {
    /// `None` before it begins.
    seen: Cell<Option<Seen>>,
    /// Whether it goes on in another section: the cursor is linked.
    is_cut: Cell<bool>,
    /// Whether the poll has stored a new waker.
    pub(crate) has_new_waker: Cell<bool>,
    /// The place in the set at which it goes on.
    // I7: written before it is linked.
    cursor: UnsafeCell<MaybeUninit<Waiter>>,
    _pinned: PhantomPinned,
}

impl Default for Scan {
    #[inline(always)]
    fn default() -> Self {
        Self {
            seen: Cell::new(None),
            is_cut: Cell::new(false),
            has_new_waker: Cell::new(false),
            cursor: UnsafeCell::new(MaybeUninit::uninit()),
            _pinned: PhantomPinned,
        }
    }
}

impl Scan {
    /// Whether it goes on in another section.
    #[inline(always)]
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut.get()
    }

    #[inline(always)]
    pub(super) fn cursor(self: Pin<&Self>) -> WaiterPtr {
        // SAFETY: the address of a cell is not null.
        WaiterPtr(unsafe { NonNull::new_unchecked(self.get_ref().cursor.get().cast()) })
    }
}

impl Waiter {
    /// A robbed waiter that is polled has shown that its task is alive: for the rest of its wait, a theft from it takes
    /// twice as many polls. If nobody was granted anything since the theft, the victim was about to claim: the lock remembers that, once for
    /// each wait.
    ///
    /// # Safety
    ///
    /// In a section, by its poll; it waits, and was robbed.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn prove_alive(&self, grants: &mut Grants) {
        debug_assert!(self.is_robbed(), "nobody has doubted it");
        // Ordering: Relaxed, as in `grant_first`.
        self.grant_state.store(WAITING, Ordering::Relaxed);
        // SAFETY: I2: as the caller promises.
        let role = unsafe { self.role() };
        // SAFETY: I2, I6: it was queued.
        let at_the_theft = unsafe { self.numbers() }.since;
        if role.level() == 0 && grants.is_newest(at_the_theft) {
            grants.doubt();
        }
        // SAFETY: I2: as the caller promises.
        unsafe { self.set_role(role.raise_level()) };
    }

    /// The waiter has another waker, of another task perhaps: it has visited nothing, and suspects nobody.
    ///
    /// # Safety
    ///
    /// In a section; it has been queued.
    #[inline(always)]
    pub(super) unsafe fn forget_scans(&self) {
        // SAFETY: I2, I6: as the caller promises.
        unsafe { self.update(|numbers| numbers.scanned = 0) };
        // SAFETY: I2: as the caller promises.
        let role = unsafe { self.role() };
        // SAFETY: I2: as the caller promises.
        unsafe { self.set_role(role.with_polls(0)) };
    }

    /// Whether this poll may steal a grant, should it find one.
    ///
    /// # Safety
    ///
    /// In a section; it waits.
    #[inline(always)]
    pub(crate) unsafe fn may_steal(&self) -> bool {
        // SAFETY: I2: as the caller promises.
        unsafe { self.role() }.polls() + 1 >= POLLS_TO_STEAL
    }

    /// The waiter has suspected its task at so many polls in a row, this one included.
    ///
    /// # Safety
    ///
    /// In a section, by its poll; it waits.
    #[inline(always)]
    unsafe fn suspect(&self, role: Role, polls: u16, newest: u32) {
        if polls == 1 {
            // SAFETY: I2, I6: as the caller promises.
            unsafe { self.update(|numbers| numbers.since = newest) };
        }
        // SAFETY: I2: as the caller promises.
        unsafe { self.set_role(role.with_polls(polls)) };
    }
}

/// What the poll of a waiter comes to if this is the only unclaimed grant: a mutex, or a writer.
///
/// # Safety
///
/// In a section, by the waiter's poll; it waits, and `granted` is granted and not claimed.
#[inline(always)]
pub(crate) unsafe fn visit(waiter: Pin<&Waiter>, granted: WaiterPtr, grants: Grants) -> Found {
    // SAFETY: I1: unclaimed, so its future has not ended.
    let victim = unsafe { granted.waiter() };
    // SAFETY: I6: one waits, the other was granted: both were queued.
    if !unsafe { waiter.is_of_task(victim) } {
        return Found::Nothing;
    }
    // SAFETY: I2: it waits.
    let role = unsafe { waiter.role() };
    // SAFETY: I2, I6: it waits.
    let since = unsafe { waiter.numbers() }.since;
    // It is in no set, so it has the number of its grant.
    // SAFETY: I2, I6: granted, so it was queued.
    let grant = unsafe { victim.numbers() }.number;
    let polls = role.polls();
    let known = polls > 0 && !is_later(grant, since);
    // SAFETY: I2: in a section.
    if known && is_due(polls, unsafe { victim.role() }, grants) {
        return Found::Due(granted);
    }
    // SAFETY: as the caller promises.
    unsafe { waiter.suspect(role, if known { polls + 1 } else { 1 }, grants.newest()) };
    Found::Suspect
}

/// What [`WaitQueue::trade_if_due`] comes to: as [`Found`], in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trade {
    None,
    Suspect,
    Done,
}

impl WaitQueue {
    /// The same for a waiter of this queue, which waits for the same as the granted one. If the grant is due, the two
    /// [trade](Self::trade).
    ///
    /// # Safety
    ///
    /// As [`visit`]; the waiter is linked in this queue.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn trade_if_due(&mut self, waiter: Pin<&Waiter>, granted: WaiterPtr, grants: Grants) -> Trade {
        // SAFETY: as the caller promises.
        match unsafe { visit(waiter, granted, grants) } {
            Found::Nothing | Found::More => Trade::None,
            Found::Suspect => Trade::Suspect,
            Found::Due(victim) => {
                // SAFETY: as the caller promises. The waiter is done with waiting.
                unsafe { self.trade(waiter, victim, grants) };
                Trade::Done
            }
        }
    }
}

impl GrantedSet {
    /// Visits the next [`SCAN_BATCH`] members that the waiter's earlier polls have not visited, from the newest to the
    /// oldest. `helps` tells whether it would help the waiter to take over a share of this kind.
    ///
    /// Members of the waiter's own task get the newest number, so that its next poll visits them again, and no others.
    /// Between two sections the cursor holds the place, so that nobody else's scan, claim or grant disturbs this one.
    ///
    /// | before | after | found |
    /// |---|---|---|
    /// | `[seen, own, x]` | `[seen, x, own]` | suspect |
    /// | `[a, …, z]` | `[a, cursor, …, z]` | more |
    /// | `[a, cursor, …, z]` | `[a, …, z]` | nothing |
    ///
    /// # Safety
    ///
    /// In a section, by the waiter's poll; it waits in a queue of the same lock. The poll must
    /// go on with the scan, or [`stop_scan`](Self::stop_scan), before it returns or runs foreign code.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn scan(
        &mut self,
        waiter: Pin<&Waiter>,
        scan: Pin<&Scan>,
        grants: &mut Grants,
        helps: impl Fn(Mode) -> bool,
    ) -> Found {
        // SAFETY: as the caller promises.
        let mut next = unsafe { self.resume(scan) };
        let before = Seen { newest: grants.newest(), any: false, known: false };
        let mut seen = scan.seen.get().unwrap_or(before);
        // SAFETY: I2: it waits.
        let role = unsafe { waiter.role() };
        // SAFETY: I2, I6: it waits.
        let Numbers { scanned, since, .. } = unsafe { waiter.numbers() };
        for _ in 0..SCAN_BATCH {
            let Some(node) = next else { break };
            // SAFETY: I1: linked here.
            next = unsafe { self.0.before(node) };
            // SAFETY: I1: linked here.
            let member = unsafe { node.waiter() };
            if member.is_cursor() {
                continue;
            }
            // SAFETY: I2, I6: linked here.
            let numbers = unsafe { member.numbers() };
            if !is_later(numbers.number, scanned) {
                next = None;
                break;
            }
            // SAFETY: I6: one waits, the other was granted: both were queued.
            if !unsafe { waiter.is_of_task(member) } {
                continue;
            }
            // SAFETY: I2: linked here.
            let victim = unsafe { member.role() };
            if helps(victim.mode()) {
                let grant = if victim.0 & Role::RENUMBERED != 0 { numbers.since } else { numbers.number };
                let known = role.polls() > 0 && !is_later(grant, since);
                if known && is_due(role.polls(), victim, *grants) {
                    return Found::Due(node);
                }
                seen = Seen { any: true, known: seen.known || known, ..seen };
            }
            // SAFETY: linked here.
            unsafe { self.renumber(node, grants.next()) };
        }
        let Some(node) = next else {
            // SAFETY: I2, I6: it waits.
            unsafe { waiter.update(|numbers| numbers.scanned = seen.newest) };
            let polls = if seen.known { role.polls() + 1 } else { u16::from(seen.any) };
            // SAFETY: as the caller promises.
            unsafe { waiter.suspect(role, polls, seen.newest) };
            return if seen.any { Found::Suspect } else { Found::Nothing };
        };
        scan.seen.set(Some(seen));
        // SAFETY: I7: linked nowhere, so nobody else knows it.
        unsafe { scan.cursor().as_ptr().write(Waiter::cursor()) };
        // SAFETY: I7: the caller unlinks it before the poll returns; `node` is linked here.
        unsafe { self.0.link_behind(node, scan.cursor()) };
        scan.is_cut.set(true);
        Found::More
    }

    /// Takes the cursor out, if it is linked.
    ///
    /// # Safety
    ///
    /// In a section of the lock that is scanned, by the poll that scans.
    #[inline(always)]
    pub(crate) unsafe fn stop_scan(&mut self, scan: Pin<&Scan>) {
        if scan.is_cut() {
            scan.is_cut.set(false);
            // SAFETY: I7: linked here.
            let _ = unsafe { self.0.unlink(scan.cursor()) };
        }
    }

    /// The member that the scan visits next, if there is one: the newest, or the one before the cursor, which is taken out.
    ///
    /// # Safety
    ///
    /// As [`stop_scan`](Self::stop_scan).
    #[inline(always)]
    unsafe fn resume(&mut self, scan: Pin<&Scan>) -> Option<WaiterPtr> {
        if !scan.is_cut() {
            // SAFETY: I1: the head is linked.
            return self.0.head().map(|head| unsafe { self.0.tail_of(head) });
        }
        // SAFETY: I7: linked here.
        let next = unsafe { self.0.before(scan.cursor()) };
        // SAFETY: as the caller promises.
        unsafe { self.stop_scan(scan) };
        next
    }

    /// Moves a member to the end, with the newest number.
    ///
    /// | before | after |
    /// |---|---|
    /// | `[a, node, b]` | `[a, b, node]` |
    ///
    /// # Safety
    ///
    /// In a section; the waiter is in this set.
    #[inline(always)]
    unsafe fn renumber(&mut self, node: WaiterPtr, number: u32) {
        // SAFETY: I1: linked here.
        let member = unsafe { node.waiter() };
        // SAFETY: I2: linked here.
        let role = unsafe { member.role() };
        let renumbered = role.0 & Role::RENUMBERED != 0;
        // SAFETY: I2, I6: linked here.
        unsafe {
            member.update(|numbers| {
                if !renumbered {
                    numbers.since = numbers.number;
                }
                numbers.number = number;
            });
        }
        // SAFETY: I2: linked here.
        unsafe { member.set_role(Role(role.0 | Role::RENUMBERED)) };
        // SAFETY: I1: linked here.
        let _ = unsafe { self.0.unlink(node) };
        // SAFETY: I1: alive, and in no ring since.
        unsafe { self.0.link_last(node) };
    }
}

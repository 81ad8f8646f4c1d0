//! The rescue's part of the queue: what a waiter remembers of a suspicion, and the scan of the granted readers.
//!
//! The story stands in [the rescue](crate::rescue).

use super::granted::is_later;
use super::waiter::{Numbers, Role};
use super::{GrantedSet, Grants, Member, Mode, WaitQueue, Waiter, WaiterPtr};
use crate::raw::InSection;
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
pub enum Found<'s> {
    /// None that the waiter could steal.
    Nothing,
    /// One of the waiter's own task. The waiter suspects its task, which must be woken once more.
    Suspect,
    /// A grant that the waiter's own task has left unclaimed for long enough to steal it.
    Due(Member<'s>),
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
        // SAFETY: I7: the address of a cell is not null.
        WaiterPtr(unsafe { NonNull::new_unchecked(self.get_ref().cursor.get().cast()) })
    }

    /// The linked cursor.
    ///
    /// # Safety
    ///
    /// I7: the scan is cut, by this poll, in an earlier section of the same lock.
    #[inline(always)]
    unsafe fn linked_cursor<'s>(self: Pin<&Self>, section: InSection<'s>) -> Member<'s> {
        // SAFETY: I1, I6, I7: the scan's own cursor, which was written and linked when the scan was cut.
        unsafe { self.cursor().member(section) }
    }
}

impl Member<'_> {
    /// A robbed waiter that is polled has shown that its task is alive: for the rest of its wait, a theft from it takes
    /// twice as many polls. If nobody was granted anything since the theft, the victim was about to claim: the lock remembers that, once for
    /// each wait.
    #[cold]
    #[inline(never)]
    pub(crate) fn prove_alive(self, grants: &mut Grants) {
        debug_assert!(self.is_robbed(), "nobody has doubted it");
        self.set_waiting();
        let role = self.role();
        if role.level() == 0 && grants.is_newest(self.numbers().since) {
            grants.doubt();
        }
        self.set_role(role.raise_level());
    }

    /// The waiter has another waker, of another task perhaps: it has visited nothing, and suspects nobody.
    #[inline(always)]
    pub(super) fn forget_scans(self) {
        self.set_scanned(0);
        self.set_role(self.role().with_polls(0));
    }

    /// Whether this poll may steal a grant, should it find one.
    #[inline(always)]
    pub(crate) fn may_steal(self) -> bool {
        self.role().polls() + 1 >= POLLS_TO_STEAL
    }

    /// The waiter has suspected its task at so many polls in a row, this one included.
    #[inline(always)]
    fn suspect(self, role: Role, polls: u16, newest: u32) {
        if polls == 1 {
            self.set_since(newest);
        }
        self.set_role(role.with_polls(polls));
    }
}

/// What the poll of a waiter, which waits, comes to if this is the only unclaimed grant: a mutex, or a writer.
#[inline(always)]
pub(crate) fn visit<'s>(waiter: Member<'s>, granted: Member<'s>, grants: Grants) -> Found<'s> {
    if !waiter.is_of_task(granted) {
        return Found::Nothing;
    }
    let role = waiter.role();
    // The victim is in no set, so it has the number of its grant.
    let grant = granted.numbers().number;
    let polls = role.polls();
    let known = polls > 0 && !is_later(grant, waiter.numbers().since);
    if known && is_due(polls, granted.role(), grants) {
        return Found::Due(granted);
    }
    waiter.suspect(role, if known { polls + 1 } else { 1 }, grants.newest());
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
    /// I1: the waiter is linked in this queue; the other is granted and not claimed, in no ring, and waited for the same.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn trade_if_due<'s>(&mut self, waiter: Member<'s>, granted: Member<'s>, grants: Grants) -> Trade {
        match visit(waiter, granted, grants) {
            Found::Nothing | Found::More => Trade::None,
            Found::Suspect => Trade::Suspect,
            Found::Due(victim) => {
                // SAFETY: I1: as this function's caller promises. I3: the waiter is the owner now, and waits no more.
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
    /// I7: by the poll that the scan belongs to. The poll must go on with the scan, or [`stop_scan`](Self::stop_scan),
    /// before it returns or runs foreign code.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn scan<'s>(
        &mut self,
        waiter: Member<'s>,
        scan: Pin<&Scan>,
        grants: &mut Grants,
        helps: impl Fn(Mode) -> bool,
    ) -> Found<'s> {
        let section = waiter.section();
        // SAFETY: I7: by the poll that the scan belongs to.
        let mut next = unsafe { self.resume(scan, section) };
        let before = Seen { newest: grants.newest(), any: false, known: false };
        let mut seen = scan.seen.get().unwrap_or(before);
        let role = waiter.role();
        let Numbers { scanned, since, .. } = waiter.numbers();
        for _ in 0..SCAN_BATCH {
            let Some(member) = next else { break };
            // SAFETY: I1: linked here.
            next = unsafe { self.0.before(member) };
            if member.is_cursor() {
                continue;
            }
            let numbers = member.numbers();
            if !is_later(numbers.number, scanned) {
                next = None;
                break;
            }
            if !waiter.is_of_task(member) {
                continue;
            }
            let victim = member.role();
            if helps(victim.mode()) {
                let grant = if victim.0 & Role::RENUMBERED != 0 { numbers.since } else { numbers.number };
                let known = role.polls() > 0 && !is_later(grant, since);
                if known && is_due(role.polls(), victim, *grants) {
                    return Found::Due(member);
                }
                seen = Seen { any: true, known: seen.known || known, ..seen };
            }
            // SAFETY: I1: linked here.
            unsafe { self.renumber(member, grants.next()) };
        }
        let Some(node) = next else {
            waiter.set_scanned(seen.newest);
            let polls = if seen.known { role.polls() + 1 } else { u16::from(seen.any) };
            waiter.suspect(role, polls, seen.newest);
            return if seen.any { Found::Suspect } else { Found::Nothing };
        };
        scan.seen.set(Some(seen));
        // SAFETY: I7: linked nowhere, so only this poll knows it.
        unsafe { scan.cursor().as_ptr().write(Waiter::cursor()) };
        // SAFETY: I7: of this poll, and written above.
        let cursor = unsafe { scan.linked_cursor(section) };
        // SAFETY: I7: the poll unlinks it before the poll returns. I1: `node` is linked here.
        unsafe { self.0.link_behind(node, cursor) };
        scan.is_cut.set(true);
        Found::More
    }

    /// Takes the cursor out, if it is linked.
    ///
    /// # Safety
    ///
    /// I7: by the poll that scans, in a section of the lock that is scanned.
    #[inline(always)]
    pub(crate) unsafe fn stop_scan(&mut self, scan: Pin<&Scan>, section: InSection<'_>) {
        if scan.is_cut() {
            scan.is_cut.set(false);
            // SAFETY: I7: cut by this poll.
            let cursor = unsafe { scan.linked_cursor(section) };
            // SAFETY: I7: linked here.
            let _ = unsafe { self.0.unlink(cursor) };
        }
    }

    /// The member that the scan visits next, if there is one: the newest, or the one before the cursor, which is taken out.
    ///
    /// # Safety
    ///
    /// I7: as [`stop_scan`](Self::stop_scan).
    #[inline(always)]
    unsafe fn resume<'s>(&mut self, scan: Pin<&Scan>, section: InSection<'s>) -> Option<Member<'s>> {
        if !scan.is_cut() {
            return self.0.tail(section);
        }
        // SAFETY: I7: cut by this poll.
        let cursor = unsafe { scan.linked_cursor(section) };
        // SAFETY: I7: linked here.
        let next = unsafe { self.0.before(cursor) };
        // SAFETY: I7: by the poll that scans.
        unsafe { self.stop_scan(scan, section) };
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
    /// I1: the member is linked in this set.
    #[inline(always)]
    unsafe fn renumber(&mut self, member: Member<'_>, number: u32) {
        let role = member.role();
        if role.0 & Role::RENUMBERED == 0 {
            member.set_since(member.numbers().number);
        }
        member.set_number(number);
        member.set_role(Role(role.0 | Role::RENUMBERED));
        // SAFETY: I1: linked here.
        let _ = unsafe { self.0.unlink(member) };
        // SAFETY: I1: alive, and in no ring since.
        unsafe { self.0.link_last(member) };
    }
}

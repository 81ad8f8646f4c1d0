//! The read-write lock: its state and transitions.
//!
//! # Invariants
//!
//! - **R1 (exclusive):** `writer` implies `readers == 0`.
//! - **R2 (room):** `readers <= max_readers`, so that no count wraps, forgotten guards included.
//! - **R3 (settled):** between sections nobody waits who could be admitted: [`admit`](RwState::admit) finds nobody. Or
//!   whoever found more than one section may admit is on the way to the next one, and newcomers queue meanwhile.
//! - **R4 (batch):** `reserved <= window`; the first `window` waiters of the readers' queue are the batch's.
//! - **R5 (one upgradable):** `upgradable` implies `readers > 0`: one of the shares is the upgradable one.
//!
//! # Queues
//!
//! | policy | `queue` | `readers` |
//! |---|---|---|
//! | writer-preferring, phase-fair | writers and upgradable readers, served one by one | readers, served together |
//! | task-fair | everybody | nobody |
//!
//! An upgrade goes to the head of `queue`.
//!
//! # Hand-off to a batch of readers
//!
//! ```text
//!  readers' queue   r1 r2 r3 r4 │ r5          r5 came after the grant, behind a waiting writer
//!                   └─ window ─┘
//!  reserved = 4                               shares already counted in `readers`
//! ```
//!
//! The grant reserves the shares and closes the window in O(1). Members are then marked from the head, a bounded number
//! in each section. One that leaves before its mark gives its share back at once, or leaves it to a member that had no
//! share (W7: less room than members).
//!
//! Under the task-fair policy readers stand in `queue`, and the length of a run of them is not known. There, a batch that
//! goes on in another section holds the share of its next reader ([`hold_open`](RwState::hold_open)), so that nobody
//! enters in between; an upgrade that comes meanwhile goes to the head, and the rest of the run passes the upgrade.

mod rescue;

pub(crate) use rescue::Theft;

use super::{MAX_READERS, QueueFull};
use crate::queue::{Grants, Mode, Waiter};
use crate::raw::Word;
use core::borrow::BorrowMut;
use core::ptr;

/// Whose turn it is when readers and writers wait. Chosen when the lock is made, or by its platform.
///
/// | | a reader waits for | a writer waits for | choose it |
/// |---|---|---|---|
/// | [`WriterPreferring`](Self::WriterPreferring) | all writers, also those that come later | earlier writers | when writes are rare and must show soon |
/// | [`TaskFair`](Self::TaskFair) | whoever came before | whoever came before | when nobody is to be passed by; as tokio's |
/// | [`PhaseFair`](Self::PhaseFair) | the readers inside, and one writer | earlier writers, and one batch of readers before each | when reads must be served soon although writers keep coming |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RwLockPolicy {
    /// A waiting writer keeps new readers out, and writers follow each other before readers that have waited longer.
    /// Writers that come without a pause keep readers out without bound.
    #[default]
    WriterPreferring,
    /// Strictly in order of arrival. Readers that wait next to each other enter together.
    TaskFair,
    /// Readers and writers take turns: after a writer all readers that wait at that moment enter, after them the next
    /// writer.
    PhaseFair,
}

/// What stays the same as long as the lock lives: the most readers, and the policy, in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config(u32);

// The policy stands above the most readers.
const POLICY_SHIFT: u32 = 30;
const _: () = assert!(MAX_READERS < 1 << POLICY_SHIFT);

impl Config {
    pub(crate) const fn new(max_readers: u32, policy: RwLockPolicy) -> Self {
        debug_assert!(max_readers <= MAX_READERS);
        Self((policy as u32) << POLICY_SHIFT | max_readers)
    }

    #[inline(always)]
    pub(crate) const fn max_readers(self) -> u32 {
        self.0 & ((1 << POLICY_SHIFT) - 1)
    }

    #[inline(always)]
    pub(crate) const fn policy(self) -> RwLockPolicy {
        match self.0 >> POLICY_SHIFT {
            0 => RwLockPolicy::WriterPreferring,
            1 => RwLockPolicy::TaskFair,
            _ => RwLockPolicy::PhaseFair,
        }
    }
}

/// Who is to be granted: take it out of its queue and mark it. A writer's address goes into `granted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Admit {
    /// Nobody.
    Nobody,
    /// The first of `queue`, which waits for this.
    First(Mode),
    /// The first of `readers`.
    Reader,
}

/// The part of the state that has no place in the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Readers in a queue, those with a reserved share not counted.
    pub(crate) waiting_readers: u32,
    pub(crate) waiting_upgradable: u32,
    /// Writers in the queue, an upgrade counted.
    pub(crate) waiting_writers: u32,
    /// Shares counted in `readers` whose owners are still in the queue.
    pub(crate) reserved: u32,
    /// Waiters at the head of the readers' queue to whom the reserved shares may go.
    window: u32,
    /// Given to readers that queue now; readers of the window have another.
    batch_id: u32,
    /// The number of the last grant.
    pub(crate) grants: Grants,
}

impl Counts {
    pub(crate) const NEW: Self = Self {
        waiting_readers: 0,
        waiting_upgradable: 0,
        waiting_writers: 0,
        reserved: 0,
        window: 0,
        batch_id: 0,
        grants: Grants::NONE,
    };

    #[inline(always)]
    fn anyone_queued(self) -> bool {
        self.waiting_readers | self.waiting_upgradable | self.waiting_writers | self.reserved != 0
    }
}

/// What is known of a read-write lock inside a section.
///
/// | `writer` | `granted` | `readers` | `upgradable` | meaning |
/// |---|---|---|---|---|
/// | no | null | 0 | no | free |
/// | no | null | n | no | n readers, granted-unclaimed and reserved ones included |
/// | no | null | n | yes | the same, and one of them may become the writer |
/// | yes | null | 0 | no | owned by a write guard |
/// | yes | a waiter | 0 | no | owned by that writer, which has not claimed it |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RwState<C = Counts> {
    pub(crate) writer: bool,
    pub(crate) granted: *mut Waiter,
    pub(crate) readers: u32,
    pub(crate) upgradable: bool,
    /// Lent by the lock to a section, which changes few of them.
    pub(crate) counts: C,
    config: Config,
    /// In this section a writer has left, so that it is the readers' turn if they take turns.
    after_writer: bool,
}

impl<C: BorrowMut<Counts>> RwState<C> {
    #[inline(always)]
    pub(crate) fn decode(word: Word, counts: C, config: Config) -> Self {
        let writer = word.is_held();
        let (granted, readers, upgradable) =
            if writer { (word.granted(), 0, false) } else { (ptr::null_mut(), word.readers(), word.has_upgradable()) };
        Self { writer, granted, readers, upgradable, counts, config, after_writer: false }
    }

    #[inline(always)]
    pub(crate) fn counts(&self) -> &Counts {
        self.counts.borrow()
    }

    #[inline(always)]
    fn counts_mut(&mut self) -> &mut Counts {
        self.counts.borrow_mut()
    }

    /// The number of the next grant.
    #[inline(always)]
    pub(crate) fn next_grant(&mut self) -> u32 {
        self.counts_mut().grants.next()
    }

    /// One to try things on.
    #[inline(always)]
    pub(crate) fn copied(&self) -> RwState {
        let Self { writer, granted, readers, upgradable, config, after_writer, .. } = *self;
        RwState { writer, granted, readers, upgradable, counts: *self.counts(), config, after_writer }
    }

    #[inline(always)]
    pub(crate) fn encode(&self) -> Word {
        debug_assert!(!self.writer || self.readers == 0, "R1 (exclusive)");
        debug_assert!(self.readers <= self.config.max_readers(), "R2 (room)");
        debug_assert!(self.counts().reserved <= self.counts().window, "R4 (batch)");
        debug_assert!(!self.upgradable || self.readers > 0, "R5 (one upgradable)");
        let queued = self.counts().anyone_queued();
        if self.writer {
            Word::new_held(self.granted, queued)
        } else {
            Word::new_shared(self.readers, self.upgradable, queued)
        }
    }

    #[inline(always)]
    fn has_room(&self) -> bool {
        self.readers < self.config.max_readers()
    }

    /// Whether readers wait in a queue of their own: under every policy but task-fair.
    #[inline(always)]
    pub(crate) fn queues_readers_apart(&self) -> bool {
        self.config.policy() != RwLockPolicy::TaskFair
    }

    /// Whether there is the place that is waited for. The queues are not asked.
    ///
    /// | waits for | enters if |
    /// |---|---|
    /// | `Read` | no writer holds, and there is room |
    /// | `Upgradable` | the same, and there is no other upgradable reader |
    /// | `Write` | nobody holds |
    /// | `Upgrade` | nobody holds but itself |
    #[inline(always)]
    fn fits(&self, mode: Mode) -> bool {
        !self.writer
            && match mode {
                Mode::Read => self.has_room(),
                Mode::Upgradable => self.has_room() && !self.upgradable,
                Mode::Write => self.readers == 0,
                Mode::Upgrade => self.readers == 1,
            }
    }

    /// Takes the place that is waited for, if there is one.
    #[inline(always)]
    fn take_if_fits(&mut self, mode: Mode) -> bool {
        let may = self.fits(mode);
        if may {
            self.take(mode);
        }
        may
    }

    #[inline(always)]
    fn take(&mut self, mode: Mode) {
        match mode {
            Mode::Read => self.readers += 1,
            Mode::Upgradable => (self.readers, self.upgradable) = (self.readers + 1, true),
            Mode::Write => self.writer = true,
            Mode::Upgrade => (self.readers, self.upgradable, self.writer) = (0, false, true),
        }
    }

    /// Undoes [`take`](Self::take).
    #[inline(always)]
    fn give_back(&mut self, mode: Mode) {
        match mode {
            Mode::Read => {
                debug_assert!(self.readers > u32::from(self.upgradable), "released more shares than there were");
                self.readers -= 1;
            }
            Mode::Upgradable => {
                debug_assert!(self.upgradable, "released an upgradable share that there was not");
                (self.readers, self.upgradable) = (self.readers - 1, false);
            }
            Mode::Write | Mode::Upgrade => {
                debug_assert!(self.writer, "released while no writer holds");
                (self.writer, self.granted) = (false, ptr::null_mut());
                if mode == Mode::Upgrade {
                    (self.readers, self.upgradable) = (1, true);
                }
            }
        }
    }

    /// A newcomer enters if there is a place, and it passes nobody whom the policy puts before it.
    ///
    /// | | passes |
    /// |---|---|
    /// | `Read` | upgradable readers that wait for another upgradable reader |
    /// | `Upgradable`, `Write` | nobody |
    /// | `Upgrade` | everybody |
    ///
    /// Under the task-fair policy only an upgrade passes anybody.
    #[inline(always)]
    pub(crate) fn try_acquire(&mut self, mode: Mode) -> bool {
        let may = self.may_enter(mode);
        if may {
            self.take(mode);
        }
        may
    }

    /// Whether a newcomer would enter.
    #[inline(always)]
    pub(crate) fn may_enter(&self, mode: Mode) -> bool {
        let counts = self.counts();
        let is_next = match mode {
            Mode::Upgrade => true,
            Mode::Read if self.queues_readers_apart() => {
                counts.waiting_writers | counts.waiting_readers == 0
                    && (counts.waiting_upgradable == 0 || self.upgradable)
            }
            Mode::Upgradable if self.queues_readers_apart() => {
                counts.waiting_writers | counts.waiting_readers | counts.waiting_upgradable == 0
            }
            _ => !counts.anyone_queued(),
        };
        is_next && self.fits(mode)
    }

    /// Counts a waiter; returns its batch number.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, mode: Mode) -> Result<u32, QueueFull> {
        let reserved = self.counts().reserved;
        let count = self.waiting(mode);
        let more = count.checked_add(1).ok_or(QueueFull)?;
        if mode == Mode::Read {
            more.checked_add(reserved).ok_or(QueueFull)?;
        }
        *count = more;
        Ok(self.counts().batch_id)
    }

    #[inline(always)]
    fn waiting(&mut self, mode: Mode) -> &mut u32 {
        match mode {
            Mode::Read => &mut self.counts_mut().waiting_readers,
            Mode::Upgradable => &mut self.counts_mut().waiting_upgradable,
            Mode::Write | Mode::Upgrade => &mut self.counts_mut().waiting_writers,
        }
    }

    /// The owner of a place, claimed or not, gives it up. Admit others then.
    #[inline(always)]
    pub(crate) fn release(&mut self, mode: Mode) {
        self.give_back(mode);
        self.after_writer = mode == Mode::Write;
    }

    /// W6: the writer becomes a reader. There is no moment with none or two. Admit others then.
    #[inline(always)]
    pub(crate) fn downgrade(&mut self, to: Mode) {
        debug_assert!(self.granted.is_null(), "downgraded without a write guard");
        self.release(Mode::Write);
        self.take(to);
    }

    /// The upgradable reader becomes a plain one. Admit others then.
    #[inline(always)]
    pub(crate) fn downgrade_upgradable(&mut self) {
        debug_assert!(self.upgradable, "downgraded without an upgradable guard");
        self.upgradable = false;
    }

    /// The granted writer takes its grant.
    #[inline(always)]
    pub(crate) fn claim_writer(&mut self) {
        debug_assert!(self.writer && !self.granted.is_null(), "claimed without a grant");
        self.granted = ptr::null_mut();
    }

    /// A waiter leaves the queue ungranted. Admit whom it blocked then (W5).
    ///
    /// | a reader | a share for each of the window | after |
    /// |---|---|---|
    /// | outside the window | – | one less waits |
    /// | of the window | yes | its share is given back |
    /// | of the window | no (W7) | another member will get the share; one less waits |
    ///
    /// An upgrade gives its share back too.
    #[inline(always)]
    pub(crate) fn remove_waiter(&mut self, mode: Mode, batch_id: u32) {
        match mode {
            Mode::Read => self.remove_reader(batch_id),
            Mode::Upgradable => self.counts_mut().waiting_upgradable -= 1,
            Mode::Write => self.counts_mut().waiting_writers -= 1,
            Mode::Upgrade => {
                self.counts_mut().waiting_writers -= 1;
                self.give_back(Mode::Upgradable);
            }
        }
    }

    /// Whether a waiting reader has a share reserved, and is about to be marked.
    #[inline(always)]
    pub(crate) fn has_share_reserved(&self, batch_id: u32) -> bool {
        self.is_of_window(batch_id) && self.counts().reserved == self.counts().window
    }

    #[inline(always)]
    fn is_of_window(&self, batch_id: u32) -> bool {
        batch_id != self.counts().batch_id
    }

    #[inline(always)]
    fn remove_reader(&mut self, batch_id: u32) {
        let of_the_window = self.is_of_window(batch_id);
        self.counts_mut().window -= u32::from(of_the_window);
        if of_the_window && self.counts().window < self.counts().reserved {
            self.counts_mut().reserved -= 1;
            self.readers -= 1;
        } else {
            self.counts_mut().waiting_readers -= 1;
        }
    }

    /// Admits one more waiter, if the policy lets one in now; `first` is what the first of `queue` waits for, and
    /// `is_robbed` whether its grant was stolen. This is the whole policy.
    ///
    /// | who | writer-preferring | phase-fair | task-fair |
    /// |---|---|---|---|
    /// | members of a batch that has shares | first | first | – |
    /// | a batch of all waiting readers, after a writer | only before a robbed one (R7) | next | – |
    /// | the first of `queue`, if there is a place for it | next | next | next |
    /// | a batch of all waiting readers, if no writer waits | last | last | – |
    #[inline(always)]
    pub(crate) fn admit(&mut self, first: Option<Mode>, is_robbed: impl FnOnce() -> bool) -> Admit {
        if self.counts().reserved == 0 {
            if self.writer {
                return Admit::Nobody;
            }
            if !(self.is_turn_of_readers(first, is_robbed) && self.open_batch()) {
                if let Some(mode) = first
                    && self.take_if_fits(mode)
                {
                    *self.waiting(mode) -= 1;
                    return Admit::First(mode);
                }
                if !self.widen_batch() {
                    return Admit::Nobody;
                }
            }
        }
        self.counts_mut().reserved -= 1;
        self.counts_mut().window -= 1;
        Admit::Reader
    }

    /// Whether waiting readers come before the first of `queue`.
    #[inline(always)]
    fn is_turn_of_readers(&self, first: Option<Mode>, is_robbed: impl FnOnce() -> bool) -> bool {
        self.after_writer
            && (self.config.policy() == RwLockPolicy::PhaseFair
                || first.is_some() && is_robbed() && self.queues_readers_apart())
    }

    /// What [`admit`](Self::admit) comes to, called until nobody is left to admit, where this is one waiter at most: how most
    /// releases end. `None`: only `admit` can tell, and nothing has changed.
    ///
    /// | inside | wait | admitted |
    /// |---|---|---|
    /// | nobody | a writer first, and the readers have no turn | the writer |
    /// | nobody | one reader | the reader |
    /// | readers | a writer first, and the readers have no turn | nobody |
    /// | readers or nobody | nobody | nobody |
    #[inline(always)]
    pub(crate) fn admit_one(&mut self, first: Option<Mode>, is_robbed: impl FnOnce() -> bool) -> Option<Admit> {
        let readers = self.counts().waiting_readers;
        if self.writer || self.counts().reserved > 0 {
            return None;
        }
        match first {
            Some(Mode::Write) if readers == 0 || !self.is_turn_of_readers(first, is_robbed) => {
                if self.readers > 0 {
                    return Some(Admit::Nobody);
                }
                self.writer = true;
                self.counts_mut().waiting_writers -= 1;
                Some(Admit::First(Mode::Write))
            }
            None if readers == 0 => Some(Admit::Nobody),
            None if readers == 1 && self.readers == 0 => {
                self.readers = 1;
                (self.counts_mut().waiting_readers, self.counts_mut().window) = (0, 0);
                self.counts_mut().batch_id = self.counts().batch_id.wrapping_add(1);
                Some(Admit::Reader)
            }
            _ => None,
        }
    }

    /// Takes up to so many shares besides the one that [`admit`](Self::admit) has just taken for a reader of the batch.
    /// Returns how many.
    #[inline(always)]
    pub(crate) fn take_shares(&mut self, most: u32) -> u32 {
        let taken = self.counts().reserved.min(most);
        self.counts_mut().reserved -= taken;
        self.counts_mut().window -= taken;
        taken
    }

    /// A task-fair batch goes on in another section: the share of its next reader is taken now, so that nobody enters in
    /// between. Only if there is room.
    pub(crate) fn hold_open(&mut self) {
        debug_assert!(!self.queues_readers_apart() && self.counts().reserved == 0, "a batch of a queue of its own");
        self.readers += 1;
        (self.counts_mut().reserved, self.counts_mut().window) = (1, 1);
    }

    /// The section in which a task-fair batch goes on. `false`: there is no such batch.
    #[inline(always)]
    pub(crate) fn go_on(&mut self) -> bool {
        let goes_on = self.counts().reserved > 0 && !self.queues_readers_apart();
        if goes_on {
            self.readers -= 1;
            (self.counts_mut().reserved, self.counts_mut().window) = (0, 0);
        }
        goes_on
    }

    /// How many shares belong to readers that have been taken out of the queues, or are about to be.
    pub(crate) fn readers(&self) -> u32 {
        if self.queues_readers_apart() { self.readers } else { self.readers - self.counts().reserved }
    }

    /// Reserves shares for all waiting readers, as far as there is room, if no writer holds or waits.
    #[inline(always)]
    pub(crate) fn widen_batch(&mut self) -> bool {
        !self.writer && self.counts().waiting_writers == 0 && self.queues_readers_apart() && self.open_batch()
    }

    /// Reserves shares for all waiting readers, as far as there is room.
    #[inline(always)]
    fn open_batch(&mut self) -> bool {
        let admitted = self.counts().waiting_readers.min(self.config.max_readers() - self.readers);
        if admitted == 0 {
            return false;
        }
        self.counts_mut().window = self.counts().waiting_readers + self.counts().reserved;
        self.counts_mut().waiting_readers -= admitted;
        self.counts_mut().reserved += admitted;
        self.readers += admitted;
        // Wraps: a member of the window is told by inequality, and before the number comes round every waiter that was
        // queued has been at the head of a batch.
        self.counts_mut().batch_id = self.counts().batch_id.wrapping_add(1);
        true
    }
}

#[cfg(test)]
mod tests;

//! The rescue's transitions of the read-write lock.

use super::{Counts, RwState};
use crate::queue::Mode;
use core::borrow::BorrowMut;

/// What a theft does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Theft {
    /// Nothing: it would not help the thief.
    Nothing,
    /// The two change places, and the thief owns.
    Trade,
    /// The thief owns and leaves its queue; the victim queues again, at the end.
    TakeOver,
    /// The victim gives its share back and queues again, at the end; the policy chooses the next owner, the thief perhaps.
    GiveBack,
}

impl<C: BorrowMut<Counts>> RwState<C> {
    /// What a waiter of one kind would do to an unclaimed grant of another.
    ///
    /// | thief waits for | victim's grant | theft | because |
    /// |---|---|---|---|
    /// | the same kind | the same kind | trade | nothing is counted anew |
    /// | a share | the write lock, an upgrade | take over | the thief has a share at once |
    /// | a share | a share of the other kind | take over | one share takes the place of the other |
    /// | the write lock, an upgrade | a share | give back | other readers may be inside |
    /// | the upgradable share, which another has | a read, an upgrade | nothing | the thief would wait as before |
    /// | the write lock | an upgrade | nothing | the upgrade keeps its share |
    /// | a read, where there is room for one reader | an upgrade | nothing | as above |
    #[inline(always)]
    pub(crate) fn theft(&self, thief: Mode, victim: Mode) -> Theft {
        match (thief, victim) {
            _ if thief == victim => Theft::Trade,
            _ if self.waiting_count(victim) == u32::MAX => Theft::Nothing,
            (Mode::Upgradable, Mode::Read) if self.upgradable => Theft::Nothing,
            (Mode::Upgradable | Mode::Write, Mode::Upgrade) | (Mode::Upgrade, Mode::Upgradable | Mode::Write) => {
                Theft::Nothing
            }
            (Mode::Read, Mode::Upgrade) if self.config.max_readers() == 1 => Theft::Nothing,
            (Mode::Read | Mode::Upgradable, _) => Theft::TakeOver,
            (Mode::Write | Mode::Upgrade, _) => Theft::GiveBack,
        }
    }

    fn waiting_count(&self, mode: Mode) -> u32 {
        let counts = self.counts();
        match mode {
            Mode::Read => counts.waiting_readers.saturating_add(counts.reserved),
            Mode::Upgradable => counts.waiting_upgradable,
            Mode::Write | Mode::Upgrade => counts.waiting_writers,
        }
    }

    /// The victim's grant is taken away, and the victim waits again. Returns its batch number.
    ///
    /// | before | after |
    /// |---|---|
    /// | granted to the victim | free of the victim, which is counted as a waiter |
    #[inline(always)]
    pub(crate) fn rob(&mut self, victim: Mode) -> u32 {
        self.give_back(victim);
        let batch_id = self.enqueue(victim);
        debug_assert!(batch_id.is_ok(), "`theft` makes sure that there is room");
        batch_id.unwrap_or_default()
    }

    /// The thief, with this batch number, gets the share that it waits for, in place of what a victim was robbed of. Admit
    /// others then.
    ///
    /// R7: a robbed writer has had the writers' turn. Otherwise a task could steal its own writes again and again while
    /// other readers wait: so the readers that wait now enter with the thief.
    #[inline(always)]
    pub(crate) fn take_over(&mut self, thief: Mode, batch_id: u32, victim: Mode) {
        let seated = self.take_if_fits(thief);
        debug_assert!(seated, "`theft` makes sure that there is a share");
        self.remove_waiter(thief, batch_id);
        if !victim.is_shared() && self.queues_readers_apart() {
            let _ = self.open_batch();
        }
    }
}

//! With the feature: what a lock keeps of its owners, and the raw lock that lets it.

use super::CALL_SITES;
use crate::call_site::CallSite;
use crate::queue::Mode;
use crate::raw::{RawLock, Refusal, Word};

/// A raw lock without a fast path: a caller becomes an owner, or ceases to be one, in a section, which records the change.
/// So no section ever finds an owner without a place, or the place of one that has gone.
#[derive(Debug)]
pub(crate) struct Recorded<R>(R);

// SAFETY: 1 to 4: the inner lock's promises. 5: the methods of the fast path are left as provided, so the word changes in sections only.
unsafe impl<R: RawLock> RawLock for Recorded<R> {
    #[cfg(not(fifolock_loom))]
    const INIT: Self = Self(R::INIT);

    #[cfg(fifolock_loom)]
    fn init() -> Self {
        Self(R::init())
    }

    #[inline]
    fn with<T>(&self, f: impl FnOnce(&mut Word) -> T) -> T {
        self.0.with(f)
    }

    #[inline]
    fn with_refusal<T>(&self, refusal: Refusal, f: impl FnOnce(&mut Word) -> T) -> T {
        self.0.with_refusal(refusal, f)
    }
}

/// The place of a mutex's owner, or of the writer.
///
/// It is filled as long as there is an owner that has claimed what it owns.
#[derive(Debug)]
pub(crate) struct OwnerSite(Option<CallSite>);

impl OwnerSite {
    pub(crate) const EMPTY: Self = Self(None);

    /// What a section works on.
    pub(crate) fn lend(&mut self) -> OwnerSiteMut<'_> {
        self
    }

    /// Records a newcomer if it entered; returns whether it did.
    pub(crate) fn set_if(&mut self, entered: bool, call_site: CallSite) -> bool {
        if entered {
            self.set(call_site);
        }
        entered
    }

    pub(crate) fn set(&mut self, call_site: CallSite) {
        debug_assert!(self.0.is_none(), "the place of an owner that has gone was left behind");
        self.0 = Some(call_site);
    }

    pub(crate) fn clear(&mut self) {
        debug_assert!(self.0.is_some(), "an owner was not recorded");
        self.0 = None;
    }

    pub(super) fn call_site(&self) -> Option<CallSite> {
        self.0
    }
}

pub(crate) type OwnerSiteMut<'s> = &'s mut OwnerSite;

/// The places of a read-write lock's owners.
#[derive(Debug)]
pub(crate) struct Holders {
    pub(super) writer: OwnerSite,
    /// Filled also while its owner waits for its upgrade.
    pub(super) upgradable: OwnerSite,
    pub(super) readers: Readers,
}

impl Holders {
    pub(crate) const NOBODY: Self =
        Self { writer: OwnerSite::EMPTY, upgradable: OwnerSite::EMPTY, readers: Readers::NOBODY };

    /// What a section works on.
    pub(crate) fn lend(&mut self) -> HoldersMut<'_> {
        self
    }

    /// Records a newcomer if it entered; returns whether it did.
    pub(crate) fn entered(&mut self, entered: bool, mode: Mode, call_site: CallSite) -> bool {
        if entered {
            self.granted(mode);
            self.claimed(mode, call_site);
        }
        entered
    }

    /// An upgrade gives its share up for the lock.
    pub(crate) fn granted(&mut self, mode: Mode) {
        if mode == Mode::Upgrade {
            self.upgradable.clear();
        }
    }

    /// Who was granted has claimed.
    pub(crate) fn claimed(&mut self, mode: Mode, call_site: CallSite) {
        match mode {
            Mode::Read => self.readers.add(call_site),
            Mode::Upgradable => self.upgradable.set(call_site),
            Mode::Write | Mode::Upgrade => self.writer.set(call_site),
        }
    }

    /// A granted upgrade is robbed, and has its share again.
    pub(crate) fn robbed(&mut self, mode: Mode, call_site: CallSite) {
        if mode == Mode::Upgrade {
            self.upgradable.set(call_site);
        }
    }

    /// A waiter has left; an upgrade's share goes with it.
    pub(crate) fn cancelled(&mut self, mode: Mode) {
        if mode == Mode::Upgrade {
            self.upgradable.clear();
        }
    }

    /// An owner ceases to be what it is.
    pub(crate) fn gave_up(&mut self, who: Leaving) {
        match who.from {
            Mode::Read => self.readers.remove(who.call_site),
            Mode::Upgradable => self.upgradable.clear(),
            Mode::Write | Mode::Upgrade => self.writer.clear(),
        }
        if let Some(to) = who.to {
            self.claimed(to, who.call_site);
        }
    }
}

pub(crate) type HoldersMut<'s> = &'s mut Holders;

/// Claimed shares by call site. A share that found no room is in none, and is seen by what the sum lacks.
///
/// A site is never said to have more shares than it has. It may have more than is said: those from before it found room.
#[derive(Debug)]
pub(crate) struct Readers([Option<(CallSite, u32)>; CALL_SITES]);

impl Readers {
    const NOBODY: Self = Self([None; CALL_SITES]);

    /// No count wraps: together they are at most the number of readers that the lock allows.
    fn add(&mut self, call_site: CallSite) {
        if let Some((_, shares)) = self.0.iter_mut().flatten().find(|(site, _)| site.is(call_site)) {
            *shares += 1;
        } else if let Some(free) = self.0.iter_mut().find(|site| site.is_none()) {
            *free = Some((call_site, 1));
        }
    }

    fn remove(&mut self, call_site: CallSite) {
        let slot = self.0.iter_mut().find(|slot| slot.is_some_and(|(site, _)| site.is(call_site)));
        if let Some(slot) = slot {
            *slot = slot.and_then(|(site, shares)| (shares > 1).then(|| (site, shares - 1)));
        }
    }

    pub(super) fn sites(&self) -> impl Iterator<Item = (CallSite, u32)> {
        self.0.iter().flatten().copied()
    }
}

/// How an owner of a read-write lock ceases to be what it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    from: Mode,
    to: Option<Mode>,
    call_site: CallSite,
}

impl Leaving {
    pub(crate) fn of(mode: Mode, call_site: CallSite) -> Self {
        Self { from: mode, to: None, call_site }
    }

    pub(crate) fn changed(from: Mode, to: Mode, call_site: CallSite) -> Self {
        Self { from, to: Some(to), call_site }
    }
}

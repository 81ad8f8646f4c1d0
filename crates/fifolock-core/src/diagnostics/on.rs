//! With the feature: what a lock keeps of its owners, and the raw lock that lets it.

use super::CALL_SITES;
use crate::queue::Kind;
use crate::raw::{RawLock, Refusal, Word};
use core::panic::Location;
use core::ptr;

/// Where a lock was asked for.
#[derive(Clone, Copy, Debug)]
#[allow(unnameable_types, unreachable_pub, reason = "in the signature of a sealed trait")]
pub struct Place(&'static Location<'static>);

impl Place {
    /// The caller's place; through functions that are `track_caller` themselves, that of theirs.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn here() -> Self {
        Self(Location::caller())
    }

    pub(super) fn location(self) -> &'static Location<'static> {
        self.0
    }

    /// One call can have several `Location`s: each instance of a generic function has its own.
    fn is(self, other: Self) -> bool {
        let (a, b) = (self.0, other.0);
        ptr::eq(a, b) || (a.line(), a.column(), a.file()) == (b.line(), b.column(), b.file())
    }
}

/// A raw lock without shortcuts: whoever becomes an owner, or ceases to be one, does so in a section, which records it.
/// So no section ever finds an owner without a place, or the place of one that has gone.
#[derive(Debug)]
pub(crate) struct Recorded<R>(R);

// SAFETY: 1 to 4: the inner lock's promises. 5: the shortcuts are left as provided, so the word changes in sections only.
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
pub(crate) struct Slot(Option<Place>);

impl Slot {
    pub(crate) const EMPTY: Self = Self(None);

    /// What a section works on.
    pub(crate) fn lend(&mut self) -> SlotMut<'_> {
        self
    }

    /// Records a newcomer if it entered; returns whether it did.
    pub(crate) fn entered(&mut self, entered: bool, place: Place) -> bool {
        if entered {
            self.enter(place);
        }
        entered
    }

    pub(crate) fn enter(&mut self, place: Place) {
        debug_assert!(self.0.is_none(), "the place of an owner that has gone was left behind");
        self.0 = Some(place);
    }

    pub(crate) fn leave(&mut self) {
        debug_assert!(self.0.is_some(), "an owner was not recorded");
        self.0 = None;
    }

    pub(super) fn place(&self) -> Option<Place> {
        self.0
    }
}

pub(crate) type SlotMut<'s> = &'s mut Slot;

/// The places of a read-write lock's owners.
#[derive(Debug)]
pub(crate) struct Holders {
    pub(super) writer: Slot,
    /// Filled also while its owner waits for its upgrade.
    pub(super) upgradable: Slot,
    pub(super) readers: Readers,
}

impl Holders {
    pub(crate) const NOBODY: Self = Self { writer: Slot::EMPTY, upgradable: Slot::EMPTY, readers: Readers::NOBODY };

    /// What a section works on.
    pub(crate) fn lend(&mut self) -> HoldersMut<'_> {
        self
    }

    /// Records a newcomer if it entered; returns whether it did.
    pub(crate) fn entered(&mut self, entered: bool, kind: Kind, place: Place) -> bool {
        if entered {
            self.granted(kind);
            self.claimed(kind, place);
        }
        entered
    }

    /// An upgrade gives its share up for the lock.
    pub(crate) fn granted(&mut self, kind: Kind) {
        if kind == Kind::Upgrade {
            self.upgradable.leave();
        }
    }

    /// Who was granted has claimed.
    pub(crate) fn claimed(&mut self, kind: Kind, place: Place) {
        match kind {
            Kind::Read => self.readers.enter(place),
            Kind::Upgradable => self.upgradable.enter(place),
            Kind::Write | Kind::Upgrade => self.writer.enter(place),
        }
    }

    /// A granted upgrade is robbed, and has its share again.
    pub(crate) fn robbed(&mut self, kind: Kind, place: Place) {
        if kind == Kind::Upgrade {
            self.upgradable.enter(place);
        }
    }

    /// A waiter has left; an upgrade's share goes with it.
    pub(crate) fn left(&mut self, kind: Kind) {
        if kind == Kind::Upgrade {
            self.upgradable.leave();
        }
    }

    /// An owner ceases to be what it is.
    pub(crate) fn leave(&mut self, who: Leaving) {
        match who.from {
            Kind::Read => self.readers.leave(who.place),
            Kind::Upgradable => self.upgradable.leave(),
            Kind::Write | Kind::Upgrade => self.writer.leave(),
        }
        if let Some(to) = who.to {
            self.claimed(to, who.place);
        }
    }
}

pub(crate) type HoldersMut<'s> = &'s mut Holders;

/// Claimed shares by call site. A share that found no room is in none, and is seen by what the sum lacks.
///
/// A site is never said to have more shares than it has. It may have more than is said: those from before it found room.
#[derive(Debug)]
pub(crate) struct Readers([Option<(Place, u32)>; CALL_SITES]);

impl Readers {
    const NOBODY: Self = Self([None; CALL_SITES]);

    /// No count wraps: together they are at most the number of readers that the lock allows.
    fn enter(&mut self, place: Place) {
        if let Some((_, shares)) = self.0.iter_mut().flatten().find(|(site, _)| site.is(place)) {
            *shares += 1;
        } else if let Some(free) = self.0.iter_mut().find(|site| site.is_none()) {
            *free = Some((place, 1));
        }
    }

    fn leave(&mut self, place: Place) {
        let slot = self.0.iter_mut().find(|slot| slot.is_some_and(|(site, _)| site.is(place)));
        if let Some(slot) = slot {
            *slot = slot.and_then(|(site, shares)| (shares > 1).then(|| (site, shares - 1)));
        }
    }

    pub(super) fn sites(&self) -> impl Iterator<Item = (Place, u32)> {
        self.0.iter().flatten().copied()
    }
}

/// How an owner of a read-write lock ceases to be what it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    from: Kind,
    to: Option<Kind>,
    place: Place,
}

impl Leaving {
    pub(crate) fn of(kind: Kind, place: Place) -> Self {
        Self { from: kind, to: None, place }
    }

    pub(crate) fn changed(from: Kind, to: Kind, place: Place) -> Self {
        Self { from, to: Some(to), place }
    }
}

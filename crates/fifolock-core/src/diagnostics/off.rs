//! Without the feature: nothing is kept, and nothing costs anything.

use crate::call_site::CallSite;
use crate::queue::Kind;

/// The raw lock that the algorithms work on.
pub(crate) type Recorded<R> = R;

/// The place of a mutex's owner.
#[derive(Debug)]
pub(crate) struct Slot;

impl Slot {
    pub(crate) const EMPTY: Self = Self;

    #[inline(always)]
    pub(crate) fn lend(&mut self) -> SlotMut<'_> {
        Self
    }

    #[inline(always)]
    pub(crate) fn entered(&mut self, entered: bool, _: CallSite) -> bool {
        entered
    }

    #[inline(always)]
    pub(crate) fn enter(&mut self, _: CallSite) {}

    #[inline(always)]
    pub(crate) fn leave(&mut self) {}
}

/// By value: a section keeps no pointer to nothing.
pub(crate) type SlotMut<'s> = Slot;

/// The places of a read-write lock's owners.
#[derive(Debug)]
pub(crate) struct Holders;

impl Holders {
    pub(crate) const NOBODY: Self = Self;

    #[inline(always)]
    pub(crate) fn lend(&mut self) -> HoldersMut<'_> {
        Self
    }

    #[inline(always)]
    pub(crate) fn entered(&mut self, entered: bool, _: Kind, _: CallSite) -> bool {
        entered
    }

    #[inline(always)]
    pub(crate) fn granted(&mut self, _: Kind) {}

    #[inline(always)]
    pub(crate) fn claimed(&mut self, _: Kind, _: CallSite) {}

    #[inline(always)]
    pub(crate) fn robbed(&mut self, _: Kind, _: CallSite) {}

    #[inline(always)]
    pub(crate) fn left(&mut self, _: Kind) {}

    #[inline(always)]
    pub(crate) fn leave(&mut self, _: Leaving) {}
}

pub(crate) type HoldersMut<'s> = Holders;

/// How an owner of a read-write lock ceases to be what it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving;

impl Leaving {
    #[inline(always)]
    pub(crate) fn of(_: Kind, _: CallSite) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn changed(_: Kind, _: Kind, _: CallSite) -> Self {
        Self
    }
}

//! Without the feature: nothing is kept, and nothing costs anything.

use crate::call_site::CallSite;
use crate::queue::Mode;

/// The raw lock that the algorithms work on.
pub(crate) type Recorded<R> = R;

/// The place of a mutex's owner.
#[derive(Debug)]
pub(crate) struct OwnerSite;

impl OwnerSite {
    pub(crate) const EMPTY: Self = Self;

    #[inline(always)]
    pub(crate) fn lend(&mut self) -> OwnerSiteMut<'_> {
        Self
    }

    #[inline(always)]
    pub(crate) fn set_if(&mut self, entered: bool, _: CallSite) -> bool {
        entered
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, _: CallSite) {}

    #[inline(always)]
    pub(crate) fn clear(&mut self) {}
}

/// By value: a section keeps no pointer to nothing.
pub(crate) type OwnerSiteMut<'s> = OwnerSite;

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
    pub(crate) fn entered(&mut self, entered: bool, _: Mode, _: CallSite) -> bool {
        entered
    }

    #[inline(always)]
    pub(crate) fn granted(&mut self, _: Mode) {}

    #[inline(always)]
    pub(crate) fn claimed(&mut self, _: Mode, _: CallSite) {}

    #[inline(always)]
    pub(crate) fn robbed(&mut self, _: Mode, _: CallSite) {}

    #[inline(always)]
    pub(crate) fn cancelled(&mut self, _: Mode) {}

    #[inline(always)]
    pub(crate) fn gave_up(&mut self, _: Leaving) {}
}

pub(crate) type HoldersMut<'s> = Holders;

/// How an owner of a read-write lock ceases to be what it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving;

impl Leaving {
    #[inline(always)]
    pub(crate) fn of(_: Mode, _: CallSite) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn changed(_: Mode, _: Mode, _: CallSite) -> Self {
        Self
    }
}

//! The granted readers that have not claimed their shares, and the numbers of grants.

use super::{Member, MoreWait, Ring};

/// The number of the newest grant, and in its low bits how often a theft has turned out to be wrong.
///
/// | bits | meaning |
/// |---|---|
/// | 0 | always set, so that 0 is no number |
/// | 1 to 5 | in how many waits a theft has turned out to be wrong, up to 31 |
/// | 6 to 31 | counts the grants; wraps |
///
/// A number of a grant keeps the low bits of its moment. They only grow, so numbers stay in the order of their grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grants(u32);

impl Grants {
    /// Before the first grant.
    pub(crate) const NONE: Self = Self(1);
    const STEP: u32 = 1 << 6;
    const DOUBT: u32 = Self::STEP - 2;
    const ONE_DOUBT: u32 = 2;
    /// So many disturbed waits double the polls of each later theft. Fewer count for the robbed waiters alone.
    const DOUBTS: u32 = 4 * Self::ONE_DOUBT;

    /// The number of the newest grant.
    #[inline(always)]
    pub(crate) fn newest(self) -> u32 {
        self.0
    }

    /// The number of the next grant.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(Self::STEP);
        self.newest()
    }

    /// The number that follows this one.
    #[inline(always)]
    pub(super) fn after(number: &mut u32) -> u32 {
        *number = number.wrapping_add(Self::STEP);
        *number
    }

    /// The newest grant has this number now.
    #[inline(always)]
    pub(super) fn advance_to(&mut self, number: u32) {
        self.0 = number;
    }

    /// Whether nobody was granted anything after the grant with that number.
    #[inline(always)]
    pub(super) fn is_newest(self, number: u32) -> bool {
        (self.0 ^ number) & !Self::DOUBT == 0
    }

    /// A theft has turned out to be wrong, for the first time in a wait.
    #[inline(always)]
    pub(super) fn doubt(&mut self) {
        if self.0 & Self::DOUBT != Self::DOUBT {
            self.0 += Self::ONE_DOUBT;
        }
    }

    /// How often the polls of a theft are doubled for any victim of this lock.
    #[inline(always)]
    pub(super) fn level(self) -> u16 {
        (self.0 & Self::DOUBT) as u16 / Self::DOUBTS as u16
    }
}

/// Whether a grant was made after the one with that number; after all, if that is 0. The numbers may wrap.
#[inline(always)]
pub(super) fn is_later(grant: u32, than: u32) -> bool {
    than == 0 || grant.wrapping_sub(than).cast_signed() > 0
}

/// The granted readers that have not claimed their shares yet, in the order of their numbers. A scan may have put its
/// cursor among them.
#[derive(Debug)]
pub(crate) struct GrantedSet(pub(super) Ring);

impl GrantedSet {
    pub(crate) const fn new() -> Self {
        Self(Ring::new())
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.head.is_null()
    }

    /// # Safety
    ///
    /// I1: the waiter was granted in this section, by a queue of the same lock, and is in no ring.
    #[inline(always)]
    pub(crate) unsafe fn insert(&mut self, waiter: Member<'_>) {
        // SAFETY: I1: it was linked when the section began, and is in no ring now.
        unsafe { self.0.link_last(waiter) };
    }

    /// # Safety
    ///
    /// I1: the waiter is in this set.
    #[inline(always)]
    pub(crate) unsafe fn remove(&mut self, waiter: Member<'_>) -> MoreWait {
        // SAFETY: I1: linked here.
        unsafe { self.0.unlink(waiter) }
    }
}

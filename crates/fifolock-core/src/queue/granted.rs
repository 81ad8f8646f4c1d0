//! The granted readers that have not claimed their shares, and the numbers of grants.

use super::{Node, Others, Ring};

/// The number before that of the first grant. All are odd: 0 stands for none.
pub(crate) const NO_GRANTS: u32 = 1;

/// The number of the next grant.
#[inline(always)]
pub(crate) fn next_grant(grants: &mut u32) -> u32 {
    *grants = grants.wrapping_add(2);
    *grants
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
    /// In the section that granted it: `node` comes from [`WaitQueue::grant`](super::WaitQueue::grant) of the same lock.
    #[inline(always)]
    pub(crate) unsafe fn insert(&mut self, node: Node) {
        // SAFETY: I1: it was linked when the section began, and is in no ring now.
        unsafe { self.0.link_last(node) };
    }

    /// # Safety
    ///
    /// In a section; the waiter is in this set.
    #[inline(always)]
    pub(crate) unsafe fn remove(&mut self, node: Node) -> Others {
        // SAFETY: I1: linked here, as the caller promises.
        unsafe { self.0.unlink(node) }
    }
}

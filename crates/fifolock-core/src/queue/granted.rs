//! Grants that nobody has claimed yet: the set of granted readers, and the look of a waiter for one of its own task.

use super::{Kind, Node, Others, Ring, Waiter};
use core::pin::Pin;

/// What a waiter finds that looks for a grant that its own task leaves unclaimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// There is none.
    Nothing,
    /// There is one, seen for the first time; or there are more than one poll looks at. The task is to be polled once more.
    Suspect,
    /// There is one, and the task has been polled since it was found, without claiming it.
    Abandoned(Node),
    /// None so far: to be looked for in another section.
    More,
}

/// How far a poll has come that looks for a grant of its own task. Members are known by the numbers of their grants.
#[derive(Debug, Default)]
pub struct Look {
    /// How many sections it has taken.
    sections: u32,
    /// How often it has begun.
    begun: u32,
    /// The member that it began with.
    from: u32,
    left: u32,
    /// The member that is next.
    next: u32,
}

/// Whether the grant is one that the waiter's own task leaves unclaimed; `latest` is the number of the last one.
///
/// What is noted is the latest grant: whatever is unclaimed at the next poll and not newer was there at this one.
///
/// # Safety
///
/// In a section, by who has the waiter's future exclusively; it waits in a queue, `granted` is granted and not claimed.
#[inline(always)]
pub(crate) unsafe fn find_granted(waiter: Pin<&Waiter>, granted: Node, latest: u32) -> Found {
    // SAFETY: unclaimed, so its future has not ended.
    let other = unsafe { granted.waiter() };
    // SAFETY: one waits, the other was granted: both were queued.
    if !unsafe { waiter.is_of_task(other) } {
        return Found::Nothing;
    }
    // SAFETY: I2.
    let grant = unsafe { other.numbers() }.number;
    // SAFETY: I2.
    let strike = unsafe { waiter.numbers() }.strike;
    if strike != 0 && grant.wrapping_sub(strike).cast_signed() <= 0 {
        return Found::Abandoned(granted);
    }
    // SAFETY: I2.
    unsafe { waiter.update(|numbers| numbers.strike = latest) };
    Found::Suspect
}

/// The number before that of the first grant. All are odd: 0 stands for none.
pub(crate) const NO_GRANTS: u32 = 1;

/// The number of the next grant.
#[inline(always)]
pub(crate) fn next_grant(grants: &mut u32) -> u32 {
    *grants = grants.wrapping_add(2);
    *grants
}

/// How many granted waiters one section looks at.
pub(crate) const LOOK_BATCH: u32 = 32;
/// How many sections one poll looks in, before its task is woken to look on.
pub(crate) const LOOK_SECTIONS: u32 = 32;

/// The granted readers that have not claimed their shares yet.
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
    /// In the section that granted it: `node` comes from [`WaitQueue::grant_first`] of the same lock.
    #[inline(always)]
    pub(crate) unsafe fn insert(&mut self, node: Node) {
        // SAFETY: it was linked when the section began, and is in no ring now.
        unsafe { self.0.link_last(node) };
    }

    /// # Safety
    ///
    /// In a section; the waiter is in this set.
    #[inline(always)]
    pub(crate) unsafe fn remove(&mut self, node: Node) -> Others {
        // SAFETY: linked here, as the caller promises.
        unsafe { self.0.unlink(node) }
    }

    /// Looks for a grant that the waiter's own task leaves unclaimed, among the next [`LOOK_BATCH`] of `most` members at the
    /// most. Those that were looked at go to the end, so that the next section goes on behind them; if it finds that others
    /// have moved on meanwhile, it begins anew. `latest` is the number of the last grant, and `is_of_use` tells whether it
    /// would help to take a share of this kind over.
    ///
    /// # Safety
    ///
    /// In a section, by who has the waiter's future exclusively; it waits in a queue of the same lock.
    pub(crate) unsafe fn find(
        &mut self,
        waiter: Pin<&Waiter>,
        most: u32,
        latest: u32,
        look: &mut Look,
        is_of_use: impl Fn(Kind) -> bool,
    ) -> Found {
        let Some(first) = self.0.head() else { return Found::Nothing };
        // SAFETY: I2: the head is linked.
        let number = unsafe { first.number() };
        // SAFETY: I2.
        let strike = unsafe { waiter.numbers() }.strike;
        // SAFETY: I2.
        let looks = waiter.looks.with(|looks| unsafe { *looks });
        if number != look.next {
            // The rest of the last poll's, if nobody was granted since.
            let left = if look.begun == 0 && looks > 0 && strike == latest { looks } else { most };
            *look = Look { begun: look.begun + 1, from: number, left, next: number, ..*look };
        }
        look.sections += 1;
        let mut node = first;
        // Not always as many: two that look in turn would each see every second batch, and never the others.
        for _ in 0..LOOK_BATCH - (look.begun - 1) % 8 {
            // SAFETY: I1: linked here.
            let member = unsafe { node.waiter() };
            // SAFETY: I2: linked here.
            let kind = unsafe { node.kind() };
            // What is of no use is not noted either: the next one is to be seen twice.
            // SAFETY: one waits, the other was granted: both were queued.
            if unsafe { waiter.is_of_task(member) } && is_of_use(kind) {
                // SAFETY: members have not claimed.
                let found = unsafe { find_granted(waiter, node, latest) };
                // The next look begins with it.
                // SAFETY: I2.
                waiter.looks.with_mut(|looks| unsafe { *looks = 0 });
                return found;
            }
            // SAFETY: I1: linked here, so its neighbour is.
            self.0.head = unsafe { node.waiter() }.links().next;
            look.left = look.left.saturating_sub(1);
            let Some(next) = self.0.head() else { return Found::Nothing };
            // SAFETY: I2: linked here.
            look.next = unsafe { next.number() };
            if look.left == 0 || look.next == look.from {
                // SAFETY: I2.
                waiter.looks.with_mut(|looks| unsafe { *looks = 0 });
                return Found::Nothing;
            }
            node = next;
        }
        if look.sections < LOOK_SECTIONS {
            return Found::More;
        }
        // What is unclaimed now was there at this poll. A look that others have disturbed begins anew.
        let left = if look.begun == 1 { look.left } else { 0 };
        // SAFETY: I2.
        waiter.looks.with_mut(|looks| unsafe { *looks = left });
        // SAFETY: I2.
        unsafe { waiter.update(|numbers| numbers.strike = latest) };
        Found::Suspect
    }
}

//! The rescue: a task that has stopped polling a granted future, and waits for the same lock in another one, is served.
//!
//! # Why
//!
//! A fair lock hands itself to a *future*. If the task of that future polls another future of the same lock instead, the
//! task waits for itself: a "futurelock". No other lock of this kind ends it.
//!
//! # How
//!
//! The lock can see this happen. Two waiters belong to the same task if their wakers are the same, by address. A waiter
//! that is polled, and must wait while a grant of its own task is unclaimed, *suspects* its task: it remembers the number of
//! the newest grant, and wakes the task once more. At the third such poll ([`POLLS_TO_STEAL`](crate::queue)) with the same
//! grant still unclaimed, the waiter (the *thief*) *steals* the grant from the granted one (the *victim*), which waits again.
//!
//! A task that polls all its futures in each of its rounds must not be harmed (rule R0). If each is polled once a round, the
//! victim claims before the third poll, in whatever order. If the thief is polled more often, the first theft is wrong;
//! then the victim's next poll proves that its task is alive, and the next theft from the victim takes twice as many polls.
//!
//! Mutex and writers have one grant at a time, which the word names. Granted readers stand in a set, in the order of the
//! numbers of their grants, and a poll scans the set from the newest member to the newest one that an earlier poll has
//! visited ([`GrantedSet::scan`](crate::queue::GrantedSet::scan)).
//!
//! # Where
//!
//! | file | what |
//! |---|---|
//! | this one | the steps of a poll, for any lock |
//! | `queue/rescue.rs` | what a waiter remembers, and the scan |
//! | `state/rwlock/rescue.rs` | which theft helps, and what it counts |
//! | `mutex/raw.rs`, `rwlock/raw/rescue.rs` | the theft |

use crate::queue::{Found, Node, Scan, Waiter};
use crate::wait::{Acquisition, Polled, Step};
use core::pin::Pin;
use core::task::Waker;

/// An acquisition whose waiters can steal a grant that their own task leaves unclaimed.
pub trait Rescuing: Acquisition {
    /// Whether some grant may be unclaimed, as far as the word tells; `true` where only a section can tell.
    fn may_be_unclaimed(self) -> bool;
    /// Whether some grant is unclaimed.
    fn is_unclaimed(section: &Self::Section<'_>) -> bool;
    /// Whether a newcomer with this waker certainly has to queue: it may not enter, and no unclaimed grant is of its own
    /// task. `false` means *not certain*: the slow path decides.
    fn certainly_waits(section: &Self::Section<'_>, waker: &Waker) -> bool;
    /// Visits unclaimed grants for a waiter that is polled.
    ///
    /// # Safety
    ///
    /// In a section, by the waiter's poll; it waits. If there is more to visit, the poll must go on, or stop the scan, before
    /// it returns or runs foreign code.
    unsafe fn find(section: &mut Self::Section<'_>, waiter: Pin<&Waiter>, scan: Pin<&Scan>) -> Found;
    /// Takes the cursor out, if it is linked.
    ///
    /// # Safety
    ///
    /// In a section, by the poll that the cursor belongs to.
    unsafe fn stop_scan(section: &mut Self::Section<'_>, scan: Pin<&Scan>);
    /// The thief takes the grant over. `spare` is a waker of its task, for a theft after which both wait. Returns whether
    /// the thief owns what it waited for.
    ///
    /// # Safety
    ///
    /// In the section in which [`find`](Self::find) found the victim, by the thief's poll.
    unsafe fn steal(
        section: &mut Self::Section<'_>,
        thief: Pin<&Waiter>,
        victim: Node,
        spare: &mut Option<Waker>,
        wakers: &mut Self::Wakers,
    ) -> bool;
}

/// What a poll of a waiter that has to wait does about grants that its own task leaves unclaimed.
///
/// | before | after |
/// |---|---|
/// | no such grant | it waits |
/// | one at the first or second poll in a row | it waits; the task is woken once more |
/// | one at the third | the waiter has stolen the grant |
#[inline(always)]
pub(crate) fn look<A: Rescuing>(section: &mut A::Section<'_>, polled: &mut Polled<'_>, wakers: &mut A::Wakers) -> Step {
    let waiter = polled.waiter;
    if waiter.is_robbed() {
        // SAFETY: I2: in a section, by its poll; it waits.
        unsafe { waiter.prove_alive() };
    }
    if !A::is_unclaimed(section) {
        return Step::Wait;
    }
    // A theft may leave both waiting, each with a waker. A clone is foreign code, so it is made before the scan.
    // SAFETY: I2: in a section; it waits.
    if polled.spare.is_none() && unsafe { waiter.may_steal() } {
        return Step::NeedsWaker;
    }
    // SAFETY: I7: in a section, by its poll, which goes on at `ScanOn` without foreign code in between; it waits.
    match unsafe { A::find(section, waiter, polled.scan) } {
        Found::More => Step::ScanOn,
        // SAFETY: I2: in a section, by its poll; it waits.
        Found::Visited if unsafe { polled.scan.conclude(waiter) } => Step::WakeAgain,
        Found::Visited => Step::Wait,
        // SAFETY: found in this section, by this poll.
        Found::Due(victim) if unsafe { A::steal(section, waiter, victim, polled.spare, wakers) } => Step::Owner,
        Found::Due(_) => Step::WakeAgain,
    }
}

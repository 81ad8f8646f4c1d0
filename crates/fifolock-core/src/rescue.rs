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
//! A program that makes a new future for each wait would be robbed anew each time: so a lock that has seen some wrong
//! thefts takes more polls for any victim.
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

use crate::algorithm::{Algorithm, Step};
use crate::queue::Member;
use core::pin::Pin;
use core::task::Waker;

/// An acquisition whose waiters can steal a grant that their own task leaves unclaimed.
pub trait Rescuing: Algorithm {
    /// What a poll keeps of a scan between two sections.
    type Scan: Default;

    /// Whether some grant may be unclaimed, as far as the word tells; `true` where only a section can tell.
    fn may_be_unclaimed(self) -> bool;
    /// Whether a newcomer with this waker certainly has to queue: it may not enter, and no unclaimed grant is of its own
    /// task. `false` means *not certain*: the slow path decides.
    fn certainly_waits(section: &Self::Section<'_>, waker: &Waker) -> bool;
    /// A robbed waiter is polled, and waits on: its task is alive, and the theft was wrong.
    fn prove_alive<'s>(section: &mut Self::Section<'s>, waiter: Member<'s>);
    /// What a poll of a waiter that has to wait does about grants that its own task leaves unclaimed. `spare` is a waker
    /// of its task, for a theft after which both wait.
    ///
    /// | before | after |
    /// |---|---|
    /// | no such grant | the waiter waits |
    /// | one at the first or second poll in a row | the waiter waits; the task is woken once more |
    /// | one at the third | the waiter has stolen the grant |
    ///
    /// # Safety
    ///
    /// I1: by the poll of the waiter, which waits. I7: the scan is the poll's own. After [`Step::ScanOn`] the poll must go on, or
    /// [stop](Self::stop_scan), before it returns or runs foreign code.
    unsafe fn try_steal<'s>(
        section: &mut Self::Section<'s>,
        waiter: Member<'s>,
        scan: Pin<&Self::Scan>,
        spare: &mut Option<Waker>,
        wakers: &mut Self::Wakers,
    ) -> Step;
    /// Whether this poll has stored a new waker. The clones of a waker may differ from the waker, so a poll of several sections
    /// stores one no more than once.
    #[inline(always)]
    fn has_new_waker(_: Pin<&Self::Scan>) -> bool {
        false
    }
    /// The poll has stored a new waker. An algorithm whose poll may need a clone after that must remember this.
    #[inline(always)]
    fn set_new_waker(_: Pin<&Self::Scan>) {}
    /// Whether the scan must go on in another section.
    fn is_cut(scan: Pin<&Self::Scan>) -> bool;
    /// Ends a scan that was to go on.
    ///
    /// # Safety
    ///
    /// I7: by the poll that the scan belongs to.
    unsafe fn stop_scan(section: &mut Self::Section<'_>, scan: Pin<&Self::Scan>);
}

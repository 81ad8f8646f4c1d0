//! What every way to acquire a lock consists of: the interface between the life of a waiter and the two locks.

use crate::call_site::CallSite;
use crate::queue::{Member, OwnWaiter, Queued};
use crate::raw::{InSection, RawLock, Refusal, Word};
use crate::state::QueueFull;
use core::task::Waker;

/// A way to acquire a lock: a mutex, or one side of a read-write lock.
///
/// The functions without `self` run inside a section, and only move things around; foreign code is called by the
/// functions of this module, outside.
pub trait Algorithm: Copy {
    /// Whether the lock's word can be looked at and changed without a section. If not, the fast steps below do nothing, and
    /// the code that would try them is left out.
    const HAS_FAST_PATH: bool;
    /// Whether [`fast_acquire`](Self::fast_acquire) ever succeeds: by the fast path, or by a section that is cheaper than the others.
    const TRIES_FAST: bool = Self::HAS_FAST_PATH;
    /// What a section works on.
    type Section<'s>;
    /// What a section took out of the waiters that it granted, to be woken.
    type Wakers: Default;

    /// Runs a section. Whom it grants is to be woken after it, by [`wake_all`](Self::wake_all). A raw lock may refuse the
    /// section: with a panic, if no waiter and no cursor of the caller ends with the call.
    fn section<T>(self, refusal: Refusal, f: impl FnOnce(&mut Self::Section<'_>) -> T) -> T;
    /// Wakes whom a section granted, all before it returns or unwinds.
    fn wake_all(self, wakers: &mut Self::Wakers);
    /// Acquires, if the word alone allows it.
    fn fast_acquire(self) -> bool;
    /// Whether it can be acquired, by the look of the word; `true` where only a section can tell.
    fn may_enter(self) -> bool;
    /// Claims a grant on the fast path, if that can be done.
    fn fast_claim(self, waiter: Queued<'_>) -> bool;
    /// Gives up what was acquired by a call at `call_site`. Only for its owner.
    fn release(self, call_site: CallSite);

    /// The proof that the section runs.
    fn in_section<'s>(section: &Self::Section<'s>) -> InSection<'s>;
    /// Acquires, if the policy lets a newcomer in, who asks at `call_site`.
    fn try_acquire(section: &mut Self::Section<'_>, call_site: CallSite) -> bool;
    /// Whether a newcomer must queue.
    fn has_to_wait(section: &Self::Section<'_>) -> bool;
    /// A newcomer acquires, or a queued waiter claims, if that can be.
    ///
    /// # Safety
    ///
    /// I1: the waiter is that of an operation of this lock.
    unsafe fn acquire_or_claim(section: &mut Self::Section<'_>, waiter: OwnWaiter<'_>) -> bool;
    /// Queues a newcomer that has to wait, or gives the waker back: there are too many.
    ///
    /// # Safety
    ///
    /// As [`WaitQueue::push`](crate::queue::WaitQueue::push).
    unsafe fn enqueue<'s>(
        section: &mut Self::Section<'s>,
        waiter: OwnWaiter<'_>,
        waker: Waker,
    ) -> Result<Member<'s>, TooMany>;
    /// Whether a queued waiter was granted what it waits for.
    fn is_granted<'s>(section: &Self::Section<'s>, waiter: Member<'s>) -> bool;
    /// The grant becomes the property of the waiter's guard.
    ///
    /// # Safety
    ///
    /// I1: the waiter is granted and has not claimed.
    unsafe fn claim<'s>(section: &mut Self::Section<'s>, waiter: Member<'s>);
    /// A waiter leaves ungranted: the section takes it out, and grants the waiters that it blocked. Returns its waker.
    ///
    /// # Safety
    ///
    /// I1: the waiter waits. I3: it never waits again.
    unsafe fn remove<'s>(section: &mut Self::Section<'s>, waiter: Member<'s>, wakers: &mut Self::Wakers) -> Waker;
}

/// The waker of a newcomer for whom there is no number left.
#[derive(Debug)]
pub struct TooMany(pub(crate) QueueFull, pub(crate) Waker);

/// What a section has done for a polled waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The waiter has to wait.
    Wait,
    /// The waiter has to wait, and its task must be woken once more.
    WakeAgain,
    /// Nothing yet: a clone of the waker is needed.
    NeedsWaker,
    /// The waiter has to wait, and the scan goes on in another section.
    ScanOn,
    /// The waiter owns what it waited for.
    Owner,
    /// Nothing: there are too many waiters.
    Full,
}

/// A granted owner takes its grant in one step on the word, without a section.
///
/// | before | after |
/// |---|---|
/// | held, granted to the waiter | held, claimed |
///
/// The step, not the waiter's own mark, decides: it excludes a section that takes the grant away. `false` means that a
/// section runs, or that only a section can tell.
#[inline(always)]
pub(crate) fn fast_claim<R: RawLock>(raw: &R, waiter: Queued<'_>) -> bool {
    let me = Word::new_held(waiter.ptr().as_ptr(), false);
    let word = raw.guess();
    word.with_queued(false) == me && raw.try_acquire(word, word.claimed())
}

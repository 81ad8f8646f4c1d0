//! The life of a waiter, written once for every way to acquire a lock.
//!
//! ```text
//!   idle ──▶ queued: waiting ──▶ queued: granted ──▶ done
//!    │            │                    │
//!    └─ free ─────┴─ leaves ───────────┴─ passes on ──▶ done
//! ```

use crate::diagnostics::Place;
use crate::queue::{Stage, WaitQueue, Waiter, polled_after_ready};
use crate::state::QueueFull;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

/// A way to acquire a lock: a mutex, or one side of a read-write lock.
///
/// The functions without `self` run inside a section, and only move things around; foreign code is called by the
/// functions of this module, outside.
pub(crate) trait Acquisition {
    /// What a section works on.
    type Section<'s>;
    /// What a section took out of the waiters that it granted, to be woken.
    type Wakers;

    /// Runs a section that grants nobody.
    fn section<T>(&self, f: impl FnOnce(&mut Self::Section<'_>) -> T) -> T;
    /// Runs a section; whom it granted is woken after it, all before this returns.
    fn granting_section<T>(&self, f: impl FnOnce(&mut Self::Section<'_>, &mut Self::Wakers) -> T) -> T;
    /// Acquires without a section, if the word allows it.
    fn try_fast(&self) -> bool;
    /// Whether it can be acquired, by the look of the word; `true` where only a section can tell.
    fn may_enter(&self) -> bool;
    /// Claims a grant without a section, if that can be done.
    fn claim_fast(&self, waiter: Pin<&Waiter>) -> bool;
    /// Gives up what was acquired by a call at `place`. Only for its owner.
    fn release(&self, place: Place);

    /// Acquires, if the policy lets a newcomer in, who asks at `place`.
    fn enter(section: &mut Self::Section<'_>, place: Place) -> bool;
    /// Counts a newcomer that has to wait, or says that there are too many. Returns its ticket.
    fn count(section: &mut Self::Section<'_>) -> Result<u32, QueueFull>;
    /// Where it waits.
    fn queue<'q>(section: &'q mut Self::Section<'_>) -> &'q mut WaitQueue;
    /// Whether a queued waiter was granted what it waits for.
    fn is_granted(section: &Self::Section<'_>, waiter: Pin<&Waiter>) -> bool;
    /// The grant becomes the property of the waiter's guard.
    fn claim(section: &mut Self::Section<'_>, waiter: Pin<&Waiter>);
    /// A waiter leaves ungranted: it is taken out, and whom it blocked is granted. Returns its waker.
    fn leave(section: &mut Self::Section<'_>, waiter: Pin<&Waiter>, wakers: &mut Self::Wakers) -> Waker;
}

/// One attempt. `true`: the caller owns it.
#[inline(always)]
pub(crate) fn try_acquire<A: Acquisition>(lock: &A, place: Place) -> bool {
    lock.try_fast() || try_slow(lock, place)
}

/// The shortcut fails also while a section runs, which says nothing about the lock.
#[inline]
fn try_slow<A: Acquisition>(lock: &A, place: Place) -> bool {
    lock.may_enter() && lock.section(move |section| A::enter(section, place))
}

/// Polls an operation. Who gets `Ready` owns what it waited for.
#[inline(always)]
pub(crate) fn poll<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>, cx: &mut Context<'_>) -> Poll<()> {
    match waiter.stage() {
        Stage::Idle => {
            if lock.try_fast() {
                waiter.set_done();
                return Poll::Ready(());
            }
            poll_first(lock, waiter, cx.waker())
        }
        Stage::Queued => poll_queued(lock, waiter, cx.waker()),
        Stage::Done => polled_after_ready(),
    }
}

/// | before | after |
/// |---|---|
/// | the newcomer may enter | owned by the caller |
/// | else, `[w1]` | `[w1, caller]` |
#[cold]
#[inline(never)]
fn poll_first<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
    if try_slow(lock, waiter.place()) {
        waiter.set_done();
        return Poll::Ready(());
    }
    // Foreign code, so before the section. The lock may be free again after it.
    let waker = waker.clone();
    let unused = lock.section(|section| {
        if A::enter(section, waiter.place()) {
            return Ok(Some(waker));
        }
        match A::count(section) {
            Err(full) => Err((full, waker)),
            Ok(ticket) => {
                // SAFETY: I1, I2: in a section, by the polled future, whose drop unlinks it.
                unsafe { A::queue(section).push(waiter, waker, ticket) };
                Ok(None)
            }
        }
    });
    match unused {
        Ok(None) => Poll::Pending,
        Ok(Some(waker)) => now_owner(lock, waiter, Some(waker)),
        Err((full, _waker)) => full.panic(),
    }
}

#[inline]
fn poll_queued<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
    if waiter.is_granted() {
        if lock.claim_fast(waiter) {
            waiter.set_done();
            return Poll::Ready(());
        }
    } else if waiter.will_wake(waker) {
        // Should a grant be under way, its wake is still to come.
        return Poll::Pending;
    }
    poll_queued_slow(lock, waiter, waker)
}

/// | before | after |
/// |---|---|
/// | granted to the caller | owned by the caller |
/// | waiting, waker a | waiting, waker b; a is dropped |
#[cold]
#[inline(never)]
fn poll_queued_slow<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
    // Foreign code, so before the section. Not needed where the waker is the same, or where it was taken.
    let new = (!waiter.is_granted() && !waiter.will_wake(waker)).then(|| waker.clone());
    let (claimed, unused) = lock.section(|section| {
        if A::is_granted(section, waiter) {
            A::claim(section, waiter);
            return (true, new);
        }
        // SAFETY: I2, I3: in a section, by the polled future; queued and not granted, so linked here.
        (false, new.map(|new| unsafe { A::queue(section).replace_waker(waiter, new) }))
    });
    if claimed { now_owner(lock, waiter, unused) } else { Poll::Pending }
}

/// The caller has just become the owner. Dropping a waker may panic: then it is the owner no more.
fn now_owner<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>, unused: Option<Waker>) -> Poll<()> {
    waiter.set_done();
    let owner = OnUnwind(|| lock.release(waiter.place()));
    drop(unused);
    mem::forget(owner);
    Poll::Ready(())
}

/// Ends a wait that is not wanted any longer, unless it has been granted: then it is claimed.
///
/// `true`: the caller owns it. `false`: the waiter has left, and whom it blocked was granted and woken.
#[cold]
#[inline(never)]
pub(crate) fn claim_or_leave<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>) -> bool {
    let queued = waiter.stage() == Stage::Queued;
    waiter.set_done();
    if !queued {
        return false;
    }
    let left = lock.granting_section(|section, wakers| {
        if A::is_granted(section, waiter) {
            A::claim(section, waiter);
            return None;
        }
        Some(A::leave(section, waiter, wakers))
    });
    left.is_none()
}

/// The waiter is not wanted any longer. What it has is passed on, and whom it blocked is granted.
#[inline(always)]
pub(crate) fn leave<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>) {
    if waiter.stage() == Stage::Queued {
        leave_queued(lock, waiter);
    }
}

/// | before | after |
/// |---|---|
/// | `[w1, caller, w2]` | `[w1, w2]` |
/// | granted to the caller | as if its guard had been dropped |
#[cold]
#[inline(never)]
fn leave_queued<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>) {
    if claim_or_leave(lock, waiter) {
        lock.release(waiter.place());
    }
}

/// Runs its closure if it is dropped: for a panic between becoming the owner and having a guard.
struct OnUnwind<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnUnwind<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

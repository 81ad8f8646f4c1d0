//! The life of a waiter, written once for every way to acquire a lock.
//!
//! ```text
//!   idle ──▶ queued: waiting ──▶ queued: granted ──▶ done
//!    │            │                    │
//!    └─ free ─────┴─ leaves ───────────┴─ passes on ──▶ done
//! ```

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
    /// Whether the lock's word can be looked at and changed without a section. If not, the shortcuts below do nothing, and
    /// the code that would try them is left out.
    const SHORTCUTS: bool;
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
    /// Gives up what was acquired. Only for its owner.
    fn release(&self);

    /// Acquires, if the policy lets a newcomer in.
    fn enter(section: &mut Self::Section<'_>) -> bool;
    /// A newcomer enters, or a queued waiter claims, if that can be.
    #[inline(always)]
    fn own(section: &mut Self::Section<'_>, waiter: Pin<&Waiter>, queued: bool) -> bool {
        if !queued {
            return Self::enter(section);
        }
        let granted = Self::is_granted(section, waiter);
        if granted {
            Self::claim(section, waiter);
        }
        granted
    }
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
pub(crate) fn try_acquire<A: Acquisition>(lock: &A) -> bool {
    lock.try_fast() || try_slow(lock)
}

/// The shortcut fails also while a section runs, which says nothing about the lock.
#[inline]
fn try_slow<A: Acquisition>(lock: &A) -> bool {
    lock.may_enter() && lock.section(|section| A::enter(section))
}

/// Polls an operation. Who gets `Ready` owns what it waited for.
#[inline(always)]
pub(crate) fn poll<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>, cx: &mut Context<'_>) -> Poll<()> {
    if A::SHORTCUTS {
        match waiter.stage() {
            Stage::Idle => {
                if lock.try_fast() {
                    waiter.set_done();
                    return Poll::Ready(());
                }
            }
            Stage::Queued if waiter.is_granted() => {
                if lock.claim_fast(waiter) {
                    waiter.set_done();
                    return Poll::Ready(());
                }
            }
            // Should a grant be under way, its wake is still to come.
            Stage::Queued if waiter.will_wake(cx.waker()) => return Poll::Pending,
            Stage::Queued | Stage::Done => {}
        }
    }
    poll_slow(lock, waiter, cx.waker())
}

/// What a section of [`poll_slow`] found.
enum Turn {
    /// The caller owns it.
    Owner,
    /// The caller is queued, with its newest waker.
    Waits,
    /// The caller has to wait, and there is no waker yet to wait with.
    NeedsWaker,
    /// The caller would have to wait, but nobody can any more.
    Refused(QueueFull),
}

/// | before | after |
/// |---|---|
/// | the newcomer may enter | owned by the caller |
/// | else, `[w1]` | `[w1, caller]` |
/// | granted to the caller | owned by the caller |
/// | waiting, waker a | waiting, waker b; a is dropped |
///
/// One function for all of them, and one section in it: this is the largest part of what a lock takes of flash.
#[cold]
#[inline(never)]
fn poll_slow<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
    let queued = match waiter.stage() {
        Stage::Idle => false,
        Stage::Queued => true,
        Stage::Done => polled_after_ready(),
    };
    // The waker's clone is foreign code, so made before a section: at once where the caller seems to have to wait, else
    // when a section has said so. The lock may be free again after it.
    let waits = if queued { A::SHORTCUTS && !waiter.is_granted() } else { !lock.may_enter() };
    let mut new = waits.then(|| waker.clone());
    loop {
        let turn = lock.section(|section| {
            if A::own(section, waiter, queued) {
                return Turn::Owner;
            }
            if queued && waiter.will_wake(waker) {
                return Turn::Waits;
            }
            let Some(waker) = new.take() else { return Turn::NeedsWaker };
            if queued {
                // SAFETY: I2, I3: in a section, by the polled future; queued and not granted, so linked here.
                new = Some(unsafe { A::queue(section).replace_waker(waiter, waker) });
                return Turn::Waits;
            }
            match A::count(section) {
                Err(full) => {
                    new = Some(waker);
                    Turn::Refused(full)
                }
                Ok(ticket) => {
                    // SAFETY: I1, I2: in a section, by the polled future, whose drop unlinks it.
                    unsafe { A::queue(section).push(waiter, waker, ticket) };
                    Turn::Waits
                }
            }
        });
        match turn {
            Turn::Owner => return now_owner(lock, waiter, new),
            // An old waker is dropped.
            Turn::Waits => return Poll::Pending,
            Turn::NeedsWaker => new = Some(waker.clone()),
            Turn::Refused(full) => full.panic(),
        }
    }
}

/// The caller has just become the owner. Dropping a waker may panic: then it is the owner no more.
fn now_owner<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>, unused: Option<Waker>) -> Poll<()> {
    waiter.set_done();
    let owner = OnUnwind(|| lock.release());
    drop(unused);
    mem::forget(owner);
    Poll::Ready(())
}

/// Ends a wait that is not wanted any longer, unless it has been granted: then it is claimed. Only of a queued waiter.
///
/// `true`: the caller owns it. `false`: the waiter has left, and whom it blocked was granted and woken.
#[cold]
#[inline(never)]
pub(crate) fn claim_or_leave<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>) -> bool {
    debug_assert_eq!(waiter.stage(), Stage::Queued, "it waits for nothing");
    waiter.set_done();
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
        lock.release();
    }
}

/// Runs its closure if it is dropped: for a panic between becoming the owner and having a guard.
struct OnUnwind<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnUnwind<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

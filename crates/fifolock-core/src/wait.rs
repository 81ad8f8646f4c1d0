//! The life of a waiter, written once for every way to acquire a lock.
//!
//! ```text
//!   idle ──▶ queued: waiting ◀──▶ queued: granted ──▶ done
//!    │            │                     │
//!    └─ free ─────┴─ leaves ────────────┴─ passes on ──▶ done
//! ```
//!
//! The way back, from granted to waiting, is [the rescue](crate::rescue).

use crate::algorithm::{Algorithm, Step, TooMany};
use crate::call_site::CallSite;
use crate::platform::Platform;
use crate::queue::{Membership, OwnWaiter, Queued, polled_after_ready, replace_waker};
use crate::raw::Refusal;
use crate::rescue::Rescuing;
use crate::state::QueueFull;
use core::mem;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};

/// One attempt. `true`: the caller owns it.
#[inline(always)]
pub(crate) fn try_acquire<A: Algorithm>(lock: A, call_site: CallSite) -> bool {
    lock.fast_acquire() || try_slow(lock, call_site)
}

/// The fast path fails also while a section runs, which says nothing about the lock.
#[inline]
fn try_slow<A: Algorithm>(lock: A, call_site: CallSite) -> bool {
    lock.may_enter() && lock.section(Refusal::Panics, move |section| A::try_acquire(section, call_site))
}

/// Polls an operation. A caller that gets `Ready` owns what it waited for, and never uses the waiter again.
#[inline(always)]
pub(crate) fn poll<A: Rescuing, P: Platform>(lock: A, waiter: OwnWaiter<'_>, cx: &mut Context<'_>) -> Poll<()> {
    if A::HAS_FAST_PATH {
        match waiter.membership() {
            Membership::Idle => {
                if lock.fast_acquire() {
                    return Poll::Ready(());
                }
                return if P::RESCUE {
                    poll_first::<A, true>(lock, waiter, cx.waker())
                } else {
                    poll_first::<A, false>(lock, waiter, cx.waker())
                };
            }
            // Granted, or robbed, which can't be claimed.
            Membership::Queued(queued) if !waiter.just_waits() => {
                if lock.fast_claim(queued) {
                    return Poll::Ready(());
                }
            }
            // Should a grant be under way, its wake is still to come.
            Membership::Queued(queued) if queued.will_wake(cx.waker()) && !(P::RESCUE && lock.may_be_unclaimed()) => {
                return Poll::Pending;
            }
            Membership::Queued(_) | Membership::Done => {}
        }
    } else if A::TRIES_FAST && waiter.is_idle() && lock.fast_acquire() {
        return Poll::Ready(());
    }
    if P::RESCUE {
        poll_slow::<A, true>(lock, waiter, cx.waker(), None)
    } else {
        poll_slow::<A, false>(lock, waiter, cx.waker(), None)
    }
}

/// The first poll where the word can be looked at. The word has shown that the waiter must wait, or that a section was
/// running. Cloning the waker first lets the common case finish in one section.
///
/// | before | after |
/// |---|---|
/// | `[w1]` | `[w1, caller]` |
#[cold]
#[inline(never)]
fn poll_first<A: Rescuing, const RESCUE: bool>(lock: A, waiter: OwnWaiter<'_>, waker: &Waker) -> Poll<()> {
    let own = waker.clone();
    let unused = lock.section(Refusal::Panics, move |section| {
        let waits = if RESCUE { A::certainly_waits(section, &own) } else { A::has_to_wait(section) };
        if !waits {
            return Some(own);
        }
        // SAFETY: I1: idle so far, and the drop of the polled future unlinks it.
        match unsafe { A::enqueue(section, waiter, own) } {
            Ok(_) => None,
            Err(TooMany(_, own)) => Some(own),
        }
    });
    match unused {
        None => Poll::Pending,
        own => poll_slow::<A, RESCUE>(lock, waiter, waker, own),
    }
}

/// The caller has just become the owner. Should the foreign code panic that is still to run, it is the owner no more.
fn now_owner<A: Algorithm>(lock: A, waiter: OwnWaiter<'_>, foreign: impl FnOnce()) -> Poll<()> {
    waiter.set_done();
    let owner = OnDrop(|| lock.release(waiter.call_site()));
    foreign();
    mem::forget(owner);
    Poll::Ready(())
}

/// | before | after |
/// |---|---|
/// | a newcomer that may enter | owned by the caller |
/// | else, `[w1]` | `[w1, caller]` |
/// | granted to the caller | owned by the caller |
/// | waiting, waker a | waiting, waker b; a is dropped |
/// | waiting, and its task has stopped polling the granted waiter | owned by the caller: a [rescue](crate::rescue) |
///
/// `spare` is a clone of the waker, if there is one. One function for all of them, and one section in it: this is the
/// largest part of the flash that a lock takes.
#[cold]
#[inline(never)]
fn poll_slow<A: Rescuing, const RESCUE: bool>(
    lock: A,
    waiter: OwnWaiter<'_>,
    waker: &Waker,
    mut spare: Option<Waker>,
) -> Poll<()> {
    if matches!(waiter.membership(), Membership::Done) {
        polled_after_ready();
    }
    let scan = pin!(A::Scan::default());
    // Clones are foreign code, so they are made between sections, if a section can't do without. The lock may be free again
    // after a clone.
    // A waiter that is queued stays where it is, and its future's drop unlinks it. A cursor ends with this call.
    let mut refusal = Refusal::Panics;
    loop {
        let mut wakers = A::Wakers::default();
        let mut old = None;
        let step = lock.section(refusal, |section| {
            let mut polled = Polled { waiter, waker, spare: &mut spare, old: &mut old, scan: scan.as_ref() };
            poll_in::<A, RESCUE>(section, &mut polled, &mut wakers)
        });
        debug_assert!(
            step == Step::ScanOn || !A::is_cut(scan.as_ref()),
            "I7 (cursors): foreign code runs, or the poll returns"
        );
        match step {
            Step::NeedsWaker => spare = Some(waker.clone()),
            Step::ScanOn => refusal = Refusal::Aborts,
            Step::Owner => {
                return now_owner(lock, waiter, || {
                    lock.wake_all(&mut wakers);
                    drop((old, spare));
                });
            }
            Step::Wait => {
                lock.wake_all(&mut wakers);
                return Poll::Pending;
            }
            Step::WakeAgain => {
                // Also if a waker of the others panics.
                let own = OnDrop(|| waker.wake_by_ref());
                lock.wake_all(&mut wakers);
                drop(own);
                return Poll::Pending;
            }
            Step::Full => QueueFull.panic(),
        }
    }
}

/// What a section takes from the poll that it is for, and leaves to it.
struct Polled<'a, S> {
    waiter: OwnWaiter<'a>,
    waker: &'a Waker,
    /// A clone of the waker, to be dropped outside if it is not used.
    spare: &'a mut Option<Waker>,
    /// The waker that was replaced, to be dropped outside.
    old: &'a mut Option<Waker>,
    scan: Pin<&'a S>,
}

/// The section of [`poll_slow`].
#[inline(always)]
fn poll_in<A: Rescuing, const RESCUE: bool>(
    section: &mut A::Section<'_>,
    polled: &mut Polled<'_, A::Scan>,
    wakers: &mut A::Wakers,
) -> Step {
    let waiter = polled.waiter;
    // SAFETY: I1: the lock of an operation never changes.
    if unsafe { A::acquire_or_claim(section, waiter) } {
        if RESCUE {
            // SAFETY: I7: by the cursor's poll.
            unsafe { A::stop_scan(section, polled.scan) };
        }
        return Step::Owner;
    }
    let member = if let Some(queued) = waiter.queued() {
        // SAFETY: I1: the lock of an operation never changes, so this one queued the waiter; it has neither claimed nor left.
        let member = unsafe { queued.member(A::in_section(section)) };
        if !member.will_wake(polled.waker) && !A::has_new_waker(polled.scan) {
            let Some(waker) = polled.spare.take() else { return Step::NeedsWaker };
            // SAFETY: I3: queued and not granted, so it waits.
            *polled.old = Some(unsafe { replace_waker(member, waker) });
            A::set_new_waker(polled.scan);
        }
        if RESCUE && member.is_robbed() {
            A::prove_alive(section, member);
        }
        member
    } else {
        let Some(waker) = polled.spare.take() else { return Step::NeedsWaker };
        // SAFETY: I1: idle so far, and the drop of the polled future unlinks it.
        match unsafe { A::enqueue(section, waiter, waker) } {
            Ok(member) => member,
            Err(TooMany(_, waker)) => {
                *polled.spare = Some(waker);
                return Step::Full;
            }
        }
    };
    if !RESCUE {
        return Step::Wait;
    }
    // SAFETY: I1: by its poll, and it waits. I7: the poll goes on at `ScanOn`, without foreign code in between.
    unsafe { A::try_steal(section, member, polled.scan, polled.spare, wakers) }
}

/// Ends a wait that is not wanted any longer, unless it has been granted: then it is claimed. Only of a queued waiter.
///
/// `true`: the caller owns it. `false`: the waiter has left, and whom it blocked was granted and woken.
#[cold]
#[inline(never)]
pub(crate) fn claim_or_cancel<A: Algorithm>(lock: A, waiter: Queued<'_>) -> bool {
    stop_waiting(lock, waiter).is_none()
}

/// The waker of a waiter that has left, to be dropped; `None`: the caller owns it.
#[inline(always)]
fn stop_waiting<A: Algorithm>(lock: A, waiter: Queued<'_>) -> Option<Waker> {
    waiter.set_done();
    let mut wakers = A::Wakers::default();
    let granted = &mut wakers;
    let left = lock.section(Refusal::Aborts, move |section| {
        // SAFETY: I1: the lock of an operation never changes, so this one queued the waiter; it has neither claimed nor left.
        let member = unsafe { waiter.member(A::in_section(section)) };
        if A::is_granted(section, member) {
            // SAFETY: I1: granted, and queued until now, so not claimed.
            unsafe { A::claim(section, member) };
            return None;
        }
        // SAFETY: I1: queued and not granted, so it waits. I3: it is done.
        Some(unsafe { A::remove(section, member, granted) })
    });
    lock.wake_all(&mut wakers);
    left
}

/// The waiter is not wanted any longer. What it has is passed on, and whom it blocked is granted.
#[inline(always)]
pub(crate) fn cancel<A: Algorithm>(lock: A, waiter: OwnWaiter<'_>) {
    if let Some(queued) = waiter.queued() {
        cancel_queued(lock, queued);
    }
}

/// | before | after |
/// |---|---|
/// | `[w1, caller, w2]` | `[w1, w2]` |
/// | granted to the caller | as if its guard had been dropped |
#[cold]
#[inline(never)]
fn cancel_queued<A: Algorithm>(lock: A, waiter: Queued<'_>) {
    if A::HAS_FAST_PATH {
        match stop_waiting(lock, waiter) {
            Some(waker) => drop(waker),
            None => lock.release(waiter.call_site()),
        }
    // Where flash is dear, one copy has to do for all.
    } else if claim_or_cancel(lock, waiter) {
        lock.release(waiter.call_site());
    }
}

/// Runs its closure when it is dropped, by a panic too.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[cfg(all(test, feature = "std", not(fifolock_loom), not(fifolock_shuttle)))]
mod tests;

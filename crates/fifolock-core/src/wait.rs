//! The life of a waiter, written once for every way to acquire a lock.
//!
//! ```text
//!   idle ──▶ queued: waiting ◀──▶ queued: granted ──▶ done
//!    │            │                     │
//!    └─ free ─────┴─ leaves ────────────┴─ passes on ──▶ done
//! ```
//!
//! The way back, from granted to waiting, is the rescue: see [the mutex](crate::mutex).

use crate::diagnostics::Place;
use crate::platform::Platform;
use crate::queue::{Found, Look, Node, Stage, Waiter, polled_after_ready, replace_waker};
use crate::state::QueueFull;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

/// A way to acquire a lock: a mutex, or one side of a read-write lock.
///
/// The functions without `self` run inside a section, and only move things around; foreign code is called by the
/// functions of this module, outside.
pub trait Acquisition {
    /// Whether the lock's word can be looked at and changed without a section. If not, the shortcuts below do nothing, and
    /// the code that would try them is left out.
    const SHORTCUTS: bool;
    /// Whether [`try_fast`](Self::try_fast) ever succeeds: by a shortcut, or by a section that is cheaper than the others.
    const FAST: bool = Self::SHORTCUTS;
    /// What a section works on.
    type Section<'s>;
    /// What a section took out of the waiters that it granted, to be woken.
    type Wakers: Default;

    /// Runs a section. Whom it grants is to be woken after it, by [`wake_all`](Self::wake_all).
    fn section<T>(&self, f: impl FnOnce(&mut Self::Section<'_>) -> T) -> T;
    /// Wakes whom a section granted, all before it returns or unwinds.
    fn wake_all(&self, wakers: &mut Self::Wakers);
    /// Acquires, if the word alone allows it.
    fn try_fast(&self) -> bool;
    /// Whether it can be acquired, by the look of the word; `true` where only a section can tell.
    fn may_enter(&self) -> bool;
    /// Claims a grant without a section, if that can be done.
    fn claim_fast(&self, waiter: Pin<&Waiter>) -> bool;
    /// Whether a waiter that is polled again has more to do than to wait: somebody may have been granted the lock and not
    /// have claimed it, by the look of the word, or it stands where it need not stand. `true` where only a section can tell.
    fn has_to_look(&self, waiter: Pin<&Waiter>) -> bool;
    /// Gives up what was acquired by a call at `place`. Only for its owner.
    fn release(&self, place: Place);

    /// Acquires, if the policy lets a newcomer in, who asks at `place`.
    fn enter(section: &mut Self::Section<'_>, place: Place) -> bool;
    /// Whether a newcomer with this waker has to wait, and can't find that its own task leaves a grant unclaimed. `false` if
    /// there is more to it.
    fn has_to_wait(section: &Self::Section<'_>, waker: &Waker) -> bool;
    /// A newcomer enters, or a queued waiter claims, if that can be.
    fn own(section: &mut Self::Section<'_>, waiter: Pin<&Waiter>, queued: bool, wakers: &mut Self::Wakers) -> bool;
    /// Queues a newcomer that has to wait, or gives the waker back: there are too many.
    ///
    /// # Safety
    ///
    /// As [`WaitQueue::push`](crate::queue::WaitQueue::push).
    unsafe fn enqueue(section: &mut Self::Section<'_>, waiter: Pin<&Waiter>, waker: Waker) -> Result<(), TooMany>;
    /// Whether a queued waiter was granted what it waits for.
    fn is_granted(section: &Self::Section<'_>, waiter: Pin<&Waiter>) -> bool;
    /// The grant becomes the property of the waiter's guard.
    fn claim(section: &mut Self::Section<'_>, waiter: Pin<&Waiter>);
    /// A waiter leaves ungranted: it is taken out, and whom it blocked is granted. Returns its waker.
    fn leave(section: &mut Self::Section<'_>, waiter: Pin<&Waiter>, wakers: &mut Self::Wakers) -> Waker;
    /// A waiter that has been queued, is not granted and is being polled looks for a grant that its own task has stopped
    /// polling.
    fn look(section: &mut Self::Section<'_>, waiter: Pin<&Waiter>, look: &mut Look) -> Found;
    /// It takes that grant over. `spare` is a waker of this task, or is to be made if it is asked for.
    ///
    /// # Safety
    ///
    /// In the section in which [`look`](Self::look) found `robbed`, by the polled future.
    unsafe fn rob(
        section: &mut Self::Section<'_>,
        waiter: Pin<&Waiter>,
        robbed: Node,
        spare: &mut Option<Waker>,
        wakers: &mut Self::Wakers,
    ) -> Rescue;
}

/// The waker of a newcomer for whom there is no number left.
#[derive(Debug)]
pub struct TooMany(pub(crate) QueueFull, pub(crate) Waker);

/// What came of taking over a grant that the waiter's own task leaves unclaimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rescue {
    /// The waiter waits as before.
    Waits,
    /// It waits still, for somebody else, or for another grant of its task: it is to look once more.
    WaitsForMore,
    /// Nothing yet: a spare waker is needed.
    NeedsWaker,
    /// The waiter owns what it waited for, and waits no more.
    Owner,
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

/// Polls an operation. Who gets `Ready` owns what it waited for, and never uses the waiter again.
#[inline(always)]
pub(crate) fn poll<A: Acquisition, P: Platform>(lock: &A, waiter: Pin<&Waiter>, cx: &mut Context<'_>) -> Poll<()> {
    if A::SHORTCUTS {
        match waiter.stage() {
            Stage::Idle => {
                if lock.try_fast() {
                    return Poll::Ready(());
                }
                return poll_first(lock, waiter, cx.waker());
            }
            Stage::Queued if waiter.is_granted() => {
                if lock.claim_fast(waiter) {
                    return Poll::Ready(());
                }
            }
            // Should a grant be under way, its wake is still to come.
            Stage::Queued if waiter.will_wake(cx.waker()) && !lock.has_to_look(waiter) => return Poll::Pending,
            Stage::Queued | Stage::Done => {}
        }
    } else if A::FAST && waiter.stage() == Stage::Idle && lock.try_fast() {
        return Poll::Ready(());
    }
    poll_slow(lock, waiter, cx.waker(), None)
}

/// The first poll where the word can be looked at. It has said that there is a wait ahead, or that a section runs: so the
/// waker is cloned first, and one section does, but for what is rare.
///
/// | before | after |
/// |---|---|
/// | `[w1]` | `[w1, caller]` |
#[cold]
#[inline(never)]
fn poll_first<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
    let own = waker.clone();
    let unused = lock.section(move |section| {
        if !A::has_to_wait(section, &own) {
            return Some(own);
        }
        // SAFETY: I1, I2: in a section, by the polled future, whose drop unlinks it; idle so far.
        match unsafe { A::enqueue(section, waiter, own) } {
            Ok(()) => None,
            Err(TooMany(_, own)) => Some(own),
        }
    });
    match unused {
        None => Poll::Pending,
        own => poll_slow(lock, waiter, waker, own),
    }
}

/// The caller has just become the owner. Should the foreign code panic that is still to run, it is the owner no more.
fn now_owner<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>, foreign: impl FnOnce()) -> Poll<()> {
    waiter.set_done();
    let owner = OnUnwind(|| lock.release(waiter.place()));
    foreign();
    mem::forget(owner);
    Poll::Ready(())
}

/// What a section has done for a polled waiter.
enum Step {
    /// It has to wait.
    Wait,
    /// It has to wait, and its task is to be woken once more.
    WakeAgain,
    /// Nothing yet: a clone of the waker is needed.
    NeedsWaker,
    /// It has to wait, and there is more to be looked at.
    LooksOn,
    /// It owns what it waited for.
    Owner,
    /// Nothing: there are too many waiters.
    Full(QueueFull),
}

/// | before | after |
/// |---|---|
/// | a newcomer that may enter | owned by the caller |
/// | else, `[w1]` | `[w1, caller]` |
/// | granted to the caller | owned by the caller |
/// | waiting, waker a | waiting, waker b; a is dropped |
/// | waiting, and its task has stopped polling the granted waiter | owned by the caller: a rescue |
///
/// `spare` is a clone of the waker, if there is one. One function for all of them, and one section in it: this is the
/// largest part of what a lock takes of flash.
#[cold]
#[inline(never)]
fn poll_slow<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>, waker: &Waker, mut spare: Option<Waker>) -> Poll<()> {
    let mut queued = match waiter.stage() {
        Stage::Idle => false,
        Stage::Queued => true,
        Stage::Done => polled_after_ready(),
    };
    let mut look = Look::default();
    // Clones are foreign code, so they are made between sections, if a section can't do without. The lock may be free again
    // after it.
    loop {
        let mut wakers = A::Wakers::default();
        let mut old = None;
        let step = lock.section(|section| {
            let mut polled =
                Polled { waiter, queued: &mut queued, waker, spare: &mut spare, old: &mut old, look: &mut look };
            poll_in::<A>(section, &mut polled, &mut wakers)
        });
        match step {
            Step::NeedsWaker => spare = Some(waker.clone()),
            Step::LooksOn => {}
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
                lock.wake_all(&mut wakers);
                waker.wake_by_ref();
                return Poll::Pending;
            }
            Step::Full(full) => full.panic(),
        }
    }
}

/// What a section takes from the poll that it is for, and leaves to it.
struct Polled<'a> {
    waiter: Pin<&'a Waiter>,
    queued: &'a mut bool,
    waker: &'a Waker,
    /// A clone of the waker, to be dropped outside if it is not used.
    spare: &'a mut Option<Waker>,
    /// The waker that was replaced, to be dropped outside.
    old: &'a mut Option<Waker>,
    look: &'a mut Look,
}

/// The section of [`poll_slow`].
#[inline(always)]
fn poll_in<A: Acquisition>(section: &mut A::Section<'_>, polled: &mut Polled<'_>, wakers: &mut A::Wakers) -> Step {
    let Polled { waiter, queued, waker, spare, old, look } = polled;
    let waiter = *waiter;
    if A::own(section, waiter, **queued, wakers) {
        return Step::Owner;
    }
    if !**queued {
        let Some(waker) = spare.take() else { return Step::NeedsWaker };
        // SAFETY: I1, I2: in a section, by the polled future, whose drop unlinks it; idle so far.
        if let Err(TooMany(full, waker)) = unsafe { A::enqueue(section, waiter, waker) } {
            **spare = Some(waker);
            return Step::Full(full);
        }
        **queued = true;
    } else if !waiter.will_wake(waker) {
        let Some(waker) = spare.take() else { return Step::NeedsWaker };
        // SAFETY: I2, I3: in a section, by the polled future; queued and not granted, so it waits.
        **old = Some(unsafe { replace_waker(waiter, waker) });
    }
    match A::look(section, waiter, look) {
        Found::More => Step::LooksOn,
        Found::Nothing => Step::Wait,
        Found::Suspect => Step::WakeAgain,
        // SAFETY: found in this section, by the polled future.
        Found::Abandoned(robbed) => match unsafe { A::rob(section, waiter, robbed, spare, wakers) } {
            Rescue::Waits => Step::Wait,
            Rescue::WaitsForMore => Step::WakeAgain,
            Rescue::NeedsWaker => Step::NeedsWaker,
            Rescue::Owner => Step::Owner,
        },
    }
}

/// Ends a wait that is not wanted any longer, unless it has been granted: then it is claimed. Only of a queued waiter.
///
/// `true`: the caller owns it. `false`: the waiter has left, and whom it blocked was granted and woken.
#[cold]
#[inline(never)]
pub(crate) fn claim_or_leave<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>) -> bool {
    stop_waiting(lock, waiter).is_none()
}

/// The waker of a waiter that has left, to be dropped; `None`: the caller owns it.
#[inline(always)]
fn stop_waiting<A: Acquisition>(lock: &A, waiter: Pin<&Waiter>) -> Option<Waker> {
    debug_assert_eq!(waiter.stage(), Stage::Queued, "it waits for nothing");
    waiter.set_done();
    let mut wakers = A::Wakers::default();
    let granted = &mut wakers;
    let left = lock.section(move |section| {
        if A::is_granted(section, waiter) {
            A::claim(section, waiter);
            return None;
        }
        Some(A::leave(section, waiter, granted))
    });
    lock.wake_all(&mut wakers);
    left
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
    if A::SHORTCUTS {
        match stop_waiting(lock, waiter) {
            Some(waker) => drop(waker),
            None => lock.release(waiter.place()),
        }
    // Where flash is dear, one copy has to do for all.
    } else if claim_or_leave(lock, waiter) {
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

//! The mutex without its data: the algorithm over a raw lock.

use crate::claim::{Looked, OnUnwind, claim};
use crate::queue::{self, Node, Stage, WaitQueue, Waiter};
use crate::raw::{RawLock, Word};
use crate::state::mutex::MutexState;
use crate::sync_shim::{UnsafeCell, const_fn};
use core::fmt;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

/// Word, queue and count; see [the module](super) for how they work together.
#[allow(unnameable_types, unreachable_pub, reason = "in the signature of a sealed trait")]
pub struct RawMutex<R> {
    raw: R,
    waiters: UnsafeCell<Waiters>,
}

struct Waiters {
    queue: WaitQueue,
    queued: u32,
}

impl<R> fmt::Debug for RawMutex<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RawMutex")
    }
}

// SAFETY: `waiters` is reached through `section` alone, which excludes every other section as far as `R` may be shared.
unsafe impl<R: RawLock + Sync> Sync for RawMutex<R> {}

/// What a section may use: the decoded state, and the queue.
struct Section<'a> {
    state: MutexState,
    queue: &'a mut WaitQueue,
}

impl Section<'_> {
    /// The owner gives the mutex up: it goes to the first waiter, whose waker is returned, or becomes free.
    ///
    /// | before | after |
    /// |---|---|
    /// | owner, `[w1, w2]` | w1 granted, `[w2]`; w1's waker is to be woken |
    /// | owner, `[]` | free |
    #[inline(always)]
    fn hand_off(&mut self) -> Option<Waker> {
        if !self.state.release() {
            return None;
        }
        let first = self.queue.grant_first();
        debug_assert!(first.is_some(), "the count and the queue differ");
        let (waiter, waker) = first?;
        self.state.granted = waiter.as_ptr();
        Some(waker)
    }

    /// Takes a waiter out that was not granted; its waker is to be dropped outside.
    #[inline(always)]
    fn leave(&mut self, waiter: Pin<&Waiter>) -> Waker {
        self.state.leave();
        // SAFETY: in a section; queued and not granted, so linked here. Its stage is `Done`, so it never waits again.
        unsafe { self.queue.leave(waiter) }
    }

    #[inline(always)]
    fn is_granted(&self, waiter: Pin<&Waiter>) -> bool {
        let granted = self.state.granted == Node::of(waiter).as_ptr();
        debug_assert_eq!(granted, waiter.is_granted(), "the word and the waiter differ");
        granted
    }
}

impl<R: RawLock> RawMutex<R> {
    const_fn! {
        pub(crate) const fn new() -> Self {
            Self {
                #[cfg(not(fifolock_loom))]
                raw: R::INIT,
                #[cfg(fifolock_loom)]
                raw: R::init(),
                waiters: UnsafeCell::new(Waiters { queue: WaitQueue::new(), queued: 0 }),
            }
        }
    }

    #[inline(always)]
    fn section<T>(&self, f: impl FnOnce(&mut Section<'_>) -> T) -> T {
        self.raw.with(|word| {
            self.waiters.with_mut(|waiters| {
                // SAFETY: sections exclude each other and never nest, because nothing inside calls foreign code
                // (contract K2); so this is the only reference.
                let waiters = unsafe { &mut *waiters };
                let state = MutexState::decode(*word, waiters.queued);
                let mut section = Section { state, queue: &mut waiters.queue };
                let result = f(&mut section);
                let state = section.state;
                waiters.queued = state.queued;
                *word = state.encode();
                result
            })
        })
    }

    #[inline(always)]
    pub(crate) fn try_lock(&self) -> bool {
        self.raw.try_acquire(Word::INIT, Word::HELD) || self.try_lock_slow()
    }

    /// The shortcut fails also while a section runs, which says nothing about the mutex.
    #[inline]
    fn try_lock_slow(&self) -> bool {
        !self.raw.peek().is_some_and(Word::is_held) && self.section(|s| s.state.try_lock())
    }

    /// Polls a lock operation. Who gets `Ready` owns the mutex.
    #[inline(always)]
    pub(crate) fn poll_lock(&self, waiter: Pin<&Waiter>, cx: &mut Context<'_>) -> Poll<()> {
        match waiter.stage() {
            Stage::Idle => {
                if self.raw.try_acquire(Word::INIT, Word::HELD) {
                    waiter.set_done();
                    return Poll::Ready(());
                }
                self.poll_first(waiter, cx.waker())
            }
            Stage::Queued => self.poll_queued(waiter, cx.waker()),
            Stage::Done => queue::polled_after_ready(),
        }
    }

    /// | before | after |
    /// |---|---|
    /// | free | owned by the caller |
    /// | held, `[w1]` | held, `[w1, caller]` |
    #[cold]
    #[inline(never)]
    fn poll_first(&self, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
        if self.try_lock_slow() {
            waiter.set_done();
            return Poll::Ready(());
        }
        // Foreign code, so before the section. The mutex may be free again after it.
        let waker = waker.clone();
        let unused = self.section(|s| {
            if s.state.try_lock() {
                return Ok(Some(waker));
            }
            if let Err(full) = s.state.enqueue() {
                return Err((full, waker));
            }
            // SAFETY: in a section, by the polled future, which unlinks it on drop.
            unsafe { s.queue.push(waiter, waker, 0) };
            Ok(None)
        });
        match unused {
            Ok(None) => Poll::Pending,
            Ok(Some(waker)) => self.now_owner(waiter, Some(waker)),
            Err((full, _waker)) => full.panic(),
        }
    }

    fn poll_queued(&self, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
        if waiter.is_granted() {
            if claim(&self.raw, waiter) {
                waiter.set_done();
                return Poll::Ready(());
            }
        } else if waiter.will_wake(waker) {
            // Should a grant be under way, its wake is still to come.
            return Poll::Pending;
        }
        self.poll_queued_slow(waiter, waker)
    }

    /// | before | after |
    /// |---|---|
    /// | granted to the caller | owned by the caller |
    /// | waiting, waker a | waiting, waker b; a is dropped |
    #[cold]
    #[inline(never)]
    fn poll_queued_slow(&self, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
        // Foreign code, so before the section. Not needed where the waker is the same, or where it was taken.
        let new = (!waiter.is_granted() && !waiter.will_wake(waker)).then(|| waker.clone());
        let looked = self.section(|s| {
            if s.is_granted(waiter) {
                s.state.claim();
                return Looked::Claimed(new);
            }
            // SAFETY: in a section, by the polled future; queued and not granted, so linked here.
            Looked::Waits(new.map(|new| unsafe { s.queue.replace_waker(waiter, new) }))
        });
        match looked {
            Looked::Claimed(unused) => self.now_owner(waiter, unused),
            Looked::Waits(_old) => Poll::Pending,
        }
    }

    /// The caller has just become the owner. Dropping a waker may panic: then it is the owner no more.
    fn now_owner(&self, waiter: Pin<&Waiter>, unused: Option<Waker>) -> Poll<()> {
        waiter.set_done();
        let owner = OnUnwind(|| self.unlock());
        drop(unused);
        mem::forget(owner);
        Poll::Ready(())
    }

    /// Ends a wait that is not wanted any longer, unless it has been granted: then it is claimed.
    ///
    /// `true`: the caller owns the mutex. `false`: the waiter has left.
    #[cold]
    #[inline(never)]
    pub(crate) fn claim_or_leave(&self, waiter: Pin<&Waiter>) -> bool {
        let queued = waiter.stage() == Stage::Queued;
        waiter.set_done();
        if !queued {
            return false;
        }
        let left = self.section(|s| {
            if s.is_granted(waiter) {
                s.state.claim();
                return None;
            }
            Some(s.leave(waiter))
        });
        left.is_none()
    }

    /// The waiter is not wanted any longer. Whatever it has is passed on.
    #[inline(always)]
    pub(crate) fn leave(&self, waiter: Pin<&Waiter>) {
        if waiter.stage() == Stage::Queued {
            self.leave_queued(waiter);
        }
    }

    /// | before | after |
    /// |---|---|
    /// | owner, `[w1, caller, w2]` | owner, `[w1, w2]` |
    /// | granted to the caller, `[w1]` | granted to w1, which is woken |
    /// | granted to the caller, `[]` | free |
    #[cold]
    #[inline(never)]
    fn leave_queued(&self, waiter: Pin<&Waiter>) {
        waiter.set_done();
        let (next, _own) =
            self.section(|s| if s.is_granted(waiter) { (s.hand_off(), None) } else { (None, Some(s.leave(waiter))) });
        if let Some(next) = next {
            next.wake();
        }
    }

    /// Gives the mutex up. Only for its owner.
    #[inline(always)]
    pub(crate) fn unlock(&self) {
        if !self.raw.try_release(Word::HELD, Word::INIT) {
            self.unlock_slow();
        }
    }

    #[cold]
    #[inline(never)]
    fn unlock_slow(&self) {
        let waker = self.section(|s| s.hand_off());
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    #[inline]
    pub(crate) fn is_locked(&self) -> bool {
        match self.raw.peek() {
            Some(word) => word.is_held(),
            None => self.section(|s| s.state.held),
        }
    }

    pub(crate) fn state(&self) -> (bool, u32) {
        self.section(|s| (s.state.held, s.state.queued))
    }
}

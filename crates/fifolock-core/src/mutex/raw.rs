//! The mutex without its data: the algorithm over a raw lock.

use crate::algorithm::{Algorithm, Step, TooMany};
use crate::call_site::CallSite;
#[cfg(feature = "diagnostics")]
use crate::diagnostics::LockReport;
use crate::diagnostics::{OwnerSite, OwnerSiteMut, Recorded};
use crate::queue::{Grants, Member, Mode, OwnWaiter, Queued, Trade, WaitQueue, WaiterPtr};
use crate::raw::{InSection, RawLock, Refusal, Word, in_section};
use crate::rescue::Rescuing;
use crate::state::mutex::MutexState;
use crate::sync_shim::{UnsafeCell, const_fn};
use core::fmt;
use core::pin::Pin;
use core::task::Waker;

/// Word, queue and count; see [the module](super) for how they work together.
pub struct RawMutex<R> {
    raw: Recorded<R>,
    waiters: UnsafeCell<Waiters>,
}

struct Waiters {
    queue: WaitQueue,
    queued: u32,
    /// The number of the last grant.
    grants: Grants,
    holder: OwnerSite,
}

impl<R> fmt::Debug for RawMutex<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RawMutex")
    }
}

// SAFETY: rule K9: `waiters` is reached in `section` alone, which excludes every other section as far as `R` may be shared.
// - R: Sync: required, since it does the excluding.
unsafe impl<R: RawLock + Sync> Sync for RawMutex<R> {}

/// What a section may use: the decoded state, and the queue.
pub struct Section<'s> {
    proof: InSection<'s>,
    state: MutexState<'s>,
    queue: &'s mut WaitQueue,
    grants: &'s mut Grants,
    holder: OwnerSiteMut<'s>,
}

impl<'s> Section<'s> {
    /// The granted waiter that has not claimed. Only of a held mutex.
    #[inline(always)]
    fn granted(&self) -> Option<Member<'s>> {
        // SAFETY: I1: the word holds the address of a granted waiter until this claims. I6: it was queued.
        WaiterPtr::new(self.state.granted()).map(|granted| unsafe { granted.member(self.proof) })
    }

    /// The owner gives the mutex up: it goes to the first waiter, or becomes free. The waker is to be woken.
    ///
    /// | before | after |
    /// |---|---|
    /// | owner, `[w1, w2]` | w1 granted, `[w2]` |
    /// | owner, `[]` | free |
    #[inline(always)]
    fn hand_off(&mut self) -> Option<Waker> {
        let Some((first, waker, others)) = self.queue.grant_first(self.grants.next(), self.proof) else {
            self.state.release();
            return None;
        };
        self.state.hand_off(first.as_ptr(), others);
        Some(waker)
    }
}

impl<R: RawLock> RawMutex<R> {
    const_fn! {
        pub(crate) const fn new() -> Self {
            Self {
                #[cfg(not(fifolock_loom))]
                raw: Recorded::<R>::INIT,
                #[cfg(fifolock_loom)]
                raw: Recorded::<R>::init(),
                waiters: UnsafeCell::new(Waiters { queue: WaitQueue::new(), queued: 0, grants: Grants::NONE, holder: OwnerSite::EMPTY }),
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn release_slow(&self) {
        let hand_off = |section: &mut Section<'_>| {
            section.holder.clear();
            section.hand_off()
        };
        if Recorded::<R>::HAS_FAST_PATH {
            // It comes here to wake somebody, and need not ask after the section whether it does.
            self.section(Refusal::Panics, |section| hand_off(section).unwrap_or_else(|| Waker::noop().clone())).wake();
        } else if let Some(waker) = self.section(Refusal::Panics, hand_off) {
            waker.wake();
        }
    }

    #[inline]
    pub(crate) fn is_locked(&self) -> bool {
        match self.raw.peek() {
            Some(word) => word.is_held(),
            None => self.section(Refusal::Panics, |section| section.state.is_held()),
        }
    }

    /// Whether it is held, and how many wait.
    pub(crate) fn state(&self) -> (bool, u32) {
        self.section(Refusal::Panics, |section| (section.state.is_held(), section.state.queued()))
    }

    #[cfg(feature = "diagnostics")]
    pub(crate) fn diagnose(&self) -> LockReport {
        self.section(Refusal::Panics, |section| {
            let granted = if section.state.is_held() { section.granted() } else { None };
            LockReport::of_mutex(&section.state, granted, section.holder, section.queue, section.proof)
        })
    }
}

impl<R: RawLock> Algorithm for &RawMutex<R> {
    type Section<'s> = Section<'s>;
    // Nobody is granted but by a release.
    type Wakers = ();
    const HAS_FAST_PATH: bool = Recorded::<R>::HAS_FAST_PATH;

    #[inline(always)]
    fn section<T>(self, refusal: Refusal, f: impl FnOnce(&mut Section<'_>) -> T) -> T {
        in_section(&self.raw, refusal, |proof, word| {
            self.waiters.with_mut(|waiters| {
                // SAFETY: rules K2, K9: sections exclude each other, and never nest, since nothing inside calls foreign code;
                // so this is the only reference.
                let Waiters { queue, queued, grants, holder } = unsafe { &mut *waiters };
                let state = MutexState::decode(*word, queued);
                let mut section = Section { proof, state, queue, grants, holder: holder.lend() };
                let result = f(&mut section);
                *word = section.state.encode();
                result
            })
        })
    }

    #[inline(always)]
    fn wake_all(self, (): &mut ()) {}

    #[inline(always)]
    fn fast_acquire(self) -> bool {
        self.raw.try_acquire(Word::INIT, Word::HELD)
    }

    #[inline(always)]
    fn may_enter(self) -> bool {
        !self.raw.peek().is_some_and(Word::is_held)
    }

    #[inline(always)]
    fn fast_claim(self, waiter: Queued<'_>) -> bool {
        crate::algorithm::fast_claim(&self.raw, waiter)
    }

    #[inline(always)]
    fn release(self, _: CallSite) {
        if !self.raw.try_release(Word::HELD, Word::INIT) {
            self.release_slow();
        }
    }

    #[inline(always)]
    fn in_section<'s>(section: &Self::Section<'s>) -> InSection<'s> {
        section.proof
    }

    #[inline(always)]
    fn try_acquire(section: &mut Section<'_>, call_site: CallSite) -> bool {
        section.holder.set_if(section.state.try_lock(), call_site)
    }

    #[inline(always)]
    fn has_to_wait(section: &Section<'_>) -> bool {
        section.state.is_held()
    }

    #[inline(always)]
    unsafe fn acquire_or_claim(section: &mut Section<'_>, waiter: OwnWaiter<'_>) -> bool {
        debug_assert!(waiter.queued().is_some() || !waiter.is_granted(), "a newcomer was granted");
        // No need to look which it is: nobody waits at a free mutex, and nobody was granted who did not wait.
        let owns = section.state.acquire_or_claim(waiter.ptr().as_ptr());
        section.holder.set_if(owns, waiter.call_site())
    }

    #[inline(always)]
    unsafe fn enqueue<'s>(
        section: &mut Self::Section<'s>,
        waiter: OwnWaiter<'_>,
        waker: Waker,
    ) -> Result<Member<'s>, TooMany> {
        if let Err(full) = section.state.enqueue() {
            return Err(TooMany(full, waker));
        }
        // There are no batches, so nobody asks for the batch number.
        // SAFETY: I1: as this function's caller promises.
        Ok(unsafe { section.queue.push(waiter, waker, (0, Mode::Write), section.proof) })
    }

    #[inline(always)]
    fn is_granted<'s>(section: &Section<'s>, waiter: Member<'s>) -> bool {
        let granted = section.state.granted() == waiter.as_ptr();
        debug_assert_eq!(granted, waiter.is_granted(), "the word and the waiter differ");
        granted
    }

    #[inline(always)]
    unsafe fn claim<'s>(section: &mut Section<'s>, waiter: Member<'s>) {
        section.state.claim();
        section.holder.set(waiter.call_site());
    }

    #[inline(always)]
    unsafe fn remove<'s>(section: &mut Section<'s>, waiter: Member<'s>, (): &mut ()) -> Waker {
        // SAFETY: I1, I3: it waits, so it is linked here, and never waits again, as this function's caller promises.
        let (waker, others) = unsafe { section.queue.remove(waiter) };
        section.state.remove_waiter(others);
        waker
    }
}

impl<R: RawLock> Rescuing for &RawMutex<R> {
    // There is one grant at a time.
    type Scan = ();

    #[inline(always)]
    fn may_be_unclaimed(self) -> bool {
        // Somebody waits, so the mutex is held.
        self.raw.peek().is_none_or(|word| !word.granted().is_null())
    }

    #[inline(always)]
    fn certainly_waits(section: &Section<'_>, waker: &Waker) -> bool {
        section.state.is_owned()
            || section.state.is_held() && section.granted().is_some_and(|granted| !granted.will_wake(waker))
    }

    #[inline(always)]
    fn prove_alive<'s>(section: &mut Section<'s>, waiter: Member<'s>) {
        waiter.prove_alive(section.grants);
    }

    /// | before | after the theft |
    /// |---|---|
    /// | victim granted, `[a, thief, b]` | thief owns, `[a, victim, b]` |
    #[inline(always)]
    unsafe fn try_steal<'s>(
        section: &mut Section<'s>,
        waiter: Member<'s>,
        _: Pin<&()>,
        _: &mut Option<Waker>,
        (): &mut (),
    ) -> Step {
        let Some(granted) = section.granted() else { return Step::Wait };
        // SAFETY: I1: one waits, as this function's caller promises, so it is linked here; the other is granted, and so in no
        // ring. Both want the mutex.
        match unsafe { section.queue.trade_if_due(waiter, granted, *section.grants) } {
            Trade::None => Step::Wait,
            Trade::Suspect => Step::WakeAgain,
            Trade::Done => {
                section.state.claim();
                section.holder.set(waiter.call_site());
                Step::Owner
            }
        }
    }

    #[inline(always)]
    fn is_cut(_: Pin<&()>) -> bool {
        false
    }

    #[inline(always)]
    unsafe fn stop_scan(_: &mut Section<'_>, _: Pin<&()>) {}
}

//! The read-write lock without its data: the algorithm over a raw lock.

#[cfg(feature = "diagnostics")]
use crate::diagnostics::LockReport;
use crate::diagnostics::{Holders, HoldersMut, Leaving, Place, Recorded};
use crate::queue::{GrantedSet, Node, WaitQueue, Waiter};
use crate::raw::{RawLock, Word};
use crate::state::QueueFull;
use crate::state::rwlock::{Action, Counts, RwState};
use crate::sync_shim::{UnsafeCell, const_fn};
use crate::wait::Acquisition;
use crate::wake::{WAKE_BATCH, Wakers};
use core::fmt;
use core::pin::Pin;
use core::task::Waker;

/// Word, queues and counts; see [the module](super) for how they work together.
#[allow(unnameable_types, unreachable_pub, reason = "in the signature of a sealed trait")]
pub struct RawRwLock<R> {
    raw: Recorded<R>,
    max_readers: u32,
    waiters: UnsafeCell<Waiters>,
}

struct Waiters {
    readers: WaitQueue,
    writers: WaitQueue,
    granted_readers: GrantedSet,
    counts: Counts,
    holders: Holders,
}

impl<R> fmt::Debug for RawRwLock<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RawRwLock")
    }
}

// SAFETY: `waiters` is reached through `section` alone, which excludes every other section as far as `R` may be shared.
unsafe impl<R: RawLock + Sync> Sync for RawRwLock<R> {}

/// What a section may use: the decoded state, and the queues.
pub(crate) struct Section<'s> {
    state: RwState,
    readers: &'s mut WaitQueue,
    writers: &'s mut WaitQueue,
    granted_readers: &'s mut GrantedSet,
    holders: HoldersMut<'s>,
}

impl Section<'_> {
    /// Does to the queues what a transition asks for; the wakers are to be woken outside.
    #[inline(always)]
    fn perform(&mut self, action: Action, wakers: &mut Wakers) {
        match action {
            Action::Nothing => {}
            Action::GrantWriter => {
                let first = self.writers.grant_first();
                debug_assert!(first.is_some(), "the count and the queue differ");
                if let Some((waiter, waker)) = first {
                    self.state.granted = waiter.as_ptr();
                    wakers.push(waker);
                }
            }
            Action::GrantReaders => self.mark_readers(wakers),
        }
    }

    /// Gives reserved shares to readers at the head of the queue, as many as one section may.
    ///
    /// | before | after |
    /// |---|---|
    /// | 2 reserved, `[r1, r2, r3]` | r1, r2 granted, `[r3]` |
    #[inline(always)]
    fn mark_readers(&mut self, wakers: &mut Wakers) {
        wakers.more = false;
        for _ in 0..WAKE_BATCH {
            if !self.state.take_share() {
                return;
            }
            let first = self.readers.grant_first();
            debug_assert!(first.is_some(), "a share was reserved for nobody");
            if let Some((waiter, waker)) = first {
                // SAFETY: I1: granted in this section, so alive, and in no queue.
                unsafe { self.granted_readers.insert(waiter) };
                wakers.push(waker);
            }
        }
        wakers.more = self.state.counts.reserved > 0;
    }
}

impl<R: RawLock> RawRwLock<R> {
    const_fn! {
        pub(crate) const fn new(max_readers: u32) -> Self {
            Self {
                #[cfg(not(fifolock_loom))]
                raw: Recorded::<R>::INIT,
                #[cfg(fifolock_loom)]
                raw: Recorded::<R>::init(),
                max_readers,
                waiters: UnsafeCell::new(Waiters {
                    readers: WaitQueue::new(),
                    writers: WaitQueue::new(),
                    granted_readers: GrantedSet::new(),
                    counts: Counts::NEW,
                    holders: Holders::NOBODY,
                }),
            }
        }
    }

    #[inline(always)]
    fn section<T>(&self, f: impl FnOnce(&mut Section<'_>) -> T) -> T {
        self.raw.with(|word| {
            self.waiters.with_mut(|waiters| {
                // SAFETY: sections exclude each other and never nest, because nothing inside calls foreign code
                // (contract K2); so this is the only reference.
                let Waiters { readers, writers, granted_readers, counts, holders } = unsafe { &mut *waiters };
                let state = RwState::decode(*word, *counts, self.max_readers);
                let mut section = Section { state, readers, writers, granted_readers, holders: holders.lend() };
                let result = f(&mut section);
                let state = section.state;
                *counts = state.counts;
                *word = state.encode();
                result
            })
        })
    }

    /// A section that may grant; whom it granted is woken after it, all before this returns.
    #[inline(always)]
    fn granting_section<T>(&self, f: impl FnOnce(&mut Section<'_>, &mut Wakers) -> T) -> T {
        let mut wakers = Wakers::new();
        let result = self.section(|section| f(section, &mut wakers));
        wakers.wake_all(|wakers| self.section(|section| section.mark_readers(wakers)));
        result
    }

    /// A section in which somebody gives up what it has: `transition` says to whom it goes.
    #[cold]
    #[inline(never)]
    fn release_slow(&self, transition: fn(&mut RwState) -> Action, who: Leaving) {
        self.granting_section(|section, wakers| {
            section.holders.leave(who);
            let action = transition(&mut section.state);
            section.perform(action, wakers);
        });
    }

    /// The writer, by a call at `place`, becomes a reader. Only for the writer.
    #[inline(always)]
    pub(crate) fn downgrade(&self, place: Place) {
        if !self.raw.try_release(Word::HELD, Word::ONE_READER) {
            self.release_slow(RwState::downgrade, Leaving::downgraded(place));
        }
    }

    pub(crate) fn state(&self) -> RwState {
        self.section(|section| section.state)
    }

    #[cfg(feature = "diagnostics")]
    pub(crate) fn diagnose(&self) -> LockReport {
        self.section(|section| {
            let Section { state, readers, writers, granted_readers, holders } = section;
            LockReport::of_rwlock(*state, holders, writers, readers, granted_readers)
        })
    }
}

/// Acquiring a lock to read it.
#[derive(Debug)]
pub(crate) struct ReadSide<'a, R>(pub(crate) &'a RawRwLock<R>);

/// Acquiring a lock to write it.
#[derive(Debug)]
pub(crate) struct WriteSide<'a, R>(pub(crate) &'a RawRwLock<R>);

impl<R: RawLock> Acquisition for ReadSide<'_, R> {
    type Section<'s> = Section<'s>;
    type Wakers = Wakers;

    #[inline(always)]
    fn section<T>(&self, f: impl FnOnce(&mut Section<'_>) -> T) -> T {
        self.0.section(f)
    }

    #[inline(always)]
    fn granting_section<T>(&self, f: impl FnOnce(&mut Section<'_>, &mut Wakers) -> T) -> T {
        self.0.granting_section(f)
    }

    /// Enters past nobody: it fails if the word does not show that there is room and no queue.
    #[inline(always)]
    fn try_fast(&self) -> bool {
        let Self(lock) = self;
        while let Some(word) = lock.raw.peek() {
            if word.is_held() || word.has_queued() || word.readers() >= lock.max_readers {
                return false;
            }
            if lock.raw.try_acquire(word, Word::with_readers(word.readers() + 1)) {
                return true;
            }
            // Another reader came or left, or a section began.
        }
        false
    }

    #[inline(always)]
    fn may_enter(&self) -> bool {
        !self.0.raw.peek().is_some_and(Word::is_held)
    }

    #[inline(always)]
    fn claim_fast(&self, _: Pin<&Waiter>) -> bool {
        // It stands in the set of granted readers, which only a section may change.
        false
    }

    #[inline(always)]
    fn release(&self, place: Place) {
        let Self(lock) = self;
        while let Some(word) = lock.raw.peek() {
            if word.has_queued() {
                break;
            }
            if lock.raw.try_release(word, Word::with_readers(word.readers() - 1)) {
                return;
            }
            // Another reader came or left, or somebody queued.
        }
        lock.release_slow(RwState::release_reader, Leaving::reader(place));
    }

    #[inline(always)]
    fn enter(section: &mut Section<'_>, place: Place) -> bool {
        section.holders.entered_reader(section.state.try_read(), place)
    }

    #[inline(always)]
    fn count(section: &mut Section<'_>) -> Result<u32, QueueFull> {
        section.state.enqueue_reader()
    }

    #[inline(always)]
    fn queue<'q>(section: &'q mut Section<'_>) -> &'q mut WaitQueue {
        section.readers
    }

    #[inline(always)]
    fn is_granted(_: &Section<'_>, waiter: Pin<&Waiter>) -> bool {
        waiter.is_granted()
    }

    #[inline(always)]
    fn claim(section: &mut Section<'_>, waiter: Pin<&Waiter>) {
        // SAFETY: I2: in a section; granted and not claimed, so in the set.
        unsafe { section.granted_readers.remove(waiter) };
        section.holders.enter_reader(waiter.place());
    }

    #[inline(always)]
    fn leave(section: &mut Section<'_>, waiter: Pin<&Waiter>, wakers: &mut Wakers) -> Waker {
        // SAFETY: I2: in a section.
        let ticket = unsafe { waiter.ticket() };
        // SAFETY: I2, I3: in a section; queued and not granted, so linked here. Its stage is `Done`, so it never waits again.
        let own = unsafe { section.readers.leave(waiter) };
        let action = section.state.leave_reader(ticket);
        section.perform(action, wakers);
        own
    }
}

impl<R: RawLock> Acquisition for WriteSide<'_, R> {
    type Section<'s> = Section<'s>;
    type Wakers = Wakers;

    #[inline(always)]
    fn section<T>(&self, f: impl FnOnce(&mut Section<'_>) -> T) -> T {
        self.0.section(f)
    }

    #[inline(always)]
    fn granting_section<T>(&self, f: impl FnOnce(&mut Section<'_>, &mut Wakers) -> T) -> T {
        self.0.granting_section(f)
    }

    #[inline(always)]
    fn try_fast(&self) -> bool {
        self.0.raw.try_acquire(Word::INIT, Word::HELD)
    }

    #[inline(always)]
    fn may_enter(&self) -> bool {
        !self.0.raw.peek().is_some_and(|word| word != Word::INIT)
    }

    #[inline(always)]
    fn claim_fast(&self, waiter: Pin<&Waiter>) -> bool {
        crate::state::claim_fast(&self.0.raw, waiter)
    }

    #[inline(always)]
    fn release(&self, _: Place) {
        if !self.0.raw.try_release(Word::HELD, Word::INIT) {
            self.0.release_slow(RwState::release_writer, Leaving::writer());
        }
    }

    #[inline(always)]
    fn enter(section: &mut Section<'_>, place: Place) -> bool {
        section.holders.entered_writer(section.state.try_write(), place)
    }

    #[inline(always)]
    fn count(section: &mut Section<'_>) -> Result<u32, QueueFull> {
        // Writers come one by one, so nobody asks for the ticket.
        section.state.enqueue_writer().map(|()| 0)
    }

    #[inline(always)]
    fn queue<'q>(section: &'q mut Section<'_>) -> &'q mut WaitQueue {
        section.writers
    }

    #[inline(always)]
    fn is_granted(section: &Section<'_>, waiter: Pin<&Waiter>) -> bool {
        let granted = section.state.granted == Node::of(waiter).as_ptr();
        debug_assert_eq!(granted, waiter.is_granted(), "the word and the waiter differ");
        granted
    }

    #[inline(always)]
    fn claim(section: &mut Section<'_>, waiter: Pin<&Waiter>) {
        section.state.claim_writer();
        section.holders.enter_writer(waiter.place());
    }

    #[inline(always)]
    fn leave(section: &mut Section<'_>, waiter: Pin<&Waiter>, wakers: &mut Wakers) -> Waker {
        // SAFETY: I2, I3: in a section; queued and not granted, so linked here. Its stage is `Done`, so it never waits again.
        let own = unsafe { section.writers.leave(waiter) };
        let action = section.state.leave_writer();
        section.perform(action, wakers);
        own
    }
}

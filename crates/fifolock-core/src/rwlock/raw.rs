//! The read-write lock without its data: the algorithm over a raw lock.

use crate::claim::{Looked, OnUnwind, claim};
use crate::queue::{self, GrantedSet, Node, Stage, WaitQueue, Waiter};
use crate::raw::{RawLock, Word};
use crate::state::rwlock::{Action, Counts, RwState};
use crate::sync_shim::{UnsafeCell, const_fn};
use crate::wake::{WAKE_BATCH, Wakers};
use core::fmt;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

/// Word, queues and counts; see [the module](super) for how they work together.
#[allow(unnameable_types, unreachable_pub, reason = "in the signature of a sealed trait")]
pub struct RawRwLock<R> {
    raw: R,
    max_readers: u32,
    waiters: UnsafeCell<Waiters>,
}

struct Waiters {
    readers: WaitQueue,
    writers: WaitQueue,
    granted_readers: GrantedSet,
    counts: Counts,
}

impl<R> fmt::Debug for RawRwLock<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RawRwLock")
    }
}

// SAFETY: `waiters` is reached through `section` alone, which excludes every other section as far as `R` may be shared.
unsafe impl<R: RawLock + Sync> Sync for RawRwLock<R> {}

/// What a section may use: the decoded state, and the queues.
struct Section<'a> {
    state: RwState,
    readers: &'a mut WaitQueue,
    writers: &'a mut WaitQueue,
    granted_readers: &'a mut GrantedSet,
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
                // SAFETY: granted in this section.
                unsafe { self.granted_readers.insert(waiter) };
                wakers.push(waker);
            }
        }
        wakers.more = self.state.counts.reserved > 0;
    }

    /// The granted reader's share becomes its guard's.
    #[inline(always)]
    fn claim_reader(&mut self, waiter: Pin<&Waiter>) {
        // SAFETY: in a section; granted and not claimed, so in the set.
        unsafe { self.granted_readers.remove(waiter) };
    }

    #[inline(always)]
    fn is_granted_writer(&self, waiter: Pin<&Waiter>) -> bool {
        let granted = self.state.granted == Node::of(waiter).as_ptr();
        debug_assert_eq!(granted, waiter.is_granted(), "the word and the waiter differ");
        granted
    }

    /// Takes a writer out that was not granted; its waker is to be dropped outside.
    #[inline(always)]
    fn leave_writer(&mut self, waiter: Pin<&Waiter>, wakers: &mut Wakers) -> Waker {
        // SAFETY: in a section; queued and not granted, so linked here. Its stage is `Done`, so it never waits again.
        let own = unsafe { self.writers.leave(waiter) };
        let action = self.state.leave_writer();
        self.perform(action, wakers);
        own
    }

    /// Takes a reader out that was not marked; its waker is to be dropped outside.
    #[inline(always)]
    fn leave_reader(&mut self, waiter: Pin<&Waiter>, wakers: &mut Wakers) -> Waker {
        // SAFETY: in a section.
        let ticket = unsafe { waiter.ticket() };
        // SAFETY: in a section; queued and not granted, so linked here. Its stage is `Done`, so it never waits again.
        let own = unsafe { self.readers.leave(waiter) };
        let action = self.state.leave_reader(ticket);
        self.perform(action, wakers);
        own
    }
}

impl<R: RawLock> RawRwLock<R> {
    const_fn! {
        pub(crate) const fn new(max_readers: u32) -> Self {
            Self {
                #[cfg(not(fifolock_loom))]
                raw: R::INIT,
                #[cfg(fifolock_loom)]
                raw: R::init(),
                max_readers,
                waiters: UnsafeCell::new(Waiters {
                    readers: WaitQueue::new(),
                    writers: WaitQueue::new(),
                    granted_readers: GrantedSet::new(),
                    counts: Counts::NEW,
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
                let Waiters { readers, writers, granted_readers, counts } = unsafe { &mut *waiters };
                let state = RwState::decode(*word, *counts, self.max_readers);
                let mut section = Section { state, readers, writers, granted_readers };
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
        let result = self.section(|s| f(s, &mut wakers));
        wakers.wake_all(|wakers| self.section(|s| s.mark_readers(wakers)));
        result
    }

    #[inline(always)]
    pub(crate) fn try_read(&self) -> bool {
        self.try_read_fast() || self.try_read_slow()
    }

    /// Enters past nobody: it fails if the word does not show that there is room and no queue.
    #[inline(always)]
    fn try_read_fast(&self) -> bool {
        while let Some(word) = self.raw.peek() {
            if word.is_held() || word.has_queued() || word.readers() >= self.max_readers {
                return false;
            }
            if self.raw.try_acquire(word, Word::with_readers(word.readers() + 1)) {
                return true;
            }
            // Another reader came or left, or a section began.
        }
        false
    }

    /// The shortcut fails also while a section runs, which says nothing about the lock.
    fn try_read_slow(&self) -> bool {
        !self.raw.peek().is_some_and(Word::is_held) && self.section(|s| s.state.try_read())
    }

    #[inline(always)]
    pub(crate) fn try_write(&self) -> bool {
        self.try_write_fast() || self.try_write_slow()
    }

    #[inline(always)]
    fn try_write_fast(&self) -> bool {
        self.raw.try_acquire(Word::INIT, Word::HELD)
    }

    /// The shortcut fails also while a section runs, which says nothing about the lock.
    fn try_write_slow(&self) -> bool {
        !self.raw.peek().is_some_and(|word| word != Word::INIT) && self.section(|s| s.state.try_write())
    }

    /// Polls a read operation. Who gets `Ready` has a share.
    #[inline(always)]
    pub(crate) fn poll_read(&self, waiter: Pin<&Waiter>, cx: &mut Context<'_>) -> Poll<()> {
        match waiter.stage() {
            Stage::Idle => {
                if self.try_read_fast() {
                    waiter.set_done();
                    return Poll::Ready(());
                }
                self.poll_first_read(waiter, cx.waker())
            }
            Stage::Queued => self.poll_queued_read(waiter, cx.waker()),
            Stage::Done => queue::polled_after_ready(),
        }
    }

    /// | before | after |
    /// |---|---|
    /// | n readers, no writer waits, room | n + 1 readers |
    /// | else | queued behind the other readers |
    #[cold]
    #[inline(never)]
    fn poll_first_read(&self, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
        if self.try_read_slow() {
            waiter.set_done();
            return Poll::Ready(());
        }
        // Foreign code, so before the section. The lock may be free again after it.
        let waker = waker.clone();
        let unused = self.section(|s| {
            if s.state.try_read() {
                return Ok(Some(waker));
            }
            match s.state.enqueue_reader() {
                Err(full) => Err((full, waker)),
                Ok(ticket) => {
                    // SAFETY: in a section, by the polled future, which unlinks it on drop.
                    unsafe { s.readers.push(waiter, waker, ticket) };
                    Ok(None)
                }
            }
        });
        match unused {
            Ok(None) => Poll::Pending,
            Ok(Some(waker)) => self.now_reader(waiter, Some(waker)),
            Err((full, _waker)) => full.panic(),
        }
    }

    #[inline]
    fn poll_queued_read(&self, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
        if !waiter.is_granted() && waiter.will_wake(waker) {
            // Should a grant be under way, its wake is still to come.
            return Poll::Pending;
        }
        self.poll_queued_read_slow(waiter, waker)
    }

    /// | before | after |
    /// |---|---|
    /// | granted to the caller | a share of the caller's |
    /// | waiting, waker a | waiting, waker b; a is dropped |
    #[cold]
    #[inline(never)]
    fn poll_queued_read_slow(&self, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
        // Foreign code, so before the section. Not needed where it was granted.
        let new = (!waiter.is_granted()).then(|| waker.clone());
        let looked = self.section(|s| {
            if waiter.is_granted() {
                s.claim_reader(waiter);
                return Looked::Claimed(new);
            }
            // SAFETY: in a section, by the polled future; queued and not granted, so linked here.
            Looked::Waits(new.map(|new| unsafe { s.readers.replace_waker(waiter, new) }))
        });
        match looked {
            Looked::Claimed(unused) => self.now_reader(waiter, unused),
            Looked::Waits(_old) => Poll::Pending,
        }
    }

    /// The caller has just got a share. Dropping a waker may panic: then it has it no more.
    fn now_reader(&self, waiter: Pin<&Waiter>, unused: Option<Waker>) -> Poll<()> {
        waiter.set_done();
        let share = OnUnwind(|| self.unlock_read());
        drop(unused);
        mem::forget(share);
        Poll::Ready(())
    }

    /// Polls a write operation. Who gets `Ready` owns the lock.
    #[inline(always)]
    pub(crate) fn poll_write(&self, waiter: Pin<&Waiter>, cx: &mut Context<'_>) -> Poll<()> {
        match waiter.stage() {
            Stage::Idle => {
                if self.try_write_fast() {
                    waiter.set_done();
                    return Poll::Ready(());
                }
                self.poll_first_write(waiter, cx.waker())
            }
            Stage::Queued => self.poll_queued_write(waiter, cx.waker()),
            Stage::Done => queue::polled_after_ready(),
        }
    }

    /// | before | after |
    /// |---|---|
    /// | free | owned by the caller |
    /// | else | queued behind the other writers |
    #[cold]
    #[inline(never)]
    fn poll_first_write(&self, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
        if self.try_write_slow() {
            waiter.set_done();
            return Poll::Ready(());
        }
        // Foreign code, so before the section. The lock may be free again after it.
        let waker = waker.clone();
        let unused = self.section(|s| {
            if s.state.try_write() {
                return Ok(Some(waker));
            }
            if let Err(full) = s.state.enqueue_writer() {
                return Err((full, waker));
            }
            // SAFETY: in a section, by the polled future, which unlinks it on drop.
            unsafe { s.writers.push(waiter, waker, 0) };
            Ok(None)
        });
        match unused {
            Ok(None) => Poll::Pending,
            Ok(Some(waker)) => self.now_writer(waiter, Some(waker)),
            Err((full, _waker)) => full.panic(),
        }
    }

    #[inline]
    fn poll_queued_write(&self, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
        if waiter.is_granted() {
            if claim(&self.raw, waiter) {
                waiter.set_done();
                return Poll::Ready(());
            }
        } else if waiter.will_wake(waker) {
            // Should a grant be under way, its wake is still to come.
            return Poll::Pending;
        }
        self.poll_queued_write_slow(waiter, waker)
    }

    /// | before | after |
    /// |---|---|
    /// | granted to the caller | owned by the caller |
    /// | waiting, waker a | waiting, waker b; a is dropped |
    #[cold]
    #[inline(never)]
    fn poll_queued_write_slow(&self, waiter: Pin<&Waiter>, waker: &Waker) -> Poll<()> {
        // Foreign code, so before the section. Not needed where it was granted.
        let new = (!waiter.is_granted()).then(|| waker.clone());
        let looked = self.section(|s| {
            if s.is_granted_writer(waiter) {
                s.state.claim_writer();
                return Looked::Claimed(new);
            }
            // SAFETY: in a section, by the polled future; queued and not granted, so linked here.
            Looked::Waits(new.map(|new| unsafe { s.writers.replace_waker(waiter, new) }))
        });
        match looked {
            Looked::Claimed(unused) => self.now_writer(waiter, unused),
            Looked::Waits(_old) => Poll::Pending,
        }
    }

    /// The caller has just become the owner. Dropping a waker may panic: then it is the owner no more.
    fn now_writer(&self, waiter: Pin<&Waiter>, unused: Option<Waker>) -> Poll<()> {
        waiter.set_done();
        let owner = OnUnwind(|| self.unlock_write());
        drop(unused);
        mem::forget(owner);
        Poll::Ready(())
    }

    /// Ends a wait that is not wanted any longer, unless it has been granted: then it is claimed.
    ///
    /// `true`: the caller has a share. `false`: the waiter has left, and whom it blocked was admitted and woken.
    #[cold]
    #[inline(never)]
    pub(crate) fn claim_or_leave_read(&self, waiter: Pin<&Waiter>) -> bool {
        let queued = waiter.stage() == Stage::Queued;
        waiter.set_done();
        if !queued {
            return false;
        }
        let left = self.granting_section(|s, wakers| {
            if waiter.is_granted() {
                s.claim_reader(waiter);
                return None;
            }
            Some(s.leave_reader(waiter, wakers))
        });
        left.is_none()
    }

    /// As [`claim_or_leave_read`](Self::claim_or_leave_read), for a writer.
    #[cold]
    #[inline(never)]
    pub(crate) fn claim_or_leave_write(&self, waiter: Pin<&Waiter>) -> bool {
        let queued = waiter.stage() == Stage::Queued;
        waiter.set_done();
        if !queued {
            return false;
        }
        let left = self.granting_section(|s, wakers| {
            if s.is_granted_writer(waiter) {
                s.state.claim_writer();
                return None;
            }
            Some(s.leave_writer(waiter, wakers))
        });
        left.is_none()
    }

    /// The waiter is not wanted any longer. What it has is given back, and whom it blocked is admitted.
    #[inline(always)]
    pub(crate) fn leave_read(&self, waiter: Pin<&Waiter>) {
        if waiter.stage() == Stage::Queued {
            self.leave_queued_read(waiter);
        }
    }

    /// | before | after |
    /// |---|---|
    /// | waiting or reserved | gone, its share given back |
    /// | granted | its share given back; the last reader admits the next writer |
    #[cold]
    #[inline(never)]
    fn leave_queued_read(&self, waiter: Pin<&Waiter>) {
        waiter.set_done();
        let _own = self.granting_section(|s, wakers| {
            if !waiter.is_granted() {
                return Some(s.leave_reader(waiter, wakers));
            }
            s.claim_reader(waiter);
            let action = s.state.release_reader();
            s.perform(action, wakers);
            None
        });
    }

    /// As [`leave_read`](Self::leave_read), for a writer.
    #[inline(always)]
    pub(crate) fn leave_write(&self, waiter: Pin<&Waiter>) {
        if waiter.stage() == Stage::Queued {
            self.leave_queued_write(waiter);
        }
    }

    /// | before | after |
    /// |---|---|
    /// | readers inside, `[caller]`, readers wait | all readers inside (W5) |
    /// | `[w1, caller, w2]` | `[w1, w2]` |
    /// | granted to the caller | as if its guard had been dropped (W4) |
    #[cold]
    #[inline(never)]
    fn leave_queued_write(&self, waiter: Pin<&Waiter>) {
        waiter.set_done();
        let _own = self.granting_section(|s, wakers| {
            if !s.is_granted_writer(waiter) {
                return Some(s.leave_writer(waiter, wakers));
            }
            let action = s.state.release_writer();
            s.perform(action, wakers);
            None
        });
    }

    /// Gives a share back. Only for a reader.
    #[inline(always)]
    pub(crate) fn unlock_read(&self) {
        while let Some(word) = self.raw.peek() {
            if word.has_queued() {
                break;
            }
            if self.raw.try_release(word, Word::with_readers(word.readers() - 1)) {
                return;
            }
            // Another reader came or left, or somebody queued.
        }
        self.unlock_read_slow();
    }

    #[cold]
    #[inline(never)]
    fn unlock_read_slow(&self) {
        self.granting_section(|s, wakers| {
            let action = s.state.release_reader();
            s.perform(action, wakers);
        });
    }

    /// Gives the lock up. Only for the writer.
    #[inline(always)]
    pub(crate) fn unlock_write(&self) {
        if !self.raw.try_release(Word::HELD, Word::INIT) {
            self.unlock_write_slow();
        }
    }

    #[cold]
    #[inline(never)]
    fn unlock_write_slow(&self) {
        self.granting_section(|s, wakers| {
            let action = s.state.release_writer();
            s.perform(action, wakers);
        });
    }

    /// The writer becomes a reader. Only for the writer.
    #[inline(always)]
    pub(crate) fn downgrade(&self) {
        if !self.raw.try_release(Word::HELD, Word::ONE_READER) {
            self.downgrade_slow();
        }
    }

    #[cold]
    #[inline(never)]
    fn downgrade_slow(&self) {
        self.granting_section(|s, wakers| {
            let action = s.state.downgrade();
            s.perform(action, wakers);
        });
    }

    pub(crate) fn state(&self) -> RwState {
        self.section(|s| s.state)
    }
}

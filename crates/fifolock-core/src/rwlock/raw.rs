//! The read-write lock without its data: the algorithm over a raw lock.

mod access;
mod rescue;
mod side;

pub(crate) use access::OnSide;
pub(crate) use side::{ReadSide, Side, UpgradableSide, UpgradeSide, WriteSide};

use crate::call_site::CallSite;
#[cfg(feature = "diagnostics")]
use crate::diagnostics::LockReport;
use crate::diagnostics::{Holders, HoldersMut, Leaving, Recorded};
use crate::queue::{GrantedSet, Member, Mode, Queued, WaitQueue, WaiterPtr};
use crate::raw::{InSection, RawLock, Refusal, Word, in_section};
use crate::state::rwlock::{Admit, Config, Counts, RwLockPolicy, RwState};
use crate::sync_shim::{UnsafeCell, const_fn};
use crate::wake::Wakers;
use core::fmt;
use core::task::Waker;

/// Word, queues and counts; see [the module](super) for how they work together.
pub struct RawRwLock<R> {
    raw: Recorded<R>,
    config: Config,
    // Two cells instead of one: nothing is lost to alignment.
    counts: UnsafeCell<Counts>,
    queues: UnsafeCell<Queues>,
}

struct Queues {
    queue: WaitQueue,
    readers: WaitQueue,
    granted_readers: GrantedSet,
    holders: Holders,
}

impl<R> fmt::Debug for RawRwLock<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RawRwLock")
    }
}

// SAFETY: rule K9: the cells are reached through `section` and `claim_share` alone, each in a section of `R`, which excludes every
// other one as far as `R` may be shared.
// - R: Sync: required, since it does the excluding.
unsafe impl<R: RawLock + Sync> Sync for RawRwLock<R> {}

/// Not where it is recorded who holds the lock.
const WORD_SECTIONS: bool = !cfg!(feature = "diagnostics");

/// What somebody gives up.
#[derive(Clone, Copy, Debug)]
enum GivesUp {
    /// Its share, or the lock.
    All(Mode),
    /// The lock, for such a share.
    WriteFor(Mode),
    /// The upgradable share, for a plain one.
    UpgradableForRead,
}

/// What a section may use: the decoded state, and the queues.
pub struct Section<'s> {
    proof: InSection<'s>,
    state: RwState<&'s mut Counts>,
    queue: &'s mut WaitQueue,
    readers: &'s mut WaitQueue,
    granted_readers: &'s mut GrantedSet,
    holders: HoldersMut<'s>,
}

impl<'s> Section<'s> {
    /// The granted writer that has not claimed.
    #[inline(always)]
    fn granted_writer(&self) -> Option<Member<'s>> {
        // SAFETY: I1: the state has the address of a granted waiter until this claims. I6: it was queued.
        WaiterPtr::new(self.state.granted).map(|writer| unsafe { writer.member(self.proof) })
    }

    /// The queue for those who wait for this.
    #[inline(always)]
    fn queue_of(&mut self, mode: Mode) -> &mut WaitQueue {
        if mode == Mode::Read && self.state.queues_readers_apart() { self.readers } else { self.queue }
    }

    /// Grants whoever may enter now; the wakers are to be woken outside.
    ///
    /// Another thread may be on the way to mark the rest of a batch. This section marks some of them if it adds to the
    /// batch, and the other thread may return before those are woken: each is woken before the call returns that has marked
    /// it, not before the release returns that has let the batch in. Each has its share since that release, though.
    #[inline(always)]
    fn admit(&mut self, wakers: &mut Wakers) {
        // While shares are reserved, whoever reserved them is on the way to the next section.
        if self.state.counts().reserved == 0 || self.state.widen_batch() {
            self.admit_batch(wakers);
        }
    }

    /// The same where one waiter at most may enter: its waker, if there is one. `None`: nothing has changed.
    #[inline(always)]
    fn admit_one(&mut self) -> Option<Option<Waker>> {
        let granted = match self
            .state
            .admit_one(self.queue.first_mode(self.proof), || self.queue.is_first_robbed(self.proof))?
        {
            Admit::Nobody => None,
            Admit::Reader => self.readers.grant_first(self.state.next_grant(), self.proof).map(|(reader, waker, _)| {
                // SAFETY: I1: granted in this section, and in no ring.
                unsafe { self.granted_readers.insert(reader) };
                waker
            }),
            Admit::First(mode) => {
                self.queue.grant_first(self.state.next_grant(), self.proof).map(|(writer, waker, _)| {
                    self.state.granted = writer.as_ptr();
                    self.holders.granted(mode);
                    waker
                })
            }
        };
        Some(granted)
    }

    /// Grants as many as one section may.
    ///
    /// | before | after |
    /// |---|---|
    /// | free, `[w1, w2]` | w1 granted, `[w2]` |
    /// | free, `[r1, r2]` | r1, r2 granted, `[]` |
    #[inline(always)]
    fn admit_batch(&mut self, wakers: &mut Wakers) {
        wakers.more = false;
        while wakers.room() > 0 {
            match self.state.admit(self.queue.first_mode(self.proof), || self.queue.is_first_robbed(self.proof)) {
                Admit::Nobody => return,
                Admit::Reader => {
                    let readers = 1 + self.state.take_shares(wakers.room() - 1);
                    let grants = &mut self.state.counts.grants;
                    let set = &mut *self.granted_readers;
                    // SAFETY: I1: the counts say that so many wait in the readers' queue.
                    unsafe { self.readers.grant_many(readers, grants, set, self.proof, |waker| wakers.push(waker)) };
                }
                Admit::First(mode) => {
                    let first = self.queue.grant_first(self.state.next_grant(), self.proof);
                    debug_assert!(first.is_some(), "the counts and the queue differ");
                    let Some((waiter, waker, _)) = first else { return };
                    wakers.push(waker);
                    if !mode.is_shared() {
                        self.state.granted = waiter.as_ptr();
                        self.holders.granted(mode);
                        return;
                    }
                    // SAFETY: I1: granted in this section, and in no ring.
                    unsafe { self.granted_readers.insert(waiter) };
                }
            }
        }
        wakers.more = self.is_there_more();
    }

    /// A section has granted as many as it may. Whether others are to be granted in the next section.
    #[inline(always)]
    fn is_there_more(&mut self) -> bool {
        let mut next = self.state.copied();
        let more = next.admit(self.queue.first_mode(self.proof), || self.queue.is_first_robbed(self.proof));
        if let Admit::First(mode) = more
            && mode.is_shared()
            && !self.state.queues_readers_apart()
        {
            self.state.hold_open();
        }
        more != Admit::Nobody
    }

    /// A task-fair batch goes on. P3: an upgrade that has come to the head since the batch began doesn't end a run of readers.
    fn admit_run(&mut self, wakers: &mut Wakers) {
        let upgrade = if self.state.go_on() { self.queue.set_upgrade_aside(self.proof) } else { None };
        self.admit_batch(wakers);
        if let Some(upgrade) = upgrade {
            // SAFETY: I1: it was set aside in this section.
            unsafe { self.queue.put_upgrade_back(upgrade) };
            // The run may be gone, and the upgrade alone.
            if !wakers.more {
                self.admit_batch(wakers);
            }
        }
    }
}

impl<R: RawLock> RawRwLock<R> {
    const_fn! {
        pub(crate) const fn new(max_readers: u32, policy: RwLockPolicy) -> Self {
            Self {
                #[cfg(not(fifolock_loom))]
                raw: Recorded::<R>::INIT,
                #[cfg(fifolock_loom)]
                raw: Recorded::<R>::init(),
                config: Config::new(max_readers, policy),
                counts: UnsafeCell::new(Counts::NEW),
                queues: UnsafeCell::new(Queues {
                    queue: WaitQueue::new(),
                    readers: WaitQueue::new(),
                    granted_readers: GrantedSet::new(),
                    holders: Holders::NOBODY,
                }),
            }
        }
    }

    #[inline(always)]
    fn section<T>(&self, refusal: Refusal, f: impl FnOnce(&mut Section<'_>) -> T) -> T {
        in_section(&self.raw, refusal, |proof, word| {
            self.queues.with_mut(|queues| {
                // SAFETY: rules K2, K9: sections exclude each other, and never nest, since nothing inside calls foreign code;
                // so this is the only reference.
                let Queues { queue, readers, granted_readers, holders } = unsafe { &mut *queues };
                self.counts.with_mut(|counts| {
                    // SAFETY: rules K2, K9: as for the queues.
                    let state = RwState::decode(*word, unsafe { &mut *counts }, self.config);
                    let mut section =
                        Section { proof, state, queue, readers, granted_readers, holders: holders.lend() };
                    let result = f(&mut section);
                    // A scan's cursor may be alone in the set while a writer holds.
                    let unclaimed = !section.state.writer && !section.granted_readers.is_empty();
                    *word = section.state.encode().with_unclaimed(unclaimed);
                    result
                })
            })
        })
    }

    /// The claim of a reader, where there is a fast path: a section that needs no more than the set.
    ///
    /// # Safety
    ///
    /// I1: this lock queued the waiter, which waits for a share.
    #[inline]
    unsafe fn claim_share(&self, waiter: Queued<'_>) -> bool {
        in_section(&self.raw, Refusal::Aborts, move |proof, word| {
            if !waiter.is_granted() {
                return false;
            }
            let others = self.queues.with_mut(|queues| {
                // SAFETY: rules K2, K9: as in `section`.
                let set = unsafe { &mut (*queues).granted_readers };
                // SAFETY: I1: this lock queued the waiter, which has not claimed.
                let member = unsafe { waiter.member(proof) };
                // SAFETY: I1: granted and not claimed, so in the set.
                unsafe { set.remove(member) }
            });
            if !others.0 {
                *word = word.all_claimed();
            }
            true
        })
    }

    /// Wakes whom a section granted, and whom it left to be granted.
    #[inline(always)]
    fn wake_all(&self, wakers: &mut Wakers) {
        wakers.wake_all(|wakers| self.admit_more(wakers));
    }

    #[inline]
    fn admit_more(&self, wakers: &mut Wakers) {
        if self.config.policy() == RwLockPolicy::TaskFair {
            self.section(Refusal::Aborts, |section| section.admit_run(wakers));
        } else {
            self.section(Refusal::Aborts, |section| section.admit_batch(wakers));
        }
    }

    /// A section in which somebody gives up what it has: it goes to whoever may enter then.
    #[cold]
    #[inline(never)]
    fn release_slow(&self, what: GivesUp, who: Leaving) {
        let mut wakers = Wakers::default();
        let granted = &mut wakers;
        let one = self.section(Refusal::Panics, move |section| {
            section.holders.gave_up(who);
            match what {
                GivesUp::All(mode) => section.state.release(mode),
                GivesUp::WriteFor(mode) => section.state.downgrade(mode),
                GivesUp::UpgradableForRead => section.state.downgrade_upgradable(),
            }
            let one = section.admit_one();
            if one.is_none() {
                section.admit(granted);
            }
            one
        });
        match one {
            Some(None) => {}
            Some(Some(waker)) => waker.wake(),
            None => self.wake_all(&mut wakers),
        }
    }

    /// The writer, by a call at `call_site`, becomes a reader. Only for the writer.
    #[inline(always)]
    pub(crate) fn downgrade(&self, call_site: CallSite) {
        if !self.fast_release_exclusive(Word::ONE_READER) {
            let change = Leaving::changed(Mode::Write, Mode::Read, call_site);
            self.release_slow(GivesUp::WriteFor(Mode::Read), change);
        }
    }

    /// The writer, by a call at `call_site`, becomes the upgradable reader. Only for the writer.
    #[inline(always)]
    pub(crate) fn downgrade_to_upgradable(&self, call_site: CallSite) {
        if !self.fast_release_exclusive(Word::ONE_UPGRADABLE) {
            let change = Leaving::changed(Mode::Write, Mode::Upgradable, call_site);
            self.release_slow(GivesUp::WriteFor(Mode::Upgradable), change);
        }
    }

    /// The upgradable reader, by a call at `call_site`, becomes a plain one. Only for the upgradable reader.
    #[inline(always)]
    pub(crate) fn downgrade_upgradable(&self, call_site: CallSite) {
        let to_plain = |word: Word| word.minus(Word::ONE_UPGRADABLE).plus(Word::ONE_READER);
        if !self.fast_release_shared(to_plain) {
            let change = Leaving::changed(Mode::Upgradable, Mode::Read, call_site);
            self.release_slow(GivesUp::UpgradableForRead, change);
        }
    }

    /// Replaces the word of a reader that acquires, as long as `to` allows it.
    #[inline(always)]
    fn fast_acquire_shared(&self, to: impl Fn(Word) -> Option<Word>) -> bool {
        let to = |word: Word| if word.is_held() || word.has_queued() { None } else { to(word) };
        if !Recorded::<R>::HAS_FAST_PATH {
            return self.word_section(to);
        }
        // Each turn, another reader came or left, or a section began.
        while let Some(word) = self.raw.peek() {
            let Some(to) = to(word) else { return false };
            if self.raw.try_acquire(word, to) {
                return true;
            }
        }
        false
    }

    /// Replaces the word of a reader that gives up what it has, as long as nobody is queued.
    #[inline(always)]
    fn fast_release_shared(&self, to: impl Fn(Word) -> Word) -> bool {
        let to = |word: Word| (!word.has_queued()).then(|| to(word));
        if !Recorded::<R>::HAS_FAST_PATH {
            return self.word_section(to);
        }
        // Each turn, another reader came or left, or somebody queued.
        while let Some(word) = self.raw.peek() {
            let Some(to) = to(word) else { return false };
            if self.raw.try_release(word, to) {
                return true;
            }
        }
        false
    }

    /// Acquires the lock for itself, if the word is `from`.
    #[inline(always)]
    fn fast_acquire_exclusive(&self, from: Word) -> bool {
        if !Recorded::<R>::HAS_FAST_PATH {
            return self.word_section(|word| (word == from).then_some(Word::HELD));
        }
        self.raw.try_acquire(from, Word::HELD)
    }

    /// Gives the lock up for `to`, if nobody is queued.
    #[inline(always)]
    fn fast_release_exclusive(&self, to: Word) -> bool {
        if !Recorded::<R>::HAS_FAST_PATH {
            return self.word_section(|word| (word == Word::HELD).then_some(to));
        }
        self.raw.try_release(Word::HELD, to)
    }

    /// A section that needs no more than the word: where there is no fast path, this does its work. Such a section costs a tenth of
    /// the others.
    #[inline(never)]
    fn word_section(&self, to: impl FnOnce(Word) -> Option<Word>) -> bool {
        WORD_SECTIONS && self.raw.with_refusal(Refusal::Panics, |word| to(*word).map(|to| *word = to).is_some())
    }

    pub(crate) fn policy(&self) -> RwLockPolicy {
        self.config.policy()
    }

    pub(crate) fn state(&self) -> RwState {
        self.section(Refusal::Panics, |section| section.state.copied())
    }

    #[cfg(feature = "diagnostics")]
    pub(crate) fn diagnose(&self) -> LockReport {
        self.section(Refusal::Panics, |section| {
            let granted = section.granted_writer();
            let Section { proof, state, queue, readers, granted_readers, holders } = section;
            LockReport::of_rwlock(state.copied(), granted, holders, [queue, readers], granted_readers, *proof)
        })
    }
}

//! The sides of the read-write lock, how each is acquired, and the rescue between them.

use super::{GivesUp, RawRwLock, SHORT_SECTIONS, Section};
use crate::diagnostics::{Leaving, Place, Recorded};
use crate::queue::{Found, Kind, Look, Node, Waiter};
use crate::raw::{RawLock, Word};
use crate::state::rwlock::Rob;
use crate::wait::{Acquisition, Rescue, TooMany};
use crate::wake::Wakers;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::Waker;

/// One side of the lock, as a type.
pub trait Side {
    /// What its waiters wait for.
    const KIND: Kind;

    fn acquire_fast<R: RawLock>(lock: &RawRwLock<R>) -> bool;
    fn may_enter(word: Word) -> bool;
    fn release<R: RawLock>(lock: &RawRwLock<R>, place: Place);
}

/// To read.
#[derive(Debug)]
pub enum ReadSide {}

impl Side for ReadSide {
    const KIND: Kind = Kind::Read;

    #[inline(always)]
    fn acquire_fast<R: RawLock>(lock: &RawRwLock<R>) -> bool {
        let max = lock.terms.max_readers();
        lock.acquire_fast(|word| (word.readers() < max).then(|| word.plus(Word::ONE_READER)))
    }

    #[inline(always)]
    fn may_enter(word: Word) -> bool {
        !word.is_held()
    }

    #[inline(always)]
    fn release<R: RawLock>(lock: &RawRwLock<R>, place: Place) {
        if !lock.release_fast(|word| word.minus(Word::ONE_READER)) {
            lock.release_slow(GivesUp::All(Kind::Read), Leaving::of(Kind::Read, place));
        }
    }
}

/// To read, and perhaps to write later.
#[derive(Debug)]
pub enum UpgradableSide {}

impl Side for UpgradableSide {
    const KIND: Kind = Kind::Upgradable;

    #[inline(always)]
    fn acquire_fast<R: RawLock>(lock: &RawRwLock<R>) -> bool {
        let max = lock.terms.max_readers();
        let free = |word: Word| !word.has_upgradable() && word.readers() < max;
        lock.acquire_fast(|word| free(word).then(|| word.plus(Word::ONE_UPGRADABLE)))
    }

    #[inline(always)]
    fn may_enter(word: Word) -> bool {
        !word.is_held() && !word.has_upgradable()
    }

    #[inline(always)]
    fn release<R: RawLock>(lock: &RawRwLock<R>, place: Place) {
        if !lock.release_fast(|word| word.minus(Word::ONE_UPGRADABLE)) {
            lock.release_slow(GivesUp::All(Kind::Upgradable), Leaving::of(Kind::Upgradable, place));
        }
    }
}

/// To write.
#[derive(Debug)]
pub enum WriteSide {}

impl Side for WriteSide {
    const KIND: Kind = Kind::Write;

    #[inline(always)]
    fn acquire_fast<R: RawLock>(lock: &RawRwLock<R>) -> bool {
        lock.acquire_alone(Word::INIT)
    }

    #[inline(always)]
    fn may_enter(word: Word) -> bool {
        word == Word::INIT
    }

    #[inline(always)]
    fn release<R: RawLock>(lock: &RawRwLock<R>, place: Place) {
        if !lock.release_alone(Word::INIT) {
            lock.release_slow(GivesUp::All(Kind::Write), Leaving::of(Kind::Write, place));
        }
    }
}

/// To write, by the upgradable reader.
#[derive(Debug)]
pub enum UpgradeSide {}

impl Side for UpgradeSide {
    const KIND: Kind = Kind::Upgrade;

    #[inline(always)]
    fn acquire_fast<R: RawLock>(lock: &RawRwLock<R>) -> bool {
        lock.acquire_alone(Word::ONE_UPGRADABLE)
    }

    #[inline(always)]
    fn may_enter(word: Word) -> bool {
        !word.is_held() && word.readers() == 1
    }

    #[inline(always)]
    fn release<R: RawLock>(lock: &RawRwLock<R>, place: Place) {
        WriteSide::release(lock, place);
    }
}

/// What a waiter of this side waits for now.
///
/// # Safety
///
/// In a section; it waits.
#[inline(always)]
pub(super) unsafe fn kind_of<S: Side>(waiter: Pin<&Waiter>) -> Kind {
    // A rescue, or its end, changes that of a read, and no other.
    // SAFETY: as the caller promises.
    if S::KIND == Kind::Read { unsafe { waiter.kind() } } else { S::KIND }
}

/// Acquiring one side of a lock.
pub struct Access<'a, R, S>(&'a RawRwLock<R>, PhantomData<S>);

impl<'a, R: RawLock, S: Side> Access<'a, R, S> {
    #[inline(always)]
    pub(crate) fn to(lock: &'a RawRwLock<R>) -> Self {
        Self(lock, PhantomData)
    }
}

impl<R: RawLock, S: Side> Acquisition for Access<'_, R, S> {
    const SHORTCUTS: bool = Recorded::<R>::SHORTCUTS;
    const FAST: bool = SHORT_SECTIONS || Recorded::<R>::SHORTCUTS;
    type Section<'s> = Section<'s>;
    type Wakers = Wakers;

    #[inline(always)]
    fn section<T>(&self, f: impl FnOnce(&mut Section<'_>) -> T) -> T {
        self.0.section(f)
    }

    #[inline(always)]
    fn wake_all(&self, wakers: &mut Wakers) {
        self.0.wake_all(wakers);
    }

    #[inline(always)]
    fn try_fast(&self) -> bool {
        S::acquire_fast(self.0)
    }

    #[inline(always)]
    fn may_enter(&self) -> bool {
        self.0.raw.peek().is_none_or(S::may_enter)
    }

    #[inline(always)]
    fn claim_fast(&self, waiter: Pin<&Waiter>) -> bool {
        // A reader stands in the set of granted readers, which only a section may change.
        if S::KIND.is_shared() {
            // SAFETY: a queued waiter of this lock and of a shared side, which is being polled.
            unsafe { self.0.claim_share(waiter) }
        } else {
            crate::state::claim_fast(&self.0.raw, waiter)
        }
    }

    #[inline(always)]
    fn has_to_look(&self, waiter: Pin<&Waiter>) -> bool {
        S::KIND == Kind::Read && waiter.is_in_line()
            || self
                .0
                .raw
                .peek()
                .is_none_or(|word| if word.is_held() { !word.granted().is_null() } else { word.has_unclaimed() })
    }

    #[inline(always)]
    fn release(&self, place: Place) {
        S::release(self.0, place);
    }

    #[inline(always)]
    fn enter(section: &mut Section<'_>, place: Place) -> bool {
        section.holders.entered(section.state.enter(S::KIND), S::KIND, place)
    }

    #[inline(always)]
    fn has_to_wait(section: &Section<'_>, waker: &Waker) -> bool {
        !section.state.may_enter(S::KIND)
            && match Node::new(section.state.granted) {
                // SAFETY: in a section; who is granted has not claimed: the word says so.
                Some(writer) => !unsafe { writer.will_wake(waker) },
                None => section.granted_readers.is_empty(),
            }
    }

    #[inline(always)]
    fn own(section: &mut Section<'_>, waiter: Pin<&Waiter>, queued: bool, wakers: &mut Wakers) -> bool {
        if !queued {
            return Self::enter(section, waiter.place());
        }
        if S::KIND == Kind::Read && waiter.is_in_line() {
            // SAFETY: in a section, by the polled future, which waits.
            unsafe { leave_line(section, waiter, wakers) };
        }
        let granted = Self::is_granted(section, waiter);
        if granted {
            Self::claim(section, waiter);
        }
        granted
    }

    #[inline(always)]
    unsafe fn enqueue(section: &mut Section<'_>, waiter: Pin<&Waiter>, waker: Waker) -> Result<(), TooMany> {
        match section.state.enqueue(S::KIND) {
            Err(full) => Err(TooMany(full, waker)),
            Ok(ticket) => {
                // SAFETY: as the caller promises.
                unsafe { section.queue_of(S::KIND).push(waiter, waker, ticket, S::KIND) };
                Ok(())
            }
        }
    }

    #[inline(always)]
    fn is_granted(section: &Section<'_>, waiter: Pin<&Waiter>) -> bool {
        let granted = waiter.is_granted();
        debug_assert!(
            S::KIND.is_shared() || granted == (section.state.granted == Node::of(waiter).as_ptr()),
            "the word and the waiter differ"
        );
        granted
    }

    #[inline(always)]
    fn claim(section: &mut Section<'_>, waiter: Pin<&Waiter>) {
        if S::KIND.is_shared() {
            // SAFETY: I2: in a section; granted and not claimed, so in the set.
            unsafe { section.granted_readers.remove(Node::of(waiter)) };
        } else {
            section.state.claim_writer();
        }
        section.holders.claimed(S::KIND, waiter.place());
    }

    #[inline(always)]
    fn leave(section: &mut Section<'_>, waiter: Pin<&Waiter>, wakers: &mut Wakers) -> Waker {
        // SAFETY: I2: in a section; it waits.
        let ticket = unsafe { waiter.ticket() };
        // SAFETY: in a section; it waits.
        let kind = unsafe { kind_of::<S>(waiter) };
        // SAFETY: I2, I3: in a section; queued and not granted, so linked here. Its stage is `Done`, so it never waits again.
        let (own, _) = unsafe { section.queue_of(kind).leave(waiter) };
        section.state.leave(kind, ticket);
        section.holders.left(S::KIND);
        section.admit(wakers);
        own
    }

    #[inline(always)]
    fn look(section: &mut Section<'_>, waiter: Pin<&Waiter>, look: &mut Look) -> Found {
        if S::KIND == Kind::Read {
            // SAFETY: I2: in a section; it waits.
            let ticket = unsafe { waiter.ticket() };
            // SAFETY: in a section; it waits.
            let kind = unsafe { kind_of::<S>(waiter) };
            if kind == Kind::Read && section.state.has_share_reserved(ticket) {
                return Found::Nothing;
            }
        }
        // SAFETY: in a section, by the polled future, which waits.
        unsafe { section.find::<S>(waiter, look) }
    }

    /// | robbed of | before | after |
    /// |---|---|---|
    /// | the same kind | robbed granted, `[a, waiter, b]` | waiter owns, `[a, robbed, b]` |
    /// | another kind | robbed granted, `[a, waiter, b]` | waiter owns, or waits still, `[a, b, robbed]` |
    #[inline(always)]
    unsafe fn rob(
        section: &mut Section<'_>,
        waiter: Pin<&Waiter>,
        robbed: Node,
        spare: &mut Option<Waker>,
        wakers: &mut Wakers,
    ) -> Rescue {
        // SAFETY: as the caller promises.
        unsafe { rob::<S>(section, waiter, robbed, spare, wakers) }
    }
}

/// A reader that was put in line is polled: it is a reader like any other again, and is granted if newcomers may read.
///
/// | before | after |
/// |---|---|
/// | queue `[a, waiter, b]`, readers `[c]` | queue `[a, b]`, readers `[c, waiter]` |
///
/// # Safety
///
/// In a section, by who has the waiter's future exclusively; it waits in line.
#[cold]
#[inline(never)]
unsafe fn leave_line(section: &mut Section<'_>, waiter: Pin<&Waiter>, wakers: &mut Wakers) {
    // Full: it stays where it is.
    let Ok(ticket) = section.state.leave_line() else { return };
    // SAFETY: as the caller promises: who stands in line is linked there.
    let (waker, _) = unsafe { section.queue.leave(waiter) };
    // SAFETY: as the caller promises; just taken out, with its waker.
    unsafe { section.readers.push_again(Node::of(waiter), waker, ticket, Kind::Read) };
    section.admit(wakers);
}

/// Takes a grant over that the waiter's own task has left unclaimed.
///
/// # Safety
///
/// In a section, by who has the waiter's future exclusively; it waits, in the queue of its kind. `robbed` is granted and
/// not claimed.
#[cold]
#[inline(never)]
unsafe fn rob<S: Side>(
    section: &mut Section<'_>,
    waiter: Pin<&Waiter>,
    robbed: Node,
    spare: &mut Option<Waker>,
    wakers: &mut Wakers,
) -> Rescue {
    // SAFETY: as the caller promises.
    let ticket = unsafe { waiter.ticket() };
    // SAFETY: as the caller promises.
    let robber = unsafe { kind_of::<S>(waiter) };
    // SAFETY: as the caller promises.
    let kind = unsafe { robbed.kind() };
    match section.state.copied().rob(robber, ticket, kind) {
        Rob::Nothing => return Rescue::Waits,
        // Both will wait.
        Rob::GiveBack(..) if spare.is_none() => return Rescue::NeedsWaker,
        _ => {}
    }
    let rob = section.state.rob(robber, ticket, kind);
    if kind.is_shared() {
        // SAFETY: granted and not claimed, so in the set.
        unsafe { section.granted_readers.remove(robbed) };
    } else {
        section.state.granted = core::ptr::null_mut();
    }
    match rob {
        Rob::Nothing => Rescue::Waits,
        Rob::Trade => {
            // SAFETY: as the caller promises; out of the set, and both want the same.
            unsafe { section.queue_of(robber).trade(waiter, robbed) };
            section.holders.claimed(S::KIND, waiter.place());
            Rescue::Owner
        }
        Rob::TakeOver(robbed_ticket) => {
            // SAFETY: as the caller promises. The polled future is done with waiting.
            let (waker, _) = unsafe { section.queue_of(robber).leave(waiter) };
            // SAFETY: as the caller promises, and out of the set.
            unsafe { section.queue_of(kind).push_again(robbed, waker, robbed_ticket, kind) };
            // SAFETY: as the caller promises, and it waits again.
            section.holders.robbed(kind, unsafe { robbed.place() });
            section.holders.claimed(S::KIND, waiter.place());
            section.admit(wakers);
            Rescue::Owner
        }
        Rob::GiveBack(kind, robbed_ticket) => {
            if let Some(waker) = spare.take() {
                // SAFETY: as the caller promises, and out of the set.
                unsafe { section.queue_of(kind).push_again(robbed, waker, robbed_ticket, kind) };
            }
            section.admit(wakers);
            if !waiter.is_granted() {
                return Rescue::WaitsForMore;
            }
            if S::KIND.is_shared() {
                // SAFETY: granted in this section, so in the set.
                unsafe { section.granted_readers.remove(Node::of(waiter)) };
            } else {
                section.state.claim_writer();
            }
            section.holders.claimed(S::KIND, waiter.place());
            Rescue::Owner
        }
    }
}

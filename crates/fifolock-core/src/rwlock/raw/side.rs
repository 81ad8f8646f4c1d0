//! The sides of the read-write lock, as types.

use super::{GivesUp, RawRwLock};
use crate::call_site::CallSite;
use crate::diagnostics::Leaving;
use crate::queue::Kind;
use crate::raw::{RawLock, Word};

/// One side of the lock, as a type.
pub trait Side {
    /// What its waiters wait for.
    const KIND: Kind;

    fn acquire_fast<R: RawLock>(lock: &RawRwLock<R>) -> bool;
    fn may_enter(word: Word) -> bool;
    fn release<R: RawLock>(lock: &RawRwLock<R>, call_site: CallSite);
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
    fn release<R: RawLock>(lock: &RawRwLock<R>, call_site: CallSite) {
        if !lock.release_fast(|word| word.minus(Word::ONE_READER)) {
            lock.release_slow(GivesUp::All(Kind::Read), Leaving::of(Kind::Read, call_site));
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
    fn release<R: RawLock>(lock: &RawRwLock<R>, call_site: CallSite) {
        if !lock.release_fast(|word| word.minus(Word::ONE_UPGRADABLE)) {
            lock.release_slow(GivesUp::All(Kind::Upgradable), Leaving::of(Kind::Upgradable, call_site));
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
    fn release<R: RawLock>(lock: &RawRwLock<R>, call_site: CallSite) {
        if !lock.release_alone(Word::INIT) {
            lock.release_slow(GivesUp::All(Kind::Write), Leaving::of(Kind::Write, call_site));
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
    fn release<R: RawLock>(lock: &RawRwLock<R>, call_site: CallSite) {
        WriteSide::release(lock, call_site);
    }
}

//! The sides of the read-write lock, as types.

use super::{GivesUp, RawRwLock};
use crate::call_site::CallSite;
use crate::diagnostics::Leaving;
use crate::queue::Mode;
use crate::raw::{RawLock, Word};

/// One side of the lock, as a type.
pub trait Side {
    /// What its waiters wait for.
    const MODE: Mode;

    fn fast_acquire<R: RawLock>(lock: &RawRwLock<R>) -> bool;
    fn may_enter(word: Word) -> bool;
    fn release<R: RawLock>(lock: &RawRwLock<R>, call_site: CallSite);
}

/// To read.
#[derive(Debug)]
pub enum ReadSide {}

impl Side for ReadSide {
    const MODE: Mode = Mode::Read;

    #[inline(always)]
    fn fast_acquire<R: RawLock>(lock: &RawRwLock<R>) -> bool {
        let max = lock.config.max_readers();
        lock.fast_acquire_shared(|word| (word.readers() < max).then(|| word.plus(Word::ONE_READER)))
    }

    #[inline(always)]
    fn may_enter(word: Word) -> bool {
        !word.is_held()
    }

    #[inline(always)]
    fn release<R: RawLock>(lock: &RawRwLock<R>, call_site: CallSite) {
        if !lock.fast_release_shared(|word| word.minus(Word::ONE_READER)) {
            lock.release_slow(GivesUp::All(Mode::Read), Leaving::of(Mode::Read, call_site));
        }
    }
}

/// To read, and perhaps to write later.
#[derive(Debug)]
pub enum UpgradableSide {}

impl Side for UpgradableSide {
    const MODE: Mode = Mode::Upgradable;

    #[inline(always)]
    fn fast_acquire<R: RawLock>(lock: &RawRwLock<R>) -> bool {
        let max = lock.config.max_readers();
        let free = |word: Word| !word.has_upgradable() && word.readers() < max;
        lock.fast_acquire_shared(|word| free(word).then(|| word.plus(Word::ONE_UPGRADABLE)))
    }

    #[inline(always)]
    fn may_enter(word: Word) -> bool {
        !word.is_held() && !word.has_upgradable()
    }

    #[inline(always)]
    fn release<R: RawLock>(lock: &RawRwLock<R>, call_site: CallSite) {
        if !lock.fast_release_shared(|word| word.minus(Word::ONE_UPGRADABLE)) {
            lock.release_slow(GivesUp::All(Mode::Upgradable), Leaving::of(Mode::Upgradable, call_site));
        }
    }
}

/// To write.
#[derive(Debug)]
pub enum WriteSide {}

impl Side for WriteSide {
    const MODE: Mode = Mode::Write;

    #[inline(always)]
    fn fast_acquire<R: RawLock>(lock: &RawRwLock<R>) -> bool {
        lock.fast_acquire_exclusive(Word::INIT)
    }

    #[inline(always)]
    fn may_enter(word: Word) -> bool {
        word == Word::INIT
    }

    #[inline(always)]
    fn release<R: RawLock>(lock: &RawRwLock<R>, call_site: CallSite) {
        if !lock.fast_release_exclusive(Word::INIT) {
            lock.release_slow(GivesUp::All(Mode::Write), Leaving::of(Mode::Write, call_site));
        }
    }
}

/// To write, by the upgradable reader.
#[derive(Debug)]
pub enum UpgradeSide {}

impl Side for UpgradeSide {
    const MODE: Mode = Mode::Upgrade;

    #[inline(always)]
    fn fast_acquire<R: RawLock>(lock: &RawRwLock<R>) -> bool {
        lock.fast_acquire_exclusive(Word::ONE_UPGRADABLE)
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

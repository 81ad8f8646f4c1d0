//! Errors and states in the log of a microcontroller, by defmt.

use crate::error::{Limit, LockKind, TimeoutError, TryLockError, Units, UpgradeError};
use crate::mutex::MutexState;
use crate::rwlock::{RwLockPolicy, RwLockState};
use defmt::{Format, Formatter, write};

impl Format for LockKind {
    fn format(&self, f: Formatter<'_>) {
        match self {
            Self::Mutex => write!(f, "mutex"),
            Self::Read => write!(f, "read lock"),
            Self::UpgradableRead => write!(f, "upgradable read lock"),
            Self::Write => write!(f, "write lock"),
            Self::Upgrade => write!(f, "upgrade to write lock"),
        }
    }
}

/// As it was given: a chip without a divider would carry a kilobyte for seconds.
impl Format for Limit {
    fn format(&self, f: Formatter<'_>) {
        match self.0 {
            Units::Seconds { whole, nanos } => write!(f, "{=u64} s and {=u32} ns", whole, nanos),
            Units::Ticks { count, hz } => write!(f, "{=u64} ticks of {=u32} Hz", count, hz.get()),
        }
    }
}

impl Format for TimeoutError {
    fn format(&self, f: Formatter<'_>) {
        match self {
            Self::Elapsed { timeout: Some(timeout), lock } => {
                write!(f, "timed out waiting for {} after {}", lock, timeout);
            }
            Self::Elapsed { timeout: None, lock } => write!(f, "deadline passed while waiting for {}", lock),
            Self::InvalidTimeout => write!(f, "timeout must be longer than zero"),
        }
    }
}

impl Format for TryLockError {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "operation would block");
    }
}

/// The reason; the data is not looked at.
impl<G, E: Format> Format for UpgradeError<G, E> {
    fn format(&self, f: Formatter<'_>) {
        self.error.format(f);
    }
}

impl Format for MutexState {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "locked: {=bool}, queued: {=usize}", self.locked, self.queued);
    }
}

impl Format for RwLockState {
    fn format(&self, f: Formatter<'_>) {
        write!(
            f,
            "readers: {=usize}, upgradable: {=bool}, writer: {=bool}, waiting: {=usize} readers, {=usize} upgradable, {=usize} writers",
            self.readers,
            self.upgradable,
            self.writer,
            self.waiting_readers,
            self.waiting_upgradable,
            self.waiting_writers
        );
    }
}

impl Format for RwLockPolicy {
    fn format(&self, f: Formatter<'_>) {
        match self {
            Self::WriterPreferring => write!(f, "writer-preferring"),
            Self::TaskFair => write!(f, "task-fair"),
            Self::PhaseFair => write!(f, "phase-fair"),
        }
    }
}

/// What a program logs can be logged. It is compiled; to print needs a logger, which a binary brings.
const _: () = {
    const fn is_logged<T: Format>() {}
    is_logged::<TimeoutError>();
    is_logged::<UpgradeError<core::cell::Cell<u8>, TimeoutError>>();
    is_logged::<(TryLockError, LockKind, Limit)>();
    is_logged::<(MutexState, RwLockState, RwLockPolicy)>();
};

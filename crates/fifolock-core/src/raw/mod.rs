//! Raw locks: the lock word, and the short section in which a queue may be touched.
//!
//! A flavour decides how a thread, a task or an interrupt handler excludes the others for the few instructions of a
//! queue operation. The algorithms above are generic over it and the same for all.
//!
//! # Choosing a raw lock
//!
//! | flavour | waits for a section by | use it |
//! |---|---|---|
//! | `StdLock` | a short spin, then parking the thread | with an operating system |
//! | `CriticalSectionLock` | masking interrupts | on microcontrollers, also from interrupt handlers |
//! | `SpinLock` | spinning | in kernels, between cores, with interrupts masked by the caller |
//! | [`LocalLock`] | nothing: it is not `Sync` | inside one thread or one executor without interrupts |
//! | [`CellLock`] | whatever its [`Exclusion`] does | over another way to exclude, such as an executor's own |

#[cfg(target_has_atomic = "ptr")]
#[cfg_attr(not(any(feature = "std", feature = "spin")), allow(dead_code, reason = "the flavours are features"))]
mod atomic;
mod cell;
#[cfg(feature = "std")]
mod park;
mod section;
#[cfg(all(feature = "spin", target_has_atomic = "ptr"))]
mod spin;
#[cfg(feature = "std")]
mod std;

pub use cell::{CellLock, Exclusion, LocalLock, OneThread};
#[cfg(feature = "critical-section")]
pub use cell::{CriticalSectionLock, InCriticalSection};
pub(crate) use section::{InSection, in_section};
#[cfg(all(feature = "spin", target_has_atomic = "ptr"))]
#[cfg_attr(docsrs, doc(cfg(feature = "spin")))]
pub use spin::SpinLock;
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
pub use std::StdLock;

use crate::sync_shim::raw_init;
use core::fmt;
use core::ptr;

/// The state of a lock in one pointer-sized value, opaque to raw locks.
///
/// A raw lock stores it, starting from [`Word::INIT`], and never looks inside; [`Word::BUSY_BIT`] says which bit it
/// may use while a section runs.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Word(*mut ());

// SAFETY: a `Word` is a number that happens to carry provenance. Following the pointer in it is the business of
// `queue`, which asks for its own proof.
unsafe impl Send for Word {}
// SAFETY: as above; a shared `Word` can only be copied.
unsafe impl Sync for Word {}

impl Word {
    /// The word of a new lock.
    pub const INIT: Self = Self(ptr::null_mut());

    /// The bit that no word outside a section has. An atomic flavour sets it to mark that a section runs.
    pub const BUSY_BIT: usize = 0b100;

    pub(crate) const fn from_ptr(ptr: *mut ()) -> Self {
        Self(ptr)
    }

    pub(crate) const fn from_bits(bits: usize) -> Self {
        Self(ptr::without_provenance_mut(bits))
    }

    #[inline(always)]
    pub(crate) fn bits(self) -> usize {
        self.0.addr()
    }

    #[inline(always)]
    pub(crate) const fn ptr(self) -> *mut () {
        self.0
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Word({:#x})", self.bits())
    }
}

/// What a raw lock does that refuses a section, as over thread mode in an interrupt handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It panics: the caller goes, and the lock stays as it is.
    Panics,
    /// It aborts: the caller's memory would stay in the lock.
    Aborts,
}

/// A lock word, and sections that exclude each other.
///
/// A *section* is one call of [`with`](Self::with). While its closure runs nobody else reads or writes the word or
/// runs a section of the same lock. Sections are short (their length does not depend on the number of waiters), never
/// nest on one lock, and never run foreign code.
///
/// The provided methods are the fast path of flavours with an atomic word: they act on the word *without* a section
/// and must fail while one runs, and come with [`HAS_FAST_PATH`](Self::HAS_FAST_PATH). A flavour without atomics leaves them as they
/// are, and every operation is a section.
///
/// # Safety
///
/// An implementation promises that
///
/// 1. `with` calls its closure exactly once, and does not return before the closure has;
/// 2. `with` does not unwind. A flavour that may refuse aborts instead: a waiter that is dropped while it is queued
///    *must* be unlinked, or its memory would stay in the queue. [`with_refusal`](Self::with_refusal) may unwind if it is
///    told so, before it calls its closure, and otherwise is as `with`;
/// 3. sections of one lock exclude each other wherever the flavour's `Send` and `Sync` allow the lock to be used, and
///    a section sees everything written before and in earlier sections (enter: acquire, leave: release);
/// 4. the word starts as [`Word::INIT`], and changes only by a closure of `with` or a `try_…` that returned `true`;
/// 5. `peek` and the `try_…` methods are atomic against sections and each other: while a section runs they return
///    `None` and `false`. A successful `try_acquire` is an acquire operation, a successful `try_release` a release
///    operation, both read-modify-writes; `peek` and `guess` order nothing.
pub unsafe trait RawLock: Sized {
    raw_init! {
        /// A raw lock whose word is [`Word::INIT`].
        INIT
    }

    /// Whether [`peek`](Self::peek) and the `try_…` methods ever succeed. Where they do not, the locks leave out the code
    /// that tries them.
    const HAS_FAST_PATH: bool = false;

    /// Runs `f` as a section, with the word to read and change.
    fn with<R>(&self, f: impl FnOnce(&mut Word) -> R) -> R;

    /// As [`with`](Self::with), by a caller that knows what a refusal must be. A flavour that never refuses leaves it as it
    /// is.
    #[inline(always)]
    fn with_refusal<R>(&self, refusal: Refusal, f: impl FnOnce(&mut Word) -> R) -> R {
        let _ = refusal;
        self.with(f)
    }

    /// The word, unless a section runs or the flavour has no atomic word.
    #[inline(always)]
    fn peek(&self) -> Option<Word> {
        None
    }

    /// What the word may be: a guess, to be checked by the `try_…` that it is for.
    #[inline(always)]
    fn guess(&self) -> Word {
        self.peek().unwrap_or(Word::INIT)
    }

    /// Replaces the word `from` by `to` in one atomic step, as an acquire operation.
    #[inline(always)]
    fn try_acquire(&self, from: Word, to: Word) -> bool {
        let _ = (from, to);
        false
    }

    /// Replaces the word `from` by `to` in one atomic step, as a release operation.
    #[inline(always)]
    fn try_release(&self, from: Word, to: Word) -> bool {
        let _ = (from, to);
        false
    }
}

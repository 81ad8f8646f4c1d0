//! Lock words and the transitions of the locks, as pure functions on plain structs.
//!
//! A transition says what is to be done ([`Action`](rwlock::Action) or a `bool`); who calls it does it, in the queue.
//! Nothing here knows raw locks, atomics or wakers, so each rule can be read and tested by itself.
//!
//! # State
//!
//! Both locks lay out their word alike:
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 0 | `QUEUED` | somebody is queued or a batch of readers is being admitted: no fast path is allowed |
//! | 1 | `HELD` | the mutex, or the write lock, has an owner |
//! | 2 | busy | reserved for the raw lock; never set in a state |
//! | 3… | with `HELD`: owner | the granted-unclaimed waiter, or null once it has claimed |
//! | 3 | without `HELD`: `UPGRADABLE` | one of the readers may become the writer |
//! | 4 | without `HELD`: `UNCLAIMED` | some of the readers have not claimed their shares |
//! | 5… | without `HELD`: readers | the number of readers, shares of granted and reserved ones included |
//!
//! The granted waiter's *address* is what a claim exchanges for null. It can't be mistaken for another grant: while a
//! waiter polls, its address is its own.

pub(crate) mod mutex;
pub(crate) mod rwlock;

use crate::queue::Waiter;
use crate::raw::Word;

const QUEUED: usize = 0b001;
const HELD: usize = 0b010;
/// Only in a word that is not held; there the bit belongs to the address.
const UPGRADABLE: usize = 0b1000;
/// Only in a word that is not held; there the bit belongs to the address.
const UNCLAIMED: usize = 0b1_0000;
const FLAGS: usize = QUEUED | HELD | Word::BUSY_BIT;

// A 16-bit word would have no room for the readers.
const _: () = assert!(usize::BITS >= 32, "fifolock needs pointers of 32 bits or more");

/// Readers are counted above the flags.
const READER_SHIFT: u32 = (FLAGS | UPGRADABLE | UNCLAIMED).count_ones();
const ONE_READER: usize = 1 << READER_SHIFT;

/// The most readers: what tokio has, or what there is room for in the word.
pub(crate) const MAX_READERS: u32 = if usize::BITS > 32 { u32::MAX >> 3 } else { u32::MAX >> READER_SHIFT };

impl Word {
    /// Held by an owner that has claimed it, with an empty queue.
    pub(crate) const HELD: Self = Self::from_bits(HELD);

    /// One reader, with an empty queue.
    pub(crate) const ONE_READER: Self = Self::from_bits(ONE_READER);

    /// One reader, who may become the writer, with an empty queue.
    pub(crate) const ONE_UPGRADABLE: Self = Self::from_bits(ONE_READER | UPGRADABLE);

    #[inline(always)]
    pub(crate) fn is_held(self) -> bool {
        self.bits() & HELD != 0
    }

    #[inline(always)]
    pub(crate) fn has_queued(self) -> bool {
        self.bits() & QUEUED != 0
    }

    /// The same word where somebody is queued, or nobody.
    #[inline(always)]
    pub(crate) fn with_queued(self, queued: bool) -> Self {
        Self::from_ptr(self.ptr().map_addr(|bits| bits & !QUEUED | usize::from(queued)))
    }

    /// The granted-unclaimed owner, or null. Only of a held word.
    #[inline(always)]
    pub(crate) fn granted(self) -> *mut Waiter {
        debug_assert!(self.is_held());
        self.ptr().map_addr(|bits| bits & !FLAGS).cast()
    }

    /// The same word after the granted owner's claim.
    #[inline(always)]
    pub(crate) fn claimed(self) -> Self {
        debug_assert!(self.is_held());
        Self::from_bits(self.bits() & FLAGS)
    }

    /// The same word with an owner that has claimed it. Only of a mutex's word.
    #[inline(always)]
    pub(crate) fn owned(self) -> Self {
        Self::from_bits(self.bits() & FLAGS | HELD)
    }

    /// The number of readers. Only of a word that is not held.
    #[inline(always)]
    pub(crate) fn readers(self) -> u32 {
        debug_assert!(!self.is_held());
        // No truncation: `RwLock::MAX_READERS` fits above the flags of a 32-bit word.
        (self.bits() >> READER_SHIFT) as u32
    }

    #[inline(always)]
    pub(crate) fn new_held(granted: *mut Waiter, queued: bool) -> Self {
        debug_assert!(granted.addr() & FLAGS == 0, "a waiter's address uses the flags");
        // A sum, since no bit is in both: one instruction.
        Self::from_ptr(granted.cast::<()>().map_addr(|bits| bits + (HELD + usize::from(queued))))
    }

    #[inline(always)]
    fn new_shared(readers: u32, upgradable: bool, queued: bool) -> Self {
        let flags = usize::from(queued) | if upgradable { UPGRADABLE } else { 0 };
        Self::from_bits((readers as usize) << READER_SHIFT | flags)
    }

    /// Whether one of the readers may become the writer. Only of a word that is not held.
    #[inline(always)]
    pub(crate) fn has_upgradable(self) -> bool {
        debug_assert!(!self.is_held());
        self.bits() & UPGRADABLE != 0
    }

    /// Whether some of the readers have not claimed their shares. Only of a word that is not held.
    #[inline(always)]
    pub(crate) fn has_unclaimed(self) -> bool {
        debug_assert!(!self.is_held());
        self.bits() & UNCLAIMED != 0
    }

    /// The same word where some readers have not claimed their shares, or none. Only of a word that is not held, if there
    /// are some.
    #[inline(always)]
    pub(crate) fn with_unclaimed(self, unclaimed: bool) -> Self {
        debug_assert!(!unclaimed || !self.is_held());
        if unclaimed { Self::from_ptr(self.ptr().map_addr(|bits| bits | UNCLAIMED)) } else { self }
    }

    /// The same word once all readers have claimed their shares. Only of a word that is not held.
    #[inline(always)]
    pub(crate) fn all_claimed(self) -> Self {
        debug_assert!(!self.is_held());
        Self::from_bits(self.bits() & !UNCLAIMED)
    }

    /// The same word with the shares of `more` besides. Both are of readers.
    #[inline(always)]
    pub(crate) fn plus(self, more: Self) -> Self {
        Self::from_bits(self.bits() + more.bits())
    }

    /// The same word without the shares of `less`.
    #[inline(always)]
    pub(crate) fn minus(self, less: Self) -> Self {
        Self::from_bits(self.bits() - less.bits())
    }
}

/// As many waiters are queued as can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueFull;

impl QueueFull {
    /// Reports the limit to who would have queued. Nothing was changed.
    #[cold]
    pub(crate) fn panic(self) -> ! {
        // In words: formatting a number would bring `core`'s formatting into small programs.
        panic!("too many waiters: a lock counts at most 4294967295 of a kind")
    }
}

/// Counts one more waiter.
#[inline(always)]
pub(crate) fn one_more(queued: u32) -> Result<u32, QueueFull> {
    // Memory of 32 bits has no room for so many, be they forgotten or not.
    const ROOM_FOR_ALL: bool = usize::MAX / size_of::<Waiter>() < u32::MAX as usize;
    if ROOM_FOR_ALL { Ok(queued + 1) } else { queued.checked_add(1).ok_or(QueueFull) }
}

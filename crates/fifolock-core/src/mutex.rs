//! A strictly FIFO async mutex with direct hand-off.
//!
//! An async lock that wakes a waiter and lets it race for the lock has no order, and loses wakes or lets waiters starve
//! in the gap. This one has no gap: a release makes the first waiter the owner, then wakes it.
//!
//! - Served in the order of first polls (`m2_…`), never passed by a newcomer (`m4_…`).
//! - One release, one wake (`m3_…`), beside those of a [rescue](#rescue). Nobody is woken to find the lock taken.
//! - A waiter that goes, goes at once, and what it had been granted is passed on (`m5_…`, `m6_…`).
//! - No allocation, no spinning in `poll`, O(1) from anywhere in the queue (`k4_…`).
//! - No foreign code runs inside (`k2_…`): a waker may lock the same mutex.
//! - A task that has stopped polling the future that was granted the mutex, and waits for it in another, gets it there
//!   (`r1_…`).
//!
//! ## State
//!
//! | word | queue | meaning |
//! |---|---|---|
//! | 0 | empty | free |
//! | held | empty | owned by a guard; released by one exchange |
//! | held, queued | some | owned by a guard; the release is a section |
//! | held, *waiter* | empty | owned by that waiter, which has been woken and not yet polled |
//! | held, queued, *waiter* | some | the same, and more wait |
//!
//! ## Queue
//!
//! ```text
//!   word ─ held, queued, w1          w1 was granted: it is in no queue, the word names it
//!   queue ── w2 ── w3 ── w4          the first is the next owner; a newcomer goes last
//! ```
//!
//! ## Invariants
//!
//! - **M-free:** a free mutex has no waiters.
//! - **M-one:** at most one waiter is granted, and it is the one whose address the word holds.
//! - The queue's own are listed in its module (I1 to I7).
//!
//! ## Hand-off
//!
//! ```text
//!   owner drops its guard                     w1's next poll
//!   ┌ section ───────────────────────┐        word: (held, w1) → held, in one exchange
//!   │ take w1 out, take its waker    │        the guard
//!   │ word: held → (held, w1)        │
//!   └────────────────────────────────┘
//!   wake w1 ──────────────────────────────▶
//! ```
//!
//! From the end of the section the releaser touches nothing of w1. The claim is an exchange on the word, so that it
//! excludes anyone else who would take the grant; a section excludes it, by the busy word.
//!
//! ## Rescue
//!
//! A fair lock may grant itself to a future that its task no longer polls, while the task waits for the same lock in
//! another future: it would wait for itself, for ever. The queue keeps the address of each waiter's waker, so a waiter
//! that is polled can tell that the granted one is of its own task.
//!
//! ```text
//!   word ─ held, a                   a was granted; its task polls b instead
//!   queue ── x ── b ── y
//!   b's first two polls              b suspects its task, wakes the task once more, and stays pending
//!   b's third poll                   a has not claimed: b, the thief, owns; a, the victim, stands in its place
//!   queue ── x ── a ── y
//! ```
//!
//! A task that polls each of its futures once a round claims `a` before the third poll of `b`, so its order doesn't change.
//! If the task polls `b` more often, the first theft is wrong. The next poll of the victim proves that the task is alive, and
//! the next theft from this victim takes twice as many polls: 3, 6, 12 and so on, up to 384. A mutex also remembers in how
//! many waits a theft was wrong; every fourth such wait doubles the polls of each later theft (`r0_…`, `r1_…`).
//!
//! Since the two change places, the order in which *tasks* are served is the order in which they queued. Claim, drop and
//! theft are sections, or an exchange on the word, so one of them comes first, and the others see it (`r2_…`).
//!
//! The rescue takes back a grant, never a guard: a parked future that holds its guard keeps the mutex. A mutex can't see
//! futures whose wakers are wrapped (`FuturesUnordered`), a grant that is parked in another task, or a loop of `try_lock`.
//! Tasks that share one waker look like one task: among them the order may change. So a test that polls the futures of
//! several tasks must give each task its own waker, and must expect the extra wakes of that task.
//!
//! A platform with [`RESCUE`](Platform::RESCUE) `= false` has locks without the rescue (`r11_…`).
//!
//! ## Cancellation
//!
//! A lock future can be dropped in three moments:
//!
//! - *never polled:* nothing happened yet.
//! - *queued:* it is taken out; nobody is woken.
//! - *granted-unclaimed:* it passes the mutex on, as its guard would have.
//!
//! ## Memory ordering
//!
//! Everything goes through the word. A release is a Release exchange, or the Release store that ends its section; a
//! successful try, first poll or claim is an Acquire exchange on the same word, or a section, which begins with one. So
//! what was written under the mutex is seen by the next owner, on every path.
//!
//! ## Limits
//!
//! At most `u32::MAX` waiters; one more panics in its poll, before anything has changed.
//!
//! ## Disadvantages
//!
//! Under contention each turn costs a task switch (a *lock convoy*): a lock that lets newcomers in has more throughput
//! where critical sections are very short and never await. It is not re-entrant: a task that locks twice waits for
//! itself. A task that stops polling a queued lock future but keeps it alive will be granted the mutex and hold up the
//! rest, unless it locks again itself and is rescued; dropping the future is the remedy.

// First, so that the pages begin with these methods: rustdoc lists an `impl` by the place of its module.
mod methods;

mod guard;
mod handle;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
mod owned;
#[allow(
    unnameable_types,
    unreachable_pub,
    missing_debug_implementations,
    reason = "its types stand behind a sealed trait"
)]
mod raw;
#[cfg(test)]
mod tests;

pub use guard::{MappedMutexGuard, MutexGuard};
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[cfg_attr(docsrs, doc(cfg(feature = "alloc")))]
pub use owned::{
    LockOwned, LockOwnedDeadline, LockOwnedTimeout, LockOwnedUntil, OwnedMappedMutexGuard, OwnedMutexGuard,
};

use crate::acquire::Acquire;
use crate::acquire::sealed::{Ends, RequestImpl, keeps_nothing};
use crate::algorithm::Algorithm;
use crate::call_site::CallSite;
#[cfg(feature = "diagnostics")]
use crate::diagnostics::LockReport;
use crate::error::{LockKind, TimeoutError, TryLockError};
use crate::held::{Held, Release};
use crate::platform::{Platform, Timer};
use crate::raw::RawLock;
use crate::run::{Wait, run};
use crate::sync_shim::const_fn;
use crate::timeout::{Deadline, Timeout};
use crate::until::Until;
use core::cell::UnsafeCell;
use core::fmt;
use core::future::Future;
use core::ptr;

use handle::MutexHandle;
use raw::RawMutex;

/// The future of [`Mutex::lock`].
#[doc(alias = "MutexLockFuture")]
pub type Lock<'a, T, P> = Acquire<Locking<&'a Mutex<T, P>>>;
/// The future of [`Mutex::lock_timeout`].
pub type LockTimeout<'a, T, P> = Timeout<Locking<&'a Mutex<T, P>>>;
/// The future of [`Mutex::lock_deadline`].
pub type LockDeadline<'a, T, P> = Deadline<Locking<&'a Mutex<T, P>>>;
/// The future of [`Mutex::lock_until`].
pub type LockUntil<'a, T, P, F> = Until<Locking<&'a Mutex<T, P>>, F>;

/// An async mutex: strictly FIFO, with direct hand-off.
///
/// `P` is the platform; the runtimes' crates have an alias for each. See the [module](self) for how it works.
///
/// # Examples
///
/// ```
/// # futures_lite::future::block_on(async {
/// # fifolock_core::__facade!();
/// use fifolock::local::Mutex;
///
/// let mutex = Mutex::new(vec![1]);
/// mutex.lock().await.push(2);
/// assert_eq!(*mutex.lock().await, [1, 2]);
/// # });
/// ```
#[repr(transparent)]
pub struct Mutex<T: ?Sized, P: Platform> {
    inner: Inner<P::Raw, T>,
}

struct Inner<R, T: ?Sized> {
    raw: RawMutex<R>,
    data: UnsafeCell<T>,
}

// SAFETY: the raw mutex gives the data to one owner at a time, and from each to the next (contract K7).
// - T: Send: required, since any thread may become the owner, and take the value.
// - T: Sync: not required, since there is one owner.
// - Raw: Sync: required, since it does the excluding.
unsafe impl<T: ?Sized + Send, P: Platform> Sync for Mutex<T, P> where P::Raw: Sync {}

/// Runs `f` with the mutex that the wait ends with.
fn exclusively<'a, T: ?Sized + 'a, P: Platform + 'a, W, F, O>(wait: W, f: F) -> impl Future<Output = W::Ran<O>>
where
    W: Wait<Guard = MutexGuard<'a, T, P>>,
    F: AsyncFnOnce(&mut T) -> O,
{
    run(wait, |guard: &mut MutexGuard<'a, T, P>| {
        // SAFETY: `run` keeps the guard, unused, until the future that `f` makes is dropped. Neither `f` nor its output can
        // keep the reference: they take one of any lifetime.
        f(unsafe { guard.data_beyond() })
    })
}

impl<T, P: Platform> From<T> for Mutex<T, P> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default, P: Platform> Default for Mutex<T, P> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// Prints the data if the mutex is free; while it prints, it holds the mutex. Never waits.
impl<T: ?Sized + fmt::Debug, P: Platform> fmt::Debug for Mutex<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(guard) => d.field("data", &&*guard),
            Err(_) => d.field("data", &format_args!("<locked>")),
        };
        d.finish()
    }
}

/// What [`Mutex::state`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MutexState {
    /// Whether somebody holds the mutex, or has been granted it and has not been polled since.
    pub locked: bool,
    /// How many wait.
    pub queued: usize,
}

/// The request to lock a mutex, in a future's type. `L` is `&Mutex` or `Arc<Mutex>`.
#[derive(Debug)]
pub struct Locking<L>(pub(crate) L);

impl<L: MutexHandle> Release for Locking<L> {
    #[inline(always)]
    fn release(&self, call_site: CallSite) {
        self.0.raw().release(call_site);
    }
}

impl<L: MutexHandle> RequestImpl for Locking<L> {
    type Guard = L::Guard;
    type Platform = L::Platform;
    const KIND: LockKind = LockKind::Mutex;

    keeps_nothing!();

    type Lock<'a>
        = &'a RawMutex<<L::Platform as Platform>::Raw>
    where
        L: 'a;

    #[inline(always)]
    fn lock(&self) -> Self::Lock<'_> {
        self.0.raw()
    }

    #[inline(always)]
    unsafe fn into_guard(self, call_site: CallSite) -> L::Guard {
        // SAFETY: the caller owns it and has no other guard.
        L::guard(unsafe { Held::new(self, call_site) })
    }
}

impl<R: RawLock> Ends for &RawMutex<R> {}

//! What a lock stands on: its raw lock, and where there is one, its timer.

use crate::error::Limit;
use crate::raw::{self, RawLock};
use crate::rwlock::RwLockPolicy;
use core::fmt::Debug;
use core::future::Future;
use core::task::{Context, Poll};
use core::time;

/// Where a lock is used: chooses its raw lock. A marker type, never made.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no platform of a lock",
    note = "use the locks of a module of `fifolock`, which has chosen the platform, such as `fifolock::tokio::Mutex<T>`",
    note = "on embassy the raw mutex comes first: `fifolock::embassy::Mutex<CriticalSectionRawMutex, T>`"
)]
pub trait Platform {
    /// The raw lock of this platform's locks.
    type Raw: RawLock;

    /// Whether the locks [rescue](crate::mutex#rescue) a task that waits for itself. Without it, none of the rescue's code
    /// is compiled in, and such a task waits until its granted future is polled or dropped.
    const RESCUE: bool = true;

    /// The policy of a read-write lock that is made without one: by `new`, `const_new`, `with_max_readers`, `Default`, `From`.
    const POLICY: RwLockPolicy = RwLockPolicy::WriterPreferring;

    /// Whether the task may try to take a lock now, or must give way first.
    ///
    /// A lock future asks at its first poll, before anything else is tried. At [`Poll::Pending`] the future has not been
    /// queued and has taken nothing; the platform has then seen to the wake of the task, and the next poll asks again. A
    /// poll that gets past this is the first one for everything else: the place in the queue, and the time of a timeout. A
    /// future that is queued or granted never asks, nor do the `try_…` and `blocking_…` methods.
    ///
    /// This must be cheap: it is on the path of a lock that is free. It must not panic.
    ///
    /// By default a task may always go on: a task that does nothing but take free locks never gives way.
    #[inline(always)]
    fn poll_proceed(_cx: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    /// Called at the start of every `blocking_…` method. A platform that can tell that the thread must not be blocked panics
    /// here, at the place of the caller of that method; the lock is untouched then.
    ///
    /// By default any thread may be blocked.
    #[inline(always)]
    #[track_caller]
    fn before_blocking() {}
}

/// A platform with a clock and a timer: its locks have the `…_timeout` and `…_deadline` methods.
///
/// The locks ask for the time only to decide whether a deadline has passed, and make a sleep only when a caller has to
/// wait; never inside a raw lock's section. All functions may panic (tokio's do outside of a runtime): the panic then
/// reaches whoever polled the lock future, and the lock stays usable.
#[diagnostic::on_unimplemented(
    message = "locks of the platform `{Self}` have no timer, so no timeouts",
    label = "this platform has no timer",
    note = "use the locks of a runtime's adapter: `fifolock::tokio::Mutex`, `fifolock::smol::Mutex`, \
            `fifolock::async_std::Mutex` or `fifolock::embassy::Mutex`",
    note = "or view a lock as one of your runtime's with `lock.on::<…>()`"
)]
pub trait Timer: Platform {
    /// The runtime's span of time.
    type Duration: Copy + Debug;
    /// The runtime's point in time.
    type Instant: Copy + PartialOrd + Debug;
    /// The runtime's sleep; what it gives when it is ready is of no interest. It is dropped before its time when the wait
    /// ends earlier.
    type Sleep: Future;

    /// A future that is ready once `duration` has passed, counted from this call; `None` if that is past the end of the
    /// clock. Such a wait never ends: this must not overflow or panic for it.
    ///
    /// The caller is the `.await` of a timed operation, so that a runtime's panic can name that place.
    #[track_caller]
    fn sleep(duration: Self::Duration) -> Option<Self::Sleep>;

    /// A future that is ready once it is `deadline`; `None` if the timer can't wait for so late a time. Such a wait never
    /// ends: this must not overflow or panic for it. The caller is that of [`sleep`](Self::sleep).
    #[track_caller]
    fn sleep_until(deadline: Self::Instant) -> Option<Self::Sleep>;

    /// What time it is.
    fn now() -> Self::Instant;

    /// Whether the span is empty: such a timeout is refused.
    #[inline]
    fn is_zero(duration: Self::Duration) -> bool {
        Self::to_core(duration).is_zero()
    }

    /// The same span as `core`'s; [`time::Duration::MAX`] where it does not fit.
    fn to_core(duration: Self::Duration) -> time::Duration;

    /// The same span for an error, which it should cost nothing to make.
    #[inline]
    fn limit(duration: Self::Duration) -> Limit {
        Self::to_core(duration).into()
    }
}

/// The platform of programs on an operating system, with no runtime in particular.
///
/// It knows no runtime: a task that does nothing but take free locks never gives way, and a `blocking_…` method blocks any
/// thread, also one that runs async code.
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
#[derive(Debug)]
pub enum Std {}

#[cfg(feature = "std")]
impl Platform for Std {
    type Raw = raw::StdLock;
}

/// The platform of microcontrollers and their interrupt handlers.
#[cfg(feature = "critical-section")]
#[cfg_attr(docsrs, doc(cfg(feature = "critical-section")))]
#[derive(Debug)]
pub enum CriticalSection {}

#[cfg(feature = "critical-section")]
impl Platform for CriticalSection {
    type Raw = raw::CriticalSectionLock;
}

/// The platform of kernels and bare-metal programs on several cores.
#[cfg(all(feature = "spin", target_has_atomic = "ptr"))]
#[cfg_attr(docsrs, doc(cfg(feature = "spin")))]
#[derive(Debug)]
pub enum Spin {}

#[cfg(all(feature = "spin", target_has_atomic = "ptr"))]
impl Platform for Spin {
    type Raw = raw::SpinLock;
}

/// The platform of locks that never leave one thread.
#[derive(Debug)]
pub enum Local {}

impl Platform for Local {
    type Raw = raw::LocalLock;
}

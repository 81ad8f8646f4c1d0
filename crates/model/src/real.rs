//! The real locks, behind the interface of the sequences.

pub mod mutex;
pub mod rwlock;

use crate::alphabet::{Form, Limit, Mapping};
use crate::reference::{Counts, Kind, Reference};
use core::fmt::Debug;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use fifolock_conformance::tools::Boxed;
use fifolock_conformance::tools::clock::TestTimer;
use fifolock_core::TimeoutError;
use fifolock_core::rwlock::RwLockPolicy;
use pin_project_lite::pin_project;
use std::sync::Arc;

/// The parameters of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The policy of a read-write lock.
    pub policy: RwLockPolicy,
    /// The limit of readers of a read-write lock.
    pub max_readers: u32,
}

/// A lock whose guards and futures are `'static`, since they borrow a leaked lock.
pub trait Real: Debug + Sized + 'static {
    /// The name that `Debug` prints.
    const NAME: &'static str;
    /// The platform, whose clock a test sets.
    type Platform: TestTimer;
    /// The reference for this lock.
    type Reference: Reference;
    /// Any guard.
    type Guard: 'static;

    /// A free lock and its reference. The data is 0.
    fn new(setup: Setup) -> (Self, Self::Reference);
    /// Makes a future.
    fn acquire(lock: &'static Arc<Self>, kind: Kind, form: Form, limit: Limit) -> Acquiring<Self>;
    /// Makes one attempt.
    fn try_acquire(lock: &'static Arc<Self>, kind: Kind, form: Form) -> Option<Self::Guard>;
    /// Makes an upgrade future.
    fn upgrade(guard: Self::Guard) -> Acquiring<Self>;
    /// Tries once to upgrade. An attempt that fails returns the guard.
    fn try_upgrade(guard: Self::Guard) -> Result<Self::Guard, Self::Guard>;
    /// Downgrades a guard to the kind `keeps`.
    fn downgrade(guard: Self::Guard, keeps: Kind) -> Self::Guard;
    /// Maps a guard to all of its data. If the closure finds no part, returns the guard.
    fn map(guard: Self::Guard, mapping: Mapping) -> Result<Self::Guard, Self::Guard>;
    /// The data.
    fn value(guard: &Self::Guard) -> u64;
    /// The data, if the guard may write.
    fn value_mut(guard: &mut Self::Guard) -> Option<&mut u64>;
    /// The counts that the lock reports.
    fn counts(&self) -> Counts;
}

/// Any future of a lock.
pub type Acquiring<L> = Boxed<dyn Future<Output = Result<<L as Real>::Guard, TimeoutError>>>;

/// A span of this many ticks.
#[must_use]
pub fn ticks(count: u8) -> Duration {
    Duration::from_millis(count.into())
}

pin_project! {
    /// A future with another output. Unlike an `async` block, it keeps the inner future until it is dropped itself. So
    /// a test sees what the inner future leaves behind when it is ready.
    struct Wrapped<F, W> {
        #[pin]
        future: F,
        wrap: W,
    }
}

fn wrapped<F: Future, T>(future: F, wrap: impl FnMut(F::Output) -> T) -> Boxed<impl Future<Output = T>> {
    Box::pin(Wrapped { future, wrap })
}

impl<F: Future, T, W: FnMut(F::Output) -> T> Future for Wrapped<F, W> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = self.project();
        this.future.poll(cx).map(this.wrap)
    }
}

/// One of the three futures, whose guard is wrapped in `$wrap`.
macro_rules! acquire {
    ($limit:expr, $wrap:expr, $lock:expr, $plain:ident, $timeout:ident, $deadline:ident) => {
        match $limit {
            Limit::None => wrapped($lock.$plain(), |guard| Ok($wrap(guard))),
            Limit::Timeout(_) | Limit::Endless => {
                let timeout = if let Limit::Timeout(count) = $limit { ticks(count) } else { Duration::MAX };
                wrapped($lock.$timeout(timeout), |result| result.map($wrap))
            }
            Limit::Deadline(count) => wrapped($lock.$deadline(P::instant_in(ticks(count))), |result| result.map($wrap)),
        }
    };
}
use acquire;

/// A mapped guard wrapped in `$wrap`, or the guard that came back.
macro_rules! map {
    ($mapping:expr, $type:ident, $guard:expr, $same:expr, $wrap:expr) => {
        match $mapping {
            Mapping::Map => Ok($wrap($type::map($guard, |data| data))),
            Mapping::Found => $type::try_map($guard, |data| Some(data)).map($wrap).map_err($same),
            Mapping::Refused => $type::try_map($guard, |_| None::<_>).map($wrap).map_err($same),
        }
    };
}
use map;

//! The real locks, as the sequences use them.

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

/// How a lock is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Of a read-write lock.
    pub policy: RwLockPolicy,
    /// Of a read-write lock.
    pub max_readers: u32,
}

/// A lock whose guards and futures live as long as the program: what they borrow is a lock that was leaked.
pub trait Real: Debug + Sized + 'static {
    /// What `Debug` calls it.
    const NAME: &'static str;
    /// Where it runs: on a clock that is set by hand.
    type Platform: TestTimer;
    /// The same lock by its rules.
    type Reference: Reference;
    /// Any guard.
    type Guard: 'static;

    /// A free lock, and the same by its rules. Its data is 0.
    fn new(setup: Setup) -> (Self, Self::Reference);
    /// A future.
    fn acquire(lock: &'static Arc<Self>, kind: Kind, form: Form, limit: Limit) -> Acquiring<Self>;
    /// One attempt.
    fn try_acquire(lock: &'static Arc<Self>, kind: Kind, form: Form) -> Option<Self::Guard>;
    /// The future of an upgrade.
    fn upgrade(guard: Self::Guard) -> Acquiring<Self>;
    /// One attempt; or the guard itself.
    fn try_upgrade(guard: Self::Guard) -> Result<Self::Guard, Self::Guard>;
    /// A guard that keeps less.
    fn downgrade(guard: Self::Guard, keeps: Kind) -> Self::Guard;
    /// A guard for the data as a part of itself; or the guard, where that is refused.
    fn map(guard: Self::Guard, mapping: Mapping) -> Result<Self::Guard, Self::Guard>;
    /// The data.
    fn value(guard: &Self::Guard) -> u64;
    /// The data, if it may be written.
    fn value_mut(guard: &mut Self::Guard) -> Option<&mut u64>;
    /// What it tells about itself.
    fn counts(&self) -> Counts;
}

/// Any future of a lock.
pub type Acquiring<L> = Boxed<dyn Future<Output = Result<<L as Real>::Guard, TimeoutError>>>;

/// So many ticks.
#[must_use]
pub fn ticks(count: u8) -> Duration {
    Duration::from_millis(count.into())
}

pin_project! {
    /// A future with another output. Unlike an `async` block it keeps the inner one until it is dropped itself: what that
    /// leaves behind when it is ready can be seen.
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

/// One of the three futures, whose guard is `$wrap`ped.
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

/// A mapped guard, `$wrap`ped; or the guard that came back.
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

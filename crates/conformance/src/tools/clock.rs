//! Clocks that a test sets: a manual one, and the trait of any other clock that the same rules run on.

mod async_io;
#[cfg(feature = "embassy-mock")]
mod mock_embassy;
mod paused_tokio;
mod real;
#[cfg(not(feature = "embassy-mock"))]
mod real_embassy;

use super::{Depth, assert_outside};
use core::cell::RefCell;
use core::fmt;
use core::future::Future;
use core::marker::{PhantomData, PhantomPinned};
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use fifolock_core::platform::{Platform, Timer};
use fifolock_core::raw::RawLock;
use real::sleep_to_be_woken;
use std::collections::BTreeMap;

/// A timer that a test can advance: what the rules of time need of a platform.
pub trait TestTimer: Timer + super::Platform {
    /// Whether time stands still between two calls of [`advance`](Self::advance).
    const EXACT: bool;

    /// Whether a sleep that is dropped, or polled with another waker, forgets its old waker at once. Any other clock
    /// may wake the old waker when the time comes.
    const FORGETS: bool;

    /// Runs a test with a clock of its own.
    fn with(test: impl FnOnce());

    /// Lets time pass. Sleeps whose time has come wake their tasks before this returns.
    ///
    /// Time passes by `by`, or by a little more if the clock is not exact. Such a clock treats every span above
    /// [`PATIENCE`] as `PATIENCE`.
    fn advance(by: Duration);

    /// The number of sleeps, if the clock counts them.
    fn armed() -> Option<usize>;

    /// The platform's form of a span.
    fn span(of: Duration) -> Self::Duration;

    /// The point in time that is `after` from now.
    fn instant_in(after: Duration) -> Self::Instant;

    /// A point in time that has passed.
    fn past_instant() -> Self::Instant;
}

/// The span that counts as "long after" on a real clock. A wait that a rule sees to its end is no longer than this.
pub const PATIENCE: Duration = Duration::from_millis(25);

/// A platform whose clock is the manual one: [`on_next`], [`forbid_clock`] and [`uses`] are about it.
pub trait ManualTimer: TestTimer {}

impl<R: RawLock + 'static> ManualTimer for Manual<R> {}

/// A use of the manual clock. To the lock, each is foreign code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// The time is read.
    Now,
    /// A sleep is made.
    Sleep,
    /// A sleep is polled.
    Poll,
    /// A sleep is dropped.
    Drop,
}

type Hook = Box<dyn FnOnce()>;

#[derive(Default)]
struct Clock {
    now: Duration,
    last_sleep: u64,
    armed: BTreeMap<u64, Armed>,
    uses: BTreeMap<Use, usize>,
    hooks: BTreeMap<Use, Hook>,
    forbidden: bool,
}

struct Armed {
    until: Duration,
    waker: Option<Waker>,
    done: bool,
}

std::thread_local! {
    static CLOCK: RefCell<Clock> = RefCell::default();
}

/// The time at which a new clock starts: not zero, so that deadlines in the past exist.
const START: Duration = Duration::from_secs(1000);

fn with_clock<T>(f: impl FnOnce(&mut Clock) -> T) -> T {
    CLOCK.with_borrow_mut(f)
}

/// Runs `hook` once, just before the manual clock is next used in this way.
///
/// The test fails if the clock is never used so.
pub fn on_next(used: Use, hook: impl FnOnce() + 'static) {
    let old = with_clock(|clock| clock.hooks.insert(used, Box::new(hook)));
    assert!(old.is_none(), "an earlier hook has not run yet");
}

/// Runs `f`, in which any use of the manual clock panics.
pub fn forbid_clock<T>(f: impl FnOnce() -> T) -> T {
    struct Forbidden;
    impl Drop for Forbidden {
        fn drop(&mut self) {
            with_clock(|clock| clock.forbidden = false);
        }
    }
    with_clock(|clock| clock.forbidden = true);
    let _forbidden = Forbidden;
    f()
}

/// How often the manual clock was used in this way since the test began.
#[must_use]
pub fn uses(of: Use) -> usize {
    with_clock(|clock| clock.uses.get(&of).copied().unwrap_or(0))
}

fn used(as_what: Use) {
    assert_outside();
    let hook = with_clock(|clock| {
        assert!(!clock.forbidden, "the clock is used: {as_what:?}");
        *clock.uses.entry(as_what).or_default() += 1;
        clock.hooks.remove(&as_what)
    });
    if let Some(hook) = hook {
        hook();
    }
}

/// A platform over the watched raw lock `R`, with a clock that stands still until the test advances it.
#[derive(Debug)]
pub struct Manual<R>(PhantomData<R>);

impl<R: RawLock + 'static> Platform for Manual<R> {
    type Raw = Depth<R>;
}

/// A point in time of the manual clock.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Tick(Duration);

/// A sleep of the manual clock, armed while it exists.
#[must_use = "it does nothing until it is polled"]
pub struct Sleep {
    id: u64,
    _pinned: PhantomPinned,
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Sleep {
    /// `when` may be past the end of the clock. Then there is no sleep.
    fn until(when: impl FnOnce(Duration) -> Option<Duration>) -> Option<Self> {
        used(Use::Sleep);
        with_clock(|clock| {
            let until = when(clock.now)?;
            clock.last_sleep += 1;
            clock.armed.insert(clock.last_sleep, Armed { until, waker: None, done: false });
            Some(Self { id: clock.last_sleep, _pinned: PhantomPinned })
        })
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        used(Use::Poll);
        // A waker is foreign code: its clone and its drop may use the clock.
        let waker = cx.waker().clone();
        let (poll, _old) = with_clock(|clock| {
            let now = clock.now;
            let armed = clock.armed.get_mut(&self.id).expect("a sleep is armed while it exists");
            assert!(!armed.done, "a sleep was polled after it was ready");
            armed.done = armed.until <= now;
            let poll = if armed.done { Poll::Ready(()) } else { Poll::Pending };
            (poll, armed.waker.replace(waker))
        });
        poll
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let _gone = with_clock(|clock| clock.armed.remove(&self.id));
        // A test that is failing has reported its failure.
        if !std::thread::panicking() {
            used(Use::Drop);
        }
    }
}

impl<R: RawLock + 'static> Timer for Manual<R> {
    type Duration = Duration;
    type Instant = Tick;
    type Sleep = Sleep;

    fn sleep(duration: Duration) -> Option<Sleep> {
        // The last tick never comes.
        Sleep::until(|now| now.checked_add(duration).filter(|tick| *tick < Duration::MAX))
    }

    fn sleep_until(deadline: Tick) -> Option<Sleep> {
        Sleep::until(|_| (deadline.0 < Duration::MAX).then_some(deadline.0))
    }

    fn now() -> Tick {
        used(Use::Now);
        Tick(with_clock(|clock| clock.now))
    }

    fn to_core(duration: Duration) -> Duration {
        duration
    }
}

impl<R: RawLock + 'static> TestTimer for Manual<R> {
    const EXACT: bool = true;
    const FORGETS: bool = true;

    fn with(test: impl FnOnce()) {
        let _old = with_clock(|clock| mem::replace(clock, Clock { now: START, ..Clock::default() }));
        test();
        let clock = with_clock(mem::take);
        assert_eq!(clock.armed.len(), 0, "a sleep was left behind");
        assert!(clock.hooks.is_empty(), "never happened: {:?}", clock.hooks.keys());
    }

    fn advance(by: Duration) {
        let wakers: Vec<Waker> = with_clock(|clock| {
            clock.now += by;
            let now = clock.now;
            let over = clock.armed.values_mut().filter(|armed| armed.until <= now);
            over.filter_map(|armed| armed.waker.take()).collect()
        });
        for waker in wakers {
            waker.wake();
        }
    }

    fn armed() -> Option<usize> {
        Some(with_clock(|clock| clock.armed.len()))
    }

    fn span(of: Duration) -> Duration {
        of
    }

    fn instant_in(after: Duration) -> Tick {
        Tick(with_clock(|clock| clock.now.saturating_add(after)))
    }

    fn past_instant() -> Tick {
        Tick(with_clock(|clock| clock.now) - Duration::from_nanos(1))
    }
}

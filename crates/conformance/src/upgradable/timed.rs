//! Upgradable reads with a limit, on the manual clock (U1, U4 with T1 to T5).

use crate::rescue::fixture::POLICIES;
use crate::rules;
use crate::tools::Task;
use crate::tools::clock::{ManualTimer, forbid_clock};
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::Poll;
use core::time::Duration;
use fifolock_core::{RwLock, TimeoutError};
use std::sync::Arc;

rules! { ($) upgradable_timed_rules in upgradable::timed where ManualTimer:
    u1_a_free_lock_needs_no_clock,
    u2_a_timed_one_waits_its_turn,
    u4_a_timed_one_that_gives_up_leaves,
    u4_granted_in_time_is_granted,
    u4_a_zero_timeout_and_a_past_deadline,
    u4_until_another_future_is_ready,
}

const LIMIT: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug)]
enum How {
    Timeout,
    Deadline,
    OwnedTimeout,
    OwnedDeadline,
}

/// A timed operation; without a limit its time is over.
fn timed<'a, P: ManualTimer>(lock: &'a Arc<RwLock<u32, P>>, how: How, limit: Option<Duration>) -> Hidden<'a> {
    let span = || P::span(limit.unwrap_or_default());
    let instant = || limit.map_or_else(P::past_instant, P::instant_in);
    match how {
        How::Timeout => hide(lock.upgradable_read_timeout(span())),
        How::Deadline => hide(lock.upgradable_read_deadline(instant())),
        How::OwnedTimeout => hide(Arc::clone(lock).upgradable_read_owned_timeout(span())),
        How::OwnedDeadline => hide(Arc::clone(lock).upgradable_read_owned_deadline(instant())),
    }
}

trait Held {}
impl<T> Held for T {}
type Outcome<'a> = Result<Box<dyn Held + 'a>, TimeoutError>;
type Hidden<'a> = Pin<Box<dyn Future<Output = Outcome<'a>> + 'a>>;

fn hide<'a, G: 'a>(future: impl Future<Output = Result<G, TimeoutError>> + 'a) -> Hidden<'a> {
    let mut future = Box::pin(future);
    Box::pin(poll_fn(move |cx| {
        future.as_mut().poll(cx).map(|outcome| outcome.map(|guard| Box::new(guard) as Box<dyn Held + 'a>))
    }))
}

#[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
fn each<P: ManualTimer>(rule: impl Fn(&Arc<RwLock<u32, P>>, How)) {
    for policy in POLICIES {
        for how in [How::Timeout, How::Deadline, How::OwnedTimeout, How::OwnedDeadline] {
            let _case = crate::rescue::fixture::Case((policy, how));
            P::with(|| {
                let lock = Arc::new(RwLock::with_policy(0, policy));
                rule(&lock, how);
                assert!(lock.try_write().is_ok());
                assert_eq!((Arc::strong_count(&lock), P::armed()), (1, Some(0)));
            });
        }
    }
}

fn u1_a_free_lock_needs_no_clock<P: ManualTimer>() {
    each::<P>(|lock, how| {
        let mut task = Task::new(timed(lock, how, Some(LIMIT)));
        let plain = lock.try_read().expect("free");
        let guard = forbid_clock(|| task.ready()).expect("there is no other one");
        assert!(lock.state().upgradable);
        drop((guard, plain));
    });
}

fn u2_a_timed_one_waits_its_turn<P: ManualTimer>() {
    each::<P>(|lock, how| {
        let first = lock.try_upgradable_read().expect("free");
        let mut second = Task::queued(timed(lock, how, Some(LIMIT)));
        let mut third = Task::queued(lock.upgradable_read());
        assert_eq!((lock.state().waiting_upgradable, P::armed()), (2, Some(1)));
        drop(first);
        assert_eq!((second.wakes(), third.wakes()), (1, 0));
        drop(second.ready().expect("granted"));
        assert_eq!(P::armed(), Some(0));
        drop(third.ready());
    });
}

fn u4_a_timed_one_that_gives_up_leaves<P: ManualTimer>() {
    each::<P>(|lock, how| {
        let first = lock.try_upgradable_read().expect("free");
        let mut second = Task::queued(timed(lock, how, Some(LIMIT)));
        let mut third = Task::queued(lock.upgradable_read());
        P::advance(LIMIT);
        assert_eq!(second.wakes(), 1);
        let error = second.ready().err().expect("its time is over");
        assert!(error.is_elapsed());
        assert!(error.to_string().contains("upgradable read lock"), "{error}");
        assert_eq!((lock.state().waiting_upgradable, P::armed()), (1, Some(0)));
        drop(first);
        drop(third.ready());
        // Under the task-fair policy it may have kept readers out.
        let first = lock.try_upgradable_read().expect("free");
        let mut second = Task::queued(timed(lock, how, Some(LIMIT)));
        let mut reader = Task::new(lock.read());
        if reader.poll().is_pending() {
            P::advance(LIMIT);
            assert!(second.ready().is_err());
            assert_eq!(reader.wakes(), 1, "before the poll returned");
            drop(reader.ready());
        }
        drop((first, second));
    });
}

fn u4_granted_in_time_is_granted<P: ManualTimer>() {
    each::<P>(|lock, how| {
        let first = lock.try_upgradable_read().expect("free");
        let mut second = Task::queued(timed(lock, how, Some(LIMIT)));
        drop(first);
        P::advance(2 * LIMIT);
        drop(second.ready().expect("granted, however late it is polled"));
        // Dropped while granted.
        let first = lock.try_upgradable_read().expect("free");
        let second = Task::queued(timed(lock, how, Some(LIMIT)));
        let mut third = Task::queued(lock.upgradable_read());
        drop(first);
        drop(second);
        drop(third.ready());
    });
}

fn u4_a_zero_timeout_and_a_past_deadline<P: ManualTimer>() {
    each::<P>(|lock, how| {
        let timeout = matches!(how, How::Timeout | How::OwnedTimeout);
        for held in [false, true] {
            let first = held.then(|| lock.try_upgradable_read().expect("free"));
            match Task::new(timed(lock, how, None)).ready() {
                Ok(guard) => {
                    assert!(!timeout && !held);
                    drop(guard);
                }
                Err(error) => assert_eq!((error.is_invalid(), error.is_elapsed()), (timeout, !timeout && held)),
            }
            drop(first);
        }
    });
}

fn u4_until_another_future_is_ready<P: ManualTimer>() {
    P::with(|| {
        for policy in POLICIES {
            let lock = RwLock::<u32, P>::with_policy(0, policy);
            // Free: the other future is not polled.
            let never = poll_fn(|_| -> Poll<()> { panic!("polled") });
            drop(Task::new(lock.upgradable_read_until(never)).ready().expect("free"));
            let over = core::cell::Cell::new(false);
            let ends = || poll_fn(|_| if over.get() { Poll::Ready(5) } else { Poll::Pending });
            let first = lock.try_upgradable_read().expect("free");
            let mut second = Task::queued(lock.upgradable_read_until(ends()));
            let mut third = Task::queued(lock.upgradable_read_until(ends()));
            drop(first);
            drop(second.ready().expect("granted"));
            over.set(true);
            // A grant that is there when the poll begins wins.
            let guard = third.ready().expect("granted");
            let mut fourth = Task::new(lock.upgradable_read_until(ends()));
            assert_eq!(fourth.ready().err(), Some(5));
            assert_eq!(lock.state().waiting_upgradable, 0);
            drop(guard);
            assert!(lock.try_write().is_ok());
        }
    });
}

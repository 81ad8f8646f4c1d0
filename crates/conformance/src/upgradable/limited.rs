//! Upgrades with a limit, on the manual clock. An upgrade that ends without the lock keeps its share (U7, with T1 to
//! T5, W5 and K3).

use crate::rules;
use crate::tools::clock::{ManualTimer, Use, forbid_clock, on_next};
use crate::tools::subject::{Case, POLICIES};
use crate::tools::{Hooks, Slot, Task, hook, panics};
use core::future::{Future, poll_fn};
use core::ops::DerefMut;
use core::pin::Pin;
use core::task::Poll;
use core::time::Duration;
use fifolock_core::rwlock::{OwnedRwLockUpgradableReadGuard, RwLockUpgradableReadGuard};
use fifolock_core::{RwLock, TimeoutError, UpgradeError};
use std::sync::Arc;

rules! { ($) upgrade_limited_rules in upgradable::limited where ManualTimer:
    u7_alone_it_is_granted_at_once,
    u7_what_ends_without_the_lock_is_a_reader_still,
    u7_it_lets_in_whom_only_it_kept_out,
    u7_it_lets_nobody_past_a_writer,
    u7_it_makes_no_room,
    u7_granted_in_time_is_granted,
    u7_a_zero_timeout_and_a_past_deadline,
    u7_a_grant_during_the_others_last_poll_becomes_the_share_again,
    u7_dropped_it_gives_its_share_back,
    u7_a_panic_gives_its_share_back,
    u7_it_can_be_tried_again,
    u7_as_another_error_it_drops_the_guard,
}

const LIMIT: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Timeout,
    Deadline,
    /// Until a sleep of the platform is over.
    Until,
}

/// An upgradable guard of either form.
enum Reader<'a, P: ManualTimer> {
    Borrowed(RwLockUpgradableReadGuard<'a, u32, P>),
    Owned(OwnedRwLockUpgradableReadGuard<u32, P>),
}

/// The reason why an upgrade has ended without the lock.
#[derive(Debug, PartialEq, Eq)]
enum Reason {
    Time(TimeoutError),
    Other,
}

type Writer<'a> = Box<dyn DerefMut<Target = u32> + 'a>;
type Outcome<'a, P> = Result<Writer<'a>, UpgradeError<Reader<'a, P>, Reason>>;
type Hidden<'a, P> = Pin<Box<dyn Future<Output = Outcome<'a, P>> + 'a>>;

/// Hides the types of the future, which stays alive after it was ready.
fn hide<'a, P, W, G, E>(
    future: impl Future<Output = Result<W, UpgradeError<G, E>>> + 'a,
    reader: fn(G) -> Reader<'a, P>,
    reason: fn(E) -> Reason,
) -> Hidden<'a, P>
where
    P: ManualTimer,
    W: DerefMut<Target = u32> + 'a,
    G: 'a,
    E: 'a,
{
    let mut future = Box::pin(future);
    Box::pin(poll_fn(move |cx| {
        future.as_mut().poll(cx).map(|outcome| match outcome {
            Ok(guard) => Ok(Box::new(guard) as Writer<'a>),
            Err(failed) => Err(UpgradeError { guard: reader(failed.guard), error: reason(failed.error) }),
        })
    }))
}

impl<'a, P: ManualTimer> Reader<'a, P> {
    fn value(&self) -> u32 {
        match self {
            Self::Borrowed(guard) => **guard,
            Self::Owned(guard) => **guard,
        }
    }

    /// The upgrade. If `limit` is `None`, its time is over already.
    fn upgrade(self, how: How, limit: Option<Duration>) -> Hidden<'a, P> {
        let span = || P::span(limit.unwrap_or_default());
        let instant = || limit.map_or_else(P::past_instant, P::instant_in);
        let other = || async move {
            if let Some(sleep) = limit.and_then(|limit| P::sleep(P::span(limit))) {
                sleep.await;
            }
        };
        macro_rules! upgrade {
            ($guard:ident, $type:ident, $form:ident) => {
                match how {
                    How::Timeout => hide($type::upgrade_timeout($guard, span()), Self::$form, Reason::Time),
                    How::Deadline => hide($type::upgrade_deadline($guard, instant()), Self::$form, Reason::Time),
                    How::Until => hide($type::upgrade_until($guard, other()), Self::$form, |()| Reason::Other),
                }
            };
        }
        match self {
            Self::Borrowed(guard) => upgrade!(guard, RwLockUpgradableReadGuard, Borrowed),
            Self::Owned(guard) => upgrade!(guard, OwnedRwLockUpgradableReadGuard, Owned),
        }
    }
}

/// A fresh lock, and the kind of upgrade.
struct Fixture<P: ManualTimer> {
    lock: Arc<RwLock<u32, P>>,
    how: How,
    owned: bool,
}

/// Readers, whether one is upgradable, whether a writer is inside; waiting readers, upgradable readers and writers.
type State = (usize, bool, bool, usize, usize, usize);

impl<P: ManualTimer> Fixture<P> {
    #[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
    fn each_with(max_readers: u32, rule: impl Fn(&Self)) {
        for policy in POLICIES {
            for how in [How::Timeout, How::Deadline, How::Until] {
                for owned in [false, true] {
                    let _case = Case((policy, how, owned));
                    P::with(|| {
                        let lock = Arc::new(RwLock::with_policy_and_max_readers(7, policy, max_readers));
                        let fixture = Self { lock, how, owned };
                        rule(&fixture);
                        assert_eq!(fixture.state(), (0, false, false, 0, 0, 0));
                        assert!(fixture.lock.try_write().is_ok());
                        assert_eq!((Arc::strong_count(&fixture.lock), P::armed()), (1, Some(0)));
                    });
                }
            }
        }
    }

    fn each(rule: impl Fn(&Self)) {
        Self::each_with(100, rule);
    }

    fn state(&self) -> State {
        let state = self.lock.state();
        let waiting = (state.waiting_readers, state.waiting_upgradable, state.waiting_writers);
        (state.readers, state.upgradable, state.writer, waiting.0, waiting.1, waiting.2)
    }

    #[track_caller]
    fn reader(&self) -> Reader<'_, P> {
        if self.owned {
            Reader::Owned(Arc::clone(&self.lock).try_upgradable_read_owned().expect("free"))
        } else {
            Reader::Borrowed(self.lock.try_upgradable_read().expect("free"))
        }
    }

    #[track_caller]
    fn upgrade(&self) -> Hidden<'_, P> {
        self.reader().upgrade(self.how, Some(LIMIT))
    }

    /// Asserts that the upgrade ends without the lock.
    #[track_caller]
    fn fails<'a>(&'a self, upgrade: &mut Task<Hidden<'a, P>>) -> Reader<'a, P> {
        let failed = upgrade.ready().err().expect("there is another reader");
        match failed.error {
            Reason::Other => assert_eq!(self.how, How::Until),
            Reason::Time(error) => {
                assert!(error.is_elapsed() && self.how != How::Until);
                assert!(error.to_string().contains("upgrade to write lock"), "{error}");
            }
        }
        failed.guard
    }
}

fn u7_alone_it_is_granted_at_once<P: ManualTimer>() {
    Fixture::<P>::each(|f| {
        let mut task = Task::new(f.upgrade());
        // A lock that is available at once uses no clock.
        let mut guard = forbid_clock(|| task.ready()).expect("there is no other reader");
        assert_eq!(f.state(), (0, false, true, 0, 0, 0));
        **guard += 1;
        drop(guard);
        assert_eq!(*f.lock.try_read().expect("free"), 8);
        assert!(panics(|| task.poll().is_ready()).contains("after it was ready"));
    });
}

fn u7_what_ends_without_the_lock_is_a_reader_still<P: ManualTimer>() {
    Fixture::<P>::each(|f| {
        let plain = f.lock.try_read().expect("free");
        let mut upgrade = Task::queued(f.upgrade());
        assert_eq!((f.state(), P::armed()), ((2, true, false, 0, 0, 1), Some(1)));
        P::advance(LIMIT);
        assert_eq!(upgrade.wakes(), 1);
        let guard = f.fails(&mut upgrade);
        assert_eq!((f.state(), P::armed()), ((2, true, false, 0, 0, 0), Some(0)));
        assert_eq!((guard.value(), upgrade.wakers_kept()), (7, 0));
        // T5: a later release neither grants nor wakes the upgrade.
        drop(plain);
        assert_eq!((f.state(), upgrade.wakes()), ((1, true, false, 0, 0, 0), 1));
        // The share excludes the same operations as before.
        assert!(f.lock.try_upgradable_read().is_err() && f.lock.try_write().is_err());
        drop(f.lock.try_read().expect("plain readers enter beside an upgradable reader"));
        drop(upgrade);
        assert_eq!(f.state(), (1, true, false, 0, 0, 0), "the share is the guard's");
        drop(guard);
    });
}

fn u7_it_lets_in_whom_only_it_kept_out<P: ManualTimer>() {
    Fixture::<P>::each(|f| {
        let plain = f.lock.try_read().expect("free");
        let mut upgrade = Task::queued(f.upgrade());
        let mut readers = [Task::queued(f.lock.read()), Task::queued(f.lock.read())];
        let mut next = Task::queued(f.lock.upgradable_read());
        P::advance(LIMIT);
        let guard = f.fails(&mut upgrade);
        // W5: the readers enter before the poll returns. There is still one upgradable reader.
        assert_eq!((readers[0].wakes(), readers[1].wakes(), next.wakes()), (1, 1, 0));
        assert_eq!(f.state(), (4, true, false, 0, 1, 0));
        drop((readers[0].ready(), readers[1].ready()));
        drop(guard);
        assert_eq!(next.wakes(), 1);
        drop((plain, next.ready()));
    });
}

fn u7_it_lets_nobody_past_a_writer<P: ManualTimer>() {
    Fixture::<P>::each(|f| {
        let plain = f.lock.try_read().expect("free");
        let reader = f.reader();
        let mut writer = Task::queued(f.lock.write());
        let mut waiting = Task::queued(f.lock.read());
        let mut upgrade = Task::queued(reader.upgrade(f.how, Some(LIMIT)));
        assert_eq!(f.state(), (2, true, false, 1, 0, 2));
        P::advance(LIMIT);
        let guard = f.fails(&mut upgrade);
        assert_eq!((writer.wakes(), waiting.wakes()), (0, 0));
        assert_eq!(f.state(), (2, true, false, 1, 0, 1));
        drop(plain);
        assert_eq!((writer.wakes(), waiting.wakes()), (0, 0), "the share keeps the writer out");
        drop(guard);
        assert_eq!((writer.wakes(), waiting.wakes()), (1, 0));
        drop(writer.ready());
        drop(waiting.ready());
    });
}

fn u7_it_makes_no_room<P: ManualTimer>() {
    Fixture::<P>::each_with(2, |f| {
        let plain = f.lock.try_read().expect("free");
        let mut upgrade = Task::queued(f.upgrade());
        let mut waiting = Task::queued(f.lock.read());
        P::advance(LIMIT);
        let guard = f.fails(&mut upgrade);
        assert_eq!((f.state(), waiting.wakes()), ((2, true, false, 1, 0, 0), 0), "W7: there is no room");
        drop(plain);
        assert_eq!((f.state(), waiting.wakes()), ((2, true, false, 0, 0, 0), 1));
        drop((guard, waiting.ready()));
    });
}

fn u7_granted_in_time_is_granted<P: ManualTimer>() {
    Fixture::<P>::each(|f| {
        let plain = f.lock.try_read().expect("free");
        let mut upgrade = Task::queued(f.upgrade());
        drop(plain);
        P::advance(2 * LIMIT);
        let mut guard = upgrade.ready().expect("granted, however late it is polled");
        **guard += 1;
        assert_eq!(f.state(), (0, false, true, 0, 0, 0));
    });
    // T4: the upgrade returns its guard, also if it is granted during the last poll of its sleep.
    Fixture::<P>::each(|f| {
        if f.how == How::Until {
            return;
        }
        let plain = Slot::new();
        plain.put(Arc::clone(&f.lock).try_read_owned().expect("free"));
        let plain = std::rc::Rc::new(plain);
        let mut upgrade = Task::queued(f.upgrade());
        P::advance(LIMIT);
        on_next(Use::Poll, {
            let plain = std::rc::Rc::clone(&plain);
            move || drop(plain.take())
        });
        assert!(upgrade.ready().is_ok());
    });
}

fn u7_a_zero_timeout_and_a_past_deadline<P: ManualTimer>() {
    Fixture::<P>::each(|f| {
        // T2: zero is refused, with other readers or without. A deadline that has passed makes one attempt.
        for alone in [true, false] {
            let plain = (!alone).then(|| f.lock.try_read().expect("free"));
            match Task::new(f.reader().upgrade(f.how, None)).ready() {
                Ok(guard) => {
                    assert!(alone && f.how != How::Timeout);
                    drop(guard);
                }
                Err(UpgradeError { guard, error }) => {
                    match error {
                        Reason::Time(error) if f.how == How::Timeout => assert!(error.is_invalid()),
                        Reason::Time(error) => assert!(error.is_elapsed() && !alone),
                        Reason::Other => assert!(!alone),
                    }
                    let readers = 1 + usize::from(!alone);
                    assert_eq!((f.state(), guard.value()), ((readers, true, false, 0, 0, 0), 7));
                }
            }
            drop(plain);
        }
    });
}

fn u7_a_grant_during_the_others_last_poll_becomes_the_share_again<P: ManualTimer>() {
    for policy in POLICIES {
        let _case = Case(policy);
        let lock = RwLock::<u32, P>::with_policy(7, policy);
        let mut plain = Some(lock.try_read().expect("free"));
        let mut polls = 0;
        let other = poll_fn(|_| {
            polls += 1;
            if polls == 1 {
                return Poll::Pending;
            }
            drop(plain.take());
            assert!(lock.state().writer, "granted, while the other future is polled");
            Poll::Ready("other")
        });
        let guard = lock.try_upgradable_read().expect("free");
        let mut upgrade = Task::queued(RwLockUpgradableReadGuard::upgrade_until(guard, other));
        let mut reader = Task::queued(lock.read());
        let failed = upgrade.ready().expect_err("the other future's output ends the wait");
        assert_eq!((failed.error, *failed.guard), ("other", 7));
        let state = lock.state();
        assert_eq!((state.readers, state.upgradable, state.writer), (2, true, false));
        assert_eq!(reader.wakes(), 1, "as a downgrade lets readers in");
        drop((failed.guard, reader.ready()));
        drop((upgrade, reader));
        assert!(lock.try_write().is_ok());
    }
}

fn u7_dropped_it_gives_its_share_back<P: ManualTimer>() {
    Fixture::<P>::each(|f| {
        drop(f.upgrade());
        assert_eq!(f.state(), (0, false, false, 0, 0, 0), "never polled");
        let plain = f.lock.try_read().expect("free");
        let mut upgrade = Task::queued(f.upgrade());
        let mut next = Task::queued(f.lock.upgradable_read());
        upgrade.cancel();
        assert_eq!((next.wakes(), P::armed()), (1, Some(0)), "queued");
        drop((plain, next.ready()));
        let plain = f.lock.try_read().expect("free");
        let upgrade = Task::queued(f.upgrade());
        let mut reader = Task::queued(f.lock.read());
        drop(plain);
        drop(upgrade);
        assert_eq!(reader.wakes(), 1, "granted");
        drop(reader.ready());
    });
}

fn u7_a_panic_gives_its_share_back<P: ManualTimer>() {
    // The waker of a reader that the upgrade lets in panics.
    Fixture::<P>::each(|f| {
        let plain = f.lock.try_read().expect("free");
        let mut upgrade = Task::queued(f.upgrade());
        let on_wake = hook(|| panic!("the waker panics"));
        let mut reader = Task::with_hooks(f.lock.read(), Hooks { on_wake, ..Hooks::default() });
        reader.pending();
        P::advance(LIMIT);
        assert_eq!(panics(|| upgrade.poll().is_ready()), "the waker panics");
        assert_eq!(f.state(), (2, false, false, 0, 0, 0), "the reader is in, the upgrade is gone");
        drop((plain, reader.ready()));
    });
    // The drop of the sleep panics, and comes last.
    Fixture::<P>::each(|f| {
        let plain = f.lock.try_read().expect("free");
        let mut upgrade = Task::queued(f.upgrade());
        P::advance(LIMIT);
        on_next(Use::Drop, || panic!("the sleep panics"));
        assert_eq!(panics(|| upgrade.poll().is_ready()), "the sleep panics");
        drop(upgrade);
        assert_eq!(f.state(), (1, false, false, 0, 0, 0));
        drop(plain);
    });
}

fn u7_it_can_be_tried_again<P: ManualTimer>() {
    Fixture::<P>::each(|f| {
        let plain = f.lock.try_read().expect("free");
        let mut upgrade = Task::queued(f.upgrade());
        let writer = Task::queued(f.lock.write());
        P::advance(LIMIT);
        let guard = f.fails(&mut upgrade);
        let mut again = Task::queued(guard.upgrade(f.how, Some(LIMIT)));
        drop(plain);
        **again.ready().expect("granted, before the writer") += 1;
        assert_eq!(writer.wakes(), 1);
        drop(writer);
        assert_eq!(*f.lock.try_read().expect("free"), 8);
    });
}

fn u7_as_another_error_it_drops_the_guard<P: ManualTimer>() {
    P::with(|| {
        let lock = RwLock::<u32, P>::new(7);
        let _plain = lock.try_read().expect("free");
        let mut failing = Task::new(async {
            let guard = lock.try_upgradable_read().expect("free");
            *RwLockUpgradableReadGuard::upgrade_timeout(guard, P::span(LIMIT)).await? += 1;
            Ok::<_, TimeoutError>(())
        });
        failing.pending();
        P::advance(LIMIT);
        assert!(failing.ready().expect_err("there is another reader").is_elapsed());
        assert!(!lock.state().upgradable);
        let mut refused = Task::new(async {
            let guard = lock.try_upgradable_read().expect("free");
            *RwLockUpgradableReadGuard::upgrade_timeout(guard, P::span(Duration::ZERO)).await? += 1;
            std::io::Result::Ok(())
        });
        let error = refused.ready().expect_err("zero");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        // The failed upgrade is an error itself, whatever the type of the data.
        let guard = lock.try_upgradable_read().expect("free");
        let mut failing =
            Task::new(RwLockUpgradableReadGuard::upgrade_until(guard, async { TimeoutError::InvalidTimeout }));
        let failed = failing.ready().expect_err("there is another reader");
        let error: &dyn core::error::Error = &failed;
        assert_eq!(error.to_string(), TimeoutError::InvalidTimeout.to_string());
        assert_eq!(format!("{error:?}"), "UpgradeError { error: InvalidTimeout, .. }");
        drop(failed);
    });
}

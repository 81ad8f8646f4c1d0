//! What a lock reports about operations with a limit.

use crate::diagnostics::{assert_empty, holders, marked, waiters};
use crate::tools::Task;
use crate::tools::clock::{PATIENCE, TestTimer};
use core::future::pending;
use core::time::Duration;
use fifolock_core::error::LockKind;
use fifolock_core::rwlock::RwLockUpgradableReadGuard;
use fifolock_core::{Mutex, RwLock};
use std::sync::Arc;

crate::rules! { ($) diagnostics_time_rules in diagnostics_time where TestTimer:
    m9_timed_forms_name_their_callers,
    m9_a_waiter_that_timed_out_is_not_named,
    m9_an_upgrade_that_gives_up_is_a_reader_still,
}

const HOUR: Duration = Duration::from_secs(3600);

fn m9_timed_forms_name_their_callers<P: TestTimer>() {
    P::with(|| {
        let span = || P::span(HOUR);
        let end = || P::instant_in(HOUR);
        let mutex = Arc::new(Mutex::<_, P>::new(1));
        let check = |line| {
            let held = holders(file!(), &mutex.diagnose());
            assert_eq!(held, [(line, LockKind::Mutex, false, 1)]);
        };
        let (guard, line) = marked!(Task::new(mutex.lock_timeout(span())).ready());
        check(line);
        drop(guard);
        let (guard, line) = marked!(Task::new(mutex.lock_deadline(end())).ready());
        check(line);
        drop(guard);
        let (guard, line) = marked!(Task::new(Arc::clone(&mutex).lock_owned_timeout(span())).ready());
        check(line);
        drop(guard);
        let (guard, line) = marked!(Task::new(Arc::clone(&mutex).lock_owned_deadline(end())).ready());
        check(line);
        drop(guard);
        let (run, line) = marked!(mutex.run_exclusive_timeout(span(), async |_| pending::<()>().await));
        let mut run = Task::new(run);
        run.pending();
        check(line);
        run.cancel();
        assert_empty(&mutex.diagnose());

        let lock = Arc::new(RwLock::<_, P>::new(1));
        let check = |line, kind| {
            assert_eq!(holders(file!(), &lock.diagnose()), [(line, kind, false, 1)]);
        };
        let (guard, line) = marked!(Task::new(lock.read_timeout(span())).ready());
        check(line, LockKind::Read);
        drop(guard);
        let (guard, line) = marked!(Task::new(lock.read_deadline(end())).ready());
        check(line, LockKind::Read);
        drop(guard);
        let (guard, line) = marked!(Task::new(lock.write_timeout(span())).ready());
        check(line, LockKind::Write);
        drop(guard);
        let (guard, line) = marked!(Task::new(lock.write_deadline(end())).ready());
        check(line, LockKind::Write);
        drop(guard);
        let (guard, line) = marked!(Task::new(Arc::clone(&lock).read_owned_timeout(span())).ready());
        check(line, LockKind::Read);
        drop(guard);
        let (guard, line) = marked!(Task::new(Arc::clone(&lock).read_owned_deadline(end())).ready());
        check(line, LockKind::Read);
        drop(guard);
        let (guard, line) = marked!(Task::new(Arc::clone(&lock).write_owned_timeout(span())).ready());
        check(line, LockKind::Write);
        drop(guard);
        let (guard, line) = marked!(Task::new(Arc::clone(&lock).write_owned_deadline(end())).ready());
        check(line, LockKind::Write);
        drop(guard);
        let (run, line) = marked!(lock.run_shared_timeout(span(), async |_| pending::<()>().await));
        let mut run = Task::new(run);
        run.pending();
        check(line, LockKind::Read);
        run.cancel();
        let (run, line) = marked!(lock.run_exclusive_timeout(span(), async |_| pending::<()>().await));
        let mut run = Task::new(run);
        run.pending();
        check(line, LockKind::Write);
        run.cancel();
        let (run, line) = marked!(lock.run_shared_deadline(end(), async |_| pending::<()>().await));
        let mut run = Task::new(run);
        run.pending();
        check(line, LockKind::Read);
        run.cancel();
        let (run, line) = marked!(lock.run_exclusive_until(pending::<()>(), async |_| pending::<()>().await));
        let mut run = Task::new(run);
        run.pending();
        check(line, LockKind::Write);
        run.cancel();
        let (guard, line) = marked!(lock.blocking_write_timeout(HOUR));
        check(line, LockKind::Write);
        drop(guard);
        let guard = lock.try_upgradable_read().expect("free");
        let (upgrade, line) = marked!(RwLockUpgradableReadGuard::upgrade_deadline(guard, end()));
        let guard = Task::new(upgrade).ready();
        check(line, LockKind::Write);
        drop(guard);
        assert_empty(&lock.diagnose());
    });
}

fn m9_an_upgrade_that_gives_up_is_a_reader_still<P: TestTimer>() {
    P::with(|| {
        let lock = RwLock::<_, P>::new(1);
        let (plain, plain_line) = marked!(lock.try_read().expect("free"));
        let (guard, line) = marked!(lock.try_upgradable_read().expect("free"));
        let (upgrade, upgrade_line) = marked!(RwLockUpgradableReadGuard::upgrade_timeout(guard, P::span(PATIENCE)));
        let mut upgrade = Task::queued(upgrade);
        let named = || (holders(file!(), &lock.diagnose()), waiters(file!(), &lock.diagnose()));
        let held = vec![(line, LockKind::UpgradableRead, false, 1), (plain_line, LockKind::Read, false, 1)];
        assert_eq!(named(), (held.clone(), vec![(upgrade_line, LockKind::Upgrade)]));
        P::advance(PATIENCE * 2);
        let guard = upgrade.ready().expect_err("there is another reader").guard;
        assert_eq!(named(), (held, vec![]));
        drop(plain);
        drop(RwLockUpgradableReadGuard::downgrade(guard));
        assert_empty(&lock.diagnose());
    });
}

fn m9_a_waiter_that_timed_out_is_not_named<P: TestTimer>() {
    P::with(|| {
        let mutex = Mutex::<_, P>::new(1);
        let guard = mutex.try_lock().expect("free");
        let (mut short, short_line) = marked!(Task::queued(mutex.lock_timeout(P::span(PATIENCE))));
        let (mut long, long_line) = marked!(Task::queued(mutex.lock_timeout(P::span(HOUR))));
        let named = || waiters(file!(), &mutex.diagnose());
        let at = |line| (line, LockKind::Mutex);
        assert_eq!(named(), [at(short_line), at(long_line)]);
        P::advance(PATIENCE * 2);
        // The waiter has not been polled since its deadline, so the waiter is still queued.
        assert_eq!(named(), [at(short_line), at(long_line)]);
        assert!(short.ready().expect_err("late").is_elapsed());
        assert_eq!(named(), [at(long_line)]);
        drop(guard);
        let held = holders(file!(), &mutex.diagnose());
        assert_eq!(held, [(long_line, LockKind::Mutex, true, 1)]);
        drop(long.ready().expect("granted"));
        assert_empty(&mutex.diagnose());
    });
}

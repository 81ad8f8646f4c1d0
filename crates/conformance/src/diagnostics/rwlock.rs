//! Reports of a read-write lock.

use super::{assert_empty, holders, marked, waiters};
use crate::tools::{Hooks, Platform, Task, counting_waker, hook, poll_once};
use core::cell::{Cell, RefCell};
use core::future::pending;
use core::mem;
use core::task::Poll;
use fifolock_core::RwLock;
use fifolock_core::diagnostics::{CALL_SITES, LISTED, LockReport};
use fifolock_core::error::LockKind;
use fifolock_core::rwlock::{
    OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLockMappedWriteGuard, RwLockReadGuard, RwLockUpgradableReadGuard,
    RwLockWriteGuard,
};
use std::rc::Rc;
use std::sync::Arc;

const READ: LockKind = LockKind::Read;
const WRITE: LockKind = LockKind::Write;

#[track_caller]
fn assert_holders<T: ?Sized, P: Platform>(lock: &RwLock<T, P>, expected: &[super::Held]) {
    let report = lock.diagnose();
    assert_eq!(holders(file!(), &report), expected);
    assert_eq!(report.holders_not_listed(), 0);
}

pub(super) fn m9_a_writer_is_named<P: Platform>() {
    let lock = Arc::new(RwLock::<_, P>::new(1));
    assert_eq!(lock.diagnose().to_string(), "read-write lock: free");
    let (guard, line) = marked!(lock.try_write().expect("free"));
    assert_holders(&lock, &[(line, WRITE, false, 1)]);
    drop(guard);
    assert_empty(&lock.diagnose());
    let (guard, line) = marked!(Task::new(lock.write()).ready());
    assert_holders(&lock, &[(line, WRITE, false, 1)]);
    drop(guard);
    let (guard, line) = marked!(Task::new(lock.write_until(pending::<()>())).ready());
    assert_holders(&lock, &[(line, WRITE, false, 1)]);
    drop(guard);
    let (guard, line) = marked!(lock.blocking_write());
    assert_holders(&lock, &[(line, WRITE, false, 1)]);
    drop(guard);
    let (guard, line) = marked!(Task::new(Arc::clone(&lock).write_owned()).ready());
    assert_holders(&lock, &[(line, WRITE, false, 1)]);
    drop(guard);
    let (guard, line) = marked!(Arc::clone(&lock).try_write_owned().expect("free"));
    assert_holders(&lock, &[(line, WRITE, false, 1)]);
    drop(guard);
    assert_empty(&lock.diagnose());
}

pub(super) fn m9_readers_are_counted_by_call_site<P: Platform>() {
    let lock = Arc::new(RwLock::<_, P>::new(1));
    let (mut three, line_a) = marked!([(); 3].map(|()| Some(lock.try_read().expect("no writer"))));
    let (b, line_b) = marked!(Task::new(lock.read()).ready());
    let (c, line_c) = marked!(Arc::clone(&lock).try_read_owned().expect("no writer"));
    let (d, line_d) = marked!(Task::new(Arc::clone(&lock).read_owned()).ready());
    let (e, line_e) = marked!(Task::new(lock.read_until(pending::<()>())).ready());
    let (f, line_f) = marked!(lock.blocking_read());
    let one = |line| (line, READ, false, 1);
    let rest = [one(line_b), one(line_c), one(line_d), one(line_e), one(line_f)];
    assert_holders(&lock, &[[(line_a, READ, false, 3)].as_slice(), &rest].concat());
    assert!(lock.diagnose().to_string().contains(" (3 times)"));

    three[1] = None;
    assert_holders(&lock, &[[(line_a, READ, false, 2)].as_slice(), &rest].concat());
    three[0] = None;
    assert_holders(&lock, &[[one(line_a)].as_slice(), &rest].concat());
    drop((b, c, d, e, f));
    assert_holders(&lock, &[one(line_a)]);
    drop(three);
    assert_empty(&lock.diagnose());

    let (guard, line) = marked!(lock.try_read().expect("no writer"));
    mem::forget(guard);
    assert_holders(&lock, &[one(line)]);
}

pub(super) fn m9_one_call_is_one_site_whatever_its_types<P: Platform>() {
    fn read<T, P: Platform>(lock: &RwLock<T, P>) -> (RwLockReadGuard<'_, T, P>, u32) {
        marked!(lock.try_read().expect("no writer"))
    }
    /// Each type `U` has an instance of this function, but all instances share one call site.
    fn read_as<U: Default, P: Platform>(lock: &RwLock<u32, P>) -> (RwLockReadGuard<'_, u32, P>, u32) {
        let _ = U::default();
        marked!(lock.try_read().expect("no writer"))
    }
    let lock = RwLock::<u32, P>::new(1);
    let (a, line) = read_as::<u8, P>(&lock);
    let (b, _) = read_as::<String, P>(&lock);
    let (c, other_line) = read(&lock);
    assert_holders(&lock, &[(line, READ, false, 2), (other_line, READ, false, 1)]);
    drop((a, b, c));
    assert_empty(&lock.diagnose());
}

/// A function that reads, with a call site of its own.
type Site<P> = fn(&RwLock<i32, P>) -> RwLockReadGuard<'_, i32, P>;

pub(super) fn m9_readers_of_many_sites_are_counted_elsewhere<P: Platform>() {
    let lock = RwLock::<_, P>::new(1);
    let first = line!() + 2;
    let sites: [Site<P>; CALL_SITES + 2] = [
        |lock| lock.try_read().expect("no writer"),
        |lock| lock.try_read().expect("no writer"),
        |lock| lock.try_read().expect("no writer"),
        |lock| lock.try_read().expect("no writer"),
        |lock| lock.try_read().expect("no writer"),
        |lock| lock.try_read().expect("no writer"),
        |lock| lock.try_read().expect("no writer"),
        |lock| lock.try_read().expect("no writer"),
        |lock| lock.try_read().expect("no writer"),
        |lock| lock.try_read().expect("no writer"),
    ];
    let line = |n: usize| first + n as u32;
    let listed = |report: &LockReport| holders(file!(), report).iter().map(|it| (it.0, it.3)).collect::<Vec<_>>();

    let mut guards: Vec<_> = sites.iter().map(|site| Some(site(&lock))).collect();
    let report = lock.diagnose();
    assert_eq!(listed(&report), (0..CALL_SITES).map(|n| (line(n), 1)).collect::<Vec<_>>());
    assert_eq!(report.holders_not_listed(), 2);
    assert!(report.to_string().contains("\n  held elsewhere (2 times)"), "{report}");
    // A call site that is listed keeps counting when the table is full.
    let again = sites[3](&lock);
    assert_eq!(listed(&lock.diagnose())[3], (line(3), 2));
    drop(again);

    // A guard of an unlisted call site is dropped, then a guard of a listed one. Another call site takes the free
    // entry.
    guards[CALL_SITES] = None;
    assert_eq!(lock.diagnose().holders_not_listed(), 1);
    guards[0] = None;
    let report = lock.diagnose();
    assert_eq!((report.holders().len(), report.holders_not_listed()), (CALL_SITES - 1, 1));
    let last = sites[CALL_SITES + 1](&lock);
    let report = lock.diagnose();
    assert_eq!((report.holders().len(), report.holders_not_listed()), (CALL_SITES, 1));
    assert_eq!(listed(&report)[0], (line(CALL_SITES + 1), 1));
    // One of the two guards of that call site is listed; the test drops them in either order.
    guards[CALL_SITES + 1] = None;
    let report = lock.diagnose();
    assert_eq!((report.holders().len(), report.holders_not_listed()), (CALL_SITES - 1, 1));
    drop(last);
    let report = lock.diagnose();
    assert_eq!((report.holders().len(), report.holders_not_listed()), (CALL_SITES - 1, 0));
    drop(guards);
    assert_empty(&lock.diagnose());
}

pub(super) fn m9_writers_are_listed_before_readers<P: Platform>() {
    let lock = RwLock::<_, P>::new(1);
    let (guard, line) = marked!(lock.try_write().expect("free"));
    let (r1, line_r1) = marked!(Task::queued(lock.read()));
    let (w1, line_w1) = marked!(Task::queued(lock.write()));
    let (r2, line_r2) = marked!(Task::queued(lock.read()));
    let (w2, line_w2) = marked!(Task::queued(lock.write()));
    let report = lock.diagnose();
    assert_eq!(holders(file!(), &report), [(line, WRITE, false, 1)]);
    let expected = [(line_w1, WRITE), (line_w2, WRITE), (line_r1, READ), (line_r2, READ)];
    assert_eq!(waiters(file!(), &report), expected);
    let [w1_at, w2_at, r1_at, r2_at] = report.waiters() else { panic!("{report:?}") };
    assert_eq!(
        report.to_string(),
        format!(
            "read-write lock:\n  held to write by {}\n  waiting to write, the next first:\n    {w1_at}\n    {w2_at}\n  \
             waiting to read, the next first:\n    {r1_at}\n    {r2_at}",
            report.holders()[0].location
        )
    );
    drop((r1, w2));
    assert_eq!(waiters(file!(), &lock.diagnose()), [(line_w1, WRITE), (line_r2, READ)]);
    drop((w1, r2));

    // One report has room for `LISTED` waiters of each kind; there are two more of each.
    let writers: Vec<_> = (0..LISTED + 2).map(|_| Task::queued(lock.write())).collect();
    let readers: Vec<_> = (0..LISTED + 3).map(|_| Task::queued(lock.read())).collect();
    let report = lock.diagnose();
    let kinds: Vec<_> = report.waiters().iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [[WRITE; LISTED], [READ; LISTED]].concat());
    assert_eq!(report.waiters_not_listed(), 5);
    drop((writers, readers));
    drop(guard);
    assert_empty(&lock.diagnose());
}

pub(super) fn m9_a_downgraded_guard_is_named_as_a_reader<P: Platform>() {
    let lock = Arc::new(RwLock::<_, P>::new((1, 2)));
    let (guard, line) = marked!(lock.try_write().expect("free"));
    assert_holders(&lock, &[(line, WRITE, false, 1)]);
    let guard = guard.downgrade();
    assert_holders(&lock, &[(line, READ, false, 1)]);
    drop(guard);
    assert_empty(&lock.diagnose());

    let (guard, line) = marked!(Arc::clone(&lock).try_write_owned().expect("free"));
    let mut reader = Task::queued(lock.read());
    let mut writer = Task::queued(lock.write());
    writer.cancel();
    let guard = OwnedRwLockWriteGuard::downgrade_map(guard, |data| &data.0);
    let report = lock.diagnose();
    let found: Vec<_> = holders(file!(), &report).into_iter().filter(|it| it.0 == line).collect();
    assert_eq!(found, [(line, READ, false, 1)]);
    drop(guard);
    drop(reader.ready());
    assert_empty(&lock.diagnose());

    let (guard, line) = marked!(lock.try_write().expect("free"));
    let Err(guard) = RwLockWriteGuard::try_downgrade_map(guard, |_| None::<&u8>) else { panic!("refused") };
    assert_holders(&lock, &[(line, WRITE, false, 1)]);
    let guard = RwLockWriteGuard::try_downgrade_map(guard, |data| Some(&data.1)).unwrap_or_else(|_| panic!("found"));
    assert_holders(&lock, &[(line, READ, false, 1)]);
    drop(guard);
    assert_empty(&lock.diagnose());
}

pub(super) fn m9_a_mapped_guard_keeps_its_place<P: Platform>() {
    let lock = Arc::new(RwLock::<_, P>::new((1, 2)));
    let (guard, line) = marked!(lock.try_read().expect("free"));
    let (owned, owned_line) = marked!(Arc::clone(&lock).try_read_owned().expect("no writer"));
    let guard = RwLockReadGuard::map(guard, |data| &data.0);
    let owned = OwnedRwLockReadGuard::map(owned, |data| &data.1);
    assert_holders(&lock, &[(line, READ, false, 1), (owned_line, READ, false, 1)]);
    drop(guard);
    assert_holders(&lock, &[(owned_line, READ, false, 1)]);
    drop(owned);

    let (guard, line) = marked!(lock.try_write().expect("free"));
    let guard = RwLockWriteGuard::into_mapped(guard);
    let guard = RwLockMappedWriteGuard::map(guard, |data| &mut data.0);
    assert_holders(&lock, &[(line, WRITE, false, 1)]);
    drop(guard);
    assert_empty(&lock.diagnose());
}

pub(super) fn m9_run_is_named_by_its_caller<P: Platform>() {
    let lock = RwLock::<_, P>::new(1);
    let (shared, line) = marked!(lock.run_shared(async |_| pending::<()>().await));
    let mut shared = Task::new(shared);
    shared.pending();
    assert_holders(&lock, &[(line, READ, false, 1)]);
    let (exclusive, exclusive_line) = marked!(lock.run_exclusive(async |_| pending::<()>().await));
    let mut exclusive = Task::queued(exclusive);
    assert_eq!(waiters(file!(), &lock.diagnose()), [(exclusive_line, WRITE)]);
    shared.cancel();
    exclusive.pending();
    assert_holders(&lock, &[(exclusive_line, WRITE, false, 1)]);
    exclusive.cancel();
    assert_empty(&lock.diagnose());
}

pub(super) fn f24_an_unclaimed_writer_is_named<P: Platform>() {
    let lock = RwLock::<_, P>::new(1);
    let guard = lock.try_read().expect("free");
    let (mut writer, line) = marked!(Task::queued(lock.write()));
    drop(guard);
    assert_holders(&lock, &[(line, WRITE, true, 1)]);
    assert!(lock.diagnose().to_string().contains("granted to write to "));
    let guard = writer.ready();
    assert_holders(&lock, &[(line, WRITE, false, 1)]);
    drop(guard);
    assert_empty(&lock.diagnose());
}

pub(super) fn f24_unclaimed_readers_are_named<P: Platform>() {
    let lock = RwLock::<_, P>::new(1);
    let guard = lock.try_write().expect("free");
    let (mut a, line_a) = marked!(Task::queued(lock.read()));
    let (mut b, line_b) = marked!(Task::queued(lock.read()));
    let (mut c, line_c) = marked!(Task::queued(lock.read()));
    drop(guard);
    let unclaimed = |line| (line, READ, true, 1);
    assert_holders(&lock, &[unclaimed(line_a), unclaimed(line_b), unclaimed(line_c)]);
    let guard = b.ready();
    assert_holders(&lock, &[(line_b, READ, false, 1), unclaimed(line_a), unclaimed(line_c)]);
    a.cancel();
    assert_holders(&lock, &[(line_b, READ, false, 1), unclaimed(line_c)]);
    drop(guard);
    assert_holders(&lock, &[unclaimed(line_c)]);
    drop(c.ready());
    assert_empty(&lock.diagnose());
}

pub(super) fn f24_a_batch_is_accounted_for_while_it_is_marked<P: Platform>() {
    const SIZE: usize = 100;
    let lock = Arc::new(RwLock::<_, P>::new(1));
    let guard = Arc::clone(&lock).try_write_owned().expect("free");
    let woken = Rc::new(Cell::new(0));
    let reports = Rc::new(RefCell::new(Vec::new()));
    let line = Cell::new(0);
    let mut readers: Vec<_> = (0..SIZE)
        .map(|_| {
            let (lock, woken, reports) = (Arc::clone(&lock), Rc::clone(&woken), Rc::clone(&reports));
            let on_wake = hook({
                let lock = Arc::clone(&lock);
                move || {
                    woken.set(woken.get() + 1);
                    reports.borrow_mut().push(lock.diagnose());
                }
            });
            let (read, at) = marked!(lock.read_owned());
            line.set(at);
            let mut reader = Task::with_hooks(read, Hooks { on_wake, ..Hooks::default() });
            reader.pending();
            reader
        })
        .collect();
    drop(guard);
    assert_eq!(woken.get(), SIZE);
    for report in reports.borrow().iter() {
        assert_eq!(holders(file!(), report), [(line.get(), READ, true, 1); LISTED]);
        assert_eq!(report.holders_not_listed(), SIZE - LISTED);
        assert!(report.waiters().is_empty() && report.waiters_not_listed() == 0, "{report}");
    }
    for reader in &mut readers {
        drop(reader.ready());
    }
    assert_empty(&lock.diagnose());
}

/// The release reserves the shares of a batch before it marks the members.
pub(super) fn f24_members_before_their_mark_are_unclaimed_holders<P: Platform>() {
    const SIZE: usize = 40;
    const REST: usize = 8;
    let lock = Arc::new(RwLock::<_, P>::new(1));
    let guard = Arc::clone(&lock).try_write_owned().expect("free");
    let tasks = Rc::new(RefCell::new(Vec::new()));
    let guards = Rc::new(RefCell::new(Vec::new()));
    let found = Rc::new(RefCell::new(None));
    let line = Cell::new(0);
    for n in 0..SIZE {
        let (lock, tasks, guards, found) =
            (Arc::clone(&lock), Rc::clone(&tasks), Rc::clone(&guards), Rc::clone(&found));
        let (read, at) = marked!(Arc::clone(&lock).read_owned());
        line.set(at);
        let members = Rc::clone(&tasks);
        let on_wake = hook(move || {
            // Every marked member claims, so the other members are all the unclaimed ones.
            if n == 0 {
                let mut tasks: Vec<Task<_>> = members.take();
                for task in &mut tasks {
                    if let Poll::Ready(guard) = task.poll() {
                        guards.borrow_mut().push(guard);
                    }
                }
                *found.borrow_mut() = Some((guards.borrow().len(), lock.diagnose(), tasks));
            }
        });
        let mut task = Task::with_hooks(read, Hooks { on_wake, ..Hooks::default() });
        task.pending();
        tasks.borrow_mut().push(task);
    }
    let late = Arc::clone(&lock);
    drop(guard);
    let (claimed, report, tasks) = found.take().expect("woken");
    assert_eq!(claimed, SIZE - REST, "the size of a chunk");
    let expected = [(line.get(), READ, false, claimed)].into_iter();
    let expected: Vec<_> = expected.chain([(line.get(), READ, true, 1); REST]).collect();
    assert_eq!(holders(file!(), &report), expected);
    assert_eq!(report.holders_not_listed(), 0);
    assert_eq!((report.waiters().len(), report.waiters_not_listed()), (0, 0));
    drop(tasks);
    drop(guards.take());
    assert_empty(&late.diagnose());
}

/// F25: a task that reads twice, with a waiting writer in between, waits for itself. The report shows the cycle.
pub(super) fn f25_reading_twice_around_a_writer<P: Platform>() {
    let lock = RwLock::<_, P>::new(1);
    let (outer, outer_line) = marked!(Task::new(lock.read()).ready());
    let (writer, writer_line) = marked!(Task::queued(lock.write()));
    assert!(lock.try_read().is_err());
    let (inner, inner_line) = marked!(Task::queued(lock.read()));
    let report = lock.diagnose();
    assert_eq!(holders(file!(), &report), [(outer_line, READ, false, 1)]);
    assert_eq!(waiters(file!(), &report), [(writer_line, WRITE), (inner_line, READ)]);
    drop((inner, writer));
    drop(outer);
    assert_empty(&lock.diagnose());
}

/// The report shows a read whose share was stolen as a waiting reader.
pub(super) fn m9_a_robbed_read_is_printed<P: Platform>() {
    let lock = RwLock::<_, P>::new(1);
    let (waker, _count) = counting_waker();
    let held = lock.try_write().expect("free");
    let (read, read_line) = marked!(lock.read());
    let mut read = Box::pin(read);
    assert!(poll_once(&mut read, &waker).is_pending());
    let reader = RwLockWriteGuard::downgrade(held);
    let (waits, waits_line) = marked!(lock.write());
    let mut waits = Box::pin(waits);
    // The write steals the share of the read, and waits for the reader of another task.
    for _ in 0..3 {
        assert!(poll_once(&mut waits, &waker).is_pending());
    }
    assert_eq!(lock.state().readers, 1);
    let report = lock.diagnose();
    assert_eq!(waiters(file!(), &report), [(waits_line, WRITE), (read_line, READ)]);
    let text = report.to_string();
    assert!(text.contains(&format!(":{read_line}:")), "the read at line {read_line} is not named:\n{text}");
    drop((read, waits, reader));
    assert_empty(&lock.diagnose());
}

/// The report names upgradable readers and upgrades as such, both holders and waiters.
pub(super) fn m9_upgradable_readers_and_upgrades_are_named<P: Platform>() {
    let lock = RwLock::<_, P>::new(1);
    let (upgradable, line) = marked!(Task::new(lock.upgradable_read()).ready());
    let (reader, reader_line) = marked!(Task::new(lock.read()).ready());
    let (other, other_line) = marked!(Task::queued(lock.upgradable_read()));
    let expected = [(line, LockKind::UpgradableRead, false, 1), (reader_line, READ, false, 1)];
    assert_eq!(holders(file!(), &lock.diagnose()), expected);

    let (upgrade, upgrade_line) = marked!(Task::queued(RwLockUpgradableReadGuard::upgrade(upgradable)));
    let report = lock.diagnose();
    assert_eq!(holders(file!(), &report), expected, "an upgrade keeps its share while it waits");
    let waiting = [(upgrade_line, LockKind::Upgrade), (other_line, LockKind::UpgradableRead)];
    assert_eq!(waiters(file!(), &report), waiting);
    let text = report.to_string();
    for (at, what) in [(upgrade_line, "to upgrade"), (other_line, "to read upgradably")] {
        assert!(text.contains(what) && text.contains(&format!(":{at}:")), "{what} at {at}: {text}");
    }
    drop(reader);
    let report = lock.diagnose();
    assert_eq!(holders(file!(), &report), [(upgrade_line, WRITE, true, 1)], "granted, and not polled");
    drop((upgrade, other));
    assert_empty(&lock.diagnose());
}

//! Reports of a mutex.

use super::{assert_empty, holders, marked, waiters};
use crate::tools::{Platform, Task, sections};
use core::cell::Cell;
use core::fmt;
use core::future::{pending, ready};
use core::mem;
use fifolock_core::Mutex;
use fifolock_core::diagnostics::{LISTED, LockReport};
use fifolock_core::error::LockKind;
use fifolock_core::mutex::{MappedMutexGuard, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
use std::sync::{Arc, Weak};

const MUTEX: LockKind = LockKind::Mutex;

/// Asserts that the mutex has one holder, which has claimed the lock at this line of this file.
#[track_caller]
fn assert_held<T: ?Sized, P: Platform>(mutex: &Mutex<T, P>, line: u32) {
    let report = mutex.diagnose();
    assert_eq!(holders(file!(), &report), [(line, MUTEX, false, 1)]);
    assert_eq!(report.holders_not_listed(), 0);
}

pub(super) fn m9_a_mutex_names_its_holder<P: Platform>() {
    let lock = Arc::new(Mutex::<_, P>::new((1, 2)));
    let mutex = &*lock;
    let owned = || Arc::clone(&lock);
    assert_empty(&mutex.diagnose());

    // Inside a macro, `line!()` is the line of the macro call. So the lines of the calls are counted from here.
    let first = line!() + 11;
    let mut lines = first..;
    macro_rules! each {
        ($($taken:expr;)+) => {$(
            let (guard, line) = ($taken, lines.next().expect("a line for each"));
            assert_held(mutex, line);
            drop(guard);
            assert_empty(&mutex.diagnose());
        )+};
    }
    each! {
        mutex.try_lock().expect("free");
        Task::new(mutex.lock()).ready();
        Task::new(mutex.lock_until(pending::<()>())).ready().expect("free");
        mutex.blocking_lock();
        owned().try_lock_owned().expect("free");
        Task::new(owned().lock_owned()).ready();
        owned().blocking_lock_owned();
        MutexGuard::map(mutex.try_lock().expect("free"), |data| &mut data.0);
        MappedMutexGuard::map(MutexGuard::map(mutex.try_lock().expect("free"), |data| data), |data| &mut data.1);
        OwnedMutexGuard::map(owned().try_lock_owned().expect("free"), |data| &mut data.0);
        OwnedMappedMutexGuard::map(OwnedMutexGuard::map(owned().blocking_lock_owned(), |data| data), |data| data);
    }
    assert_eq!(lines.next(), Some(first + 11), "each stands in a line of its own");
}

pub(super) fn m9_run_exclusive_is_named_by_its_caller<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    let (run, line) = marked!(mutex.run_exclusive(async |_| pending::<()>().await));
    let mut run = Task::new(run);
    run.pending();
    assert_held(&mutex, line);

    let (next, next_line) = marked!(mutex.run_exclusive(async |_| pending::<()>().await));
    let mut next = Task::queued(next);
    assert_eq!(waiters(file!(), &mutex.diagnose()), [(next_line, MUTEX)]);
    run.cancel();
    next.pending();
    assert_held(&mutex, next_line);
    next.cancel();
    assert_empty(&mutex.diagnose());
}

pub(super) fn m9_waiters_are_named_in_order<P: Platform>() {
    let mutex = Arc::new(Mutex::<_, P>::new(1));
    let guard = mutex.try_lock().expect("free");
    let (mut a, line_a) = marked!(Task::queued(mutex.lock()));
    let (mut b, line_b) = marked!(Task::queued(Arc::clone(&mutex).lock_owned()));
    let (mut c, line_c) = marked!(Task::queued(mutex.lock_until(pending::<()>())));
    let (d, line_d) = marked!(mutex.lock());
    let (e, line_e) = marked!(Task::queued(mutex.lock()));
    let named = || waiters(file!(), &mutex.diagnose());
    let mutex_at = |lines: &[u32]| lines.iter().map(|line| (*line, MUTEX)).collect::<Vec<_>>();
    assert_eq!(named(), mutex_at(&[line_a, line_b, line_c, line_e]));

    // Waiters are listed in the order of their first polls. Each line is that of the call.
    let mut d = Task::queued(d);
    assert_eq!(named(), mutex_at(&[line_a, line_b, line_c, line_e, line_d]));

    b.cancel();
    assert_eq!(named(), mutex_at(&[line_a, line_c, line_e, line_d]));
    drop(e);
    assert_eq!(named(), mutex_at(&[line_a, line_c, line_d]));

    drop(guard);
    let guard = a.ready();
    assert_held(&mutex, line_a);
    drop(guard);
    let guard = c.ready().expect("granted");
    assert_held(&mutex, line_c);
    assert_eq!(named(), mutex_at(&[line_d]));
    // A waiter that has given up is not listed.
    assert!(Task::new(mutex.lock_until(ready(()))).ready().is_err());
    assert_eq!(named(), mutex_at(&[line_d]));
    drop(guard);
    drop(d.ready());
    assert_empty(&mutex.diagnose());
}

pub(super) fn m9_a_long_queue_is_listed_in_part<P: Platform>() {
    const MORE: usize = 5;
    let mutex = Mutex::<_, P>::new(1);
    let guard = mutex.try_lock().expect("free");
    let (tasks, line) = marked!((0..LISTED + MORE).map(|_| Task::queued(mutex.lock())).collect::<Vec<_>>());
    let report = mutex.diagnose();
    assert_eq!(waiters(file!(), &report), [(line, MUTEX); LISTED]);
    assert_eq!(report.waiters_not_listed(), MORE);
    assert!(report.to_string().ends_with("\n    and 5 more"), "{report}");
    drop(tasks);
    drop(guard);
    assert_empty(&mutex.diagnose());
}

pub(super) fn m9_a_view_of_the_same_mutex_says_the_same<P: Platform>() {
    enum View<P> {
        #[allow(dead_code, reason = "never made")]
        Never(P),
    }
    impl<P: Platform> fifolock_core::platform::Platform for View<P> {
        type Raw = P::Raw;
    }
    let mutex = Mutex::<_, P>::new(1);
    let (guard, line) = marked!(mutex.on::<View<P>>().try_lock().expect("free"));
    assert_held(&mutex, line);
    drop(guard);
}

pub(super) fn m9_a_forgotten_guard_is_named<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    let (guard, line) = marked!(mutex.try_lock().expect("free"));
    mem::forget(guard);
    assert_held(&mutex, line);
}

pub(super) fn m9_a_report_prints_as_text<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    assert_eq!(mutex.diagnose().to_string(), "mutex: free");
    let guard = mutex.try_lock().expect("free");
    let mut first = Task::queued(mutex.lock());
    let second = Task::queued(mutex.lock());
    let report = mutex.diagnose();
    let [holder, ..] = report.holders() else { panic!("{report:?}") };
    let [a, b] = report.waiters() else { panic!("{report:?}") };
    let text = format!(
        "mutex:\n  held by {}\n  waiting, the next first:\n    {}\n    {}",
        holder.location, a.location, b.location
    );
    assert_eq!(report.to_string(), text);
    assert!(format!("{report:?}").contains("LockReport"));

    drop(guard);
    let report = mutex.diagnose();
    let granted = format!("\n  granted to {}, which has not been polled since", a.location);
    assert!(report.to_string().contains(&granted), "{report}");
    drop(second);
    drop(first.ready());
}

pub(super) fn m10_a_report_changes_nothing<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    let guard = mutex.try_lock().expect("free");
    let mut tasks: Vec<_> = (0..3).map(|_| Task::queued(mutex.lock())).collect();
    let state = mutex.state();
    let before = sections();
    let report = mutex.diagnose();
    assert!(sections() - before <= 1, "a snapshot is one section");
    assert_eq!(mutex.diagnose().to_string(), report.to_string());
    assert_eq!(mutex.state(), state);
    assert!(tasks.iter().all(|task| task.wakes() == 0 && task.wakers_kept() == 1));
    drop(guard);
    for task in &mut tasks {
        let before = mutex.diagnose().to_string();
        assert_eq!(mutex.diagnose().to_string(), before);
        assert_eq!(task.wakes(), 1);
        drop(task.ready());
    }
    assert_empty(&mutex.diagnose());
}

pub(super) fn m10_debug_leaves_no_holder_behind<P: Platform>() {
    /// Reports on its own lock while `Debug` prints it.
    struct Looks<P: Platform>(Weak<Mutex<Self, P>>, Cell<Option<LockReport>>);
    impl<P: Platform> fmt::Debug for Looks<P> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.1.set(self.0.upgrade().map(|mutex| mutex.diagnose()));
            f.write_str("data")
        }
    }
    let mutex = Arc::<Mutex<_, P>>::new_cyclic(|this| Mutex::new(Looks(Weak::clone(this), Cell::default())));
    assert_eq!(format!("{mutex:?}"), "Mutex { data: data }");
    assert_empty(&mutex.diagnose());
    let report = mutex.try_lock().expect("free").1.take().expect("it was printed");
    let [holder] = report.holders() else { panic!("{report}") };
    assert!(holder.location.file().contains("fifolock-core"), "{report}");
}

pub(super) fn f24_a_granted_waiter_is_named_as_unclaimed<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    let guard = mutex.try_lock().expect("free");
    let (mut chosen, chosen_line) = marked!(Task::queued(mutex.lock()));
    let (next, next_line) = marked!(Task::queued(mutex.lock()));
    drop(guard);
    let report = mutex.diagnose();
    assert_eq!(holders(file!(), &report), [(chosen_line, MUTEX, true, 1)]);
    assert_eq!(waiters(file!(), &report), [(next_line, MUTEX)]);

    let guard = chosen.ready();
    assert_held(&mutex, chosen_line);
    drop(next);
    drop(guard);
    assert_empty(&mutex.diagnose());
}

pub(super) fn f24_a_dropped_grant_is_that_of_the_next<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    let guard = mutex.try_lock().expect("free");
    let mut chosen = Task::queued(mutex.lock());
    let (mut next, line) = marked!(Task::queued(mutex.lock()));
    drop(guard);
    chosen.cancel();
    let report = mutex.diagnose();
    assert_eq!(holders(file!(), &report), [(line, MUTEX, true, 1)]);
    assert!(report.waiters().is_empty());
    next.cancel();
    assert_empty(&mutex.diagnose());
}

/// A task parks a granted future and locks again.
pub(super) fn f24_chosen_but_never_polled<P: Platform>() {
    let mutex = Mutex::<_, P>::new(1);
    let guard = mutex.try_lock().expect("free");
    let (kept, kept_line) = marked!(Task::queued(mutex.lock()));
    drop(guard);
    let (mut again, again_line) = marked!(Task::queued(mutex.lock()));
    let report = mutex.diagnose();
    assert_eq!(holders(file!(), &report), [(kept_line, MUTEX, true, 1)]);
    assert_eq!(waiters(file!(), &report), [(again_line, MUTEX)]);
    // The report recommends to drop the parked future.
    drop(kept);
    let guard = again.ready();
    assert_held(&mutex, again_line);
    drop(guard);
}

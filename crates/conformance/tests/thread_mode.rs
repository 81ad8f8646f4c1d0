//! `Embassy<ThreadModeRawMutex>`. On a host, thread mode is the thread called "main", so this test program has a `main`
//! of its own that runs the rules on that thread. A case that must end in an abort (K9) runs in a child process.

use core::panic::AssertUnwindSafe;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use embassy_sync::blocking_mutex::raw::ThreadModeRawMutex;
use fifolock::embassy::{Embassy, Mutex, RwLock, RwLockUpgradableReadGuard};
use fifolock_conformance::tools::Watched;
use fifolock_conformance::{foreign, mutex, rwlock, time, tools, until};
use fifolock_core::platform::Platform;
use std::panic::catch_unwind;
use std::process::{Command, ExitCode};
use std::time::Instant;
use std::{env, thread};

type Locks = Embassy<ThreadModeRawMutex>;
type WatchedLocks = Watched<<Locks as Platform>::Raw>;
type Test = (String, Box<dyn FnOnce()>);

/// Names the case that a child process runs.
const CASE: &str = "FIFOLOCK_THREAD_MODE_CASE";

/// The output of a child that is still alive after its case.
const ALIVE: &str = "still alive";

static MUTEX: Mutex<ThreadModeRawMutex, u32> = Mutex::new(0);
static RWLOCK: RwLock<ThreadModeRawMutex, u32> = RwLock::new(0);

/// Cases that would leave a waiter in the queue if they did not end the program.
const CASES: &[(&str, fn())] = &[
    ("queued_lock", || {
        let _held = MUTEX.try_lock().expect("free");
        let _ = elsewhere(tools::queued(MUTEX.lock()).0, drop);
    }),
    ("granted_lock", || {
        let held = MUTEX.try_lock().expect("free");
        let waiter = tools::queued(MUTEX.lock()).0;
        drop(held);
        let _ = elsewhere(waiter, drop);
    }),
    ("queued_timeout", || {
        let _held = MUTEX.try_lock().expect("free");
        let _ = elsewhere(tools::queued(MUTEX.lock_timeout(embassy_time::Duration::from_secs(1))).0, drop);
    }),
    ("queued_run", || {
        let _held = MUTEX.try_lock().expect("free");
        let _ = elsewhere(tools::queued(MUTEX.run_exclusive(async |_| ())).0, drop);
    }),
    ("queued_read", || {
        let _held = RWLOCK.try_write().expect("free");
        let _ = elsewhere(tools::queued(RWLOCK.read()).0, drop);
    }),
    ("queued_write", || {
        let _held = RWLOCK.try_read().expect("free");
        let _ = elsewhere(tools::queued(RWLOCK.write()).0, drop);
    }),
    ("queued_upgrade", || {
        let share = RWLOCK.try_upgradable_read().expect("free");
        let _other = RWLOCK.try_read().expect("shared");
        let _ = elsewhere(tools::queued(RwLockUpgradableReadGuard::upgrade(share)).0, drop);
    }),
    ("queued_poll", || {
        let _held = MUTEX.try_lock().expect("free");
        // The poll alone would panic, but here the other thread drops the future too.
        let _ = elsewhere(tools::queued(MUTEX.lock()).0, |mut waiter| drop(polled(waiter.as_mut())));
    }),
];

/// Runs `f` on another thread, and catches its panic.
fn elsewhere<T: Send>(value: T, f: impl FnOnce(T) + Send) -> thread::Result<()> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("elsewhere".to_owned());
        thread.spawn_scoped(scope, || catch_unwind(AssertUnwindSafe(|| f(value)))).expect("a thread").join()?
    })
}

fn polled<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Runs `f` on another thread, where it must panic with the message of the raw mutex.
fn is_refused<T: Send>(value: T, f: impl FnOnce(T) + Send) {
    let panic = elsewhere(value, f).expect_err("it was not refused");
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(|text| &**text));
    assert!(text.is_some_and(|text| text.contains("can only be locked from thread mode")), "{text:?}");
}

/// If no waiter would stay in the queue, a refusal is a panic, as embassy-sync's, and leaves the lock unchanged.
fn k9_a_refusal_that_leaves_nothing_behind_is_a_panic() {
    is_refused((), |()| drop(MUTEX.try_lock()));
    is_refused((), |()| assert!(!MUTEX.state().locked));
    is_refused((), |()| assert!(!MUTEX.is_locked()));
    is_refused((), |()| drop(polled(pin!(MUTEX.lock()))));
    is_refused((), |()| drop(polled(pin!(MUTEX.lock_timeout(embassy_time::Duration::from_secs(1))))));
    is_refused((), |()| assert!(polled(pin!(MUTEX.run_exclusive(async |_| ()))).is_ready()));
    is_refused((), |()| drop(RWLOCK.try_read()));
    is_refused((), |()| drop(RWLOCK.try_write()));
    is_refused((), |()| assert_eq!(RWLOCK.state().readers, 0));
    is_refused((), |()| drop(polled(pin!(RWLOCK.read()))));
    is_refused((), |()| drop(polled(pin!(RWLOCK.write()))));
    assert!(MUTEX.try_lock().is_ok() && RWLOCK.try_write().is_ok());
}

/// A queued future that another thread polls keeps its place.
fn k9_a_queued_future_survives_a_refused_poll() {
    let held = MUTEX.try_lock().expect("free");
    let mut waiter = tools::queued(MUTEX.lock()).0;
    is_refused(waiter.as_mut(), |waiter| drop(polled(waiter)));
    assert_eq!(MUTEX.queued(), 1);
    drop(held);
    assert!(polled(waiter.as_mut()).is_ready());
    let held = RWLOCK.try_write().expect("free");
    let mut waiter = tools::queued(RWLOCK.read()).0;
    is_refused(waiter.as_mut(), |waiter| drop(polled(waiter)));
    drop(held);
    assert!(polled(waiter.as_mut()).is_ready());
}

/// A guard that another thread drops panics, as embassy-sync's, and the lock stays locked.
fn k9_a_lock_stays_locked_if_its_release_is_refused() {
    let mutex = Mutex::<ThreadModeRawMutex, u32>::new(0);
    is_refused(mutex.try_lock().expect("free"), drop);
    assert!(mutex.is_locked());
    let rwlock = RwLock::<ThreadModeRawMutex, u32>::new(0);
    is_refused(rwlock.try_read().expect("free"), drop);
    assert_eq!(rwlock.state().readers, 1);
    let rwlock = RwLock::<ThreadModeRawMutex, u32>::new(0);
    is_refused(rwlock.try_write().expect("free"), drop);
    assert!(rwlock.state().writer);
}

/// Runs the case in a child process, which must abort before it does anything else.
fn k9_aborts(case: &str) {
    let program = env::current_exe().expect("a program");
    let child = Command::new(program).env(CASE, case).env("RUST_BACKTRACE", "0").output().expect("a child");
    let (stdout, stderr) = (String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
    let told = format!("{:?}\n{stdout}\n{stderr}", child.status);
    assert!(!stdout.contains(ALIVE), "{told}");
    assert!(stderr.contains("can only be locked from thread mode"), "{told}");
    assert!(stderr.contains("it can't be left in order"), "{told}");
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        const SIGABRT: i32 = 6;
        assert_eq!(child.status.signal(), Some(SIGABRT), "{told}");
    }
    assert!(!child.status.success(), "{told}");
}

/// The same steps on the right thread are harmless: only the other thread and the queue make the cases abort.
fn k9_on_the_right_thread_all_is_well() {
    drop(MUTEX.try_lock().expect("free"));
    let held = MUTEX.try_lock().expect("free");
    drop(tools::queued(MUTEX.lock()));
    assert_eq!(MUTEX.queued(), 0);
    drop(held);
    assert!(!MUTEX.is_locked());
    let held = RWLOCK.try_write().expect("free");
    drop((tools::queued(RWLOCK.read()), tools::queued(RWLOCK.write())));
    drop(held);
    assert!(RWLOCK.try_write().is_ok());
    // A future that was never polled is not in the queue, so any thread may drop it.
    elsewhere((MUTEX.lock(), RWLOCK.read(), RWLOCK.write()), drop).expect("they are in no queue");
    assert!(MUTEX.try_lock().is_ok() && RWLOCK.try_write().is_ok());
}

const REFUSALS: [(&str, fn()); 4] = [
    ("k9_on_the_right_thread_all_is_well", k9_on_the_right_thread_all_is_well),
    ("k9_a_refusal_that_leaves_nothing_behind_is_a_panic", k9_a_refusal_that_leaves_nothing_behind_is_a_panic),
    ("k9_a_queued_future_survives_a_refused_poll", k9_a_queued_future_survives_a_refused_poll),
    ("k9_a_lock_stays_locked_if_its_release_is_refused", k9_a_lock_stays_locked_if_its_release_is_refused),
];

fn rules(of: &str, rules: Vec<(&'static str, fn())>) -> impl Iterator<Item = Test> {
    rules.into_iter().map(move |(name, rule)| (format!("{of}::{name}"), Box::new(rule) as Box<dyn FnOnce()>))
}

fn tests() -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    // Miri runs the flavours of the other test programs, which have the same cell as a `RawMutex`.
    if !cfg!(miri) {
        tests.extend(rules("locks", mutex::run::all::<Locks>()));
        tests.extend(rules("locks", rwlock::run::all::<Locks>()));
        tests.extend(rules("locks", foreign::run::all::<Locks>()));
        tests.extend(rules("watched", mutex::run::all::<WatchedLocks>()));
        tests.extend(rules("watched", rwlock::run::all::<WatchedLocks>()));
        tests.extend(rules("watched", foreign::run::all::<WatchedLocks>()));
        tests.extend(rules("time", time::run::all::<Locks>()));
        tests.extend(rules("time", until::run::all::<Locks>()));
    }
    tests.extend(rules("refusals", REFUSALS.to_vec()));
    // Miri can't start a process.
    let cases = if cfg!(miri) { &[] } else { CASES };
    tests.extend(
        cases.iter().map(|&(case, _)| (format!("k9_aborts::{case}"), Box::new(move || k9_aborts(case)) as Box<_>)),
    );
    tests
}

/// The part of the usual test harness that people and tools use: filters, `--list`, and no output if all is well. The
/// rules print, so they run in a child process.
/// rules, which print what they do, run in a child.
fn main() -> ExitCode {
    if let Ok(case) = env::var(CASE) {
        let (_, run) = CASES.iter().find(|(name, _)| *name == case).expect("a case");
        run();
        println!("{ALIVE}");
        return ExitCode::SUCCESS;
    }
    let args: Vec<String> = env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--list") {
        chosen(&args).1.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    if has("--nocapture") || cfg!(miri) {
        return run(&args);
    }
    let program = env::current_exe().expect("a program");
    let child = Command::new(program).arg("--nocapture").args(&args).output().expect("a child");
    let stdout = String::from_utf8_lossy(&child.stdout);
    if !child.status.success() {
        println!("{stdout}\n{}\n{:?}", String::from_utf8_lossy(&child.stderr), child.status);
        return ExitCode::FAILURE;
    }
    let is_summary = |line: &&str| line.starts_with("running ") || line.starts_with("test result: ");
    stdout.lines().filter(is_summary).for_each(|line| println!("{line}"));
    ExitCode::SUCCESS
}

/// The number of all tests, and the tests that the arguments choose.
fn chosen(args: &[String]) -> (usize, Vec<Test>) {
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let filters: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let is_chosen = |name: &str| {
        let by = |filter: &&String| if has("--exact") { name == *filter } else { name.contains(*filter) };
        filters.is_empty() || filters.iter().any(by)
    };
    // No test is ignored.
    let all = if has("--ignored") { Vec::new() } else { tests() };
    (all.len(), all.into_iter().filter(|(name, _)| is_chosen(name)).collect())
}

fn run(args: &[String]) -> ExitCode {
    let (all, chosen) = chosen(args);
    let count = chosen.len();
    let start = Instant::now();
    println!("running {count} tests");
    let mut failed = Vec::new();
    for (name, test) in chosen {
        // The name is printed before the run, so that a test that aborts is known.
        println!("test {name}");
        if catch_unwind(AssertUnwindSafe(test)).is_err() {
            println!("FAILED {name}");
            failed.push(name);
        }
    }
    println!(
        "test result: {} {} passed; {} failed; 0 ignored; 0 measured; {} filtered out; finished in {:.2}s",
        if failed.is_empty() { "ok." } else { "FAILED." },
        count - failed.len(),
        failed.len(),
        all - count,
        start.elapsed().as_secs_f64()
    );
    failed.iter().for_each(|name| println!("FAILED {name}"));
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

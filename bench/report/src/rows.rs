//! The rows of the report with their targets, and the locks with their names.

/// A lock: its name in the report, the program that counts it, and its crate.
pub(crate) struct Lock {
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    pub(crate) package: &'static str,
}

const fn lock(name: &'static str, program: &'static str, package: &'static str) -> Lock {
    Lock { name, program, package }
}

/// fifolock comes first, and the locks that can't wait asynchronously come last.
pub(crate) const LOCKS: &[Lock] = &[
    lock("fifolock", "std", ""),
    lock("tokio", "tokio", "tokio"),
    lock("async-lock", "async_lock", "async-lock"),
    lock("futures", "futures", "futures"),
    lock("futures-intrusive", "futures_intrusive", "futures-intrusive"),
    lock("maitake-sync", "maitake", "maitake-sync"),
    lock("embassy-sync", "embassy", "embassy-sync"),
    lock("asyncband", "asyncband", "asyncband"),
    lock("saa", "saa", "saa"),
    lock("parking_lot", "parking_lot", "parking_lot"),
    lock("std", "std_sync", ""),
    lock(FLOOR, "bare", ""),
];

/// The row of time, its runtime, and the largest share of tokio's time that fifolock may take.
pub(crate) const TIME_TARGETS: &[(&str, &str, f64)] = &[
    ("no runtime", "mutex: lock, unlock", 0.20),
    ("no runtime", "read, unlock", 0.24),
    ("no runtime", "mutex: turn, 256 queued", 0.36),
    ("tokio, current thread", "mutex: 64 tasks, hold over a yield", 0.65),
    ("tokio, current thread", "read-write lock: 64 tasks, 95 % read, hold over a yield", 0.70),
    ("tokio, 2 workers", "mutex: 64 tasks, hold over a yield", 0.75),
    ("tokio, 2 workers", "mutex: 8 tasks, no await inside", 0.60),
];

/// The one of [`LOCKS`] that is the floor.
pub(crate) const FLOOR: &str = "bare atomics";

/// The number of [`LOCKS`] that can wait asynchronously.
pub(crate) const ASYNC_LOCKS: usize = 9;

/// fifolock's raw locks, and their programs.
pub(crate) const RAW_LOCKS: &[(&str, &str)] =
    &[("std", "std"), ("spin", "spin"), ("critical section", "critical_section"), ("local", "local")];

/// A row of instruction counts: a counted row, or the sum of several rows divided by the number of operations.
pub(crate) struct Row {
    pub(crate) title: &'static str,
    pub(crate) of: &'static [&'static str],
    pub(crate) per: f64,
    /// The most instructions, and the most atomics if they are limited.
    pub(crate) target: Option<(f64, Option<f64>)>,
}

const fn row(title: &'static str, of: &'static [&'static str], target: Option<(f64, Option<f64>)>) -> Row {
    Row { title, of, per: 1.0, target }
}

/// The parts of a contended turn.
pub(crate) const TURN: &[&str] = &["mutex/enqueue", "mutex/release", "mutex/claim"];

pub(crate) const ROWS: &[Row] = &[
    row("mutex: lock, unlock", &["mutex/lock"], Some((18.0, Some(2.0)))),
    row("`try_lock`, unlock", &["mutex/try_lock"], Some((10.0, Some(2.0)))),
    row("lock with a timeout, unlock", &["mutex/lock_timeout"], Some((40.0, Some(2.0)))),
    row("enqueue", &["mutex/enqueue"], Some((72.0, Some(3.0)))),
    row("release with a waiter", &["mutex/release"], Some((60.0, Some(3.0)))),
    row("claim", &["mutex/claim"], Some((28.0, Some(1.0)))),
    row("a contended turn: these three", TURN, Some((150.0, None))),
    row("poll again, same waker", &["mutex/repoll"], Some((32.0, Some(0.0)))),
    row("drop a queued waiter, 1 queued", &["mutex/drop_queued_1"], Some((55.0, Some(3.0)))),
    row("… 100 queued", &["mutex/drop_queued_100"], Some((55.0, Some(3.0)))),
    row("… 10,000 queued", &["mutex/drop_queued_10000"], Some((55.0, Some(3.0)))),
    row("read, unlock", &["rwlock/read"], Some((30.0, Some(2.0)))),
    row("write, unlock", &["rwlock/write"], Some((20.0, Some(2.0)))),
    Row {
        title: "a writer leaves, per reader let in (of 1,000)",
        of: &["rwlock/admit_1000"],
        per: 1_000.0,
        target: Some((48.0, None)),
    },
    Row {
        title: "a first poll beside unclaimed readers, for each (of 1,000)",
        of: &["rwlock/look_1000"],
        per: 1_000.0,
        target: None,
    },
    Row { title: "… of 100,000", of: &["rwlock/look_100000"], per: 100_000.0, target: None },
    row("a second poll beside 10 of them", &["rwlock/look_again_10"], None),
    row("… beside 100,000", &["rwlock/look_again_100000"], None),
    row("a reader enqueues", &["rwlock/read_enqueue"], None),
    row("a writer leaves, one reader waits", &["rwlock/read_release"], None),
    row("a reader claims", &["rwlock/read_claim"], None),
    row("a reader polls again", &["rwlock/read_repoll"], None),
    row("drop a queued reader", &["rwlock/read_drop_queued"], None),
    row("a writer enqueues", &["rwlock/write_enqueue"], None),
    row("the last reader leaves, a writer waits", &["rwlock/write_release"], None),
    row("a writer claims", &["rwlock/write_claim"], None),
    row("a writer polls again", &["rwlock/write_repoll"], None),
    row("drop a queued writer", &["rwlock/write_drop_queued"], None),
];

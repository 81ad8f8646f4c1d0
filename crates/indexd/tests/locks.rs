//! What the program says of its locks is so.

mod common;

use core::time::Duration;
use std::sync::Arc;

use common::Tree;
use indexd::measure::Entries;
use indexd::{Counts, Index, Indexer, Progress, SharedIndex};
use tokio::task::yield_now;
use tokio::time::sleep;

const MS: Duration = Duration::from_millis(1);

/// A query that reads nothing.
async fn nothing(_: &Index) {}

#[tokio::test(start_paused = true)]
async fn a_query_that_waits_too_long_gets_the_error_and_is_counted() {
    let index = Arc::new(SharedIndex::default());
    let changed = Arc::clone(&index);
    let writer = tokio::spawn(async move {
        changed.update(async |_: &mut Index| sleep(100 * MS).await).await;
    });
    yield_now().await;

    let error = index.query(50 * MS, nothing).await.expect_err("the writer stays for 100 ms");
    assert!(error.is_elapsed());
    assert!(index.query(200 * MS, nothing).await.is_ok());
    writer.await.expect("no panic");
    // Nobody is inside, but zero is no time to wait.
    let error = index.query(Duration::ZERO, nothing).await.expect_err("zero is refused");
    assert!(error.is_invalid());

    let queries = index.queries();
    assert_eq!((queries.asked, queries.answered, queries.timed_out), (3, 1, 1));
    assert_eq!(index.state().waiting_readers, 0);
}

/// A query's own time inside is not limited.
#[tokio::test(start_paused = true)]
async fn a_timeout_limits_the_wait_alone() {
    let index = SharedIndex::default();
    assert!(index.query(MS, async |_: &Index| sleep(100 * MS).await).await.is_ok());
    assert_eq!(index.queries().timed_out, 0);
}

#[tokio::test]
async fn readers_let_in_together_are_inside_together() {
    let index = Arc::new(SharedIndex::default());
    let ask = |index: &Arc<SharedIndex>| {
        let index = Arc::clone(index);
        tokio::spawn(async move { index.query(Duration::from_secs(3600), async |_: &Index| yield_now().await).await })
    };
    let changed = Arc::clone(&index);
    let writer = tokio::spawn(async move {
        let change = async |index: &mut Index| {
            for _ in 0..10 {
                yield_now().await;
            }
            index.add("file".into(), Counts::of("word"));
        };
        changed.update(change).await;
    });
    yield_now().await;
    let readers = [ask(&index), ask(&index), ask(&index)];
    yield_now().await;
    assert_eq!(index.state().waiting_readers, 3);
    writer.await.expect("no panic");
    for reader in readers {
        reader.await.expect("no panic").expect("an hour is enough");
    }

    let entries = index.entries();
    assert_eq!((entries.reads, entries.most_readers_at_once, entries.mixed), (3, 3, 0));
    assert_eq!((entries.writers.entries, entries.writers.most_at_once), (1, 1));
}

/// One holder at most, nobody overtaken, and just so many entries.
fn assert_kept_order(entries: &Entries, count: u64) {
    assert_eq!(entries.entries, count);
    assert_eq!(entries.most_at_once, 1);
    assert_eq!(entries.order.out_of_order, 0);
    assert_eq!(entries.order.in_order + entries.order.overlapping, count);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_run_finds_one_holder_and_nobody_overtaken() {
    let tree = Tree::with_files(400);
    tree.file("binary", [0]);
    let report = indexd::run(tree.config(), Arc::new(())).await.expect("the tree can be indexed");

    assert_kept_order(&report.backend.entries, 401);
    assert_kept_order(&report.journal.entries, 400);
    // One more: the index is emptied first.
    assert_kept_order(&report.index.entries.writers, 401);
    assert_eq!(report.index.entries.mixed, 0);
    assert!(report.backend.entries.order.in_order > 0);

    let queries = report.queries;
    assert!(queries.asked >= 8, "each of the 8 querying tasks asks at least once");
    assert_eq!(queries.asked, queries.answered + queries.timed_out);
    assert_eq!(queries.answered, report.index.entries.reads);

    for state in [report.backend.state, report.journal.state] {
        assert_eq!((state.locked, state.queued), (false, 0));
    }
    let state = report.index.state;
    assert_eq!((state.writer, state.readers), (false, 0));
    assert_eq!((state.waiting_writers, state.waiting_readers), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn queries_that_time_out_during_a_run_are_in_its_report() {
    let tree = Tree::with_files(10);
    let mut config = tree.config();
    config.queries = 3;
    config.query_timeout = 10 * MS;
    let mut indexer = Indexer::open(config).expect("the tree can be indexed");

    let locks = indexer.locks();
    let writer = tokio::spawn(async move {
        // Long enough for each of the three to give up twice, whichever way a timer rounds.
        locks.index.update(async |_: &mut Index| sleep(40 * MS).await).await;
    });
    yield_now().await;
    let report = indexer.run(Arc::new(())).await;
    writer.await.expect("no panic");

    let timed_out = report.queries.timed_out;
    assert!((6..=9).contains(&timed_out), "{timed_out}");
    assert_eq!(report.queries.asked, report.queries.answered + timed_out);
    assert!(report.to_string().contains(&format!(" {timed_out} timed out after 10ms")), "{report}");
}

/// Stops a run half-way by never coming back from a call.
struct Signal(tokio::sync::Notify);

impl Progress for Signal {
    fn found(&self, _: usize) {}

    fn done(&self) {
        self.0.notify_one();
    }

    fn finished(&self) {}
}

#[tokio::test]
async fn a_run_that_is_dropped_leaves_the_locks_free() {
    let tree = Tree::with_files(200);
    let mut indexer = Indexer::open(tree.config()).expect("the tree can be indexed");
    let locks = indexer.locks();
    let signal = Arc::new(Signal(tokio::sync::Notify::new()));
    tokio::select! {
        _ = indexer.run(signal.clone()) => panic!("200 files take longer than one"),
        () = signal.0.notified() => {}
    }
    // The tasks are stopped by the runtime as soon as it gets to it.
    while Arc::strong_count(&locks) > 2 {
        yield_now().await;
    }
    assert!(!locks.backend.state().locked && !locks.journal.state().locked);
    assert_eq!(locks.backend.state().queued + locks.journal.state().queued, 0);
    let state = locks.index.state();
    assert_eq!((state.writer, state.readers, state.waiting_writers), (false, 0, 0));
    let files = locks.index.read(async |index: &Index| index.files()).await;
    assert!((1..200).contains(&files), "{files}");
}

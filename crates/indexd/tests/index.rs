//! The index is right: checked against a plain count in one thread.

mod common;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use common::{Tree, count_plainly, dump};
use indexd::{Index, Indexer, Progress, Report, Skip};

/// Runs `indexer` with many tasks, checks its index against the plain count, and the output against both.
async fn run_and_compare(tree: &Tree, indexer: &mut Indexer) -> Report {
    let report = indexer.run(Arc::new(())).await;
    let (plain, files) = count_plainly(&tree.directory());
    let locks = indexer.locks();
    let (indexed, index_files) = locks.index.read(async |index: &Index| (dump(index), index.files())).await;
    assert_eq!(indexed, plain);
    assert_eq!(index_files, files.len());
    assert_eq!(tree.written(), files);

    assert_eq!(report.done.indexed, files.len() as u64);
    assert_eq!(report.done.words, plain.values().map(|(occurrences, _)| occurrences).sum::<u64>());
    assert_eq!(report.distinct, plain.len());
    report
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_index_equals_a_plain_count() {
    let tree = Tree::with_files(500);
    tree.file("binary", b"words and a \0 byte");
    tree.file("deep/er/latin1.txt", b"d\xe9j\xe0 vu");
    tree.file("deep/er/empty.txt", "");
    tree.file("deep/er/late-nul.txt", [&[b' '; 9000][..], b"\0late"].concat());
    tree.file("deep/er/large.txt", "big words ".repeat(40_000));

    let mut indexer = Indexer::open(tree.config()).expect("the tree can be indexed");
    let report = run_and_compare(&tree, &mut indexer).await;

    assert_eq!((report.found, report.done.indexed), (505, 503));
    assert_eq!(report.done.skipped.count(Skip::Binary), 1);
    assert_eq!(report.done.skipped.count(Skip::NotUtf8), 1);
    assert_eq!(report.done.skipped.total(), 2);
    assert_eq!(report.verdict(), Ok(()));
    let top: Vec<_> = report.top.iter().take(2).map(|term| term.word.as_str()).collect();
    assert_eq!(top, ["big", "words"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_run_builds_the_index_anew() {
    let tree = Tree::with_files(20);
    let mut indexer = Indexer::open(tree.config()).expect("the tree can be indexed");
    run_and_compare(&tree, &mut indexer).await;

    fs::remove_dir_all(tree.directory().join("0")).expect("a folder less");
    tree.file("new.txt", "something else");
    fs::write(tree.output(), "").expect("an empty output");
    let report = indexer.run(Arc::new(())).await;
    let (plain, _) = count_plainly(&tree.directory());
    let index = indexer.locks();
    assert_eq!(index.index.read(async |index: &Index| dump(index)).await, plain);
    assert_eq!(report.distinct, plain.len());
}

/// Takes files away after the directory was listed and before the first is read.
struct Vanish {
    gone: PathBuf,
    folder_now: PathBuf,
}

impl Progress for Vanish {
    fn found(&self, files: usize) {
        assert_eq!(files, 10);
        fs::remove_file(&self.gone).expect("the file was there");
        fs::remove_file(&self.folder_now).expect("the file was there");
        fs::create_dir(&self.folder_now).expect("a folder in its place");
    }

    fn done(&self) {}

    fn finished(&self) {}
}

#[tokio::test]
async fn files_that_cannot_be_read_are_reported_and_the_run_goes_on() {
    let tree = Tree::with_files(10);
    let vanish = Vanish { gone: tree.directory().join("2/2/2.txt"), folder_now: tree.directory().join("3/0/3.txt") };
    let mut indexer = Indexer::open(tree.config()).expect("the tree can be indexed");
    let report = indexer.run(Arc::new(vanish)).await;

    assert_eq!((report.found, report.done.indexed), (10, 8));
    assert_eq!(report.done.skipped.count(Skip::UnreadableFile), 1);
    assert_eq!(report.done.skipped.count(Skip::Special), 1);
    assert!(report.to_string().contains("2/2/2.txt: "), "{report}");
    assert_eq!(report.verdict(), Ok(()));
    let (plain, files) = count_plainly(&tree.directory());
    let locks = indexer.locks();
    assert_eq!(locks.index.read(async |index: &Index| dump(index)).await, plain);
    assert_eq!(tree.written(), files);
}

/// Takes everything away.
struct VanishAll(PathBuf);

impl Progress for VanishAll {
    fn found(&self, _: usize) {
        fs::remove_dir_all(&self.0).expect("the directory was there");
    }

    fn done(&self) {}

    fn finished(&self) {}
}

#[tokio::test]
async fn a_run_that_could_read_nothing_is_incomplete() {
    let tree = Tree::with_files(5);
    let mut indexer = Indexer::open(tree.config()).expect("the tree can be indexed");
    let report = indexer.run(Arc::new(VanishAll(tree.directory()))).await;
    assert_eq!((report.found, report.done.indexed), (5, 0));
    assert_eq!(report.done.skipped.count(Skip::UnreadableFile), 5);
    let incomplete = report.verdict().expect_err("nothing was read");
    assert_eq!(incomplete.to_string(), "nothing was indexed, since nothing could be read");
}

#[tokio::test]
async fn the_output_is_not_indexed() {
    let tree = Tree::with_files(3);
    let mut config = tree.config();
    // Not the canonical spelling of the path.
    config.output = Some(tree.directory().join("0/../own.tsv"));
    tree.file("own.tsv", "content of an earlier run");
    let report = indexd::run(config, Arc::new(())).await.expect("the tree can be indexed");
    assert_eq!(report.output, tree.directory().join("own.tsv"));
    assert_eq!((report.found, report.done.indexed), (3, 3));
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    let tree = Tree::with_files(3);
    symlink(tree.directory(), tree.directory().join("0/loop")).expect("a link");
    symlink("nowhere", tree.directory().join("dangling")).expect("a link");
    let _socket = UnixListener::bind(tree.directory().join("socket")).expect("a socket");
    let mut indexer = Indexer::open(tree.config()).expect("the tree can be indexed");
    let report = run_and_compare(&tree, &mut indexer).await;
    assert_eq!(report.done.skipped.count(Skip::Symlink), 2);
    assert_eq!(report.done.skipped.count(Skip::Special), 1);
    assert_eq!(report.done.indexed, 3);
}

/// Folders nested so deep that the system refuses their paths, whoever asks.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn folders_that_cannot_be_listed_are_reported_and_the_run_goes_on() {
    let tree = Tree::with_files(3);
    let long = "d".repeat(200);
    let chain = |from: PathBuf| (0..12).fold(from, |path, _| path.join(&long));
    let outer = chain(tree.directory());
    let inner = tree.directory().join("inner");
    fs::create_dir_all(&outer).expect("folders");
    fs::create_dir_all(chain(inner.clone())).expect("folders");
    fs::rename(&inner, outer.join("inner")).expect("the folders in one chain");

    let report = indexd::run(tree.config(), Arc::new(())).await.expect("the tree can be indexed");
    assert_eq!(report.done.skipped.count(Skip::UnreadableFolder), 1);
    assert_eq!(report.done.indexed, 3);
    assert_eq!(report.verdict(), Ok(()));
}

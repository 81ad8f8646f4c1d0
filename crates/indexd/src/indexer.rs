//! A run over a directory.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use std::{env, fs, io, process};

use tokio::task::{JoinSet, spawn_blocking};

use crate::backend::Backend;
use crate::config::Config;
use crate::error::Error;
use crate::index::Index;
use crate::join::{join_all, joined};
use crate::journal::Journal;
use crate::locks::Locks;
use crate::progress::Progress;
use crate::query::keep_asking;
use crate::report::{Held, Report, TopTerm};
use crate::shared::SharedIndex;
use crate::walk::walk;
use crate::work::{Done, Work};

/// Indexes one directory.
#[derive(Debug)]
pub struct Indexer {
    config: Config,
    directory: PathBuf,
    output: PathBuf,
    locks: Arc<Locks>,
}

impl Indexer {
    /// Looks at the directory and creates the output file. Blocks for a moment.
    ///
    /// # Errors
    ///
    /// [`Error`] if the configuration makes no sense, the directory can't be listed, or the output file
    /// can't be created. No output file is left behind in the first two cases.
    pub fn open(config: Config) -> Result<Self, Error> {
        config.check()?;
        let directory = listable(&config.directory)
            .map_err(|source| Error::Directory { path: config.directory.clone(), source })?;
        let output = config.output.clone().unwrap_or_else(default_output);
        let journal = match config.output {
            Some(_) => Journal::create(&output),
            None => Journal::create_new(&output),
        };
        let canonical = journal.and_then(|journal| Ok((journal, output.canonicalize()?)));
        let (journal, output) = canonical.map_err(|source| Error::Output { path: output, source })?;
        let locks = Locks { backend: Backend::default(), index: SharedIndex::default(), journal };
        Ok(Self { config, directory, output, locks: Arc::new(locks) })
    }

    /// What the tasks of a run share. The index can be queried at any time.
    #[must_use]
    pub fn locks(&self) -> Arc<Locks> {
        Arc::clone(&self.locks)
    }

    /// Builds the index anew, and queries it meanwhile.
    ///
    /// What the report says of locks and queries was measured since the indexer was opened.
    ///
    /// # Cancel safety
    ///
    /// If dropped, its tasks are stopped, and the index holds the files that were added until then.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with its timer enabled, and if one of its tasks panics.
    pub async fn run(&mut self, progress: Arc<dyn Progress>) -> Report {
        let started = Instant::now();
        let stop = Arc::new(AtomicBool::new(false));
        let queries = self.start_queries(&stop);
        self.locks.index.update(async |index: &mut Index| *index = Index::default()).await;
        let (found, done) = self.fill_index(&progress).await;
        // Ordering: Relaxed, nothing is published by it; joining the tasks orders the rest.
        stop.store(true, Ordering::Relaxed);
        join_all(queries).await;
        progress.finished();
        self.report(started, found, done).await
    }

    fn start_queries(&self, stop: &Arc<AtomicBool>) -> JoinSet<()> {
        let mut queries = JoinSet::new();
        let (timeout, top) = (self.config.query_timeout, self.config.top);
        for number in 0..self.config.queries as u64 {
            let (locks, stop) = (self.locks(), Arc::clone(stop));
            queries.spawn(async move {
                keep_asking(&locks.index, timeout, top, number, &stop).await;
            });
        }
        queries
    }

    /// Indexes the files, with many tasks at once. Returns how many there are, and what became of them.
    async fn fill_index(&self, progress: &Arc<dyn Progress>) -> (usize, Done) {
        let (directory, output) = (self.directory.clone(), self.output.clone());
        let listing = spawn_blocking(move || walk(&directory, &output));
        let found = joined(listing.await);
        let files = found.files.len();
        progress.found(files);

        let work = Arc::new(Work::new(found.files));
        let mut tasks = JoinSet::new();
        for _ in 0..self.config.tasks.min(files) {
            let (locks, work, progress) = (self.locks(), Arc::clone(&work), Arc::clone(progress));
            tasks.spawn(async move { work.take_part(&locks, &*progress).await });
        }
        let mut total = Done { skipped: found.skipped, ..Done::default() };
        for part in join_all(tasks).await {
            total.merge(part);
        }
        (files, total)
    }

    async fn report(&self, started: Instant, found: usize, done: Done) -> Report {
        let Locks { backend, index, journal } = &*self.locks;
        // Before the index is read once more, for the report itself.
        let (shared, queries) = (Held::new(index.entries(), index.state()), index.queries());
        let n = self.config.top;
        let look = async |index: &Index| {
            let top = index.top(n).into_iter().map(TopTerm::from).collect();
            (index.terms().len(), top)
        };
        let (distinct, top) = index.read(look).await;
        Report {
            directory: self.directory.clone(),
            output: self.output.clone(),
            elapsed: started.elapsed(),
            found,
            done,
            distinct,
            backend: Held::new(backend.entries(), backend.state()),
            journal: Held::new(journal.entries(), journal.state()),
            index: shared,
            queries,
            query_timeout: self.config.query_timeout,
            top,
        }
    }
}

/// Indexes a directory: [`Indexer::open`] and [`Indexer::run`].
///
/// # Errors
///
/// Those of [`Indexer::open`].
///
/// # Panics
///
/// As [`Indexer::run`].
pub async fn run(config: Config, progress: Arc<dyn Progress>) -> Result<Report, Error> {
    let mut indexer = joined(spawn_blocking(move || Indexer::open(config)).await)?;
    Ok(indexer.run(progress).await)
}

/// The canonical path of a directory whose entries can be listed.
fn listable(directory: &Path) -> io::Result<PathBuf> {
    let directory = directory.canonicalize()?;
    fs::read_dir(&directory)?;
    Ok(directory)
}

/// A file that no other run uses: two of one process differ by their number.
fn default_output() -> PathBuf {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    // Ordering: Relaxed, only the number matters.
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    env::temp_dir().join(format!("indexd-{}-{run}.tsv", process::id()))
}

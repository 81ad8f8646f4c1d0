//! The runtimes on which tasks contend.

use core::future::Future;
use core::time::Duration;
use std::time::Instant;

/// A runtime that can run tasks to their end.
pub trait Runtime: 'static {
    /// The name in the report.
    const NAME: &'static str;

    /// Starts the runtime.
    fn new() -> Self;

    /// Runs the tasks; returns the time from the first one's start to the last one's end.
    fn run<F: Future<Output = ()> + Send + 'static>(&self, tasks: Vec<F>) -> Duration;

    /// Lets other tasks run.
    fn yield_now() -> impl Future<Output = ()> + Send;
}

/// Tokio with one thread.
#[derive(Debug)]
pub struct TokioCurrent(tokio::runtime::Runtime);

/// Tokio with two workers.
#[derive(Debug)]
pub struct TokioMulti(tokio::runtime::Runtime);

/// Smol's executor on one thread.
#[derive(Debug)]
pub struct Smol(());

impl Runtime for TokioCurrent {
    const NAME: &'static str = "tokio, current thread";

    fn new() -> Self {
        Self(tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime can be made"))
    }

    fn run<F: Future<Output = ()> + Send + 'static>(&self, tasks: Vec<F>) -> Duration {
        run_on_tokio(&self.0, tasks)
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        // Tokio's own yield makes a system call of the I/O driver if no other task is ready, which would be most of a
        // turn.
        smol::future::yield_now()
    }
}

impl Runtime for TokioMulti {
    const NAME: &'static str = "tokio, 2 workers";

    fn new() -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        Self(builder.worker_threads(2).enable_time().build().expect("a runtime can be made"))
    }

    fn run<F: Future<Output = ()> + Send + 'static>(&self, tasks: Vec<F>) -> Duration {
        run_on_tokio(&self.0, tasks)
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        smol::future::yield_now()
    }
}

fn run_on_tokio<F: Future<Output = ()> + Send + 'static>(runtime: &tokio::runtime::Runtime, tasks: Vec<F>) -> Duration {
    runtime.block_on(async {
        let start = Instant::now();
        let handles: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
        for handle in handles {
            handle.await.expect("a task panicked");
        }
        start.elapsed()
    })
}

impl Runtime for Smol {
    const NAME: &'static str = "smol, one thread";

    fn new() -> Self {
        Self(())
    }

    fn run<F: Future<Output = ()> + Send + 'static>(&self, tasks: Vec<F>) -> Duration {
        let executor = smol::LocalExecutor::new();
        smol::block_on(executor.run(async {
            let start = Instant::now();
            let handles: Vec<_> = tasks.into_iter().map(|task| executor.spawn(task)).collect();
            for handle in handles {
                handle.await;
            }
            start.elapsed()
        }))
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        smol::future::yield_now()
    }
}

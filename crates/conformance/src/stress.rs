//! Many tasks on a runtime, with timeouts, deadlines and cancellation at random. Every task has one outcome, at most
//! one writer is inside at any time, and the lock is free at the end (F08).

use crate::tools::Random;
use core::future::Future;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use fifolock_core::platform::{Platform, Timer};
use fifolock_core::{Mutex, RwLock, TimeoutError};
use std::sync::Arc;

/// How many tasks one run has.
pub const TASKS: usize = 1500;

/// What these tests need of a runtime.
pub trait Runtime: 'static {
    /// The platform whose locks the tasks use.
    type Platform: Timer<Duration: Send, Instant: Send, Sleep: Send> + Platform<Raw: Send + Sync>;

    /// A task.
    type Task;

    /// Spawns a task.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Self::Task;

    /// Makes the runtime drop the future of the task, now or soon.
    fn abort(&self, task: Self::Task) -> impl Future<Output = ()>;

    /// Waits until the task has ended. Fails if it panicked.
    fn join(&self, task: Self::Task) -> impl Future<Output = ()>;

    /// Lets other tasks run.
    fn yield_now() -> impl Future<Output = ()> + Send;

    /// Lets time pass.
    fn sleep(of: Duration) -> impl Future<Output = ()> + Send;

    /// The platform's form of a span.
    fn span(of: Duration) -> <Self::Platform as Timer>::Duration;

    /// The point in time that is `after` from now.
    fn instant_in(after: Duration) -> <Self::Platform as Timer>::Instant;

    /// Runs a future, and meanwhile the spawned tasks.
    fn block_on<F: Future>(&self, future: F) -> F::Output;
}

/// The number of tasks by outcome.
#[derive(Debug, Default)]
struct Outcomes {
    acquired: AtomicUsize,
    timed_out: AtomicUsize,
    cancelled: AtomicUsize,
    panicked: AtomicUsize,
}

impl Outcomes {
    /// Acquired, timed out, cancelled.
    fn all(&self) -> [usize; 3] {
        [&self.acquired, &self.timed_out, &self.cancelled].map(|count| count.load(Ordering::SeqCst))
    }
}

/// Counts the outcome of a task when it is dropped.
struct End {
    outcomes: Arc<Outcomes>,
    /// `None` while the task can be cancelled.
    outcome: Option<Result<(), TimeoutError>>,
}

impl End {
    fn with(mut self, outcome: Result<(), TimeoutError>) {
        self.outcome = Some(outcome);
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let count = match self.outcome.take() {
            Some(Ok(())) => &self.outcomes.acquired,
            Some(Err(error)) => {
                assert!(error.is_elapsed());
                &self.outcomes.timed_out
            }
            None if std::thread::panicking() => &self.outcomes.panicked,
            None => &self.outcomes.cancelled,
        };
        count.fetch_add(1, Ordering::SeqCst);
    }
}

/// The owners inside, counted apart from the lock.
#[derive(Default)]
struct Inside {
    readers: AtomicUsize,
    writers: AtomicUsize,
}

/// Counts one owner while it lives. A task that is cancelled drops it too.
struct Entry<'a>(&'a AtomicUsize);

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Inside {
    fn write(&self) -> Entry<'_> {
        assert_eq!(self.writers.fetch_add(1, Ordering::Relaxed), 0, "two writers");
        assert_eq!(self.readers.load(Ordering::Relaxed), 0, "a writer beside readers");
        Entry(&self.writers)
    }

    fn read(&self) -> Entry<'_> {
        self.readers.fetch_add(1, Ordering::Relaxed);
        assert_eq!(self.writers.load(Ordering::Relaxed), 0, "a reader beside a writer");
        Entry(&self.readers)
    }
}

/// How long a task stays inside: mostly a few yields, sometimes so long that other tasks run out of time.
#[derive(Clone, Copy)]
struct Stay {
    yields: usize,
    long: bool,
}

impl Stay {
    fn pick(random: &mut Random) -> Self {
        Self { yields: random.below(4), long: random.below(40) == 0 }
    }

    async fn pass<R: Runtime>(self) {
        for _ in 0..self.yields {
            R::yield_now().await;
        }
        if self.long {
            R::sleep(Duration::from_millis(2)).await;
        }
    }
}

fn short(random: &mut Random) -> Duration {
    Duration::from_micros(1 + random.below(4000) as u64)
}

/// Runs [`TASKS`] tasks, aborts some of them, and counts their outcomes. At first all tasks wait for `held`, so some
/// run out of time on any machine.
///
/// Returns the numbers of tasks that acquired, timed out, and were cancelled.
async fn run<R: Runtime, F>(runtime: &R, seed: u64, held: impl Sized, task: impl Fn(Random) -> F) -> [usize; 3]
where
    F: Future<Output = Result<(), TimeoutError>> + Send + 'static,
{
    let mut random = Random::new(seed);
    let outcomes = Arc::new(Outcomes::default());
    let mut held = Some(held);
    let mut tasks = Vec::new();
    for started in 0..TASKS {
        let task = task(Random::new(random.number()));
        let end = End { outcomes: Arc::clone(&outcomes), outcome: None };
        tasks.push(Some(runtime.spawn(async move { end.with(task.await) })));
        if random.below(4) == 0 {
            // The test aborts a recent task, since most of the others have ended.
            let picked = tasks.len() - 1 - random.below(tasks.len().min(20));
            if let Some(task) = tasks[picked].take() {
                runtime.abort(task).await;
            }
        }
        match random.below(16) {
            0 => R::sleep(Duration::from_micros(200)).await,
            1..=4 => R::yield_now().await,
            _ => {}
        }
        if started == TASKS / 4 {
            // This sleep is longer than the longest limit.
            R::sleep(Duration::from_millis(20)).await;
            drop(held.take());
        }
    }
    for task in tasks.into_iter().flatten() {
        runtime.join(task).await;
    }
    // Tasks that were aborted end soon.
    while outcomes.all().iter().sum::<usize>() < TASKS {
        assert_eq!(outcomes.panicked.load(Ordering::SeqCst), 0, "a task panicked");
        R::yield_now().await;
    }
    let outcomes = outcomes.all();
    assert_eq!(outcomes.iter().sum::<usize>(), TASKS); // The test shows something only if each outcome has happened.
    assert!(outcomes.iter().all(|&count| count > 0), "acquired, timed out, cancelled: {outcomes:?}");
    outcomes
}

type SharedMutex<R> = Arc<(Mutex<usize, <R as Runtime>::Platform>, Inside)>;

async fn use_mutex<R: Runtime>(shared: SharedMutex<R>, mut random: Random) -> Result<(), TimeoutError> {
    let (mutex, inside) = &*shared;
    let stay = Stay::pick(&mut random);
    let limit = short(&mut random);
    let mut guard = match random.below(8) {
        0 => mutex.lock().await,
        1..=5 => mutex.lock_timeout(R::span(limit)).await?,
        _ => mutex.lock_deadline(R::instant_in(limit)).await?,
    };
    let _entry = inside.write();
    // If the next owner does not see this write, the sum is wrong.
    let before = *guard;
    stay.pass::<R>().await;
    *guard = before + 1;
    Ok(())
}

/// Runs the stress of a mutex.
pub fn mutex<R: Runtime>(runtime: &R, seed: u64) {
    let shared: SharedMutex<R> = Arc::new((Mutex::new(0), Inside::default()));
    let task = |random| use_mutex::<R>(Arc::clone(&shared), random);
    let held = shared.0.try_lock().expect("free");
    let outcomes = runtime.block_on(run(runtime, seed, held, task));
    let mutex = &shared.0;
    assert_eq!((mutex.is_locked(), mutex.queued()), (false, 0));
    // A task that is cancelled inside has added nothing.
    assert_eq!(*mutex.try_lock().expect("free"), outcomes[0]);
    assert_eq!(Arc::strong_count(&shared), 1, "a task is left");
}

type SharedRwLock<R> = Arc<(Arc<RwLock<usize, <R as Runtime>::Platform>>, Inside)>;

async fn use_rwlock<R: Runtime>(shared: SharedRwLock<R>, mut random: Random) -> Result<(), TimeoutError> {
    let (lock, inside) = &*shared;
    let stay = Stay::pick(&mut random);
    let limit = short(&mut random);
    match random.below(12) {
        0..=3 => {
            let guard = lock.read_timeout(R::span(limit)).await?;
            let _entry = inside.read();
            let before = *guard;
            stay.pass::<R>().await;
            assert_eq!(*guard, before, "the data changed under a read guard");
        }
        4..=5 => {
            let _guard = Arc::clone(lock).read_owned_deadline(R::instant_in(limit)).await?;
            let _entry = inside.read();
            stay.pass::<R>().await;
        }
        6 => {
            let _guard = lock.read().await;
            let _entry = inside.read();
            stay.pass::<R>().await;
        }
        7 => {
            let guard = lock.write_timeout(R::span(limit)).await?;
            let entry = inside.write();
            stay.pass::<R>().await;
            // Readers may enter after this line.
            drop(entry);
            let _guard = guard.downgrade();
            let _entry = inside.read();
            stay.pass::<R>().await;
        }
        8 => {
            let mut guard = lock.write_deadline(R::instant_in(limit)).await?;
            let _entry = inside.write();
            stay.pass::<R>().await;
            *guard += 1;
        }
        9 => {
            let mut guard = Arc::clone(lock).write_owned_timeout(R::span(limit)).await?;
            let _entry = inside.write();
            *guard += 1;
            stay.pass::<R>().await;
        }
        _ => {
            let run = async |value: &mut usize| {
                let _entry = inside.write();
                stay.pass::<R>().await;
                *value += 1;
            };
            lock.run_exclusive_timeout(R::span(limit), run).await?;
        }
    }
    Ok(())
}

/// Runs the stress of a read-write lock.
pub fn rwlock<R: Runtime>(runtime: &R, seed: u64) {
    let shared: SharedRwLock<R> = Arc::new((Arc::new(RwLock::with_max_readers(0, 5)), Inside::default()));
    let task = |random| use_rwlock::<R>(Arc::clone(&shared), random);
    let held = shared.0.try_write().expect("free");
    runtime.block_on(run(runtime, seed, held, task));
    let state = shared.0.state();
    assert_eq!((state.readers, state.writer, state.waiting_readers, state.waiting_writers), (0, false, 0, 0));
    assert!(shared.0.try_write().is_ok());
    assert_eq!(Arc::strong_count(&shared.0), 1);
    assert_eq!(Arc::strong_count(&shared), 1, "a task is left");
}

//! Callers with deadlines, twice as many as the lock can serve.

use core::time::Duration;
use std::sync::Arc;

use clock::{Args, for_each_mutex};
use results::Goodput;
use scenarios::lock::Mutex;

/// This mutex has one waker for all waiters, so two waiters wake each other without end. The paused clock, which
/// advances only when no task can run, would stand still.
const NEVER_IDLE: &str = "embassy-sync";

fn main() {
    let args = Args::read();
    let mut goodput: Vec<Goodput> = Vec::new();
    macro_rules! mutex {
        ($name:expr, $mutex:ty) => {
            eprintln!("overload of {}", $name);
            goodput.extend(($name != NEVER_IDLE).then(|| overload::<$mutex>($name)));
        };
    }
    for_each_mutex!(mutex);
    results::write(&args.file, &goodput).expect("the file can be written");
}

/// The time for which a call holds the lock.
const WORK: Duration = Duration::from_millis(10);
/// The pause between two calls, half of the time that one takes.
const PAUSE: Duration = Duration::from_millis(5);
/// The longest wait of a call.
const DEADLINE: Duration = Duration::from_millis(100);
const CALLS: u64 = 1_000;

/// Calls with deadlines come faster than the lock can serve them. Tokio's paused clock makes the result exact, and the
/// same on every machine.
fn overload<M: Mutex>(name: &str) -> Goodput {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime can be made").block_on(async {
        let mutex = Arc::new(M::new());
        let mut calls = Vec::new();
        let start = tokio::time::Instant::now();
        for _ in 0..CALLS {
            let mutex = Arc::clone(&mutex);
            calls.push(tokio::spawn(async move {
                let Ok(guard) = mutex.lock_timeout(DEADLINE).await else { return false };
                tokio::time::sleep(WORK).await;
                drop(guard);
                true
            }));
            tokio::time::sleep(PAUSE).await;
        }
        let last = tokio::time::Instant::now();
        let mut served = 0;
        for call in calls {
            served += u64::from(call.await.expect("a call panicked"));
        }
        let drained = last.elapsed();
        let busy = served as f64 * WORK.as_secs_f64() / start.elapsed().as_secs_f64();
        Goodput { lock: name.to_owned(), calls: CALLS, served, busy, drain_ms: drained.as_secs_f64() * 1e3 }
    })
}

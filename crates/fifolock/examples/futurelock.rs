//! Futurelock: a task waits for a lock that was granted to another of its own futures, which it has stopped polling.
//!
//! The same program runs on tokio's mutex and on fifolock's. `cargo run -p fifolock --example futurelock --features
//! tokio`

use core::future::Future;
use core::pin::pin;
use core::time::Duration;

/// The time until the other branch of the `select!` is ready, and until the holder releases.
const TICK: Duration = Duration::from_millis(10);
/// The time limit of the program, which needs a few ticks.
const PATIENCE: Duration = Duration::from_secs(1);

/// The program, on any mutex: `$mutex` makes one.
macro_rules! program {
    ($mutex:expr) => {
        async {
            let mutex = std::sync::Arc::new($mutex);
            let guard = mutex.clone().lock_owned().await;
            tokio::spawn(async move {
                tokio::time::sleep(2 * TICK).await;
                drop(guard);
            });

            let mut first = pin!(mutex.lock());
            tokio::select! {
                biased;
                _guard = &mut first => unreachable!("the mutex is held for two ticks"),
                () = tokio::time::sleep(TICK) => {}
            }
            // `first` is still queued, and is granted the mutex soon. The task doesn't poll it any more.
            tokio::time::sleep(2 * TICK).await;
            drop(mutex.lock().await);
        }
    };
}

async fn report(name: &str, program: impl Future<Output = ()>) -> bool {
    let finished = tokio::time::timeout(PATIENCE, program).await.is_ok();
    println!("{name:>12}: {}", if finished { "finished" } else { "still waits for itself after a second" });
    finished
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let rescued = report("fifolock", program!(fifolock::tokio::Mutex::new(()))).await;
    report("tokio::sync", program!(tokio::sync::Mutex::new(()))).await;
    assert!(rescued, "the rescue has failed");
}

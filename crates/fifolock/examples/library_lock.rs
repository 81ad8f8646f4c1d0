//! A library that locks without choosing a runtime, and an application that times its lock by its own.
//!
//! `cargo run -p fifolock --example library_lock --features tokio`

use core::time::Duration;
use fifolock::tokio::Tokio;

/// The library: `fifolock::Mutex` belongs to no runtime, and has no timeouts.
mod library {
    use fifolock::Mutex;

    /// A counter that many tasks share.
    #[derive(Debug, Default)]
    pub(crate) struct Counter {
        /// Public, so that an application may wait for it in its own way.
        pub(crate) count: Mutex<u64>,
    }

    impl Counter {
        /// Counts one more.
        pub(crate) async fn increment(&self) -> u64 {
            self.count
                .run_exclusive(async |count| {
                    *count += 1;
                    *count
                })
                .await
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), fifolock::TimeoutError> {
    let counter = library::Counter::default();
    println!("counted to {}", counter.increment().await);

    // The application runs on tokio: seen as one of tokio's, the same lock has timeouts.
    let timed: &fifolock::tokio::Mutex<u64> = counter.count.on::<Tokio>();

    let held = counter.count.lock().await;
    match timed.lock_timeout(Duration::from_millis(50)).await {
        Ok(_) => unreachable!("it is held"),
        Err(error) => println!("{error}"),
    }
    drop(held);

    *timed.lock_timeout(Duration::from_millis(50)).await? += 1;
    println!("counted to {}", counter.increment().await);
    Ok(())
}

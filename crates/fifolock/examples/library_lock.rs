//! A library that locks without choosing a runtime, and an application that times the library's lock by its own
//! runtime.
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
        /// Public, so that an application can choose how to wait for it.
        pub(crate) count: Mutex<u64>,
    }

    impl Counter {
        /// Adds one; returns the sum.
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

    // The application runs on tokio. As one of tokio's mutexes, the same lock has timeouts.
    let timed: &fifolock::tokio::Mutex<u64> = counter.count.on::<Tokio>();

    let held = counter.count.lock().await;
    match timed.lock_timeout(Duration::from_millis(50)).await {
        Ok(_) => unreachable!("the lock is held"),
        Err(error) => println!("{error}"),
    }
    drop(held);

    *timed.lock_timeout(Duration::from_millis(50)).await? += 1;
    println!("counted to {}", counter.increment().await);
    Ok(())
}

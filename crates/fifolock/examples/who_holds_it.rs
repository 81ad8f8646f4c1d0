//! A task that waits for itself, and the report that says why.
//!
//! A future is queued, and then kept without being polled. The mutex is handed to it all the same: it was next. Whoever
//! locks now waits for ever, and nothing in the code looks wrong.

use core::pin::pin;
use core::time::Duration;
use fifolock::tokio::Mutex;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mutex = Mutex::new(0);
    let guard = mutex.lock().await;
    let mut kept = pin!(mutex.lock());
    tokio::select! {
        biased;
        _ = &mut kept => unreachable!("the mutex is held"),
        () = async { drop(guard) } => {}
    }

    let mut again = pin!(mutex.lock());
    if tokio::time::timeout(Duration::from_millis(50), &mut again).await.is_err() {
        println!("{}", mutex.diagnose());
    }
}

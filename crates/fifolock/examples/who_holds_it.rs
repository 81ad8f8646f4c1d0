//! A program that hangs, and the report that tells the reason.
//!
//! A task queues for a mutex, and then keeps the lock future without polling it. The mutex is handed to that future in
//! its turn. Every other task that locks now waits until the future is polled or dropped, although nothing in its own
//! code looks wrong. `cargo run -p fifolock --example who_holds_it --features tokio,diagnostics`

use core::pin::pin;
use core::time::Duration;
use fifolock::tokio::Mutex;

static MUTEX: Mutex<u32> = Mutex::const_new(0);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let guard = MUTEX.lock().await;
    let mut kept = pin!(MUTEX.lock());
    tokio::select! {
        biased;
        _ = &mut kept => unreachable!("the mutex is held"),
        () = async { drop(guard) } => {}
    }

    // If this task locked again, the rescue would hand it the mutex. The rescue can't help another task.
    let other = tokio::spawn(async { *MUTEX.lock().await += 1 });
    let hang = tokio::time::timeout(Duration::from_millis(50), other).await;
    println!("{}", MUTEX.diagnose());
    assert!(hang.is_err(), "the other task has finished");
}

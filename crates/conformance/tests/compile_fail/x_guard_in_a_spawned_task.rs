//! A guard borrows its lock, and a spawned task can't borrow. The error shows the borrow; `lock_owned` avoids it.

use fifolock::tokio::Mutex;

async fn program() {
    let mutex = Mutex::new(1);
    let guard = mutex.lock().await;
    tokio::spawn(async move { drop(guard) });
}

fn main() {
    drop(program());
}

//! A lock of data that is not `Send` stays on its thread. The error names the `Rc`.

use fifolock::tokio::Mutex;
use std::rc::Rc;
use std::sync::Arc;

fn main() {
    let shared = Arc::new(Mutex::new(Rc::new(1)));
    tokio::spawn(async move {
        let guard = shared.lock().await;
        tokio::task::yield_now().await;
        drop(guard);
    });
}

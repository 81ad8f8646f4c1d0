//! A lock future that is not awaited locks nothing. The warning says what to do.
#![deny(unused_must_use)]

use core::time::Duration;
use fifolock::tokio::{Mutex, RwLock};

fn main() {
    let mutex = Mutex::new(1);
    mutex.lock();
    mutex.lock_timeout(Duration::from_millis(50));
    mutex.lock_until(async {});
    mutex.run_exclusive(async |_| ());
    let lock = RwLock::new(1);
    lock.read();
    lock.run_shared_timeout(Duration::from_millis(50), async |_| ());
    let _ = mutex.try_lock();
}

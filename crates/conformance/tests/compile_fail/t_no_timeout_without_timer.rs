//! A lock without a timer has no timeouts; the error names the adapters.

use core::time::Duration;
use fifolock::Mutex;

fn main() {
    let mutex = Mutex::new(1);
    let _ = mutex.lock_timeout(Duration::from_millis(50));
}

//! A downgrade consumes the write guard.

use fifolock::RwLock;

fn main() {
    let lock = RwLock::new(1);
    let mut guard = lock.try_write().unwrap();
    let _reader = guard.downgrade();
    *guard = 2;
}

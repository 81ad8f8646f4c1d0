//! A write guard is gone when it has become a read guard.

use fifolock::RwLock;

fn main() {
    let lock = RwLock::new(1);
    let mut guard = lock.try_write().unwrap();
    let _reader = guard.downgrade();
    *guard = 2;
}

//! A reference to the data ends with its guard.

use fifolock::RwLock;

fn main() {
    let lock = RwLock::new(1);
    let mut guard = lock.try_write().unwrap();
    let data = &mut *guard;
    drop(guard);
    *data = 2;
}

//! What a guard lends is lent no longer than it lives.

use fifolock::RwLock;

fn main() {
    let lock = RwLock::new(1);
    let mut guard = lock.try_write().unwrap();
    let data = &mut *guard;
    drop(guard);
    *data = 2;
}

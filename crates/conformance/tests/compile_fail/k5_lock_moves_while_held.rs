//! A lock can't move while a guard borrows it.

use fifolock::Mutex;

fn main() {
    let mutex = Mutex::new(1);
    let guard = mutex.try_lock().unwrap();
    let moved = mutex;
    drop(guard);
    drop(moved);
}

//! A release consumes the guard, so a guard releases once.

use fifolock::Mutex;

fn main() {
    let mutex = Mutex::new(1);
    let guard = mutex.try_lock().unwrap();
    drop(guard);
    drop(guard);
}

//! A guard borrows its lock.

use fifolock::Mutex;

fn main() {
    let guard = {
        let mutex = Mutex::new(1);
        mutex.try_lock().unwrap()
    };
    drop(guard);
}

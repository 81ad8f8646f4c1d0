//! A mapped guard borrows the whole lock.

use fifolock::{Mutex, MutexGuard};

fn main() {
    let guard = {
        let mutex = Mutex::new((1, 2));
        MutexGuard::map(mutex.try_lock().unwrap(), |data| &mut data.0)
    };
    drop(guard);
}

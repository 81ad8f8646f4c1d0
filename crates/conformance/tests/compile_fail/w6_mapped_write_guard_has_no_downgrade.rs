//! A part of what is written need not be fit for sharing.

use fifolock::{RwLock, RwLockWriteGuard};

fn main() {
    let lock = RwLock::new((1, 2));
    let part = RwLockWriteGuard::map(lock.try_write().unwrap(), |data| &mut data.0);
    part.downgrade();
}

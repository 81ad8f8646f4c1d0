//! A mapped write guard can't be downgraded: its part may be exclusive data that readers must not share.

use fifolock::{RwLock, RwLockWriteGuard};

fn main() {
    let lock = RwLock::new((1, 2));
    let part = RwLockWriteGuard::map(lock.try_write().unwrap(), |data| &mut data.0);
    part.downgrade();
}

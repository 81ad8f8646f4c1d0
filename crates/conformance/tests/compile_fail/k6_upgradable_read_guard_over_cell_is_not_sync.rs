//! It is shared with plain readers.

use core::cell::Cell;
use fifolock::RwLockUpgradableReadGuard;

fn shared<T: Sync>() {}

fn main() {
    shared::<RwLockUpgradableReadGuard<'static, Cell<u8>>>();
}

//! An upgradable reader shares the data with plain readers, so the data must be `Sync`.

use core::cell::Cell;
use fifolock::RwLockUpgradableReadGuard;

fn shared<T: Sync>() {}

fn main() {
    shared::<RwLockUpgradableReadGuard<'static, Cell<u8>>>();
}

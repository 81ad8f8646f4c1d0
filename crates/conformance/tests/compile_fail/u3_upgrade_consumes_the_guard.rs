//! An upgrade consumes the upgradable guard.

use fifolock::{RwLock, RwLockUpgradableReadGuard};

async fn upgrade(lock: &RwLock<u8>) {
    let guard = lock.upgradable_read().await;
    let upgraded = RwLockUpgradableReadGuard::upgrade(guard).await;
    drop((guard, upgraded));
}

fn main() {}

//! An upgradable guard can become a write guard, so it is invariant too.

use fifolock::RwLockUpgradableReadGuard;

fn shorten<'short, 'long: 'short>(
    guard: RwLockUpgradableReadGuard<'short, &'long str>,
) -> RwLockUpgradableReadGuard<'short, &'short str> {
    guard
}

fn main() {}

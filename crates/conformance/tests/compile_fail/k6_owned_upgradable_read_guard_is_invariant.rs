//! An upgradable guard can become a write guard, so it is invariant too.

use fifolock::OwnedRwLockUpgradableReadGuard;

fn shorten<'short, 'long: 'short>(
    guard: OwnedRwLockUpgradableReadGuard<&'long str>,
) -> OwnedRwLockUpgradableReadGuard<&'short str> {
    guard
}

fn main() {}

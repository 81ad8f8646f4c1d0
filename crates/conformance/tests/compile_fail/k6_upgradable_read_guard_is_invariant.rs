//! It can become a write guard, so it is as invariant as that.

use fifolock::RwLockUpgradableReadGuard;

fn shorten<'short, 'long: 'short>(
    guard: RwLockUpgradableReadGuard<'short, &'long str>,
) -> RwLockUpgradableReadGuard<'short, &'short str> {
    guard
}

fn main() {}

//! It can become a write guard, so it is as invariant as that.

use fifolock::OwnedRwLockUpgradableReadGuard;

fn shorten<'short, 'long: 'short>(
    guard: OwnedRwLockUpgradableReadGuard<&'long str>,
) -> OwnedRwLockUpgradableReadGuard<&'short str> {
    guard
}

fn main() {}

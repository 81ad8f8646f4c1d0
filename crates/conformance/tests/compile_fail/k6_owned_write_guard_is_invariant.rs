//! A guard that gives `&mut` is invariant: else something short-lived could be put where something long-lived is.

use fifolock::OwnedRwLockWriteGuard;

fn shorten<'short, 'long: 'short>(guard: OwnedRwLockWriteGuard<&'long str>) -> OwnedRwLockWriteGuard<&'short str> {
    guard
}

fn main() {}

//! A guard that gives `&mut` is invariant: otherwise a short-lived value could be stored as a long-lived one.

use fifolock::OwnedRwLockWriteGuard;

fn shorten<'short, 'long: 'short>(guard: OwnedRwLockWriteGuard<&'long str>) -> OwnedRwLockWriteGuard<&'short str> {
    guard
}

fn main() {}

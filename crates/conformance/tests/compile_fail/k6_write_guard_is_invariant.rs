//! A guard that gives `&mut` is invariant: else something short-lived could be put where something long-lived is.

use fifolock::RwLockWriteGuard;

fn shorten<'short, 'long: 'short>(
    guard: RwLockWriteGuard<'short, &'long str>,
) -> RwLockWriteGuard<'short, &'short str> {
    guard
}

fn main() {}

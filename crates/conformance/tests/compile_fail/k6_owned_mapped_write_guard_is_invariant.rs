//! A guard that gives `&mut` is invariant: else something short-lived could be put where something long-lived is.

use fifolock::OwnedRwLockMappedWriteGuard;

fn shorten<'short, 'long: 'short>(
    guard: OwnedRwLockMappedWriteGuard<u8, &'long str>,
) -> OwnedRwLockMappedWriteGuard<u8, &'short str> {
    guard
}

fn main() {}

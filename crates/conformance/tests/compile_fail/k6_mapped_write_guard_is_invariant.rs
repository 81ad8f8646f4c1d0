//! A guard that gives `&mut` is invariant: else something short-lived could be put where something long-lived is.

use fifolock::RwLockMappedWriteGuard;

fn shorten<'short, 'long: 'short>(
    guard: RwLockMappedWriteGuard<'short, &'long str>,
) -> RwLockMappedWriteGuard<'short, &'short str> {
    guard
}

fn main() {}

//! A guard that gives `&mut` is invariant: otherwise a short-lived value could be stored as a long-lived one.

use fifolock::OwnedRwLockMappedWriteGuard;

fn shorten<'short, 'long: 'short>(
    guard: OwnedRwLockMappedWriteGuard<u8, &'long str>,
) -> OwnedRwLockMappedWriteGuard<u8, &'short str> {
    guard
}

fn main() {}

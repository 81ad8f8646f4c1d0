//! A guard that gives `&mut` is invariant: otherwise a short-lived value could be stored as a long-lived one.

use fifolock::RwLockMappedWriteGuard;

fn shorten<'short, 'long: 'short>(
    guard: RwLockMappedWriteGuard<'short, &'long str>,
) -> RwLockMappedWriteGuard<'short, &'short str> {
    guard
}

fn main() {}

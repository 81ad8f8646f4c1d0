//! A guard that gives `&mut` is invariant: otherwise a short-lived value could be stored as a long-lived one.

use fifolock::RwLockWriteGuard;

fn shorten<'short, 'long: 'short>(
    guard: RwLockWriteGuard<'short, &'long str>,
) -> RwLockWriteGuard<'short, &'short str> {
    guard
}

fn main() {}

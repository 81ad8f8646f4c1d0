//! A guard that gives `&mut` is invariant: otherwise a short-lived value could be stored as a long-lived one.

use fifolock::OwnedMappedMutexGuard;

fn shorten<'short, 'long: 'short>(
    guard: OwnedMappedMutexGuard<u8, &'long str>,
) -> OwnedMappedMutexGuard<u8, &'short str> {
    guard
}

fn main() {}

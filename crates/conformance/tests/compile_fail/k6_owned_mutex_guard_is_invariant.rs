//! A guard that gives `&mut` is invariant: otherwise a short-lived value could be stored as a long-lived one.

use fifolock::OwnedMutexGuard;

fn shorten<'short, 'long: 'short>(guard: OwnedMutexGuard<&'long str>) -> OwnedMutexGuard<&'short str> {
    guard
}

fn main() {}

//! A guard that gives `&mut` is invariant: else something short-lived could be put where something long-lived is.

use fifolock::OwnedMutexGuard;

fn shorten<'short, 'long: 'short>(guard: OwnedMutexGuard<&'long str>) -> OwnedMutexGuard<&'short str> {
    guard
}

fn main() {}

//! A guard that gives `&mut` is invariant: else something short-lived could be put where something long-lived is.

use fifolock::MutexGuard;

fn shorten<'short, 'long: 'short>(guard: MutexGuard<'short, &'long str>) -> MutexGuard<'short, &'short str> {
    guard
}

fn main() {}

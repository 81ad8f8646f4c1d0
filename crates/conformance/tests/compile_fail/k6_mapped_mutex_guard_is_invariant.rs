//! A guard that gives `&mut` is invariant: else something short-lived could be put where something long-lived is.

use fifolock::MappedMutexGuard;

fn shorten<'short, 'long: 'short>(
    guard: MappedMutexGuard<'short, &'long str>,
) -> MappedMutexGuard<'short, &'short str> {
    guard
}

fn main() {}

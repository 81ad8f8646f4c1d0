//! A guard that gives `&mut` is invariant: else something short-lived could be put where something long-lived is.

use fifolock::OwnedMappedMutexGuard;

fn shorten<'short, 'long: 'short>(
    guard: OwnedMappedMutexGuard<u8, &'long str>,
) -> OwnedMappedMutexGuard<u8, &'short str> {
    guard
}

fn main() {}

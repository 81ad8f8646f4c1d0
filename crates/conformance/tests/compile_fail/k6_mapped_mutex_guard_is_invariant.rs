//! A guard that gives `&mut` is invariant: otherwise a short-lived value could be stored as a long-lived one.

use fifolock::MappedMutexGuard;

fn shorten<'short, 'long: 'short>(
    guard: MappedMutexGuard<'short, &'long str>,
) -> MappedMutexGuard<'short, &'short str> {
    guard
}

fn main() {}

//! A guard that gives `&mut` is invariant: otherwise a short-lived value could be stored as a long-lived one.

use fifolock::MutexGuard;

fn shorten<'short, 'long: 'short>(guard: MutexGuard<'short, &'long str>) -> MutexGuard<'short, &'short str> {
    guard
}

fn main() {}

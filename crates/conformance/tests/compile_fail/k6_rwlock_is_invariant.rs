//! A lock gives `&mut`, so it is invariant: otherwise a short-lived value could be stored as a long-lived one.

use fifolock::RwLock;

fn shorten<'short, 'long: 'short>(lock: &'short RwLock<&'long str>) -> &'short RwLock<&'short str> {
    lock
}

fn main() {}

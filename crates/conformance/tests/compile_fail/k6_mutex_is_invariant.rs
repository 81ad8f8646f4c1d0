//! A lock gives `&mut`, so it is invariant: otherwise a short-lived value could be stored as a long-lived one.

use fifolock::Mutex;

fn shorten<'short, 'long: 'short>(mutex: &'short Mutex<&'long str>) -> &'short Mutex<&'short str> {
    mutex
}

fn main() {}

//! Who holds a lock may put something in: else something short-lived could be put where something long-lived is.

use fifolock::RwLock;

fn shorten<'short, 'long: 'short>(lock: &'short RwLock<&'long str>) -> &'short RwLock<&'short str> {
    lock
}

fn main() {}

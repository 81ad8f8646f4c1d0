//! Who holds a lock may put something in: else something short-lived could be put where something long-lived is.

use fifolock::Mutex;

fn shorten<'short, 'long: 'short>(mutex: &'short Mutex<&'long str>) -> &'short Mutex<&'short str> {
    mutex
}

fn main() {}

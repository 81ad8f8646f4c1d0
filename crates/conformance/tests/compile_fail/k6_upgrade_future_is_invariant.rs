//! An upgrade returns a write guard, so it is invariant too.

use core::pin::Pin;
use fifolock::Upgrade;

fn shorten<'short, 'long: 'short>(
    future: Pin<Box<Upgrade<'short, &'long str>>>,
) -> Pin<Box<Upgrade<'short, &'short str>>> {
    future
}

fn main() {}

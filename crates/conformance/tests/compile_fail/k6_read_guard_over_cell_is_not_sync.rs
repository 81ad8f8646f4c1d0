//! Readers on several threads must not share what must not be shared.

use core::cell::Cell;
use fifolock::RwLock;

fn sync(_: &impl Sync) {}

fn main() {
    let lock = RwLock::new(Cell::new(1));
    sync(&lock.try_read().unwrap());
}

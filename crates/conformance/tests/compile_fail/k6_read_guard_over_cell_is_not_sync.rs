//! Readers on several threads share the data, so the data must be `Sync`.

use core::cell::Cell;
use fifolock::RwLock;

fn sync(_: &impl Sync) {}

fn main() {
    let lock = RwLock::new(Cell::new(1));
    sync(&lock.try_read().unwrap());
}

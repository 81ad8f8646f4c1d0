//! A lock can be viewed only as one with the same raw lock.

use fifolock::local::Mutex;
use fifolock::tokio::Tokio;

fn main() {
    let mutex = Mutex::new(1);
    drop(mutex.on::<Tokio>().lock());
}

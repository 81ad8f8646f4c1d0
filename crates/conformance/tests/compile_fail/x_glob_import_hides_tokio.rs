//! The facade's modules have the names of the runtimes' crates, so programs must import names one by one.

use fifolock::*;

fn main() {
    let mutex = Mutex::new(1);
    drop(mutex);
    tokio::spawn(async {});
}

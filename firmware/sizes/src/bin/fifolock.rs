//! The program with fifolock's mutex.

#![no_std]
#![no_main]

use fifolock::embassy::Mutex;
use sizes::Raw;

static SHARED: Mutex<Raw, u32> = Mutex::new(0);

fn add(sum: &mut u32, n: u32) -> u32 {
    *sum += n;
    *sum
}

sizes::program!(
    lock: SHARED.lock().await,
    try_lock: SHARED.try_lock().ok(),
    add: add,
);

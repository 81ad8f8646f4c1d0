//! The program with embassy-sync's mutex, and a limit to each wait.

#![no_std]
#![no_main]

use embassy_sync::mutex::Mutex;
use embassy_time::with_timeout;
use sizes::Raw;

static SHARED: Mutex<Raw, u32> = Mutex::new(0);

fn add(sum: &mut u32, n: u32) -> u32 {
    *sum += n;
    *sum
}

sizes::program!(
    lock: match with_timeout(sizes::PATIENCE, SHARED.lock()).await {
        Ok(guard) => guard,
        Err(_) => continue,
    },
    try_lock: SHARED.try_lock().ok(),
    add: add,
);

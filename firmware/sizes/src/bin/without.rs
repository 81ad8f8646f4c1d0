//! The program without a lock.

#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering};

static SHARED: AtomicU32 = AtomicU32::new(0);

/// All tasks run in one executor, and no other task runs during this call.
fn add(_: &mut (), n: u32) -> u32 {
    let sum = SHARED.load(Ordering::Relaxed) + n;
    SHARED.store(sum, Ordering::Relaxed);
    sum
}

sizes::program!(lock: (), try_lock: Some(()), add: add);

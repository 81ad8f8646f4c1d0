//! A static library without `std` that uses both locks, as firmware would. Its
//! panic handler is the proof: if anything below used `std`, which has one too,
//! rustc would refuse the second (E0152).
//!
//! The critical section's implementation is left open, as every library must
//! leave it: the program that this is linked into chooses one.

#![no_std]

use core::future::Future;
use core::panic::PanicInfo;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use fifolock::critical_section::{Mutex, RwLock};

static COUNTER: Mutex<u32> = Mutex::new(0);
static LIMIT: RwLock<u32> = RwLock::new(10);

/// Counts up to the limit. Returns the count, or `u32::MAX` if a lock is taken.
///
/// The name is exported so that the compiler generates the code of the locks,
/// rather than drop it as unused.
#[unsafe(no_mangle)]
pub extern "C" fn nostd_check_count() -> u32 {
    let Some(mut counter) = poll_once(COUNTER.lock()) else {
        return u32::MAX;
    };
    let Some(limit) = poll_once(LIMIT.read()) else {
        return u32::MAX;
    };
    if *counter < *limit {
        *counter += 1;
    }
    *counter
}

/// Sets the limit. Returns whether it could, from an interrupt handler too.
#[unsafe(no_mangle)]
pub extern "C" fn nostd_check_set_limit(limit: u32) -> bool {
    match LIMIT.try_write() {
        Ok(mut guard) => {
            *guard = limit;
            true
        }
        Err(_) => false,
    }
}

/// An executor in the small: one poll, and the future is dropped.
fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

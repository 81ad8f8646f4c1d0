//! A static library without `std` that uses both locks, as firmware would. Its panic handler is the proof: if a
//! dependency used `std`, which has a panic handler too, rustc would refuse the second one (E0152).
//!
//! The library chooses no implementation of `critical-section`, as every library must leave that choice to the final
//! program.

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
/// The exported name makes the compiler generate the code of the locks, which it would otherwise remove as unused.
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

/// Sets the limit, also from an interrupt handler. Returns whether that succeeded.
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

/// A minimal executor: polls once, and drops the future.
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

//! What the images need of the boards that QEMU emulates: time, a spare interrupt, the extent of the stack, and an end.
//!
//! Cortex-M and RISC-V have the same names, so that each program is written once.

#![no_std]

use core::cell::Cell;

use critical_section::Mutex;

pub use semihosting::process::exit;

#[cfg_attr(target_arch = "arm", path = "cortex_m.rs")]
#[cfg_attr(target_arch = "riscv32", path = "riscv.rs")]
mod arch;
pub mod console;
#[cfg(target_arch = "arm")] // riscv-rt doesn't paint it
pub mod stack;

#[cfg(all(feature = "executors", target_arch = "riscv32"))]
pub use arch::executors;
#[cfg(feature = "report")]
pub use arch::interrupt;
pub use arch::start;
#[cfg(target_arch = "arm")] // the sizes are measured there
pub use arch::{count_instructions, instructions};

/// The board that QEMU emulates for this target.
pub const NAME: &str = env!("BOARD");

static ON_TIMER: Mutex<Cell<Option<fn()>>> = Mutex::new(Cell::new(None));

/// Makes `handler` run in each interrupt of the timer.
pub fn on_timer(handler: fn()) {
    critical_section::with(|cs| ON_TIMER.borrow(cs).set(Some(handler)));
}

fn run_on_timer() {
    if let Some(handler) = critical_section::with(|cs| ON_TIMER.borrow(cs).get()) {
        handler();
    }
}

//! RISC-V: time from the machine timer of QEMU's machine `virt`, a counter of 10 MHz and one alarm.

use core::cell::RefCell;
use core::task::Waker;

use critical_section::{CriticalSection, Mutex};
use embassy_time_driver::Driver;
use embassy_time_queue_utils::Queue;
use riscv::interrupt::Interrupt;
use riscv::register::{mie, mstatus};

const MTIMECMP: *mut u32 = 0x0200_4000 as *mut u32;
const MTIME: *const u32 = 0x0200_bff8 as *const u32;

struct MachineTimer(Mutex<RefCell<Queue>>);

embassy_time_driver::time_driver_impl!(static DRIVER: MachineTimer = MachineTimer(Mutex::new(RefCell::new(Queue::new()))));

impl MachineTimer {
    /// Wakes what has expired, and sets the alarm to what expires next.
    fn rearm(&self, cs: CriticalSection<'_>) {
        let next = self.0.borrow_ref_mut(cs).next_expiration(self.now());
        // The high half is at its maximum meanwhile, lest the alarm go off on half of the new value. One that is already
        // past goes off at once, so `now` may run on.
        for (half, value) in [(1, u32::MAX), (0, next as u32), (1, (next >> 32) as u32)] {
            // SAFETY: `virt` has the hart's 64-bit compare register there, and this driver alone writes it.
            unsafe { MTIMECMP.wrapping_add(half).write_volatile(value) };
        }
    }
}

/// One half of the counter.
fn mtime(half: usize) -> u32 {
    // SAFETY: `virt` has its 64-bit counter there; reading it has no effect.
    unsafe { MTIME.wrapping_add(half).read_volatile() }
}

impl Driver for MachineTimer {
    fn now(&self) -> u64 {
        loop {
            let (high, low) = (mtime(1), mtime(0));
            if high == mtime(1) {
                return u64::from(high) << 32 | u64::from(low);
            }
        }
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        critical_section::with(|cs| {
            if self.0.borrow_ref_mut(cs).schedule_wake(at, waker) {
                self.rearm(cs);
            }
        });
    }
}

#[riscv_rt::core_interrupt(Interrupt::MachineTimer)]
fn machine_timer() {
    critical_section::with(|cs| DRIVER.rearm(cs));
    crate::run_on_timer();
}

/// Starts the clock. Once.
pub fn start() {
    critical_section::with(|cs| DRIVER.rearm(cs));
    // SAFETY: the alarm is set, and its handler is there.
    unsafe { mie::set_mtimer() };
    // SAFETY: no critical section is open: this is called from `main`, outside of any.
    unsafe { mstatus::set_mie() };
}

#[cfg(feature = "report")]
pub mod interrupt {
    //! The interrupt that software raises.

    use core::cell::Cell;

    use critical_section::Mutex;
    use riscv::interrupt::Interrupt;
    use riscv::register::mie;

    const MSIP: *mut u32 = 0x0200_0000 as *mut u32;

    static HANDLER: Mutex<Cell<Option<fn()>>> = Mutex::new(Cell::new(None));

    /// Has `handler` run in the interrupt, once it is unmasked.
    pub fn set_handler(handler: fn()) {
        critical_section::with(|cs| HANDLER.borrow(cs).set(Some(handler)));
    }

    /// Unmasks it.
    pub fn enable() {
        // SAFETY: its handler is set, and no critical section works by this bit.
        unsafe { mie::set_msoft() };
    }

    fn set_pending(pending: u32) {
        // SAFETY: `virt` has the hart's software interrupt there, and only this module uses it.
        unsafe { MSIP.write_volatile(pending) };
    }

    /// Raises it: the handler has run when this returns.
    pub fn raise() {
        set_pending(1);
        riscv::asm::fence();
    }

    #[riscv_rt::core_interrupt(Interrupt::MachineSoft)]
    fn machine_soft() {
        set_pending(0);
        let handler = critical_section::with(|cs| HANDLER.borrow(cs).get());
        handler.expect("a handler is set before the interrupt is enabled")();
    }
}

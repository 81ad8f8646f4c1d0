//! RISC-V: the clock runs on the machine timer of QEMU's machine `virt`, a counter of 10 MHz with one alarm.

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
    /// Wakes the timers that have expired, and sets the alarm to the next one.
    fn rearm(&self, cs: CriticalSection<'_>) {
        let next = self.0.borrow_ref_mut(cs).next_expiration(self.now());
        // The high half is at its maximum during the write, so that the alarm can't go off on half of the new value. An
        // alarm in the past goes off at once, so `now` may be late.
        for (half, value) in [(1, u32::MAX), (0, next as u32), (1, (next >> 32) as u32)] {
            // SAFETY: `virt` has the 64-bit compare register of the hart at this address, and only this driver writes
            // it.
            unsafe { MTIMECMP.wrapping_add(half).write_volatile(value) };
        }
    }
}

/// A half of the counter.
fn mtime(half: usize) -> u32 {
    // SAFETY: `virt` has its 64-bit counter at this address, and a read has no effect.
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

/// Starts the clock. Must be called once.
pub fn start() {
    critical_section::with(|cs| DRIVER.rearm(cs));
    // SAFETY: the alarm and its handler are set.
    unsafe { mie::set_mtimer() };
    // SAFETY: `main` calls this outside of any critical section.
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

    /// The interrupt, for an executor that runs in it.
    #[derive(Clone, Copy)]
    pub struct Spare;

    /// Makes `handler` run in the interrupt, once the interrupt is unmasked.
    pub fn set_handler(handler: fn()) {
        critical_section::with(|cs| HANDLER.borrow(cs).set(Some(handler)));
    }

    /// Unmasks the interrupt.
    pub fn enable() {
        // SAFETY: the handler is set, and no critical section depends on this bit.
        unsafe { mie::set_msoft() };
    }

    fn set_pending(pending: u32) {
        // SAFETY: `virt` has the software interrupt of the hart at this address, and only this module uses it.
        unsafe { MSIP.write_volatile(pending) };
    }

    /// Raises the interrupt. The handler has run when this function returns.
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

#[cfg(feature = "executors")]
pub mod executors {
    //! One executor in thread mode, and one in the interrupt that software raises. embassy has only the first for
    //! RISC-V, and a program has only one `__pender`, the function that announces a task.

    use core::cell::{Cell, UnsafeCell};
    use core::mem::{MaybeUninit, transmute};
    use core::ptr;
    use core::sync::atomic::{AtomicBool, Ordering};

    use critical_section::Mutex;
    use embassy_executor::{SendSpawner, Spawner, raw};

    use super::interrupt::{self, Spare};

    const THREAD: *mut () = ptr::null_mut();
    const INTERRUPT: *mut () = ptr::without_provenance_mut(1);

    /// Whether a task in thread mode can go on.
    static IS_READY: AtomicBool = AtomicBool::new(false);

    #[unsafe(export_name = "__pender")]
    fn pender(context: *mut ()) {
        if context == THREAD {
            IS_READY.store(true, Ordering::SeqCst);
        } else {
            interrupt::raise();
        }
    }

    /// Runs tasks in thread mode, and sleeps when no task can go on.
    pub fn run(init: impl FnOnce(Spawner)) -> ! {
        let executor = raw::Executor::new(THREAD);
        // SAFETY: this function never returns, so the executor is never dropped.
        let executor = unsafe { transmute::<&raw::Executor, &'static raw::Executor>(&executor) };
        init(executor.spawner());
        loop {
            // SAFETY: only this loop polls the executor, and never from within a task.
            unsafe { executor.poll() };
            critical_section::with(|_| {
                // Interrupts are masked between the check and the sleep. A pending interrupt ends the sleep.
                if !IS_READY.load(Ordering::SeqCst) {
                    riscv::asm::wfi();
                }
                IS_READY.store(false, Ordering::SeqCst);
            });
        }
    }

    /// Runs tasks in the interrupt, above thread mode.
    pub struct InterruptExecutor {
        executor: UnsafeCell<MaybeUninit<raw::Executor>>,
        is_started: Mutex<Cell<bool>>,
    }

    // SAFETY: the executor is written once, before the interrupt is enabled. After that only the handler polls it, and
    // the other contexts share only a spawner that is `Send`.
    unsafe impl Sync for InterruptExecutor {}

    impl InterruptExecutor {
        #[allow(clippy::new_without_default, reason = "as embassy's, which it stands for")]
        pub const fn new() -> Self {
            Self { executor: UnsafeCell::new(MaybeUninit::uninit()), is_started: Mutex::new(Cell::new(false)) }
        }

        /// Starts the executor, and unmasks the interrupt. Must be called once.
        pub fn start(&'static self, _: Spare) -> SendSpawner {
            let was_started = critical_section::with(|cs| self.is_started.borrow(cs).replace(true));
            assert!(!was_started, "the executor is started once");
            // SAFETY: this is the only reference: the executor starts once, and the handler does not run yet.
            let executor = unsafe { &mut *self.executor.get() };
            let spawner = executor.write(raw::Executor::new(INTERRUPT)).spawner().make_send();
            interrupt::enable();
            spawner
        }

        /// # Safety
        ///
        /// Must be called only by the handler of the interrupt that [`start`](Self::start) unmasks.
        pub unsafe fn on_interrupt(&'static self) {
            // SAFETY: `start` has written the executor, and nothing writes it again.
            let executor = unsafe { (*self.executor.get()).assume_init_ref() };
            // SAFETY: the handler does not interrupt itself, so there is one poll at a time.
            unsafe { executor.poll() };
        }
    }
}

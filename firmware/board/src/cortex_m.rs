//! Cortex-M: the clock runs on SysTick, the one timer that all boards have.

use core::cell::RefCell;
use core::task::Waker;

use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::exception;
use critical_section::Mutex;
use embassy_time_driver::{Driver, TICK_HZ};
use embassy_time_queue_utils::Queue;

/// The frequency of SysTick.
const CORE_HZ: u32 = match crate::NAME.as_bytes() {
    b"microbit" => 16_000_000,
    b"mps2-an385" | b"mps2-an386" => 25_000_000,
    _ => panic!("the frequency of this board is not known"),
};

const RELOAD: u32 = CORE_HZ / TICK_HZ as u32 - 1;

struct Clock {
    now: u64,
    alarm: u64,
    queue: Queue,
}

struct SysTickDriver(Mutex<RefCell<Clock>>);

embassy_time_driver::time_driver_impl!(static DRIVER: SysTickDriver = SysTickDriver(Mutex::new(RefCell::new(Clock {
    now: 0,
    alarm: u64::MAX,
    queue: Queue::new(),
}))));

impl Driver for SysTickDriver {
    fn now(&self) -> u64 {
        critical_section::with(|cs| self.0.borrow_ref(cs).now)
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        critical_section::with(|cs| {
            let clock = &mut *self.0.borrow_ref_mut(cs);
            if clock.queue.schedule_wake(at, waker) {
                clock.alarm = clock.queue.next_expiration(clock.now);
            }
        });
    }
}

#[exception]
fn SysTick() {
    critical_section::with(|cs| {
        let clock = &mut *DRIVER.0.borrow_ref_mut(cs);
        clock.now += 1;
        if clock.now >= clock.alarm {
            clock.alarm = clock.queue.next_expiration(clock.now);
        }
    });
    crate::run_on_timer();
}

/// Starts the clock. Must be called once.
pub fn start() {
    let mut syst = cortex_m::Peripherals::take().expect("the board is started once").SYST;
    syst.set_clock_source(SystClkSource::Core);
    syst.set_reload(RELOAD);
    syst.clear_current();
    syst.enable_interrupt();
    syst.enable_counter();
}

/// Makes the timer count instructions instead of time. Must be called once, and instead of [`start`].
pub fn count_instructions() {
    let mut syst = cortex_m::Peripherals::take().expect("the board is started once").SYST;
    syst.set_clock_source(SystClkSource::Core);
    syst.set_reload(COUNTER_MAX);
    syst.clear_current();
    syst.enable_counter();
}

const COUNTER_MAX: u32 = 0xff_ffff;

/// The number of executed instructions, from any start. The images run with `-icount shift=6`, so each instruction
/// takes 64 ns of the emulated time. The counter ends after a second of that time.
pub fn instructions() -> u32 {
    const PICOSECONDS: u64 = 1_000_000_000_000;
    let ticks = COUNTER_MAX - cortex_m::peripheral::SYST::get_current();
    (u64::from(ticks) * (PICOSECONDS / CORE_HZ as u64) / 64_000) as u32
}

/// The extent of the stack, lowest address first, and the value that filled it before `main`.
pub(crate) fn stack() -> (*const u32, *const u32, u32) {
    // These are symbols of the linker script, whose address is their value.
    unsafe extern "C" {
        static _stack_start: u32;
        static _stack_end: u32;
    }
    (&raw const _stack_end, &raw const _stack_start, cortex_m_rt::STACK_PAINT_VALUE)
}

#[cfg(feature = "report")]
pub mod interrupt {
    //! An interrupt that only software raises: no device of any board does.

    use core::cell::Cell;

    use cortex_m::interrupt::InterruptNumber;
    use cortex_m::peripheral::NVIC;
    use cortex_m_rt::{ExceptionFrame, exception};
    use critical_section::Mutex;
    use semihosting::{eprintln, process};

    static HANDLER: Mutex<Cell<Option<fn()>>> = Mutex::new(Cell::new(None));

    /// The interrupt's number, for an executor that runs in it.
    #[derive(Clone, Copy)]
    pub struct Spare;

    // SAFETY: 24 is constant, and every board has at least 32 interrupts.
    unsafe impl InterruptNumber for Spare {
        fn number(self) -> u16 {
            24
        }
    }

    /// Makes `handler` run in the interrupt, above thread mode and below the clock, once the interrupt is unmasked.
    pub fn set_handler(handler: fn()) {
        critical_section::with(|cs| HANDLER.borrow(cs).set(Some(handler)));
        // SAFETY: this only sets the priority of an interrupt that nothing else uses. The owner of the peripherals
        // keeps them.
        let mut nvic = unsafe { cortex_m::Peripherals::steal() }.NVIC;
        // SAFETY: critical sections here mask all interrupts, so none depends on a priority.
        unsafe { nvic.set_priority(Spare, 0x80) };
    }

    /// Unmasks the interrupt.
    pub fn enable() {
        // SAFETY: critical sections mask all interrupts, and the handler is set.
        unsafe { NVIC::unmask(Spare) };
    }

    /// Raises the interrupt. The handler has run when this function returns.
    pub fn raise() {
        NVIC::pend(Spare);
        cortex_m::asm::dsb();
        cortex_m::asm::isb();
    }

    /// Without a device crate every interrupt is handled here.
    #[exception]
    unsafe fn DefaultHandler(number: i16) {
        match critical_section::with(|cs| HANDLER.borrow(cs).get()) {
            Some(handler) if number == 24 => handler(),
            _ => panic!("interrupt {number} was not expected"),
        }
    }

    /// Without this handler a fault would spin without end, and so would the emulator.
    #[exception]
    unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
        eprintln!("{frame:?}");
        process::exit(102)
    }
}

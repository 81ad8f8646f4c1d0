//! Cortex-M: time from SysTick, the one timer that all boards have.

use core::cell::RefCell;
use core::task::Waker;

use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::exception;
use critical_section::Mutex;
use embassy_time_driver::{Driver, TICK_HZ};
use embassy_time_queue_utils::Queue;

/// What SysTick counts at.
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

/// Starts the clock. Once.
pub fn start() {
    let mut syst = cortex_m::Peripherals::take().expect("the board is started once").SYST;
    syst.set_clock_source(SystClkSource::Core);
    syst.set_reload(RELOAD);
    syst.clear_current();
    syst.enable_interrupt();
    syst.enable_counter();
}

/// Has the timer count instructions instead of time. Instead of [`start`], once.
pub fn count_instructions() {
    let mut syst = cortex_m::Peripherals::take().expect("the board is started once").SYST;
    syst.set_clock_source(SystClkSource::Core);
    syst.set_reload(COUNTER_MAX);
    syst.clear_current();
    syst.enable_counter();
}

const COUNTER_MAX: u32 = 0xff_ffff;

/// How many instructions have been executed, from any number on. The images are run with `-icount shift=6`: each takes 64 ns
/// of the emulated time. The counter ends after a second of that.
pub fn instructions() -> u32 {
    const PICOSECONDS: u64 = 1_000_000_000_000;
    let ticks = COUNTER_MAX - cortex_m::peripheral::SYST::get_current();
    (u64::from(ticks) * (PICOSECONDS / CORE_HZ as u64) / 64_000) as u32
}

/// The stack's extent, lowest address first, and what it was filled with.
pub(crate) fn stack() -> (*const u32, *const u32, u32) {
    // The linker script's: symbols whose address is the value.
    unsafe extern "C" {
        static _stack_start: u32;
        static _stack_end: u32;
    }
    (&raw const _stack_end, &raw const _stack_start, cortex_m_rt::STACK_PAINT_VALUE)
}

#[cfg(feature = "report")]
pub mod interrupt {
    //! An interrupt that no device of any of the boards raises: software does.

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

    // SAFETY: 24 is below the 32 interrupts that every board has at least, and always the same.
    unsafe impl InterruptNumber for Spare {
        fn number(self) -> u16 {
            24
        }
    }

    /// Has `handler` run in the interrupt, above thread mode and below the clock. Once it is unmasked.
    pub fn set_handler(handler: fn()) {
        critical_section::with(|cs| HANDLER.borrow(cs).set(Some(handler)));
        // SAFETY: this sets the priority of the one interrupt that nobody else uses; the peripherals stay whose they are.
        let mut nvic = unsafe { cortex_m::Peripherals::steal() }.NVIC;
        // SAFETY: no critical section works by priorities here: they mask all interrupts.
        unsafe { nvic.set_priority(Spare, 0x80) };
    }

    /// Unmasks it.
    pub fn enable() {
        // SAFETY: as above: critical sections mask all interrupts, and the handler is set.
        unsafe { NVIC::unmask(Spare) };
    }

    /// Raises it: the handler has run when this returns.
    pub fn raise() {
        NVIC::pend(Spare);
        cortex_m::asm::dsb();
        cortex_m::asm::isb();
    }

    /// Without a device crate every interrupt comes here.
    #[exception]
    unsafe fn DefaultHandler(number: i16) {
        match critical_section::with(|cs| HANDLER.borrow(cs).get()) {
            Some(handler) if number == 24 => handler(),
            _ => panic!("interrupt {number} was not expected"),
        }
    }

    /// A fault would spin for ever, and the emulator with it.
    #[exception]
    unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
        eprintln!("{frame:?}");
        process::exit(102)
    }
}

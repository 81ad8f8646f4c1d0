//! The data that the tasks of [`bus!`](crate::bus!) share, and the program itself.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::{TASKS, TURNS, end};

/// A slow device behind a wire.
#[derive(Debug)]
pub struct Bus {
    address: u8,
    transfers: u32,
}

impl Bus {
    #[expect(clippy::new_without_default, reason = "the type is made in constants")]
    pub const fn new() -> Self {
        Self { address: 0, transfers: 0 }
    }

    #[inline(never)]
    pub fn select(&mut self, address: u8) {
        self.address = address;
    }

    #[inline(never)]
    pub fn transfer(&mut self, out: u32) -> u32 {
        self.transfers += 1;
        out ^ u32::from(self.address)
    }
}

/// The measurements.
#[derive(Debug)]
pub struct Log {
    lines: [u32; 4],
    next: usize,
}

impl Log {
    #[expect(clippy::new_without_default, reason = "the type is made in constants")]
    pub const fn new() -> Self {
        Self { lines: [0; 4], next: 0 }
    }

    #[inline(never)]
    pub fn write(&mut self, line: u32) {
        self.lines[self.next % 4] = line;
        self.next += 1;
    }
}

/// The settings that convert the sensor's values.
#[derive(Debug)]
pub struct Settings {
    gain: u16,
    offset: u16,
}

impl Settings {
    #[expect(clippy::new_without_default, reason = "the type is made in constants")]
    pub const fn new() -> Self {
        Self { gain: 1, offset: 0 }
    }

    #[inline(never)]
    pub fn adjust(&mut self, value: u32) {
        self.offset = self.offset.wrapping_add(self.gain) ^ value as u16;
    }
}

/// The number of finished turns, and the most at once.
#[derive(Debug)]
pub struct Counters {
    sum: u32,
    most: u32,
    times: u8,
}

impl Counters {
    #[expect(clippy::new_without_default, reason = "the type is made in constants")]
    pub const fn new() -> Self {
        Self { sum: 0, most: 0, times: 0 }
    }

    #[inline(never)]
    pub fn count(&mut self, value: u32) {
        self.sum = self.sum.wrapping_add(value);
        self.most = self.most.max(value);
        self.times = self.times.wrapping_add(1);
    }
}

static TAKEN: AtomicU32 = AtomicU32::new(0);

/// Counts a turn. All tasks run in one executor, so no other task comes in between.
#[inline(never)]
pub fn taken() {
    TAKEN.store(TAKEN.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Ends the program after all turns.
pub fn end_if_done() {
    if TAKEN.load(Ordering::Relaxed) == TASKS * TURNS {
        end(TASKS * TURNS);
    }
}

/// The program with three places, six, or twelve: `bus!(3, |mutex| expression)`. The expression is pasted at each
/// place. It acquires the mutex, or gives up this turn. A `Mutex<Raw, T>` must be in scope.
#[macro_export]
macro_rules! bus {
    ($places:tt, |$mutex:ident| $lock:expr) => {
        static BUS: Mutex<$crate::Raw, $crate::bus::Bus> = Mutex::new($crate::bus::Bus::new());
        $crate::bus!(@log $places);

        /// Sends a question, waits, and reads the answer.
        #[embassy_executor::task]
        async fn sensor() {
            for turn in 0..$crate::TURNS {
                let value = {
                    let $mutex = &BUS;
                    let mut bus = $lock;
                    bus.select(0x48);
                    embassy_time::Timer::after($crate::TURN).await;
                    bus.transfer(turn)
                };
                $crate::bus!(@write $places, value, $mutex, $lock);
                $crate::bus::taken();
            }
        }

        /// Sends a line, word by word.
        #[embassy_executor::task]
        async fn display() {
            for turn in 0..$crate::TURNS {
                let mut sum = 0;
                {
                    let $mutex = &BUS;
                    let mut bus = $lock;
                    bus.select(0x3c);
                    for word in 0..2 {
                        sum += bus.transfer(turn + word);
                    }
                    embassy_time::Timer::after($crate::TURN).await;
                }
                $crate::bus!(@write $places, sum, $mutex, $lock);
                $crate::bus::taken();
            }
        }

        /// Writes, and polls until the write is done.
        #[embassy_executor::task]
        async fn memory() {
            for turn in 0..$crate::TURNS {
                let $mutex = &BUS;
                let mut bus = $lock;
                bus.select(0x50);
                while bus.transfer(turn) == 0 {
                    embassy_time::Timer::after($crate::TURN).await;
                }
                drop(bus);
                $crate::bus!(@write $places, turn, $mutex, $lock);
                $crate::bus::taken();
            }
        }

        #[embassy_executor::main]
        async fn main(spawner: embassy_executor::Spawner) {
            board::start();
            spawner.spawn(sensor().unwrap());
            spawner.spawn(display().unwrap());
            spawner.spawn(memory().unwrap());
            // This is long enough for all turns, one after the other.
            for _ in 0..3 * $crate::TASKS * $crate::TURNS {
                embassy_time::Timer::after($crate::TURN).await;
                $crate::bus::end_if_done();
            }
            $crate::end(0);
        }
    };
    (@log 3) => {};
    (@log 6) => {
        static LOG: Mutex<$crate::Raw, $crate::bus::Log> = Mutex::new($crate::bus::Log::new());
    };
    (@log 12) => {
        $crate::bus!(@log 6);
        static SETTINGS: Mutex<$crate::Raw, $crate::bus::Settings> = Mutex::new($crate::bus::Settings::new());
        static COUNTERS: Mutex<$crate::Raw, $crate::bus::Counters> = Mutex::new($crate::bus::Counters::new());
    };
    (@write 3, $line:expr, $mutex:ident, $lock:expr) => {
        let _ = $line;
    };
    (@write 6, $line:expr, $mutex:ident, $lock:expr) => {
        let line = $line;
        let $mutex = &LOG;
        let mut log = $lock;
        log.write(line);
        drop(log);
    };
    (@write 12, $line:expr, $mutex:ident, $lock:expr) => {
        let value = $line;
        $crate::bus!(@write 6, value, $mutex, $lock);
        let $mutex = &SETTINGS;
        let mut settings = $lock;
        settings.adjust(value);
        drop(settings);
        let $mutex = &COUNTERS;
        let mut counters = $lock;
        counters.count(value);
        drop(counters);
    };
}

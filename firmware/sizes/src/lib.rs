//! The programs whose size is measured.
//!
//! - [`program!`]: three tasks of one kind take turns, and one more tries the lock without waiting. The code takes a
//!   lock at one place.
//! - [`bus!`]: three tasks, each with code of its own, share a bus. The code takes a lock at three places. In a longer
//!   form each task also writes into a log behind a second lock: six places, two kinds of data. In the longest form
//!   each task also adjusts settings and counts, behind locks of their own: twelve places, four kinds of data.
//!
//! The programs print without formatting and panic without a message, as small firmware does.

#![no_std]

use core::panic::PanicInfo;

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_time::Duration;

pub mod bus;
pub mod unlocked;

pub type Raw = CriticalSectionRawMutex;

pub const TASKS: u32 = 3;
pub const TURNS: u32 = 4;
/// The length of a turn.
pub const TURN: Duration = Duration::from_millis(1);
/// Longer than any wait for the turns of all other tasks.
pub const PATIENCE: Duration = Duration::from_millis(200);

/// Checks that all turns were taken, prints the use of the stack, and ends the program.
pub fn end(turns: u32) -> ! {
    let (used, _) = board::stack::high_water_mark();
    board::console::number("stack", used);
    board::exit(if turns == TASKS * TURNS { 0 } else { 1 })
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    board::exit(101)
}

/// The program with one place. `lock` acquires, or gives up this turn. `try_lock` returns an option of `lock`'s result.
/// `add` adds one to the data, and returns the sum.
#[macro_export]
macro_rules! program {
    (lock: $lock:expr, try_lock: $try_lock:expr, add: $add:expr $(,)?) => {
        #[embassy_executor::task(pool_size = $crate::TASKS as usize)]
        async fn worker() {
            for _ in 0..$crate::TURNS {
                #[allow(unused_mut, reason = "the program without a lock has nothing to change in its guard")]
                let mut guard = $lock;
                embassy_time::Timer::after($crate::TURN).await;
                $add(&mut guard, 1);
            }
        }

        #[embassy_executor::main]
        async fn main(spawner: embassy_executor::Spawner) {
            board::start();
            for _ in 0..$crate::TASKS {
                spawner.spawn(worker().unwrap());
            }
            // This is long enough for all turns, one after the other.
            for _ in 0..3 * $crate::TASKS * $crate::TURNS {
                embassy_time::Timer::after($crate::TURN).await;
                if let Some(mut guard) = $try_lock {
                    let turns = $add(&mut guard, 0);
                    if turns == $crate::TASKS * $crate::TURNS {
                        $crate::end(turns);
                    }
                }
            }
            $crate::end(0);
        }
    };
}

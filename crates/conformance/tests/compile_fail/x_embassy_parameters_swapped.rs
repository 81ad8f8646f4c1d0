//! On embassy the raw mutex is the first parameter, and the error says so.

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use fifolock::embassy::Mutex;

static COUNT: Mutex<u32, CriticalSectionRawMutex> = Mutex::new(0);

fn main() {
    let _ = COUNT.try_lock();
}

//! The bus with twelve places, with embassy-sync's mutex, and a limit to each wait.

#![no_std]
#![no_main]

use embassy_sync::mutex::Mutex;
use embassy_time::with_timeout;

sizes::bus!(12, |mutex| match with_timeout(sizes::PATIENCE, mutex.lock()).await {
    Ok(guard) => guard,
    Err(_) => continue,
});

//! The bus with twelve places, with fifolock's mutex, and a limit to each wait.

#![no_std]
#![no_main]

use fifolock::embassy::Mutex;

sizes::bus!(12, |mutex| match mutex.lock_timeout(sizes::PATIENCE).await {
    Ok(guard) => guard,
    Err(_) => continue,
});

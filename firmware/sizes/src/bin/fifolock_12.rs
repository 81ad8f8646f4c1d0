//! The bus with twelve places, with fifolock's mutex.

#![no_std]
#![no_main]

use fifolock::embassy::Mutex;

sizes::bus!(12, |mutex| mutex.lock().await);

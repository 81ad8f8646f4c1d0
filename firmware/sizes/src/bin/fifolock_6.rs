//! The bus with six places, with fifolock's mutex.

#![no_std]
#![no_main]

use fifolock::embassy::Mutex;

sizes::bus!(6, |mutex| mutex.lock().await);

//! The bus with three places, with fifolock's mutex.

#![no_std]
#![no_main]

use fifolock::embassy::Mutex;

sizes::bus!(3, |mutex| mutex.lock().await);

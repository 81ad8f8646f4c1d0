//! The bus with three places, with embassy-sync's mutex.

#![no_std]
#![no_main]

use embassy_sync::mutex::Mutex;

sizes::bus!(3, |mutex| mutex.lock().await);

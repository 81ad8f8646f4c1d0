//! The bus with six places, with embassy-sync's mutex.

#![no_std]
#![no_main]

use embassy_sync::mutex::Mutex;

sizes::bus!(6, |mutex| mutex.lock().await);

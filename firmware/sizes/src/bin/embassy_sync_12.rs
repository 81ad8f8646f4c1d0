//! The bus with twelve places, with embassy-sync's mutex.

#![no_std]
#![no_main]

use embassy_sync::mutex::Mutex;

sizes::bus!(12, |mutex| mutex.lock().await);

//! The bus with twelve places, without a lock.

#![no_std]
#![no_main]

use sizes::unlocked::Mutex;

sizes::bus!(12, |mutex| mutex.lock());

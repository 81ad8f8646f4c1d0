//! The bus with six places, without a lock.

#![no_std]
#![no_main]

use sizes::unlocked::Mutex;

sizes::bus!(6, |mutex| mutex.lock());

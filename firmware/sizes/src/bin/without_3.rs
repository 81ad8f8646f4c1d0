//! The bus with three places, without a lock.

#![no_std]
#![no_main]

use sizes::unlocked::Mutex;

sizes::bus!(3, |mutex| mutex.lock());

//! The RAM of locks and of waiting tasks, in bytes.

#![no_std]
#![no_main]

use core::mem::size_of_val;

use board::console::number;
use embassy_executor::Spawner;
use embassy_time::with_timeout;
use sizes::{PATIENCE, Raw};

mod fifo {
    pub(crate) use fifolock::embassy::{Mutex, RwLock};
}
mod embassy {
    pub(crate) use embassy_sync::{mutex::Mutex, rwlock::RwLock};
}

// The documentation promises this size.
const _: () = assert!(size_of::<fifo::Mutex<Raw, ()>>() == 16);
const _: () = assert!(size_of::<fifo::RwLock<Raw, ()>>() == 48);

static OUR_MUTEX: fifo::Mutex<Raw, u32> = fifo::Mutex::new(0);
static EMBASSYS_MUTEX: embassy::Mutex<Raw, u32> = embassy::Mutex::new(0);
static OUR_RWLOCK: fifo::RwLock<Raw, u32> = fifo::RwLock::new(0);
static EMBASSYS_RWLOCK: embassy::RwLock<Raw, u32> = embassy::RwLock::new(0);

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    board::start();
    for (name, bytes) in [
        ("a mutex over nothing/fifolock", size_of::<fifo::Mutex<Raw, ()>>()),
        ("a mutex over nothing/embassy-sync", size_of::<embassy::Mutex<Raw, ()>>()),
        ("a mutex over a `u32`/fifolock", size_of_val(&OUR_MUTEX)),
        ("a mutex over a `u32`/embassy-sync", size_of_val(&EMBASSYS_MUTEX)),
        ("a read-write lock over a `u32`/fifolock", size_of_val(&OUR_RWLOCK)),
        ("a read-write lock over a `u32`/embassy-sync", size_of_val(&EMBASSYS_RWLOCK)),
        ("a task in `lock`/fifolock", size_of_val(&OUR_MUTEX.lock())),
        ("a task in `lock`/embassy-sync", size_of_val(&EMBASSYS_MUTEX.lock())),
        ("a task in `lock`, with a timeout/fifolock", size_of_val(&OUR_MUTEX.lock_timeout(PATIENCE))),
        ("a task in `lock`, with a timeout/embassy-sync", size_of_val(&with_timeout(PATIENCE, EMBASSYS_MUTEX.lock()))),
        ("a task in `read`/fifolock", size_of_val(&OUR_RWLOCK.read())),
        ("a task in `read`/embassy-sync", size_of_val(&EMBASSYS_RWLOCK.read())),
        ("a task in `write`, with a timeout/fifolock", size_of_val(&OUR_RWLOCK.write_timeout(PATIENCE))),
        (
            "a task in `write`, with a timeout/embassy-sync",
            size_of_val(&with_timeout(PATIENCE, EMBASSYS_RWLOCK.write())),
        ),
    ] {
        number(name, bytes);
    }
    board::exit(0)
}

//! The number of instructions of each operation. QEMU's clock advances by one step for each instruction.

#![no_std]
#![no_main]

use core::future::Future;
use core::hint::black_box;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};

use board::console::number;
use embassy_executor::Spawner;
use sizes::Raw;

/// The number of runs of an operation, of which the program prints the mean.
const RUNS: u32 = 256;

/// The instructions of one run.
fn count(mut operation: impl FnMut()) -> usize {
    let begin = board::instructions();
    for _ in 0..RUNS {
        operation();
    }
    (board::instructions().wrapping_sub(begin) / RUNS) as usize
}

fn ready<F: Future>(future: Pin<&mut F>) -> F::Output {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future is granted"),
    }
}

macro_rules! rows {
    ($name:literal, $mutex:path, $rwlock:path) => {{
        type Mutex = $mutex;
        type RwLock = $rwlock;
        static MUTEX: Mutex = Mutex::new(0);
        static RWLOCK: RwLock = RwLock::new(0);
        let empty = count(|| {
            black_box(&MUTEX);
        });
        let print = |what: &str, instructions: usize| number(what, instructions - empty);
        print(concat!("`lock` and unlock, free/", $name), count(|| *ready(pin!(black_box(&MUTEX).lock())) += 1));
        print(
            concat!("`try_lock` and unlock, free/", $name),
            count(|| *black_box(&MUTEX).try_lock().ok().expect("free") += 1),
        );
        print(
            concat!("a contended turn: enqueue, release, claim, and unlock/", $name),
            // The contended lock is taken without a wait first.
            count(|| {
                let held = ready(pin!(black_box(&MUTEX).lock()));
                let mut waiter = pin!(MUTEX.lock());
                let poll = waiter.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                assert!(poll.is_pending());
                drop(held);
                *ready(waiter) += 1;
            }) - (count(|| *ready(pin!(black_box(&MUTEX).lock())) += 1) - empty),
        );
        print(
            concat!("`read` and unlock, free/", $name),
            count(|| {
                black_box(*ready(pin!(black_box(&RWLOCK).read())));
            }),
        );
        print(concat!("`write` and unlock, free/", $name), count(|| *ready(pin!(black_box(&RWLOCK).write())) += 1));
    }};
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    board::count_instructions();
    rows!("fifolock", fifolock::embassy::Mutex<Raw, u32>, fifolock::embassy::RwLock<Raw, u32>);
    rows!("embassy-sync", embassy_sync::mutex::Mutex<Raw, u32>, embassy_sync::rwlock::RwLock<Raw, u32>);
    board::exit(0)
}

//! A lock future must not move after its first poll: the queue points to it.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Waker};
use fifolock::Mutex;

fn main() {
    let mutex = Mutex::new(1);
    let future = mutex.lock();
    let mut pinned = pin!(future);
    let _ = pinned.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let moved = future;
    drop(moved);
}

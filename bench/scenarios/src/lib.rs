//! The counted operations: one operation of a lock for each row, with the same code for fifolock and every peer.
//!
//! | module | contains |
//! |---|---|
//! | [`lock`] | the interface of a lock that is measured |
//! | [`count`] | the requests that tell callgrind which instructions to count |
//! | [`waker`] | a waker that only records its wakes |
//! | [`mutex`], [`rwlock`] | the rows |
//!
//! A program of one lock calls [`mutex::rows`] and [`rwlock::rows`], and runs under callgrind.

pub mod count;
pub mod lock;
pub mod mutex;
pub mod rwlock;
mod slot;
pub mod waker;

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll};

/// The output of a future that is ready at its first poll.
#[inline(always)]
pub fn at_once<F: Future>(future: F, cx: &mut Context<'_>) -> F::Output {
    match pin!(future).poll(cx) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the first poll of a free lock must be ready"),
    }
}

/// Runs a program's rows on a thread of its own, whose stack begins at the start of a page. The stack of the first
/// thread begins after the environment and the arguments, and the cost of copying depends on that place.
/// wherever the environment and the arguments end, and copying costs more or less with the place.
///
/// # Panics
///
/// If a row panics.
pub fn on_own_stack(rows: fn()) {
    std::thread::spawn(rows).join().expect("a row panicked");
}

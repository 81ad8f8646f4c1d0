//! What is counted: one operation of a lock per row, the same code for ours and for every peer.
//!
//! | module | knows |
//! |---|---|
//! | [`lock`] | what a lock must offer to be measured |
//! | [`count`] | how callgrind is told which instructions to count |
//! | [`waker`] | the waker that only notes that it was woken |
//! | [`mutex`], [`rwlock`] | the rows |
//!
//! A program of one lock calls [`mutex::rows`] and [`rwlock::rows`] and is run under callgrind.

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
        Poll::Pending => panic!("a free lock was not to be had at once"),
    }
}

/// Runs a program's rows on a thread of its own: its stack begins at a page's start, while that of the first thread begins
/// wherever the environment and the arguments end, and copying costs more or less with the place.
///
/// # Panics
///
/// If a row does.
pub fn on_own_stack(rows: fn()) {
    std::thread::spawn(rows).join().expect("a row panicked");
}

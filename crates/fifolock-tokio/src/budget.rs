//! Tokio's cooperative budget, which the locks ask for now and then.

use core::cell::Cell;
use core::mem;
use core::task::{Context, Poll, ready};
use tokio::task::coop;

/// The number of first polls of a thread that one question to tokio answers.
const POLLS: i32 = 128;

/// The units that a question takes of a task's budget, which tokio fills up to 128 at each turn.
const UNITS: u32 = 4;

std::thread_local! {
    /// The number of first polls of this thread that need no further question. The first poll of a thread asks.
    static FREE: Cell<i32> = const { Cell::new(0) };
}

/// Whether the task may go on. A question to tokio at each poll would cost more than an uncontended lock.
#[inline(always)]
pub(crate) fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
    // The value is stored before the test: that takes one instruction, whose flags the branch uses.
    let left = FREE.get() - 1;
    FREE.set(left);
    if left < 0 { ask(cx) } else { Poll::Ready(()) }
}

#[cold]
#[inline(never)]
fn ask(cx: &mut Context<'_>) -> Poll<()> {
    // Until tokio says yes, every first poll asks: a task without budget must not go on in another of its futures.
    FREE.set(0);
    for _ in 0..UNITS {
        // To forget the token leaves the unit taken, and costs less than to report progress.
        mem::forget(ready!(coop::poll_proceed(cx)));
    }
    FREE.set(POLLS - 1);
    Poll::Ready(())
}

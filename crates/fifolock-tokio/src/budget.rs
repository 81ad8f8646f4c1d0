//! Tokio's cooperative budget, asked now and then.

use core::cell::Cell;
use core::mem;
use core::task::{Context, Poll, ready};
use tokio::task::coop;

/// How many first polls of a thread are answered by one question to tokio.
const POLLS: i32 = 128;

/// How many units of a task's budget, which tokio fills up to 128 at each turn, are taken at a question.
const UNITS: u32 = 4;

std::thread_local! {
    /// How many first polls of this thread need no question any more. The first of a thread asks.
    static FREE: Cell<i32> = const { Cell::new(0) };
}

/// Whether the task may go on. To ask tokio each time would cost more than an uncontended lock does.
#[inline(always)]
pub(crate) fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
    // Stored before it is looked at: that is one instruction, and the branch finds its result in the flags.
    let left = FREE.get() - 1;
    FREE.set(left);
    if left < 0 { ask(cx) } else { Poll::Ready(()) }
}

#[cold]
#[inline(never)]
fn ask(cx: &mut Context<'_>) -> Poll<()> {
    // As long as tokio says no, every first poll asks: a task without a budget must not go on in another of its futures.
    FREE.set(0);
    for _ in 0..UNITS {
        // Forgotten, it leaves the unit taken, and costs less than to say that there was progress.
        mem::forget(ready!(coop::poll_proceed(cx)));
    }
    FREE.set(POLLS - 1);
    Poll::Ready(())
}

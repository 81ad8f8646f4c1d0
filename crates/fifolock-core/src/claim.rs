//! What the mutex and the write lock share: how a granted waiter takes its grant.

use crate::queue::{Node, Waiter};
use crate::raw::RawLock;
use core::pin::Pin;
use core::task::Waker;

/// Takes the grant in one step on the word, without a section.
///
/// | before | after |
/// |---|---|
/// | held, granted to the waiter | held, claimed |
///
/// The step, not the waiter's own mark, decides: it excludes a section that takes the grant away. `false` means that a
/// section runs, or that only a section can tell.
#[inline(always)]
pub(crate) fn claim<R: RawLock>(raw: &R, waiter: Pin<&Waiter>) -> bool {
    let me = Node::of(waiter).as_ptr();
    raw.peek().is_some_and(|word| word.is_held() && word.granted() == me && raw.try_acquire(word, word.claimed()))
}

/// What a waiter that looked inside a section found; the wakers are to be dropped outside.
pub(crate) enum Looked {
    /// It owns what it waited for.
    Claimed(Option<Waker>),
    /// It waits on, perhaps with a new waker: this is the old one.
    Waits(Option<Waker>),
}

/// Runs its closure if it is dropped: for a panic between becoming the owner and having a guard.
pub(crate) struct OnUnwind<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnUnwind<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

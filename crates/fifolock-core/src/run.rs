//! Running a closure under a lock: the future of `run_exclusive` and its like.
//!
//! ```text
//!   waiting: the wait, the closure ──▶ running: the closure's future, the guard ──▶ ended
//! ```
//!
//! An `async` block would keep the closure as long as it lives, beside the closure's future, which has the same captures
//! inside. Here one takes the place of the other.

use crate::acquire::{Acquire, Request};
use crate::error::TimeoutError;
use crate::platform::Timer;
use crate::queue::polled_after_ready;
use crate::timeout::{Deadline, Timeout};
use crate::until::Until;
use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use pin_project_lite::pin_project;

/// A wait for a lock that may end without it.
pub(crate) trait Wait: Future {
    /// What a wait that ends with the lock gives.
    type Guard;
    /// What the whole comes to, if the closure's future comes to `O`.
    type Ran<O>;

    /// The guard, or what the whole comes to without one.
    fn guard<O>(output: Self::Output) -> Result<Self::Guard, Self::Ran<O>>;
    /// The closure has run.
    fn ran<O>(output: O) -> Self::Ran<O>;
}

impl<R: Request> Wait for Acquire<R> {
    type Guard = R::Guard;
    type Ran<O> = O;

    #[inline(always)]
    fn guard<O>(guard: R::Guard) -> Result<R::Guard, O> {
        Ok(guard)
    }

    #[inline(always)]
    fn ran<O>(output: O) -> O {
        output
    }
}

/// A wait that ends in a guard or in an error.
macro_rules! fallible {
    ([$($param:ident),*] $wait:ty, $error:ty $(where $($bound:tt)+)?) => {
        impl<R: Request, $($param: Future,)*> Wait for $wait
        $(where $($bound)+)?
        {
            type Guard = R::Guard;
            type Ran<O> = Result<O, $error>;

            #[inline(always)]
            fn guard<O>(output: Self::Output) -> Result<R::Guard, Self::Ran<O>> {
                output.map_err(Err)
            }

            #[inline(always)]
            fn ran<O>(output: O) -> Self::Ran<O> {
                Ok(output)
            }
        }
    };
}

fallible!([] Timeout<R>, R::Failed<TimeoutError> where R::Platform: Timer);
fallible!([] Deadline<R>, R::Failed<TimeoutError> where R::Platform: Timer);
fallible!([F] Until<R, F>, R::Failed<F::Output>);

pin_project! {
    #[project = Projected]
    #[project_replace = Replaced]
    enum State<W, C, F, G> {
        Waiting {
            #[pin]
            wait: W,
            call: C,
        },
        Running {
            // Before the guard: the user's future is dropped before the lock is released.
            #[pin]
            future: F,
            guard: G,
        },
        Ended,
    }
}

pin_project! {
    /// Waits for a lock, and runs a closure's future under it.
    struct Run<W: Wait, C, F> {
        #[pin]
        state: State<W, C, F, W::Guard>,
    }
}

/// Waits, and then runs the future that `call` makes of the guard. The future is dropped before the guard, and both as soon
/// as it is ready or panics.
#[inline]
pub(crate) fn run<W, C, F>(wait: W, call: C) -> impl Future<Output = W::Ran<F::Output>>
where
    W: Wait,
    C: FnOnce(&mut W::Guard) -> F,
    F: Future,
{
    Run { state: State::Waiting { wait, call } }
}

impl<W, C, F> Future for Run<W, C, F>
where
    W: Wait,
    C: FnOnce(&mut W::Guard) -> F,
    F: Future,
{
    type Output = W::Ran<F::Output>;

    // A timer's panic names the `.await`.
    #[track_caller]
    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = EndsOnUnwind(self.project().state);
        let polled = poll(state.0.as_mut(), cx);
        mem::forget(state);
        polled
    }
}

#[track_caller]
#[inline(always)]
fn poll<W, C, F>(mut state: Pin<&mut State<W, C, F, W::Guard>>, cx: &mut Context<'_>) -> Poll<W::Ran<F::Output>>
where
    W: Wait,
    C: FnOnce(&mut W::Guard) -> F,
    F: Future,
{
    if let Projected::Waiting { wait, .. } = state.as_mut().project() {
        let output = ready!(wait.poll(cx));
        let Replaced::Waiting { call, .. } = state.as_mut().project_replace(State::Ended) else { polled_after_ready() };
        let mut guard = match W::guard(output) {
            Ok(guard) => guard,
            Err(output) => return Poll::Ready(output),
        };
        let future = call(&mut guard);
        state.set(State::Running { future, guard });
    }
    let Projected::Running { future, .. } = state.as_mut().project() else { polled_after_ready() };
    let output = ready!(future.poll(cx));
    state.set(State::Ended);
    Poll::Ready(W::ran(output))
}

/// A panic in a poll ends all at once, as in an `async` block: the lock is not held until the future is dropped.
struct EndsOnUnwind<'a, W, C, F, G>(Pin<&'a mut State<W, C, F, G>>);

impl<W, C, F, G> Drop for EndsOnUnwind<'_, W, C, F, G> {
    fn drop(&mut self) {
        self.0.set(State::Ended);
    }
}

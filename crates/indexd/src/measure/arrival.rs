//! When a lock future is polled for the first time.

use core::pin::Pin;
use core::sync::atomic::{AtomicU64, Ordering};
use core::task::{Context, Poll};

use pin_project_lite::pin_project;

/// A clock that only counts. Its ticks start at 1.
#[derive(Debug, Default)]
pub(super) struct Clock {
    ticks: AtomicU64,
}

impl Clock {
    pub(super) fn tick(&self) -> u64 {
        // Ordering: AcqRel, pairs with itself. Whoever draws the later tick sees all that was done before
        // the earlier one was drawn: if a bracket closed before another opened, its owner was in the queue.
        self.ticks.fetch_add(1, Ordering::AcqRel) + 1
    }
}

/// The bracket around one first poll: 0 stands for not yet.
///
/// Only the task that arrives touches it. The atomics (hence Relaxed) let it be shared between the lock
/// future and the closure within that future.
#[derive(Debug, Default)]
pub(crate) struct Arrival {
    opened: AtomicU64,
    closed: AtomicU64,
}

impl Arrival {
    /// The bracket, as seen by one who is inside.
    ///
    /// Who gets a free lock is inside before the first poll is over. Its arrival is over, though, so the
    /// bracket is closed now.
    pub(super) fn bracket(&self, clock: &Clock) -> (u64, u64) {
        let opened = self.opened.load(Ordering::Relaxed);
        let closed = match self.closed.load(Ordering::Relaxed) {
            0 => clock.tick(),
            closed => closed,
        };
        (opened, closed)
    }
}

pin_project! {
    /// A future whose first poll is bracketed.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct FirstPoll<'a, F> {
        #[pin]
        future: F,
        arrival: &'a Arrival,
        clock: &'a Clock,
    }
}

impl<'a, F> FirstPoll<'a, F> {
    pub(super) fn new(future: F, arrival: &'a Arrival, clock: &'a Clock) -> Self {
        Self { future, arrival, clock }
    }
}

impl<F: Future> Future for FirstPoll<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if this.arrival.opened.load(Ordering::Relaxed) != 0 {
            return this.future.poll(context);
        }
        this.arrival.opened.store(this.clock.tick(), Ordering::Relaxed);
        let poll = this.future.poll(context);
        this.arrival.closed.store(this.clock.tick(), Ordering::Relaxed);
        poll
    }
}

#[cfg(test)]
mod tests {
    use core::future::{poll_fn, ready};
    use core::pin::pin;
    use core::task::Waker;

    use super::*;

    #[test]
    fn only_the_first_poll_is_bracketed() {
        let (clock, arrival) = (Clock::default(), Arrival::default());
        let mut polls = 0;
        let third = poll_fn(|_| {
            polls += 1;
            if polls == 3 { Poll::Ready(()) } else { Poll::Pending }
        });
        let mut future = pin!(FirstPoll::new(third, &arrival, &clock));
        let mut context = Context::from_waker(Waker::noop());

        clock.tick();
        assert!(future.as_mut().poll(&mut context).is_pending());
        assert_eq!(arrival.bracket(&clock), (2, 3));
        assert!(future.as_mut().poll(&mut context).is_pending());
        assert!(future.as_mut().poll(&mut context).is_ready());
        assert_eq!(arrival.bracket(&clock), (2, 3));
        assert_eq!(clock.tick(), 4);
    }

    #[test]
    fn one_inside_during_its_first_poll_has_arrived() {
        let (clock, arrival) = (Clock::default(), Arrival::default());
        let inside = poll_fn(|_| Poll::Ready(arrival.bracket(&clock)));
        let mut future = pin!(FirstPoll::new(inside, &arrival, &clock));
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(future.as_mut().poll(&mut context), Poll::Ready((1, 2)));
    }

    #[test]
    fn creating_the_future_is_no_arrival() {
        let (clock, arrival) = (Clock::default(), Arrival::default());
        drop(FirstPoll::new(ready(()), &arrival, &clock));
        assert_eq!(clock.tick(), 1);
    }
}

//! Real clocks.

use super::TestTimer;
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::task::Wake;

struct Tell(SyncSender<()>);

impl Wake for Tell {
    fn wake(self: Arc<Self>) {
        // The second wake of this waker finds no receiver.
        let _ = self.0.try_send(());
    }
}

/// Lets `by` pass, and returns when a sleep has woken its task. The timer wakes in the order of time, so every earlier
/// sleep has woken its task too. The time alone would not show that.
pub(super) fn sleep_to_be_woken<P: TestTimer>(by: Duration) {
    let (sender, woken) = sync_channel(1);
    let waker = Waker::from(Arc::new(Tell(sender)));
    loop {
        let mut sleep = pin!(P::sleep(P::span(by)).expect("a short one"));
        if sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            woken.recv().expect("the waker is here");
            return;
        }
        // The time came before the first poll of the sleep, so the sleep wakes no task.
    }
}

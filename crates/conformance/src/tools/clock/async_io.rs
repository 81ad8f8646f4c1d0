//! The clock of async-io, which smol and async-std share: a real one. async-io's own thread drives it.

use super::{PATIENCE, TestTimer};
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Waker};
use core::time::Duration;
use fifolock::async_std::AsyncStd;
use fifolock::smol::Smol;
use fifolock_core::platform::Timer;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::task::Wake;
use std::time::Instant;

struct Tell(SyncSender<()>);

impl Wake for Tell {
    fn wake(self: Arc<Self>) {
        // Nobody listens any more when it is woken a second time.
        let _ = self.0.try_send(());
    }
}

/// Lets `by` pass, and returns once a sleep has woken its task: async-io wakes in the order of time, so every earlier
/// sleep has woken its own. That it *is* later says nothing about that.
fn sleep_to_be_woken<P: Timer<Duration = Duration>>(by: Duration) {
    let (sender, woken) = sync_channel(1);
    let waker = Waker::from(Arc::new(Tell(sender)));
    loop {
        let mut sleep = pin!(P::sleep(by).expect("a short one"));
        if sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            woken.recv().expect("the waker is here");
            return;
        }
        // Its time came before its first poll, so it wakes nobody.
    }
}

macro_rules! on_async_io {
    ($($platform:ident),+) => {
        $(
            impl TestTimer for $platform {
                const EXACT: bool = false;
                const FORGETS: bool = false;

                fn with(test: impl FnOnce()) {
                    test();
                }

                fn advance(by: Duration) {
                    sleep_to_be_woken::<Self>(by.min(PATIENCE));
                }

                fn armed() -> Option<usize> {
                    None
                }

                fn span(of: Duration) -> Duration {
                    of
                }

                fn instant_in(after: Duration) -> Instant {
                    Instant::now() + after
                }

                fn past_instant() -> Instant {
                    Instant::now() - Duration::from_nanos(1)
                }
            }
        )+
    };
}

on_async_io!(Smol, AsyncStd);

//! Tokio's clock, paused. The tests poll futures by hand, in the context of a runtime that runs only to advance the
//! clock.

use super::TestTimer;
use core::cell::RefCell;
use core::time::Duration;
use fifolock::tokio::Tokio;
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

std::thread_local! {
    static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) };
}

fn block_on<F: Future>(future: F) -> F::Output {
    RUNTIME.with_borrow(|runtime| runtime.as_ref().expect("within `with`").block_on(future))
}

impl TestTimer for Tokio {
    const EXACT: bool = true;
    const FORGETS: bool = true;

    fn with(test: impl FnOnce()) {
        struct Over;
        impl Drop for Over {
            fn drop(&mut self) {
                drop(RUNTIME.take());
            }
        }
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        let handle = runtime.handle().clone();
        RUNTIME.set(Some(runtime));
        let _over = Over;
        let _context = handle.enter();
        // The clock starts late, so that points in time before its start exist.
        Self::advance(Duration::from_secs(1000));
        test();
    }

    fn advance(by: Duration) {
        block_on(tokio::time::advance(by));
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

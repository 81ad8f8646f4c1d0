//! The real clock of async-io, which smol and async-std share. A thread of async-io drives it.

use super::{PATIENCE, TestTimer, sleep_to_be_woken};
use core::time::Duration;
use fifolock::async_std::AsyncStd;
use fifolock::smol::Smol;
use std::time::Instant;

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

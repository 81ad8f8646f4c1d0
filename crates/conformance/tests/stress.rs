//! Many tasks on each runtime, with timeouts, deadlines and cancellation at random.
#![cfg(not(miri))]

use core::future::Future;
use core::time::Duration;
use fifolock_conformance::stress::{self, Runtime};

/// The tests of one runtime: its name, its constructor, and the seeds.
macro_rules! stress {
    ($($name:ident: $runtime:expr, $seeds:expr;)+) => {
        $(
            mod $name {
                use super::*;

                #[test]
                fn t4_mutex() {
                    let runtime = $runtime;
                    $seeds.for_each(|seed| stress::mutex(&runtime, seed));
                }

                #[test]
                fn t4_rwlock() {
                    let runtime = $runtime;
                    $seeds.for_each(|seed| stress::rwlock(&runtime, seed));
                }
            }
        )+
    };
}

stress! {
    tokio_on_several_threads: on_tokio::several_threads(), 0..4;
    tokio_on_one_thread: on_tokio::one_thread(false), 10..11;
    tokio_on_a_paused_clock: on_tokio::one_thread(true), 20..24;
    smol_on_several_threads: on_smol::Threads::new(3), 30..33;
    smol_on_one_thread: on_smol::Threads::new(0), 40..41;
    async_std_on_its_threads: on_async_std::AsyncStdRuntime, 50..53;
}

/// The mock driver is one clock for the whole program, so its tests take turns.
#[cfg(feature = "embassy-mock")]
mod embassy_by_hand {
    use super::*;
    use fifolock_conformance::tools::clock::TestTimer;
    use on_embassy::{ByHand, Locks};

    #[test]
    fn t4_mutex() {
        Locks::with(|| (60..64).for_each(|seed| stress::mutex(&ByHand::default(), seed)));
    }

    #[test]
    fn t4_rwlock() {
        Locks::with(|| (70..74).for_each(|seed| stress::rwlock(&ByHand::default(), seed)));
    }
}

mod on_tokio {
    use super::*;
    use fifolock::tokio::Tokio;
    use tokio::runtime::Builder;
    use tokio::task::JoinHandle;
    use tokio::time::Instant;

    pub(crate) struct TokioRuntime(tokio::runtime::Runtime);

    pub(crate) fn several_threads() -> TokioRuntime {
        TokioRuntime(Builder::new_multi_thread().worker_threads(4).enable_time().build().expect("a runtime"))
    }

    pub(crate) fn one_thread(paused: bool) -> TokioRuntime {
        TokioRuntime(Builder::new_current_thread().enable_time().start_paused(paused).build().expect("a runtime"))
    }

    impl Runtime for TokioRuntime {
        type Platform = Tokio;
        type Task = JoinHandle<()>;

        fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
            self.0.spawn(task)
        }

        async fn abort(&self, task: JoinHandle<()>) {
            task.abort();
        }

        async fn join(&self, task: JoinHandle<()>) {
            task.await.expect("no panic");
        }

        fn yield_now() -> impl Future<Output = ()> + Send {
            tokio::task::yield_now()
        }

        fn sleep(of: Duration) -> impl Future<Output = ()> + Send {
            tokio::time::sleep(of)
        }

        fn span(of: Duration) -> Duration {
            of
        }

        fn instant_in(after: Duration) -> Instant {
            Instant::now() + after
        }

        fn block_on<F: Future>(&self, future: F) -> F::Output {
            self.0.block_on(future)
        }
    }
}

mod on_smol {
    use super::*;
    use core::mem;
    use fifolock::smol::Smol;
    use smol::channel::{RecvError, Sender, unbounded};
    use smol::{Executor, Task, Timer};
    use std::sync::Arc;
    use std::thread::{self, JoinHandle};
    use std::time::Instant;

    /// An executor with several threads, besides the thread that blocks on it.
    pub(crate) struct Threads {
        executor: Arc<Executor<'static>>,
        threads: Vec<JoinHandle<RecvError>>,
        /// The drop of the sender ends the threads.
        stop: Option<Sender<()>>,
    }

    impl Threads {
        pub(crate) fn new(threads: usize) -> Self {
            let executor = Arc::new(Executor::new());
            let (stop, stopped) = unbounded::<()>();
            let run = || {
                let (executor, stopped) = (Arc::clone(&executor), stopped.clone());
                thread::spawn(move || smol::block_on(executor.run(stopped.recv())).expect_err("nothing is sent"))
            };
            Self { threads: (0..threads).map(|_| run()).collect(), executor, stop: Some(stop) }
        }
    }

    impl Drop for Threads {
        fn drop(&mut self) {
            drop(self.stop.take());
            for thread in mem::take(&mut self.threads) {
                let ended = thread.join();
                assert!(ended.is_ok() || thread::panicking(), "a task panicked");
            }
        }
    }

    impl Runtime for Threads {
        type Platform = Smol;
        type Task = Task<()>;

        fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Task<()> {
            self.executor.spawn(task)
        }

        async fn abort(&self, task: Task<()>) {
            // The drop cancels the task without waiting.
            drop(task);
        }

        async fn join(&self, task: Task<()>) {
            task.await;
        }

        fn yield_now() -> impl Future<Output = ()> + Send {
            smol::future::yield_now()
        }

        async fn sleep(of: Duration) {
            Timer::after(of).await;
        }

        fn span(of: Duration) -> Duration {
            of
        }

        fn instant_in(after: Duration) -> Instant {
            Instant::now() + after
        }

        fn block_on<F: Future>(&self, future: F) -> F::Output {
            smol::block_on(self.executor.run(future))
        }
    }
}

mod on_async_std {
    use super::*;
    use async_std::task::{self, JoinHandle};
    use fifolock::async_std::AsyncStd;
    use std::time::Instant;

    /// The executor that async-std has for the whole program.
    pub(crate) struct AsyncStdRuntime;

    impl Runtime for AsyncStdRuntime {
        type Platform = AsyncStd;
        type Task = JoinHandle<()>;

        fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
            task::spawn(task)
        }

        async fn abort(&self, task: JoinHandle<()>) {
            // The task may have ended before.
            let _ = task.cancel().await;
        }

        async fn join(&self, task: JoinHandle<()>) {
            task.await;
        }

        fn yield_now() -> impl Future<Output = ()> + Send {
            task::yield_now()
        }

        fn sleep(of: Duration) -> impl Future<Output = ()> + Send {
            task::sleep(of)
        }

        fn span(of: Duration) -> Duration {
            of
        }

        fn instant_in(after: Duration) -> Instant {
            Instant::now() + after
        }

        fn block_on<F: Future>(&self, future: F) -> F::Output {
            task::block_on(future)
        }
    }
}

#[cfg(feature = "embassy-mock")]
mod on_embassy {
    use super::*;
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};
    use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
    use embassy_time::{Instant, MockDriver, Timer};
    use fifolock::embassy::Embassy;
    use smol::{Executor, Task};

    pub(crate) type Locks = Embassy<CriticalSectionRawMutex>;

    /// Tasks that the test drives itself. Time passes when no task can go on, and sometimes earlier.
    #[derive(Default)]
    pub(crate) struct ByHand(Executor<'static>);

    impl Runtime for ByHand {
        type Platform = Locks;
        type Task = Task<()>;

        fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Task<()> {
            self.0.spawn(task)
        }

        async fn abort(&self, task: Task<()>) {
            drop(task);
        }

        async fn join(&self, task: Task<()>) {
            task.await;
        }

        fn yield_now() -> impl Future<Output = ()> + Send {
            smol::future::yield_now()
        }

        fn sleep(of: Duration) -> impl Future<Output = ()> + Send {
            Timer::after(Self::span(of))
        }

        fn span(of: Duration) -> embassy_time::Duration {
            of.try_into().expect("a short one")
        }

        fn instant_in(after: Duration) -> Instant {
            Instant::now() + Self::span(after)
        }

        fn block_on<F: Future>(&self, future: F) -> F::Output {
            const TICK: embassy_time::Duration = embassy_time::Duration::from_micros(50);
            let mut future = pin!(future);
            loop {
                // The future is polled whenever something may have happened, so it needs no wake.
                if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    return output;
                }
                let mut ticks = 0;
                while ticks < 20 && self.0.try_tick() {
                    ticks += 1;
                }
                MockDriver::get().advance(TICK);
            }
        }
    }
}

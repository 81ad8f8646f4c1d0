//! Embassy's executor for hosts as a runtime of the conformance suite: its tasks, its wakers, its clock.

use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Poll;
use core::time::Duration;
use embassy_executor::{Executor, Spawner};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use embassy_sync::signal::Signal;
use embassy_sync::waitqueue::AtomicWaker;
use embassy_time::Instant;
use fifolock::embassy::Embassy;
use fifolock_conformance::stress::{Runtime, TASKS};
use std::sync::{Arc, mpsc};
use std::thread;

/// The future of a task.
pub type Body = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The tasks of one run, and some spare slots, since a task keeps its slot for a moment after its last line.
const SLOTS: usize = TASKS + 100;

#[embassy_executor::task(pool_size = SLOTS)]
async fn task(body: Body) {
    body.await;
}

/// Futures that wait for a slot.
type Bodies = Channel<CriticalSectionRawMutex, Body, SLOTS>;

/// Spawns the tasks on the executor's own thread. A spawn on another thread would race with a late wake of the slot's
/// last task: the executor marks the slot as free before it reads what to poll there.
/// marks the slot as free to take before it reads what to poll there.
#[embassy_executor::task]
async fn spawns(spawner: Spawner, bodies: &'static Bodies) {
    loop {
        spawner.spawn(task(bodies.receive().await).expect("a slot"));
    }
}

/// The executor, on a thread of its own that outlives the tests. A program has one executor, since the slots are a
/// static.
#[derive(Clone, Copy)]
pub struct EmbassyStd(&'static Bodies);

impl core::fmt::Debug for EmbassyStd {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad("EmbassyStd")
    }
}

impl EmbassyStd {
    /// Starts an executor.
    #[must_use]
    pub fn start() -> Self {
        let bodies: &Bodies = Box::leak(Box::new(Channel::new()));
        thread::spawn(move || {
            let executor = Box::leak(Box::new(Executor::new()));
            executor.run(|spawner| spawner.spawn(spawns(spawner, bodies).expect("the only one")));
        });
        Self(bodies)
    }

    fn spawn_body(&self, body: Body) {
        assert!(self.0.try_send(body).is_ok(), "a slot");
    }

    /// Runs a future as a task of the executor. Embassy's timer works in such tasks only.
    pub fn run<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> T {
        let (sender, receiver) = mpsc::channel();
        let body = async move { sender.send(future.await).expect("the caller waits for the output") };
        self.spawn_body(Box::pin(body));
        receiver.recv().expect("no panic")
    }
}

/// The state that a task and its owner share.
struct Shared {
    aborted: AtomicBool,
    waker: AtomicWaker,
    ended: Signal<CriticalSectionRawMutex, ()>,
}

/// The owner's handle of a task.
pub struct Task(Arc<Shared>);

impl core::fmt::Debug for Task {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad("Task")
    }
}

/// Tells the owner that the task has ended, also when the task panics.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.ended.signal(());
    }
}

impl Runtime for EmbassyStd {
    type Platform = Embassy<CriticalSectionRawMutex>;
    type Task = Task;

    fn spawn(&self, body: impl Future<Output = ()> + Send + 'static) -> Task {
        let shared =
            Arc::new(Shared { aborted: AtomicBool::new(false), waker: AtomicWaker::new(), ended: Signal::new() });
        let ended = Ended(Arc::clone(&shared));
        let body = async move {
            let mut body: Option<Body> = Some(Box::pin(body));
            let ended = ended;
            poll_fn(|cx| {
                // Embassy's timer takes no waker but the task's own.
                ended.0.waker.register(cx.waker());
                match &mut body {
                    Some(running) if !ended.0.aborted.load(Ordering::SeqCst) => running.as_mut().poll(cx),
                    _ => Poll::Ready(()),
                }
            })
            .await;
            drop(body);
        };
        self.spawn_body(Box::pin(body));
        Task(shared)
    }

    async fn abort(&self, task: Task) {
        task.0.aborted.store(true, Ordering::SeqCst);
        task.0.waker.wake();
    }

    async fn join(&self, task: Task) {
        task.0.ended.wait().await;
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        smol::future::yield_now()
    }

    // Embassy's timer works in its tasks only, so this sleep uses another one.
    async fn sleep(of: Duration) {
        smol::Timer::after(of).await;
    }

    fn span(of: Duration) -> embassy_time::Duration {
        of.try_into().expect("a short one")
    }

    fn instant_in(after: Duration) -> Instant {
        Instant::now() + Self::span(after)
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        smol::block_on(future)
    }
}

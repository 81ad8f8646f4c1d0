//! The rules of time on tokio's clock, and cases of tokio alone: its runtimes, the end of its clock, and a missing
//! runtime.

use core::time::Duration;
use fifolock::tokio::{Mutex, RwLock, TimeoutError, Tokio};
use fifolock_conformance::tools;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::time::{Instant, advance};

mod rules {
    use fifolock::tokio::Tokio;
    fifolock_conformance::time_rules!(Tokio);
    fifolock_conformance::until_rules!(Tokio);
}

const MS_50: Duration = Duration::from_millis(50);

/// Lets other tasks run until `happened` returns true, for a minute at most.
async fn until(happened: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(60), "the tasks did not get there within a minute");
        tokio::task::yield_now().await;
    }
}

fn elapsed_text<G>(result: Result<G, TimeoutError>) -> String {
    result.err().expect("the lock is held").to_string()
}

/// Fails the test if the wait has no end. On a paused clock an hour takes no time.
async fn within<F: Future>(seconds: u64, waits: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(seconds), waits).await.expect("the waits end")
}

/// The paused clock advances when every task waits.
#[tokio::test(start_paused = true)]
async fn t1_every_operation_times_out_on_time() {
    let mutex = Arc::new(Mutex::new(0));
    let lock = Arc::new(RwLock::new(0));
    let held = (mutex.lock().await, lock.write().await);
    let start = Instant::now();
    let waits = within(3600, async {
        (
            mutex.lock_timeout(MS_50).await.map(drop),
            Arc::clone(&mutex).lock_owned_timeout(MS_50).await.map(drop),
            mutex.run_exclusive_timeout(MS_50, async |_| ()).await,
            lock.read_timeout(MS_50).await.map(drop),
            Arc::clone(&lock).read_owned_timeout(MS_50).await.map(drop),
            lock.run_shared_timeout(MS_50, async |_| ()).await,
            lock.write_timeout(MS_50).await.map(drop),
            Arc::clone(&lock).write_owned_timeout(MS_50).await.map(drop),
            lock.run_exclusive_timeout(MS_50, async |_| ()).await,
        )
    })
    .await;
    assert_eq!(start.elapsed(), 9 * MS_50);
    for result in [waits.0, waits.1, waits.2] {
        assert_eq!(elapsed_text(result), "timed out waiting for mutex after 50ms");
    }
    for result in [waits.3, waits.4, waits.5] {
        assert_eq!(elapsed_text(result), "timed out waiting for read lock after 50ms");
    }
    for result in [waits.6, waits.7, waits.8] {
        assert_eq!(elapsed_text(result), "timed out waiting for write lock after 50ms");
    }
    let start = Instant::now();
    let deadline = || Instant::now() + MS_50;
    let waits = within(3600, async {
        (
            mutex.lock_deadline(deadline()).await.map(drop),
            Arc::clone(&mutex).lock_owned_deadline(deadline()).await.map(drop),
            lock.read_deadline(deadline()).await.map(drop),
            Arc::clone(&lock).read_owned_deadline(deadline()).await.map(drop),
            lock.write_deadline(deadline()).await.map(drop),
            Arc::clone(&lock).write_owned_deadline(deadline()).await.map(drop),
        )
    })
    .await;
    assert_eq!(start.elapsed(), 6 * MS_50);
    for result in [waits.0, waits.1] {
        assert_eq!(elapsed_text(result), "deadline passed while waiting for mutex");
    }
    for result in [waits.2, waits.3] {
        assert_eq!(elapsed_text(result), "deadline passed while waiting for read lock");
    }
    for result in [waits.4, waits.5] {
        assert_eq!(elapsed_text(result), "deadline passed while waiting for write lock");
    }
    drop(held);
    assert!(mutex.try_lock().is_ok() && lock.try_write().is_ok());
}

#[tokio::test(start_paused = true)]
async fn t1_a_task_that_is_granted_in_time_goes_on() {
    let mutex = Arc::new(Mutex::new(vec![]));
    let held = mutex.lock().await;
    let waiting = tokio::spawn({
        let mutex = Arc::clone(&mutex);
        async move { mutex.lock_timeout(MS_50).await.map(|mut data| data.push(1)) }
    });
    advance(MS_50 / 2).await;
    assert_eq!(mutex.queued(), 1);
    drop(held);
    assert_eq!(waiting.await.expect("no panic"), Ok(()));
    assert_eq!(*mutex.lock().await, [1]);
}

/// A sleep rounds up to the next millisecond, so the rounding must not decide.
#[tokio::test(start_paused = true)]
async fn t2_a_deadline_within_the_running_millisecond_has_passed() {
    let mutex = Mutex::new(());
    let held = mutex.lock().await;
    advance(Duration::from_micros(300)).await;
    let now = Instant::now();
    for late in [now, now - Duration::from_nanos(1), now - Duration::from_micros(200)] {
        assert!(mutex.lock_deadline(late).await.is_err());
    }
    assert_eq!(now.elapsed(), Duration::ZERO);
    drop(held);
}

#[tokio::test(start_paused = true)]
async fn t3_durations_past_the_clocks_end() {
    let mutex = Mutex::new(());
    let held = mutex.lock().await;
    for forever in [Duration::MAX, Duration::from_secs(u64::MAX), Duration::from_millis(u64::MAX)] {
        tokio::select! {
            biased;
            result = mutex.lock_timeout(forever) => panic!("{result:?}"),
            () = tokio::time::sleep(Duration::from_secs(10 * 365 * 24 * 3600)) => {}
        }
    }
    drop(held);
    assert!(mutex.lock_timeout(Duration::MAX).await.is_ok());
}

/// Tokio's own longest sleep ends after thirty years.
#[tokio::test(start_paused = true)]
async fn t3_for_ever_is_longer_than_thirty_years() {
    let mutex = Mutex::new(());
    let _held = mutex.lock().await;
    tokio::select! {
        biased;
        result = mutex.lock_timeout(Duration::MAX) => panic!("{result:?}"),
        () = tokio::time::sleep(Duration::from_secs(31 * 365 * 24 * 3600)) => {}
    }
}

/// Tokio's timer rounds up to a millisecond. The rounding must not pass the end of the clock.
#[tokio::test(start_paused = true)]
async fn t3_ends_next_to_the_clocks_end() {
    let mutex = Mutex::new(());
    let lock = RwLock::new(());
    let held = (mutex.lock().await, lock.write().await);
    let now = Instant::now();
    // The longest span that fits, found bit by bit.
    let mut longest = Duration::ZERO;
    for bit in (0..94).rev() {
        let nanos = 1_u128 << bit;
        let step = Duration::new((nanos / 1_000_000_000) as u64, (nanos % 1_000_000_000) as u32);
        if longest.checked_add(step).and_then(|span| now.checked_add(span)).is_some() {
            longest += step;
        }
    }
    for before in [Duration::ZERO, Duration::from_nanos(1), Duration::from_micros(500), Duration::from_millis(2)] {
        let span = longest - before;
        let deadline = now + span;
        tools::assert_pending(&mut Box::pin(mutex.lock_timeout(span)));
        tools::assert_pending(&mut Box::pin(mutex.lock_deadline(deadline)));
        tools::assert_pending(&mut Box::pin(lock.read_timeout(span)));
        tools::assert_pending(&mut Box::pin(lock.write_deadline(deadline)));
    }
    drop(held);
    assert!(!mutex.is_locked());
}

/// Polls once outside of a runtime, and asserts the panic.
fn assert_poll_panics<T>(future: impl Future<Output = T>) {
    let mut future = Box::pin(future);
    let message = tools::panics(|| tools::poll_once(&mut future, core::task::Waker::noop()).is_ready());
    assert!(message.contains("runtime"), "{message}");
}

#[test]
fn f13_outside_of_a_runtime_the_lock_stays_usable() {
    let mutex = Arc::new(Mutex::new(0));
    let lock = Arc::new(RwLock::new(0));
    // A free lock needs no timer.
    let timed = tools::ready(&mut Box::pin(mutex.lock_timeout(MS_50)));
    drop(timed.expect("the lock is free"));

    let held = mutex.try_lock().expect("free");
    assert_poll_panics(mutex.lock_timeout(MS_50));
    assert_poll_panics(mutex.lock_deadline(Instant::now() + MS_50));
    assert_poll_panics(Arc::clone(&mutex).lock_owned_timeout(MS_50));
    assert_poll_panics(mutex.run_exclusive_timeout(MS_50, async |_| ()));
    assert_eq!(mutex.queued(), 0);
    drop(held);
    assert!(mutex.try_lock().is_ok());

    let held = lock.try_read().expect("free");
    assert_poll_panics(lock.write_timeout(MS_50));
    assert_poll_panics(lock.write_deadline(Instant::now() + MS_50));
    assert!(lock.try_read().is_ok(), "a writer was left in the queue");
    drop(held);
    let held = lock.try_write().expect("free");
    assert_poll_panics(lock.read_timeout(MS_50));
    assert_poll_panics(Arc::clone(&lock).read_owned_timeout(MS_50));
    drop(held);
    assert!(lock.try_write().is_ok());
}

/// A runtime without its timer behaves like no runtime.
#[test]
fn f13_a_runtime_without_a_timer_leaves_the_lock_usable() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mutex = Arc::new(Mutex::new(0));
    let waits = Arc::clone(&mutex);
    runtime.block_on(async {
        let held = mutex.lock().await;
        let waiting = tokio::spawn(async move { waits.lock_timeout(MS_50).await.is_ok() });
        assert!(waiting.await.expect_err("there is no timer here").is_panic());
        assert_eq!(mutex.queued(), 0);
        drop(held);
        assert!(mutex.lock_timeout(MS_50).await.is_ok());
    });
}

#[test]
#[cfg_attr(miri, ignore = "real time")]
fn t4_on_several_threads_the_outcome_follows_the_holder() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build();
    let runtime = runtime.expect("a runtime");
    let mutex = Arc::new(Mutex::new(0));
    // The lock is held throughout, so every wait times out.
    runtime.block_on(async {
        let held = mutex.lock().await;
        let waits: Vec<_> = (1..20)
            .map(|ms| {
                let mutex = Arc::clone(&mutex);
                tokio::spawn(async move { mutex.lock_timeout(Duration::from_millis(ms)).await.map(drop) })
            })
            .collect();
        for wait in waits {
            assert!(within(60, wait).await.expect("no panic").expect_err("the lock is held").is_elapsed());
        }
        assert_eq!(mutex.queued(), 0);
        drop(held);
        assert!(!mutex.is_locked());
    });
    // The lock is released while all wait. No limit ends before the test.
    runtime.block_on(async {
        let held = mutex.lock().await;
        let waits: Vec<_> = (0..20)
            .map(|_| {
                let mutex = Arc::clone(&mutex);
                tokio::spawn(async move {
                    mutex.run_exclusive_timeout(Duration::from_secs(600), async |count| *count += 1).await
                })
            })
            .collect();
        until(|| mutex.queued() == waits.len()).await;
        drop(held);
        for wait in waits {
            assert_eq!(within(60, wait).await.expect("no panic"), Ok(()));
        }
        assert_eq!(*mutex.lock().await, 20);
    });
}

/// A runtime that shuts down drops its tasks, with the guards and lock futures that they own.
#[test]
fn m5_a_runtime_that_shuts_down_leaves_the_lock_usable() {
    let mutex = Arc::new(Mutex::new(()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let (holds, is_held) = oneshot::channel();
    let holder = Arc::clone(&mutex);
    runtime.spawn(async move {
        let _held = holder.lock().await;
        holds.send(()).expect("the test waits for the message");
        core::future::pending::<()>().await;
    });
    for _ in 0..3 {
        let waiter = Arc::clone(&mutex);
        runtime.spawn(async move { waiter.lock_timeout(Duration::MAX).await.is_ok() });
    }
    runtime.block_on(async {
        is_held.await.expect("the lock is held");
        until(|| mutex.queued() == 3).await;
    });
    drop(runtime);
    assert_eq!((mutex.is_locked(), mutex.queued()), (false, 0));
    assert_eq!(Arc::strong_count(&mutex), 1);
}

/// The futures are `Send`, with their closures, so they can be spawned.
#[tokio::test(start_paused = true)]
async fn k6_the_run_methods_can_be_spawned() {
    let mutex = Arc::new(Mutex::new(1));
    let lock = Arc::new(RwLock::new(1));
    let (mutex_, lock_) = (Arc::clone(&mutex), Arc::clone(&lock));
    let sum = tokio::spawn(async move {
        let pause = || tokio::time::sleep(MS_50);
        mutex_
            .run_exclusive(async |value| {
                pause().await;
                *value += 1
            })
            .await;
        mutex_
            .run_exclusive_timeout(MS_50, async |value| {
                pause().await;
                *value += 1
            })
            .await?;
        lock_
            .run_exclusive(async |value| {
                pause().await;
                *value += 1
            })
            .await;
        lock_
            .run_exclusive_timeout(MS_50, async |value| {
                pause().await;
                *value += 1
            })
            .await?;
        let shared = lock_
            .run_shared(async |value| {
                pause().await;
                *value
            })
            .await;
        let timed = lock_
            .run_shared_timeout(MS_50, async |value| {
                pause().await;
                *value
            })
            .await?;
        Ok::<i32, TimeoutError>(shared + timed)
    });
    assert_eq!(sum.await.expect("no panic"), Ok(6));
    assert_eq!(*mutex.lock().await, 3);
    // The platform and its adapter export the same type.
    let _: &fifolock_core::Mutex<i32, Tokio> = &mutex;
}

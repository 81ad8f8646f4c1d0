//! The rules of time on the real clock of smol and async-std, and programs on each of the two.
#![cfg(not(miri))]

macro_rules! on {
    ($adapter:ident, $platform:ident: $block_on:path, $spawn:path, $sleep:path, $yield_now:path) => {
        mod $adapter {
            use core::time::Duration;
            use fifolock::$adapter::{Mutex, RwLock};
            use std::sync::Arc;

            mod rules {
                use fifolock::$adapter::$platform;
                fifolock_conformance::time_rules!($platform);
                fifolock_conformance::until_rules!($platform);
            }

            mod locks {
                use fifolock::$adapter::$platform;
                fifolock_conformance::mutex_rules!($platform);
                fifolock_conformance::rwlock_rules!($platform);
                fifolock_conformance::foreign_rules!($platform);
            }

            #[test]
            fn t3_a_duration_past_the_clocks_end_waits_for_ever() {
                let mutex = Arc::new(Mutex::new(0));
                let lock = Arc::new(RwLock::new(0));
                $block_on(async {
                    let held = (mutex.lock().await, lock.write().await);
                    let (mutex_, lock_) = (Arc::clone(&mutex), Arc::clone(&lock));
                    let forever = $spawn(async move {
                        *mutex_.lock_timeout(Duration::MAX).await? += 1;
                        drop(lock_.read_timeout(Duration::MAX).await?);
                        lock_.run_exclusive_timeout(Duration::MAX, async |value| *value += 1).await
                    });
                    $sleep(Duration::from_millis(20)).await;
                    assert_eq!(mutex.queued(), 1);
                    drop(held);
                    assert_eq!(forever.await, Ok(()));
                });
                assert_eq!((*mutex.blocking_lock(), *lock.blocking_read()), (1, 1));
            }

            /// The futures are `Send`, so they can be spawned.
            #[test]
            fn t1_tasks_give_up_on_time_and_the_next_goes_on() {
                let mutex = Arc::new(Mutex::new(0));
                $block_on(async {
                    let held = mutex.lock().await;
                    let waiting: Vec<_> = (1..10)
                        .map(|ms| {
                            let mutex = Arc::clone(&mutex);
                            $spawn(async move { mutex.lock_timeout(Duration::from_millis(ms)).await.map(drop) })
                        })
                        .collect();
                    for wait in waiting {
                        assert!(wait.await.expect_err("the lock is held").is_elapsed());
                    }
                    assert_eq!(mutex.queued(), 0);
                    let next = $spawn({
                        let mutex = Arc::clone(&mutex);
                        async move { mutex.run_exclusive_timeout(Duration::from_secs(600), async |count| *count += 1).await }
                    });
                    while mutex.queued() == 0 {
                        $yield_now().await;
                    }
                    drop(held);
                    assert_eq!(next.await, Ok(()));
                    assert_eq!(*mutex.lock().await, 1);
                });
            }
        }
    };
}

on!(smol, Smol: ::smol::block_on, ::smol::spawn, ::smol::Timer::after, ::smol::future::yield_now);
on!(
    async_std, AsyncStd: ::async_std::task::block_on, ::async_std::task::spawn, ::async_std::task::sleep,
    ::async_std::task::yield_now
);

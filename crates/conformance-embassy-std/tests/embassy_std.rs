//! The locks on embassy's executor for hosts, with embassy's timer queue and real time.

use conformance_embassy_std::EmbassyStd;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_time::{Duration, Instant, Timer};
use fifolock::embassy::{Mutex, RwLock, TimeoutError};
use fifolock_conformance::stress;
use std::sync::{Arc, LazyLock};

/// All tests share one executor: the slots of its tasks are a static.
static EMBASSY: LazyLock<EmbassyStd> = LazyLock::new(EmbassyStd::start);
/// The stress tests need all slots.
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

type M = CriticalSectionRawMutex;

const MS_5: Duration = Duration::from_millis(5);

#[test]
fn t1_every_operation_times_out() {
    EMBASSY.run(async {
        let mutex = Arc::new(Mutex::<M, _>::new(0));
        let lock = Arc::new(RwLock::<M, _>::new(0));
        let held = (mutex.lock().await, lock.write().await);
        let start = Instant::now();
        let outcomes = [
            mutex.lock_timeout(MS_5).await.map(drop),
            Arc::clone(&mutex).lock_owned_timeout(MS_5).await.map(drop),
            mutex.run_exclusive_timeout(MS_5, async |_| ()).await,
            mutex.lock_deadline(Instant::now() + MS_5).await.map(drop),
            lock.read_timeout(MS_5).await.map(drop),
            Arc::clone(&lock).read_owned_timeout(MS_5).await.map(drop),
            lock.run_shared_timeout(MS_5, async |_| ()).await,
            lock.read_deadline(Instant::now() + MS_5).await.map(drop),
            lock.write_timeout(MS_5).await.map(drop),
            Arc::clone(&lock).write_owned_timeout(MS_5).await.map(drop),
            lock.run_exclusive_timeout(MS_5, async |_| ()).await,
            lock.write_deadline(Instant::now() + MS_5).await.map(drop),
        ];
        assert!(outcomes.iter().all(|outcome| outcome.is_err_and(|error| error.is_elapsed())), "{outcomes:?}");
        assert!(start.elapsed() >= MS_5 * 12);
        assert_eq!((mutex.queued(), lock.state().waiting_readers, lock.state().waiting_writers), (0, 0, 0));
        drop(held);
        assert!(mutex.try_lock().is_ok() && lock.try_write().is_ok());
    });
}

#[test]
fn t3_the_longest_duration_waits_for_ever() {
    let mutex = Arc::new(Mutex::<M, _>::new(0));
    let held = mutex.try_lock().expect("free");
    let waits = Arc::clone(&mutex);
    let waiter = std::thread::spawn(move || {
        EMBASSY.run(async move {
            *waits.lock_timeout(Duration::MAX).await? += 1;
            Ok::<_, TimeoutError>(())
        })
    });
    let deadline = Arc::clone(&mutex);
    let until_the_end = std::thread::spawn(move || {
        EMBASSY.run(async move { deadline.lock_deadline(Instant::MAX).await.map(|mut count| *count += 1) })
    });
    while mutex.queued() < 2 {
        std::thread::yield_now();
    }
    // The executor and its clock still run.
    EMBASSY.run(Timer::after(MS_5));
    assert_eq!(mutex.queued(), 2);
    drop(held);
    assert_eq!(waiter.join().expect("no panic"), Ok(()));
    assert_eq!(until_the_end.join().expect("no panic"), Ok(()));
    assert_eq!(*mutex.blocking_lock(), 2);
}

#[test]
fn t4_mutex_under_stress() {
    let _turn = TURN.lock().expect("no panic");
    (0..4).for_each(|seed| stress::mutex(&*EMBASSY, seed));
}

#[test]
fn t4_rwlock_under_stress() {
    let _turn = TURN.lock().expect("no panic");
    (10..14).for_each(|seed| stress::rwlock(&*EMBASSY, seed));
}

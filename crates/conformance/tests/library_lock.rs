//! The lock of a library that knows no runtime, with timeouts of the application's runtime: `lock.on::<Q>()`.

use core::time::Duration;
use fifolock::tokio::{OwnedMutexGuard, Tokio};
use std::sync::Arc;

/// A library that depends on no runtime.
mod library {
    use fifolock::{Mutex, RwLock};

    #[derive(Debug, Default)]
    pub(crate) struct Store {
        pub(crate) entries: Mutex<Vec<u32>>,
        pub(crate) settings: RwLock<String>,
    }

    pub(crate) static STORE: Mutex<Vec<u32>> = Mutex::new(Vec::new());
}

const MS_50: Duration = Duration::from_millis(50);

/// Fails the test if the wait has no end. On a paused clock an hour takes no time.
async fn within_an_hour<F: Future>(waits: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(3600), waits).await.expect("the wait ends")
}

#[tokio::test(start_paused = true)]
async fn t1_a_librarys_mutex_times_out_by_the_applications_clock() {
    let store = library::Store::default();
    let held = store.entries.lock().await;
    let error = within_an_hour(store.entries.on::<Tokio>().lock_timeout(MS_50)).await.expect_err("the lock is held");
    assert_eq!(error.to_string(), "timed out waiting for mutex after 50ms");
    drop(held);
    store.entries.on::<Tokio>().lock_timeout(MS_50).await.expect("the lock is free").push(1);
    assert_eq!(*store.entries.lock().await, [1]);
}

#[tokio::test(start_paused = true)]
async fn t1_a_librarys_rwlock_times_out_by_the_applications_clock() {
    let store = library::Store::default();
    let held = store.settings.read().await;
    let timed = store.settings.on::<Tokio>();
    assert!(within_an_hour(timed.write_timeout(MS_50)).await.expect_err("the lock is read").is_elapsed());
    assert!(timed.read_timeout(MS_50).await.is_ok());
    drop(held);
    assert!(timed.write_timeout(MS_50).await.is_ok());
}

/// All views of a lock share its one queue.
#[tokio::test(start_paused = true)]
async fn m2_both_views_share_one_queue() {
    let timed: &'static fifolock::tokio::Mutex<Vec<u32>> = library::STORE.on::<Tokio>();
    let held = timed.lock().await;
    assert!(library::STORE.try_lock().is_err());
    let mut tasks = vec![];
    for turn in 0..6 {
        tasks.push(tokio::spawn(async move {
            if turn % 2 == 0 {
                library::STORE.lock().await.push(turn);
            } else {
                timed.lock_timeout(MS_50).await.expect("it is granted in time").push(turn);
            }
        }));
        while library::STORE.queued() <= turn as usize {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(timed.state(), library::STORE.state());
    drop(held);
    for task in tasks {
        task.await.expect("no panic");
    }
    assert_eq!(*library::STORE.lock().await, [0, 1, 2, 3, 4, 5]);
}

/// The library gives its lock away, and the application wants owned guards, timed by its own clock.
#[tokio::test(start_paused = true)]
async fn t1_a_librarys_arc_times_out_by_the_applications_clock() {
    let shared: Arc<fifolock::Mutex<String>> = Arc::default();
    let timed: Arc<fifolock::tokio::Mutex<String>> = Arc::clone(&shared).on_arc::<Tokio>();
    assert_eq!((Arc::strong_count(&shared), Arc::as_ptr(&timed).addr()), (2, Arc::as_ptr(&shared).addr()));
    let guard: OwnedMutexGuard<String> = timed.lock_owned_timeout(MS_50).await.expect("the lock is free");
    let error = within_an_hour(Arc::clone(&shared).on_arc::<Tokio>().lock_owned_timeout(MS_50)).await;
    assert_eq!(error.expect_err("the lock is held").to_string(), "timed out waiting for mutex after 50ms");
    tokio::spawn(async move { drop(guard) }).await.expect("no panic");
    assert_eq!(Arc::strong_count(&shared), 1, "guards and futures have given their shares back");

    let shared: Arc<fifolock::RwLock<String>> = Arc::default();
    let guard = Arc::clone(&shared).on_arc::<Tokio>().read_owned_timeout(MS_50).await.expect("the lock is free");
    let error = within_an_hour(Arc::clone(&shared).on_arc::<Tokio>().write_owned_timeout(MS_50)).await;
    assert!(error.expect_err("the lock is read").is_elapsed());
    drop(guard);
    assert_eq!(Arc::strong_count(&shared), 1);
}

/// The last owner drops the data, whichever platform it uses. A view of unsized data keeps its length.
#[test]
fn k5_the_last_arc_drops_the_data() {
    struct Counts(Arc<()>);
    let drops = Arc::new(());
    let first: Arc<fifolock::Mutex<[Counts]>> =
        Arc::new(fifolock::Mutex::new([Counts(Arc::clone(&drops)), Counts(Arc::clone(&drops))]));
    let (second, weak) = (Arc::clone(&first).on_arc::<Tokio>(), Arc::downgrade(&first));
    drop(first);
    assert_eq!(second.try_lock().expect("free").iter().map(|counts| Arc::strong_count(&counts.0)).max(), Some(3));
    drop(second);
    assert_eq!((Arc::strong_count(&drops), weak.strong_count()), (1, 0));

    let first: Arc<fifolock::RwLock<[Counts]>> = Arc::new(fifolock::RwLock::new([Counts(Arc::clone(&drops))]));
    let second = Arc::clone(&first).on_arc::<Tokio>();
    drop(first);
    assert_eq!((second.try_read().expect("free").len(), Arc::strong_count(&drops)), (1, 2));
    drop(second);
    assert_eq!(Arc::strong_count(&drops), 1);
}

/// A view can be made in a constant, where the lock is.
#[test]
fn k6_the_view_is_const() {
    static TIMED: &fifolock::tokio::Mutex<Vec<u32>> = library::STORE.on::<Tokio>();
    assert!(core::ptr::eq(TIMED, library::STORE.on::<Tokio>()));
}

//! A task that only takes free locks gives way: on tokio by its budget, elsewhere as the platform decides.
#![cfg(not(miri))]

mod locks;

use core::cell::Cell;
use core::future::{Future, poll_fn};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll};
use core::time::Duration;
use fifolock::raw::{CriticalSectionLock, RawLock, SpinLock, StdLock};
use fifolock::tokio::{TimeoutError, Tokio, drop_in::DropIn};
use fifolock::{mutex::Mutex, rwlock::RwLock};
use fifolock_conformance::tools::{self, counting_waker, poll_once};
use locks::{ASKED, Asks, Form, HOUR, Locks, OnTokio, YES};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use tokio::runtime::{Builder, Runtime};
use tokio::task::coop;
use tokio::time::Instant;

/// Runs a program on a thread of its own, which must end within ten seconds.
#[track_caller]
fn in_time(name: &str, program: impl FnOnce() + Send + 'static) {
    let (done, ended) = channel();
    let thread = thread::spawn(move || {
        program();
        let _ = done.send(());
    });
    match ended.recv_timeout(Duration::from_secs(10)) {
        Ok(()) | Err(RecvTimeoutError::Disconnected) => thread.join().expect("no panic"),
        Err(RecvTimeoutError::Timeout) => panic!("the program never gives way: {name}"),
    }
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime")
}

fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_time().build().expect("a runtime")
}

const RUNTIMES: [fn() -> Runtime; 2] = [current_thread, multi_thread];

/// Runs `program` with each form, on each runtime: in a task, and as the future that the runtime blocks on.
fn with_each_form<P: OnTokio, F: Future<Output = ()> + Send + 'static>(program: fn(Form) -> F) {
    for runtime in RUNTIMES {
        for (index, Form { name, .. }) in Locks::<P>::new().forms().into_iter().enumerate() {
            let form = move || Locks::<P>::new().forms().swap_remove(index);
            in_time(name, move || runtime().block_on(program(form())));
            in_time(name, move || {
                runtime().block_on(async move { tokio::spawn(program(form())).await.expect("no panic") })
            });
        }
    }
}

async fn for_ever(form: Form) {
    loop {
        (form.make)().await;
    }
}

async fn is_timed_out(form: Form) {
    let ended = tokio::time::timeout(Duration::from_millis(2), for_ever(form)).await;
    assert!(ended.is_err(), "the loop ended");
}

async fn is_aborted(form: Form) {
    let task = tokio::spawn(for_ever(form));
    tokio::time::sleep(Duration::from_millis(2)).await;
    task.abort();
    assert!(task.await.expect_err("the loop ended").is_cancelled());
}

async fn is_left_by_a_select(form: Form) {
    tokio::select! {
        () = for_ever(form) => unreachable!("the loop ended"),
        () = tokio::time::sleep(Duration::from_millis(2)) => {}
    }
}

async fn lets_others_run(form: Form) {
    let ran = Arc::new(AtomicBool::new(false));
    let sets = Arc::clone(&ran);
    let task = tokio::spawn(async move { sets.store(true, Ordering::Relaxed) });
    while !ran.load(Ordering::Relaxed) {
        (form.make)().await;
    }
    task.await.expect("no panic");
}

#[test]
fn m1_a_loop_over_a_free_lock_can_be_timed_out() {
    with_each_form::<Tokio, _>(is_timed_out);
    with_each_form::<DropIn, _>(is_timed_out);
}

#[test]
fn m1_a_loop_over_a_free_lock_can_be_aborted() {
    with_each_form::<Tokio, _>(is_aborted);
    with_each_form::<DropIn, _>(is_aborted);
}

#[test]
fn m1_a_select_leaves_a_loop_over_a_free_lock() {
    with_each_form::<Tokio, _>(is_left_by_a_select);
    with_each_form::<DropIn, _>(is_left_by_a_select);
}

#[test]
fn m1_other_tasks_run_beside_a_loop_over_a_free_lock() {
    with_each_form::<Tokio, _>(lets_others_run);
    with_each_form::<DropIn, _>(lets_others_run);
}

/// A reader loops until it sees the write of another task.
#[test]
fn m1_a_loop_of_reads_sees_a_write() {
    for runtime in RUNTIMES {
        in_time("a loop of reads", move || {
            runtime().block_on(async {
                let lock = Arc::new(fifolock::tokio::RwLock::new(1));
                let reads = Arc::clone(&lock);
                let task = tokio::spawn(async move { while *reads.read().await < 1024 {} });
                tokio::time::sleep(Duration::from_millis(5)).await;
                for _ in 0..10 {
                    *lock.write().await *= 2;
                }
                task.await.expect("no panic");
            });
        });
    }
}

/// The number of free locks that a task takes in each of its first turns.
async fn turns(form: Form, count: usize) -> Vec<usize> {
    let mut turns = Vec::new();
    poll_fn(|cx| {
        let mut taken = 0;
        while (form.make)().as_mut().poll(cx).is_ready() {
            taken += 1;
        }
        turns.push(taken);
        if turns.len() == count { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    turns
}

/// The numbers are those of the documentation.
#[test]
fn m1_a_turn_is_bounded() {
    for index in 0..Locks::<Tokio>::new().forms().len() {
        in_time("turns", move || {
            let runtime = current_thread();
            // Up to 127 acquisitions are free before the first question to the platform.
            for free in [0, 1, 100] {
                let form = Locks::<Tokio>::new().forms().swap_remove(index);
                let warm = fifolock::tokio::Mutex::new(());
                let turns = runtime.block_on(async {
                    tokio::spawn(async move {
                        for _ in 0..free {
                            drop(warm.lock().await);
                        }
                        turns(form, 4).await
                    })
                    .await
                    .expect("no panic")
                });
                assert!((4096 - free..=4096 + 127).contains(&turns[0]), "{turns:?}");
                assert_eq!(turns[1..], [4096; 3]);
            }
        });
    }
}

/// Uses up the budget of the task, and then the thread's free acquisitions.
fn use_up(cx: &mut Context<'_>) {
    while let Poll::Ready(unit) = coop::poll_proceed(cx) {
        unit.made_progress();
    }
    let mutex = fifolock::tokio::Mutex::new(());
    let gives_way = (0..200).any(|_| Box::pin(mutex.lock()).as_mut().poll(cx).is_pending());
    assert!(gives_way, "the budget is used up, and no acquisition asks for more");
}

/// Polls once without budget.
async fn without_budget(f: impl FnOnce(&mut Context<'_>)) {
    let mut f = Some(f);
    poll_fn(|cx| {
        let Some(f) = f.take() else { return Poll::Ready(()) };
        use_up(cx);
        f(cx);
        Poll::Pending
    })
    .await;
}

#[test]
fn m1_without_a_budget_every_form_gives_way_and_the_next_turn_has_it() {
    for runtime in RUNTIMES {
        in_time("without a budget", move || {
            runtime().block_on(async {
                let locks = Locks::<Tokio>::new();
                let mut waits = Vec::new();
                without_budget(|cx| {
                    for Form { name, make } in locks.forms() {
                        let mut wait = make();
                        assert!(wait.as_mut().poll(cx).is_pending(), "{name}");
                        assert!(wait.as_mut().poll(cx).is_pending(), "{name}");
                        drop(wait);
                        locks.assert_free(name);
                        if !name.contains("upgrade(") {
                            waits.push(make());
                        }
                    }
                    for wait in &mut waits {
                        assert!(wait.as_mut().poll(cx).is_pending());
                    }
                    // These are no first polls of a future, or are on other platforms.
                    assert!(locks.mutex.try_lock().is_ok() && locks.lock.try_write().is_ok());
                    assert!(Box::pin(fifolock::Mutex::new(1).lock()).as_mut().poll(cx).is_ready());
                })
                .await;
                for wait in waits {
                    wait.await;
                }
                locks.assert_free("in the end");
            });
        });
    }
}

#[test]
fn m4_a_grant_is_claimed_without_a_budget() {
    in_time("a grant", || {
        current_thread().block_on(async {
            let mutex = fifolock::tokio::Mutex::new(1);
            let held = mutex.lock().await;
            let mut waits = Box::pin(mutex.lock_timeout(HOUR));
            poll_fn(|cx| {
                assert!(waits.as_mut().poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
            without_budget(|cx| {
                assert!(waits.as_mut().poll(cx).is_pending());
                drop(held);
                assert!(waits.as_mut().poll(cx).is_ready(), "a claim must not wait for budget");
            })
            .await;
        });
    });
}

/// Outside of tokio, and in an unconstrained task, there is no budget.
#[test]
fn m1_without_a_runtime_nobody_gives_way() {
    let locks = Locks::<Tokio>::new();
    for Form { name, make } in locks.forms() {
        for _ in 0..10_000 {
            assert!(poll_once(&mut make(), core::task::Waker::noop()).is_ready(), "{name}");
        }
    }
    current_thread().block_on(coop::unconstrained(poll_fn(|cx| {
        for Form { name, make } in locks.forms() {
            for _ in 0..10_000 {
                assert!(make().as_mut().poll(cx).is_ready(), "{name}");
            }
        }
        Poll::Ready(())
    })));
}

/// How often the locks ask the platform, and the effect of a *no*: on raw locks with and without a fast path.
fn asks_at_first_polls_only<R: RawLock + Send + Sync + 'static>() {
    let locks = Locks::<Asks<R>>::new();
    let asked = |times: usize, name: &str| {
        assert_eq!(ASKED.replace(0), times, "{name}");
    };
    for Form { name, make } in locks.forms() {
        YES.set(false);
        ASKED.set(0);
        let (waker, count) = counting_waker();
        let mut wait = make();
        for polls in 1..4 {
            assert!(poll_once(&mut wait, &waker).is_pending(), "{name}");
            asked(1, name);
            assert_eq!(count.wakes(), polls, "{name}");
        }
        if !name.contains("upgrade(") {
            locks.assert_free(name);
        }
        YES.set(true);
        assert!(poll_once(&mut wait, &waker).is_ready(), "{name}");
        asked(1, name);
        locks.assert_free(name);

        // An operation that must wait asks until it is queued, and never again.
        if name.contains("upgrade(") {
            continue;
        }
        let held = (locks.mutex.try_lock().expect("free"), locks.lock.try_write().expect("free"));
        let queued = || {
            let state = locks.lock.state();
            locks.mutex.queued() + state.waiting_readers + state.waiting_writers + state.waiting_upgradable
        };
        YES.set(false);
        let mut wait = make();
        assert!(poll_once(&mut wait, &waker).is_pending(), "{name}");
        assert_eq!(queued(), 0, "{name}");
        YES.set(true);
        assert!(poll_once(&mut wait, &waker).is_pending(), "{name}");
        assert_eq!(queued(), 1, "{name}");
        asked(2, name);
        YES.set(false);
        assert!(poll_once(&mut wait, &waker).is_pending(), "{name}");
        drop(held);
        assert!(poll_once(&mut wait, &waker).is_ready(), "{name}");
        asked(0, name);
        locks.assert_free(name);
    }
    // These operations never ask.
    YES.set(false);
    assert!(locks.mutex.try_lock().is_ok() && locks.mutex.clone().try_lock_owned().is_ok());
    assert!(
        locks.lock.try_read().is_ok() && locks.lock.try_write().is_ok() && locks.lock.try_upgradable_read().is_ok()
    );
    drop((locks.mutex.blocking_lock(), locks.lock.blocking_read()));
    drop((locks.mutex.clone().blocking_lock_owned(), locks.lock.blocking_upgradable_read()));
    drop(locks.lock.blocking_write());
    let held = locks.mutex.try_lock().expect("free");
    thread::scope(|scope| {
        let waits = scope.spawn(|| {
            YES.set(false);
            ASKED.set(0);
            drop(locks.mutex.blocking_lock());
            ASKED.get()
        });
        while locks.mutex.queued() == 0 {
            thread::yield_now();
        }
        drop(held);
        assert_eq!(waits.join().expect("no panic"), 0, "a thread that waits was asked to give way");
    });
    asked(0, "try and blocking");
    YES.set(true);
}

#[test]
fn m1_only_a_first_poll_asks() {
    in_time("questions", || {
        let runtime = current_thread();
        let _entered = runtime.enter();
        asks_at_first_polls_only::<StdLock>();
        asks_at_first_polls_only::<SpinLock>();
        asks_at_first_polls_only::<CriticalSectionLock>();
    });
}

fn order_of_the_questions<R: RawLock + Send + Sync + 'static>() {
    let mutex = Mutex::<_, Asks<R>>::new(1);
    let lock = RwLock::<_, Asks<R>>::new(1);
    // A zero timeout is refused before the lock asks.
    YES.set(false);
    ASKED.set(0);
    assert_eq!(
        tools::ready(&mut Box::pin(mutex.lock_timeout(Duration::ZERO))).err(),
        Some(TimeoutError::InvalidTimeout)
    );
    assert_eq!(
        tools::ready(&mut Box::pin(lock.write_timeout(Duration::ZERO))).err(),
        Some(TimeoutError::InvalidTimeout)
    );
    assert_eq!(ASKED.get(), 0);
    // A deadline that has passed makes no attempt, and returns nothing, before the task has given way.
    let past = Instant::now() - Duration::from_millis(5);
    let mut free = Box::pin(mutex.lock_deadline(past));
    tools::assert_pending(&mut free);
    YES.set(true);
    let held = tools::ready(&mut free).expect("free");
    YES.set(false);
    let mut late = Box::pin(mutex.lock_deadline(past));
    tools::assert_pending(&mut late);
    YES.set(true);
    assert!(tools::ready(&mut late).expect_err("the lock is held").is_elapsed());
    assert_eq!(ASKED.get(), 4);
    drop(held);
    // On a free lock the other future is never polled. On a held lock the other future is not polled before the task
    // has given way.
    YES.set(false);
    let polled = Cell::new(0);
    let other = || {
        poll_fn(|_| {
            polled.set(polled.get() + 1);
            Poll::Ready("other")
        })
    };
    let mut until = Box::pin(mutex.lock_until(other()));
    tools::assert_pending(&mut until);
    YES.set(true);
    let held = tools::ready(&mut until).expect("free");
    assert_eq!(polled.get(), 0);
    YES.set(false);
    let mut until = Box::pin(mutex.lock_until(other()));
    tools::assert_pending(&mut until);
    assert_eq!(polled.get(), 0);
    YES.set(true);
    assert_eq!(tools::ready(&mut until).err(), Some("other"));
    drop(held);
}

#[test]
fn t2_a_timed_form_asks_after_the_refusal_and_before_the_attempt() {
    in_time("questions", || {
        let runtime = current_thread();
        let _entered = runtime.enter();
        order_of_the_questions::<StdLock>();
        order_of_the_questions::<SpinLock>();
        order_of_the_questions::<CriticalSectionLock>();
    });
}

/// A first poll that must give way takes no place in the queue.
#[test]
fn m2_the_order_is_that_of_the_polls_that_did_not_give_way() {
    let mutex = Mutex::<_, Asks<StdLock>>::new(());
    let held = mutex.try_lock().expect("free");
    let (mut first, mut second) = (Box::pin(mutex.lock()), Box::pin(mutex.lock()));
    YES.set(false);
    tools::assert_pending(&mut first);
    YES.set(true);
    tools::assert_pending(&mut second);
    tools::assert_pending(&mut first);
    drop(held);
    tools::assert_pending(&mut first);
    drop(tools::ready(&mut second));
    drop(tools::ready(&mut first));
}

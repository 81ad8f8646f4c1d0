//! Blocking methods on tokio: where a program may call them, and their panic elsewhere. Also other panics that name the
//! caller.

use core::cell::{Cell, RefCell};
use core::future::Future;
use core::panic::AssertUnwindSafe;
use core::time::Duration;
use fifolock::mutex::Mutex;
use fifolock::platform::Platform;
use fifolock::raw::StdLock;
use fifolock::rwlock::{RwLock, RwLockPolicy};
use fifolock::tokio::{Tokio, drop_in::DropIn};
use std::panic::{catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Once};
use std::thread;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{LocalSet, spawn_blocking};

/// The file and line of a panic.
type Place = (String, u32);

std::thread_local! {
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
    static PANIC: RefCell<Option<(String, Place)>> = const { RefCell::new(None) };
}

/// Runs `f`; returns the message of its panic, and the place that the panic names.
fn panic_of(f: impl FnOnce()) -> Option<(String, Place)> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !EXPECTED.get() {
                return before(info);
            }
            let place = info.location().map(|place| (place.file().to_owned(), place.line())).expect("a place");
            // The payload is a `String` for a message with arguments, and a `&str` otherwise.
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).expect("a message");
            PANIC.set(Some((text.to_owned(), place)));
        }));
    });
    EXPECTED.set(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    EXPECTED.set(false);
    assert_eq!(result.is_err(), PANIC.with_borrow(Option::is_some));
    PANIC.take()
}

struct Locks<P: Platform> {
    mutex: Arc<Mutex<u64, P>>,
    lock: Arc<RwLock<u64, P>>,
}

impl<P: Platform> Clone for Locks<P> {
    fn clone(&self) -> Self {
        Self { mutex: Arc::clone(&self.mutex), lock: Arc::clone(&self.lock) }
    }
}

/// A blocking method, and the line of its call.
struct Form<P: Platform> {
    name: &'static str,
    line: u32,
    call: fn(&Locks<P>),
}

impl<P: 'static + Platform<Raw = StdLock>> Locks<P> {
    fn new() -> Self {
        Self { mutex: Arc::new(Mutex::new(0)), lock: Arc::new(RwLock::new(0)) }
    }

    fn forms() -> Vec<Form<P>> {
        // Each call is on a line of its own.
        let mut all: Vec<Form<P>> = Vec::new();
        let mut add = |name, line, call| all.push(Form { name, line, call });
        add("blocking_lock", line!(), |locks| drop(locks.mutex.blocking_lock()));
        add("blocking_lock_owned", line!(), |locks| drop(locks.mutex.clone().blocking_lock_owned()));
        add("blocking_read", line!(), |locks| drop(locks.lock.blocking_read()));
        add("blocking_write", line!(), |locks| drop(locks.lock.blocking_write()));
        add("blocking_upgradable_read", line!(), |locks| drop(locks.lock.blocking_upgradable_read()));
        all
    }

    /// Each method panics, whether its lock is free or not, and leaves the lock unchanged.
    fn all_panic(&self) {
        for Form { name, line, call } in Self::forms() {
            for is_held in [false, true] {
                let held =
                    is_held.then(|| (self.mutex.try_lock().expect("free"), self.lock.try_write().expect("free")));
                let (message, place) = panic_of(|| call(self)).expect(name);
                assert!(
                    message.starts_with("Cannot block the current thread from within a runtime"),
                    "{name}: {message}"
                );
                assert_eq!(place, (file!().to_owned(), line), "{name}");
                assert_eq!(self.mutex.queued() + self.lock.state().waiting_writers, 0, "{name}");
                drop(held);
                assert!(self.mutex.try_lock().is_ok() && self.lock.try_write().is_ok(), "{name}");
            }
        }
    }

    fn none_panics(&self) {
        for Form { name, call, .. } in Self::forms() {
            assert_eq!(panic_of(|| call(self)), None, "{name}");
        }
        assert!(self.mutex.try_lock().is_ok() && self.lock.try_write().is_ok());
    }
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime")
}

fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_time().build().expect("a runtime")
}

fn panics_in_async_code<P: 'static + Platform<Raw = StdLock>>() {
    async fn program<P: 'static + Platform<Raw = StdLock>>() {
        Locks::<P>::new().all_panic();
        // The methods panic after an await too.
        tokio::task::yield_now().await;
        Locks::<P>::new().all_panic();
    }
    for runtime in [current_thread(), multi_thread()] {
        runtime.block_on(program::<P>());
        runtime.block_on(async { tokio::spawn(program::<P>()).await.expect("no panic") });
        LocalSet::new().block_on(&runtime, program::<P>());
        // The context of another runtime changes nothing.
        let other = current_thread();
        runtime.block_on(async {
            let _entered = other.enter();
            Locks::<P>::new().all_panic();
        });
    }
}

#[test]
fn m11_a_blocking_method_panics_in_async_code() {
    panics_in_async_code::<Tokio>();
    panics_in_async_code::<DropIn>();
}

fn works_elsewhere<P: 'static + Platform<Raw = StdLock>>() {
    Locks::<P>::new().none_panics();
    for runtime in [current_thread(), multi_thread()] {
        {
            let _entered = runtime.enter();
            Locks::<P>::new().none_panics();
        }
        runtime.block_on(async { spawn_blocking(|| Locks::<P>::new().none_panics()).await.expect("no panic") });
        let handle = runtime.handle().clone();
        thread::spawn(move || {
            let _entered = handle.enter();
            Locks::<P>::new().none_panics();
        })
        .join()
        .expect("no panic");
    }
    let runtime = multi_thread();
    let in_place = || {
        tokio::task::block_in_place(|| Locks::<P>::new().none_panics());
        // After that the methods panic again.
        Locks::<P>::new().all_panic();
    };
    runtime.block_on(async { in_place() });
    runtime.block_on(async { tokio::spawn(async move { in_place() }).await.expect("no panic") });
}

#[test]
fn m11_a_blocking_method_works_where_a_thread_may_be_blocked() {
    works_elsewhere::<Tokio>();
    works_elsewhere::<DropIn>();
}

/// While a thread ends, its thread-locals are gone, tokio's among them.
#[test]
fn m11_a_blocking_method_works_while_a_thread_ends() {
    struct AtTheEnd(RefCell<Option<Locks<Tokio>>>);
    impl Drop for AtTheEnd {
        fn drop(&mut self) {
            let locks = self.0.take().expect("the locks were put there");
            for Form { call, .. } in Locks::forms() {
                call(&locks);
            }
            *locks.mutex.blocking_lock() += 1;
        }
    }
    std::thread_local! {
        static AT_THE_END: AtTheEnd = const { AtTheEnd(RefCell::new(None)) };
    }
    for tokios_first in [true, false] {
        let locks = Locks::<Tokio>::new();
        let kept = locks.clone();
        thread::spawn(move || {
            if tokios_first {
                current_thread().block_on(async {});
            }
            AT_THE_END.with(|end| end.0.replace(Some(locks)));
            current_thread().block_on(async {});
        })
        .join()
        .expect("no panic");
        assert_eq!(*kept.mutex.try_lock().expect("free"), 1);
    }
}

/// Fails the test if the wait has no end.
async fn within<F: Future>(waits: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(60), waits).await.expect("the wait ends")
}

#[test]
#[cfg_attr(miri, ignore = "real time")]
fn m11_a_thread_that_may_be_blocked_waits_in_the_queue_of_the_tasks() {
    for runtime in [current_thread(), multi_thread()] {
        runtime.block_on(async {
            let order = Arc::new(fifolock::tokio::Mutex::new(vec![]));
            let held = order.lock().await;
            let (waits, first) = (Arc::clone(&order), Arc::clone(&order));
            let thread = spawn_blocking(move || first.blocking_lock().push("thread"));
            within(async {
                while order.queued() == 0 {
                    tokio::task::yield_now().await
                }
            })
            .await;
            let task = tokio::spawn(async move { waits.lock().await.push("task") });
            within(async {
                while order.queued() == 1 {
                    tokio::task::yield_now().await
                }
            })
            .await;
            drop(held);
            within(thread).await.expect("no panic");
            within(task).await.expect("no panic");
            assert_eq!(*order.lock().await, ["thread", "task"]);
        });
    }
}

/// The other platforms can't tell whether they run async code.
#[test]
fn m11_other_platforms_block_any_thread() {
    current_thread().block_on(async {
        Locks::<fifolock::platform::Std>::new().none_panics();
        Locks::<fifolock::smol::Smol>::new().none_panics();
        Locks::<fifolock::async_std::AsyncStd>::new().none_panics();
        // A lock of another platform, viewed as one of tokio's.
        let mutex = fifolock::Mutex::new(1);
        assert!(panic_of(|| drop(mutex.on::<Tokio>().blocking_lock())).is_some());
    });
}

#[test]
fn w7_a_refused_number_of_readers_names_the_caller() {
    type RwLock = fifolock::tokio::RwLock<u8>;
    for refused in [0, RwLock::MAX_READERS + 1, u32::MAX] {
        let asserts = |line, f: &dyn Fn()| {
            let (message, place) = panic_of(f).expect("the call panics");
            assert!(message.starts_with("a RwLock may not be created with"), "{message}");
            assert_eq!(place, (file!().to_owned(), line));
        };
        asserts(line!(), &|| drop(RwLock::with_max_readers(1, refused)));
        asserts(line!(), &|| drop(RwLock::const_with_max_readers(1, refused)));
        asserts(line!(), &|| drop(RwLock::with_policy_and_max_readers(1, RwLockPolicy::PhaseFair, refused)));
    }
}

/// A timed wait outside of a runtime panics as tokio's `sleep` does. The panic names the line of the `.await`.
#[test]
fn t_a_timer_outside_of_its_runtime_names_the_await() {
    const SECOND: Duration = Duration::from_secs(1);
    fn names_the_await(line: u32, program: impl Future) {
        let (message, place) = panic_of(|| drop(pollster::block_on(program))).expect("there is no runtime");
        assert!(message.contains("there is no reactor running"), "{message}");
        assert_eq!(place, (file!().to_owned(), line));
    }
    let mutex = fifolock::tokio::Mutex::new(0);
    let lock = fifolock::tokio::drop_in::RwLock::new(0);
    let deadline = tokio::time::Instant::now() + SECOND;
    let held = (mutex.try_lock().expect("free"), lock.try_write().expect("free"));
    names_the_await(line!(), async { drop(mutex.lock_timeout(SECOND).await) });
    names_the_await(line!(), async { drop(mutex.lock_deadline(deadline).await) });
    names_the_await(line!(), async { drop(lock.read_timeout(SECOND).await) });
    names_the_await(line!(), async { drop(lock.write_deadline(deadline).await) });
    names_the_await(line!(), async { mutex.run_exclusive_timeout(SECOND, async |_| ()).await });
    names_the_await(line!(), async { lock.run_shared_deadline(deadline, async |_| ()).await });
    assert_eq!(mutex.queued() + lock.queued(), 0);
    drop(held);
    assert!(mutex.try_lock().is_ok() && lock.try_write().is_ok());
}

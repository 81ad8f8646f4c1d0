//! Strictly FIFO async locks for every runtime, and for none.
//!
//! A [`Mutex`](local::Mutex) serves its waiters in the order in which they came. Each owner hands it to the next, so it
//! is never free while a task waits. An [`RwLock`](local::RwLock) does the same for many readers or one writer, and
//! lets writers go first. Both have timeouts where there is a timer.
//!
//! # Which lock
//!
//! | you write | use | feature |
//! |---|---|---|
//! | a tokio program | `fifolock::tokio::{Mutex, RwLock}` | `tokio` |
//! | a smol program | `fifolock::smol::{Mutex, RwLock}` | `smol` |
//! | firmware on embassy | `fifolock::embassy::{Mutex, RwLock}` | `embassy` |
//! | a program that is still on async-std | `fifolock::async_std::{Mutex, RwLock}` | `async-std` |
//! | a library that leaves the runtime to its user | `fifolock::{Mutex, RwLock}` | `std` (default) |
//! | other firmware | `fifolock::critical_section::{Mutex, RwLock}` | `critical-section` |
//! | a kernel | `fifolock::spin::{Mutex, RwLock}` | `spin` |
//! | for one thread | [`local`]`::{Mutex, RwLock}` | – |
//!
//! They are the same locks over different [raw locks](raw) and, for a runtime, with its [timer](platform::Timer). An
//! application can use its own timer with the lock of a library: [`Mutex::on`](fifolock_core::Mutex::on).
//!
//! The default feature `std` brings the locks at this level, and the owned and `blocking_…` forms. Firmware turns it off:
//!
//! ```toml
//! fifolock = { version = "0.1", default-features = false, features = ["embassy"] }
//! ```
//!
//! A panic under a guard releases the lock and poisons nothing: the data stays as the panic left it.
//!
//! By default a `RwLock` prefers writers. Tokio's serves readers and writers in the order of arrival. A
//! [policy](rwlock::RwLockPolicy) chooses between the two, and a third one.
//!
//! Import the names that you use, and not `fifolock::*`. The modules `tokio`, `smol`, `async_std`, `spin` and
//! `critical_section` would hide the crates of the same names, so that `tokio::spawn` would not be found.
//!
//! With the feature `diagnostics` a lock reports its holders and its waiters: `diagnose`.
//!
//! The modules [`mutex`] and [`rwlock`] describe guarantees, fairness, cancellation, limits and disadvantages.
//!
//! # Usual mistakes
//!
//! | mistake | symptom | instead |
//! |---|---|---|
//! | `lock_timeout` on a lock without a timer | the compiler: the platform has no timer | a runtime's module, or `lock.on::<fifolock::tokio::Tokio>()` |
//! | a timeout of zero | [`TimeoutError::InvalidTimeout`] | `try_lock` |
//! | `Mutex<T, M>` on embassy | the compiler: the raw mutex comes first | `Mutex<M, T>` |
//! | an `Rc` in a spawned task's lock | the compiler: the lock is not `Send` | an `Arc`, or a task of this thread |
//! | a borrowed guard in a spawned task | the compiler: the lock does not live long enough | `lock_owned` on an `Arc` |
//! | a lock future that is polled after it was ready | a panic | a new future for each wait |
//! | no `.await` | the compiler: a lock future does nothing until it is polled | `.await` |
//! | a timed wait outside of its runtime | a panic at the `.await`: there is no reactor running | a runtime with its time driver |
//! | a module without its feature | the compiler: the item is gated behind the feature | the feature in `Cargo.toml` |
//! | a task that locks twice | `diagnose` names the call that holds the lock and the call that waits; or a timeout | one guard, passed on |
//!
//! # Examples
//!
//! ```
//! # #[cfg(feature = "tokio")]
//! # mod example {
//! use core::time::Duration;
//! use fifolock::tokio::Mutex;
//!
//! # pub(crate) async fn run() -> Result<(), fifolock::TimeoutError> {
//! let backend = Mutex::new(Vec::new());
//! backend.lock_timeout(Duration::from_millis(50)).await?.push(1);
//! let calls = backend.run_exclusive(async |calls| calls.len()).await;
//! assert_eq!(calls, 1);
//! # Ok(())
//! # }
//! # }
//! # #[cfg(feature = "tokio")]
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example::run()).unwrap();
//! ```

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg = false))]
#![forbid(unsafe_code)]

#[doc(inline)]
pub use fifolock_core::{
    TimeoutError, TryLockError, UpgradeError, acquire, error, mutex, platform, raw, rwlock, timeout, until,
};

#[cfg(feature = "diagnostics")]
#[cfg_attr(docsrs, doc(cfg(feature = "diagnostics")))]
#[doc(inline)]
pub use fifolock_core::diagnostics;

#[cfg(feature = "std")]
mod std_platform {
    fifolock_core::adapter!([] fifolock_core::platform::Std);
}
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
#[doc(inline)]
pub use std_platform::*;

/// Locks for microcontrollers: over critical sections, so that interrupt handlers may use them.
#[cfg(feature = "critical-section")]
#[cfg_attr(docsrs, doc(cfg(feature = "critical-section")))]
pub mod critical_section {
    fifolock_core::adapter!([] fifolock_core::platform::CriticalSection);
}

/// Locks for kernels and bare-metal programs on several cores: over spinning.
#[cfg(all(feature = "spin", target_has_atomic = "ptr"))]
#[cfg_attr(docsrs, doc(cfg(feature = "spin")))]
pub mod spin {
    fifolock_core::adapter!([] fifolock_core::platform::Spin);
}

/// Locks that never leave one thread.
pub mod local {
    fifolock_core::adapter!([] fifolock_core::platform::Local);
}

/// Locks with timeouts through tokio's timer, that give way by tokio's budget.
#[cfg(feature = "tokio")]
#[cfg_attr(docsrs, doc(cfg(feature = "tokio")))]
#[doc(inline)]
pub use fifolock_tokio as tokio;

/// Locks with timeouts through smol's timer.
#[cfg(feature = "smol")]
#[cfg_attr(docsrs, doc(cfg(feature = "smol")))]
#[doc(inline)]
pub use fifolock_smol as smol;

/// Locks with timeouts for programs that still run on async-std. Legacy: async-std is discontinued.
#[cfg(feature = "async-std")]
#[cfg_attr(docsrs, doc(cfg(feature = "async-std")))]
#[doc(inline)]
pub use fifolock_async_std as async_std;

/// Locks with timeouts through embassy-time, over embassy-sync's raw mutexes.
#[cfg(feature = "embassy")]
#[cfg_attr(docsrs, doc(cfg(feature = "embassy")))]
#[doc(inline)]
pub use fifolock_embassy as embassy;

/// The example of the registry's page.
#[cfg(all(doctest, feature = "tokio"))]
#[doc = include_str!("../README.md")]
mod readme {}

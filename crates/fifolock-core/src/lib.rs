//! Strictly FIFO async locks: the queue, the hand-off and the release, for any runtime and for none.
//!
//! A [`Mutex`] serves its waiters in the order in which they came, and hands itself over: between a release and the next
//! owner's guard it is never free. A [`RwLock`] is the same for many readers or one writer; it lets writers go first, or
//! follows another [policy](rwlock::RwLockPolicy). A task that has stopped polling a future that was granted the lock, and
//! waits for it in another, is [rescued](mutex#rescue).
//! Both are made of one word and an intrusive queue. They need no allocator, no standard library, and, over a critical
//! section, no compare-and-swap.
//!
//! Most users want the crate `fifolock`, whose modules fix the [`Platform`](platform::Platform) for a runtime. This crate
//! is for those who write such an adapter, or a raw lock of their own.
//!
//! # The layers
//!
//! | module | knows |
//! |---|---|
//! | [`mutex`], [`rwlock`] | the data, the guards; below them, without the data, the algorithm |
//! | `diagnostics` | where in the source locks were taken |
//! | [`acquire`], [`timeout`], [`until`], `run` | the futures of every lock operation |
//! | `state` | the lock word, and what may follow what: pure functions |
//! | `queue` | the waiters and their pointers |
//! | [`raw`] | how one excludes the others for a moment |
//! | [`platform`] | which raw lock, and which timer |
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `std` | `platform::Std`, the `blocking_…` methods; implies `alloc` |
//! | `alloc` | the owned (`Arc`) forms, on targets with compare-and-swap |
//! | `critical-section` | `platform::CriticalSection`; enables no implementation |
//! | `spin` | `platform::Spin`, on targets with compare-and-swap |
//! | `defmt` | `defmt::Format` for errors and states |
//! | `diagnostics` | `diagnose` on the locks: who holds them, and who waits. Locks are larger and slower |
//!
//! A feature changes no behaviour of the others. `diagnostics` changes sizes and costs.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(all(test, fifolock_loom))]
extern crate std;

pub mod acquire;
mod adapter;
#[allow(
    unnameable_types,
    unreachable_pub,
    missing_debug_implementations,
    reason = "its types stand behind a sealed trait"
)]
mod algorithm;
#[cfg(feature = "std")]
mod blocking;
mod call_site;
#[cfg(not(feature = "diagnostics"))]
mod diagnostics;
#[cfg(feature = "diagnostics")]
#[cfg_attr(docsrs, doc(cfg(feature = "diagnostics")))]
pub mod diagnostics;
pub mod error;
mod held;
#[cfg(feature = "defmt")]
mod log_format;
pub mod mutex;
pub mod platform;
#[allow(
    unnameable_types,
    unreachable_pub,
    missing_debug_implementations,
    reason = "its types stand behind a sealed trait"
)]
mod queue;
pub mod raw;
#[allow(
    unnameable_types,
    unreachable_pub,
    missing_debug_implementations,
    reason = "its types stand behind a sealed trait"
)]
mod rescue;
mod run;
pub mod rwlock;
mod state;
mod sync_shim;
#[cfg(all(test, fifolock_loom))]
mod test_tools;
pub mod timeout;
pub mod until;
#[allow(
    unnameable_types,
    unreachable_pub,
    missing_debug_implementations,
    reason = "its types stand behind a sealed trait"
)]
mod wait;
#[allow(
    unnameable_types,
    unreachable_pub,
    missing_debug_implementations,
    reason = "its types stand behind a sealed trait"
)]
mod wake;

#[doc(inline)]
pub use error::{TimeoutError, TryLockError, UpgradeError};
#[doc(inline)]
pub use mutex::Mutex;
#[doc(inline)]
pub use rwlock::RwLock;

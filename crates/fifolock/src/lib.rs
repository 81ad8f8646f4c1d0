//! Strictly FIFO async locks for every runtime, and for none.
#![doc = ""]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[doc(inline)]
pub use fifolock_core::{TimeoutError, TryLockError, acquire, error, platform, raw, timeout, until};

#[cfg(feature = "std")]
mod std_platform {
    fifolock_core::adapter!(fifolock_core::platform::Std);
}
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
#[doc(inline)]
pub use std_platform::*;

/// Locks for microcontrollers: over critical sections, so that interrupt handlers may use them.
#[cfg(feature = "critical-section")]
#[cfg_attr(docsrs, doc(cfg(feature = "critical-section")))]
pub mod critical_section {
    fifolock_core::adapter!(fifolock_core::platform::CriticalSection);
}

/// Locks for kernels and bare-metal programs on several cores: over spinning.
#[cfg(all(feature = "spin", target_has_atomic = "ptr"))]
#[cfg_attr(docsrs, doc(cfg(feature = "spin")))]
pub mod spin {
    fifolock_core::adapter!(fifolock_core::platform::Spin);
}

/// Locks that never leave one thread.
pub mod local {
    fifolock_core::adapter!(fifolock_core::platform::Local);
}

/// Locks with timeouts through tokio's timer.
#[cfg(feature = "tokio")]
#[cfg_attr(docsrs, doc(cfg(feature = "tokio")))]
pub mod tokio {
    #[doc(inline)]
    pub use fifolock_tokio::*;
}

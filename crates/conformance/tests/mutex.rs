//! The rules of the mutex, on every platform.

use fifolock_conformance::mutex_rules;
use fifolock_conformance::tools::Watched;
use fifolock_core::raw;

mod watched_std {
    use super::*;
    mutex_rules!(Watched<raw::StdLock>);
}

// Under Miri one flavour with atomics and one plain cell have to do: only these two differ in how the queue is reached.
#[cfg(not(miri))]
mod watched_critical_section {
    use super::*;
    mutex_rules!(Watched<raw::CriticalSectionLock>);
}

#[cfg(not(miri))]
mod watched_spin {
    use super::*;
    mutex_rules!(Watched<raw::SpinLock>);
}

mod watched_local {
    use super::*;
    mutex_rules!(Watched<raw::LocalLock>);
}

#[cfg(not(miri))]
mod on_std {
    use super::*;
    mutex_rules!(fifolock_core::platform::Std);
}

// Under Miri once for each raw lock has to do: this is the same as on `Std`.
#[cfg(not(miri))]
mod on_tokio {
    use super::*;
    mutex_rules!(fifolock::tokio::Tokio);
}

/// A guard can't be copied, so that there is no second release.
mod m7_guards_are_not_copied {
    use fifolock::tokio::{MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
    use fifolock_core::mutex::MappedMutexGuard;
    use static_assertions::assert_not_impl_any;

    assert_not_impl_any!(MutexGuard<'static, u8>: Clone, Copy);
    assert_not_impl_any!(MappedMutexGuard<'static, u8, fifolock::tokio::Tokio>: Clone, Copy);
    assert_not_impl_any!(OwnedMutexGuard<u8>: Clone, Copy);
    assert_not_impl_any!(OwnedMappedMutexGuard<u8, u8>: Clone, Copy);
}

//! The rules of the read-write lock, on every platform.

use fifolock_conformance::rwlock_rules;
use fifolock_conformance::tools::Watched;
use fifolock_core::raw;

mod std_lock {
    use super::*;
    rwlock_rules!(Watched<raw::StdLock>);
}

// Under Miri one flavour with atomics and one plain cell have to do: only these two differ in how the queue is reached.
#[cfg(not(miri))]
mod critical_section_lock {
    use super::*;
    rwlock_rules!(Watched<raw::CriticalSectionLock>);
}

#[cfg(not(miri))]
mod spin_lock {
    use super::*;
    rwlock_rules!(Watched<raw::SpinLock>);
}

mod local_lock {
    use super::*;
    rwlock_rules!(Watched<raw::LocalLock>);
}

// Under Miri once for each raw lock has to do: this is the same as on `Std`.
#[cfg(not(miri))]
mod tokio {
    use super::*;
    rwlock_rules!(fifolock::tokio::Tokio);
}

#[cfg(not(miri))]
mod std_platform {
    use super::*;
    rwlock_rules!(fifolock_core::platform::Std);
}

/// A lock can be a static, with its limit.
#[test]
fn w7_limit_of_a_static() {
    static LOCK: fifolock::RwLock<u32> = fifolock::RwLock::const_with_max_readers(5, 1);
    let reading = LOCK.try_read().expect("free");
    assert_eq!(*reading, 5);
    assert!(LOCK.try_read().is_err());
}

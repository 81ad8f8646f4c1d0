//! The rules of foreign code and memory, on every platform, and those of the raw locks.

use fifolock_conformance::tools::Watched;
use fifolock_conformance::{foreign_rules, raw_rules};
use fifolock_core::raw::{CriticalSectionLock, LocalLock, SpinLock, StdLock};

mod watched_std {
    use super::*;
    foreign_rules!(Watched<StdLock>);
}

// Under Miri one flavour with atomics and one plain cell have to do: only these two differ in how the queue is reached.
#[cfg(not(miri))]
mod watched_critical_section {
    use super::*;
    foreign_rules!(Watched<CriticalSectionLock>);
}

#[cfg(not(miri))]
mod watched_spin {
    use super::*;
    foreign_rules!(Watched<SpinLock>);
}

mod watched_local {
    use super::*;
    foreign_rules!(Watched<LocalLock>);
}

#[cfg(not(miri))]
mod on_std {
    use super::*;
    foreign_rules!(fifolock_core::platform::Std);
}

// Under Miri once for each raw lock has to do: this is the same as on `Std`.
#[cfg(not(miri))]
mod on_tokio {
    use super::*;
    foreign_rules!(fifolock::tokio::Tokio);
}

mod raw_std {
    use super::*;
    raw_rules!(StdLock);
}

mod raw_critical_section {
    use super::*;
    raw_rules!(CriticalSectionLock);
}

mod raw_spin {
    use super::*;
    raw_rules!(SpinLock);
}

mod raw_local {
    use super::*;
    raw_rules!(LocalLock);
}

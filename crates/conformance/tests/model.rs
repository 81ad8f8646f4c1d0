//! The locks of every platform beside their naive models.

use fifolock_conformance::model_rules;
use fifolock_conformance::tools::Watched;
use fifolock_core::raw;

mod std_lock {
    use super::*;
    model_rules!(Watched<raw::StdLock>);
}

mod critical_section_lock {
    use super::*;
    model_rules!(Watched<raw::CriticalSectionLock>);
}

mod spin_lock {
    use super::*;
    model_rules!(Watched<raw::SpinLock>);
}

mod local_lock {
    use super::*;
    model_rules!(Watched<raw::LocalLock>);
}

// Under Miri once for each raw lock has to do: this is the same as on `Std`.
#[cfg(not(miri))]
mod tokio {
    use super::*;
    model_rules!(fifolock::tokio::Tokio);
}

mod std_platform {
    use super::*;
    model_rules!(fifolock_core::platform::Std);
}

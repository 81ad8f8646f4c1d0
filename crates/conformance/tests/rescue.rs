//! The rules of the rescue, over every raw lock; those of time on the manual clock.

macro_rules! on {
    ($($module:ident: $raw:ident),+ $(,)?) => {
        $(
            mod $module {
                type Watched = fifolock_conformance::tools::Watched<fifolock_core::raw::$raw>;
                type Timed = fifolock_conformance::tools::clock::Manual<fifolock_core::raw::$raw>;
                fifolock_conformance::rescue_rules!(Watched);
                fifolock_conformance::rescue_timed_rules!(Timed);
            }
        )+
    };
}

on! {
    std_lock: StdLock,
    critical_section: CriticalSectionLock,
    spin: SpinLock,
    local: LocalLock,
}

mod on_std {
    fifolock_conformance::rescue_rules!(fifolock_core::platform::Std);
}

// Under Miri once for each raw lock has to do: this is the same as on `Std`.
#[cfg(not(miri))]
mod on_tokio {
    fifolock_conformance::rescue_rules!(fifolock::tokio::Tokio);
}

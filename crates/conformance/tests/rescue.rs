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
    local: LocalLock,
}

// Under Miri one flavour with atomics and one plain cell have to do: only these two differ in how the queue is reached.
#[cfg(not(miri))]
on! {
    critical_section: CriticalSectionLock,
    spin: SpinLock,
}

#[cfg(not(miri))]
mod on_std {
    fifolock_conformance::rescue_rules!(fifolock_core::platform::Std);
}

#[cfg(not(miri))]
mod on_tokio {
    fifolock_conformance::rescue_rules!(fifolock::tokio::Tokio);
}

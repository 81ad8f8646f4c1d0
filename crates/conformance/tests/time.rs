//! The rules of time on the manual clock, over every raw lock.

macro_rules! on {
    ($($module:ident: $raw:ident),+ $(,)?) => {
        $(
            mod $module {
                type Platform = fifolock_conformance::tools::clock::Manual<fifolock_core::raw::$raw>;
                fifolock_conformance::time_rules!(Platform);
                fifolock_conformance::time_foreign_rules!(Platform);
                fifolock_conformance::until_rules!(Platform);
            }
        )+
    };
}

on! {
    std: StdLock,
    local: LocalLock,
}

// Under Miri one flavour with atomics and one plain cell have to do: only these two differ in how the queue is reached.
#[cfg(not(miri))]
on! {
    critical_section: CriticalSectionLock,
    spin: SpinLock,
}

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
    critical_section: CriticalSectionLock,
    spin: SpinLock,
    local: LocalLock,
}

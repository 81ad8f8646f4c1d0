//! The rules of foreign code and memory, on every platform, and those of the raw locks.

fifolock_conformance::on_every_platform!(foreign_rules);

macro_rules! raw {
    ($($module:ident: $raw:ident),+) => {
        $(
            mod $module {
                fifolock_conformance::raw_rules!(fifolock_core::raw::$raw);
            }
        )+
    };
}

raw! { raw_std: StdLock, raw_critical_section: CriticalSectionLock, raw_spin: SpinLock, raw_local: LocalLock }

//! All rules on one platform, so that `cargo xtask mutants` builds and runs a program with a planted fault in seconds.

macro_rules! rules {
    ($($rules:ident),+ $(,)?) => {
        $(
            mod $rules {
                type Platform = fifolock_conformance::tools::clock::Manual<fifolock_core::raw::StdLock>;
                fifolock_conformance::$rules!(Platform);
            }
        )+
    };
}

rules! {
    mutex_rules,
    rwlock_rules,
    policy_rules,
    upgradable_rules,
    upgrade_limited_rules,
    rescue_rules,
    rescue_timed_rules,
    foreign_rules,
    time_rules,
    time_foreign_rules,
    until_rules,
}

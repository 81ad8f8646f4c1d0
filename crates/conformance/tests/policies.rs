//! The policies of the read-write lock, over every raw lock.

macro_rules! on {
    ($($module:ident: $platform:ty),+ $(,)?) => {
        $(
            mod $module {
                fifolock_conformance::policy_rules!($platform);
            }
        )+
    };
}

on! {
    std_lock: fifolock_conformance::tools::Watched<fifolock_core::raw::StdLock>,
    local: fifolock_conformance::tools::Watched<fifolock_core::raw::LocalLock>,
}

// Under Miri one flavour with atomics and one plain cell have to do: only these two differ in how the queue is reached.
#[cfg(not(miri))]
on! {
    critical_section: fifolock_conformance::tools::Watched<fifolock_core::raw::CriticalSectionLock>,
    spin: fifolock_conformance::tools::Watched<fifolock_core::raw::SpinLock>,
    on_std: fifolock_core::platform::Std,
    on_tokio: fifolock::tokio::Tokio,
}

/// A lock with a policy can be a static.
#[test]
fn p1_policy_of_a_static() {
    use fifolock_core::rwlock::RwLockPolicy::{PhaseFair, TaskFair};
    type Lock = fifolock_core::RwLock<u32, fifolock_core::platform::Std>;
    static PHASE_FAIR: Lock = Lock::with_policy(1, PhaseFair);
    static TASK_FAIR: Lock = Lock::with_policy_and_max_readers(2, TaskFair, 1);
    assert_eq!((PHASE_FAIR.policy(), TASK_FAIR.policy()), (PhaseFair, TaskFair));
    let reading = TASK_FAIR.try_read().expect("free");
    assert!(TASK_FAIR.try_read().is_err());
    assert_eq!((*reading, *PHASE_FAIR.try_write().expect("free")), (2, 1));
}

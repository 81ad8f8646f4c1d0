//! The policies of the read-write lock, on every platform.

fifolock_conformance::on_every_platform!(policy_rules);

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

//! The rules of the read-write lock, on every platform.

fifolock_conformance::on_every_platform!(rwlock_rules);

/// A lock with a limit of readers can be a static.
#[test]
fn w7_limit_of_a_static() {
    static LOCK: fifolock::RwLock<u32> = fifolock::RwLock::const_with_max_readers(5, 1);
    let reading = LOCK.try_read().expect("free");
    assert_eq!(*reading, 5);
    assert!(LOCK.try_read().is_err());
}

//! The rules of the mutex, on every platform.

fifolock_conformance::on_every_platform!(mutex_rules);

/// A guard can't be copied, so there is no second release.
mod m7_guards_are_not_copied {
    use fifolock::tokio::{MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
    use fifolock_core::mutex::MappedMutexGuard;
    use static_assertions::assert_not_impl_any;

    assert_not_impl_any!(MutexGuard<'static, u8>: Clone, Copy);
    assert_not_impl_any!(MappedMutexGuard<'static, u8, fifolock::tokio::Tokio>: Clone, Copy);
    assert_not_impl_any!(OwnedMutexGuard<u8>: Clone, Copy);
    assert_not_impl_any!(OwnedMappedMutexGuard<u8, u8>: Clone, Copy);
}

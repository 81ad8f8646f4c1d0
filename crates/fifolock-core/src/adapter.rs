//! The type aliases of a platform: what an adapter crate and the facade consist of.

/// Defines the type aliases of a platform: what every adapter crate consists of.
///
/// `adapter!([] Platform)` defines `Mutex<T>`, `RwLock<T>`, their guards and futures; `adapter!([] Platform, Timer)` also
/// the futures of the timed methods. Between the brackets stand the platform's own parameters, if it has any: with
/// `adapter!([M] Platform<M>)` it is `Mutex<M, T>`. The owned forms come with this crate's feature `alloc`.
#[macro_export]
macro_rules! adapter {
    ([$($param:ident),*] $platform:ty) => {
        /// A strictly FIFO async mutex with direct hand-off.
        pub type Mutex<$($param,)* T> = $crate::mutex::Mutex<T, $platform>;
        /// The guard of [`Mutex::lock`].
        pub type MutexGuard<'a, $($param,)* T> = $crate::mutex::MutexGuard<'a, T, $platform>;
        /// The guard of [`MutexGuard::map`].
        pub type MappedMutexGuard<'a, $($param,)* T> = $crate::mutex::MappedMutexGuard<'a, T, $platform>;
        /// The future of [`Mutex::lock`].
        pub type Lock<'a, $($param,)* T> = $crate::mutex::Lock<'a, T, $platform>;
        /// The future of [`Mutex::lock_until`].
        pub type LockUntil<'a, $($param,)* T, F> = $crate::mutex::LockUntil<'a, T, $platform, F>;

        /// An async read-write lock with direct hand-off; writer-preferring, unless its platform has another
        /// [policy]($crate::platform::Platform::POLICY).
        pub type RwLock<$($param,)* T> = $crate::rwlock::RwLock<T, $platform>;
        /// The guard of [`RwLock::read`].
        pub type RwLockReadGuard<'a, $($param,)* T> = $crate::rwlock::RwLockReadGuard<'a, T, $platform>;
        /// The guard of [`RwLock::upgradable_read`].
        pub type RwLockUpgradableReadGuard<'a, $($param,)* T> = $crate::rwlock::RwLockUpgradableReadGuard<'a, T, $platform>;
        /// The guard of [`RwLock::write`].
        pub type RwLockWriteGuard<'a, $($param,)* T> = $crate::rwlock::RwLockWriteGuard<'a, T, $platform>;
        /// The guard of [`RwLockWriteGuard::map`].
        pub type RwLockMappedWriteGuard<'a, $($param,)* T> = $crate::rwlock::RwLockMappedWriteGuard<'a, T, $platform>;
        /// The future of [`RwLock::read`].
        pub type Read<'a, $($param,)* T> = $crate::rwlock::Read<'a, T, $platform>;
        /// The future of [`RwLock::read_until`].
        pub type ReadUntil<'a, $($param,)* T, F> = $crate::rwlock::ReadUntil<'a, T, $platform, F>;
        /// The future of [`RwLock::upgradable_read`].
        pub type UpgradableRead<'a, $($param,)* T> = $crate::rwlock::UpgradableRead<'a, T, $platform>;
        /// The future of [`RwLock::upgradable_read_until`].
        pub type UpgradableReadUntil<'a, $($param,)* T, F> = $crate::rwlock::UpgradableReadUntil<'a, T, $platform, F>;
        /// The future of [`RwLockUpgradableReadGuard::upgrade`].
        pub type Upgrade<'a, $($param,)* T> = $crate::rwlock::Upgrade<'a, T, $platform>;
        /// The future of [`RwLockUpgradableReadGuard::upgrade_until`].
        pub type UpgradeUntil<'a, $($param,)* T, F> = $crate::rwlock::UpgradeUntil<'a, T, $platform, F>;
        /// The future of [`RwLock::write`].
        pub type Write<'a, $($param,)* T> = $crate::rwlock::Write<'a, T, $platform>;
        /// The future of [`RwLock::write_until`].
        pub type WriteUntil<'a, $($param,)* T, F> = $crate::rwlock::WriteUntil<'a, T, $platform, F>;

        #[doc(inline)]
        pub use $crate::{
            error::{TimeoutError, TryLockError, UpgradeError},
            mutex::MutexState,
            rwlock::{RwLockPolicy, RwLockState},
        };

        $crate::__adapter_diagnostics!();
        $crate::__adapter_owned!([$($param),*] $platform);
    };
    ([$($param:ident),*] $platform:ty, Timer) => {
        $crate::adapter!([$($param),*] $platform);

        /// The future of [`Mutex::lock_timeout`].
        pub type LockTimeout<'a, $($param,)* T> = $crate::mutex::LockTimeout<'a, T, $platform>;
        /// The future of [`Mutex::lock_deadline`].
        pub type LockDeadline<'a, $($param,)* T> = $crate::mutex::LockDeadline<'a, T, $platform>;
        /// The future of [`RwLock::read_timeout`].
        pub type ReadTimeout<'a, $($param,)* T> = $crate::rwlock::ReadTimeout<'a, T, $platform>;
        /// The future of [`RwLock::read_deadline`].
        pub type ReadDeadline<'a, $($param,)* T> = $crate::rwlock::ReadDeadline<'a, T, $platform>;
        /// The future of [`RwLock::upgradable_read_timeout`].
        pub type UpgradableReadTimeout<'a, $($param,)* T> = $crate::rwlock::UpgradableReadTimeout<'a, T, $platform>;
        /// The future of [`RwLock::upgradable_read_deadline`].
        pub type UpgradableReadDeadline<'a, $($param,)* T> = $crate::rwlock::UpgradableReadDeadline<'a, T, $platform>;
        /// The future of [`RwLockUpgradableReadGuard::upgrade_timeout`].
        pub type UpgradeTimeout<'a, $($param,)* T> = $crate::rwlock::UpgradeTimeout<'a, T, $platform>;
        /// The future of [`RwLockUpgradableReadGuard::upgrade_deadline`].
        pub type UpgradeDeadline<'a, $($param,)* T> = $crate::rwlock::UpgradeDeadline<'a, T, $platform>;
        /// The future of [`RwLock::write_timeout`].
        pub type WriteTimeout<'a, $($param,)* T> = $crate::rwlock::WriteTimeout<'a, T, $platform>;
        /// The future of [`RwLock::write_deadline`].
        pub type WriteDeadline<'a, $($param,)* T> = $crate::rwlock::WriteDeadline<'a, T, $platform>;

        $crate::__adapter_owned_timer!([$($param),*] $platform);
    };
}

#[cfg(feature = "diagnostics")]
#[doc(hidden)]
#[macro_export]
macro_rules! __adapter_diagnostics {
    () => {
        #[doc(inline)]
        pub use $crate::diagnostics::LockReport;
    };
}

#[cfg(not(feature = "diagnostics"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __adapter_diagnostics {
    () => {};
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __adapter_owned {
    ([$($param:ident),*] $platform:ty) => {
        /// The guard of [`Mutex::lock_owned`].
        pub type OwnedMutexGuard<$($param,)* T> = $crate::mutex::OwnedMutexGuard<T, $platform>;
        /// The guard of [`OwnedMutexGuard::map`].
        pub type OwnedMappedMutexGuard<$($param,)* T, U = T> = $crate::mutex::OwnedMappedMutexGuard<T, U, $platform>;
        /// The future of [`Mutex::lock_owned`].
        pub type LockOwned<$($param,)* T> = $crate::mutex::LockOwned<T, $platform>;
        /// The future of [`Mutex::lock_owned_until`].
        pub type LockOwnedUntil<$($param,)* T, F> = $crate::mutex::LockOwnedUntil<T, $platform, F>;
        /// The guard of [`RwLock::read_owned`].
        pub type OwnedRwLockReadGuard<$($param,)* T, U = T> = $crate::rwlock::OwnedRwLockReadGuard<T, U, $platform>;
        /// The guard of [`RwLock::upgradable_read_owned`].
        pub type OwnedRwLockUpgradableReadGuard<$($param,)* T> = $crate::rwlock::OwnedRwLockUpgradableReadGuard<T, $platform>;
        /// The guard of [`RwLock::write_owned`].
        pub type OwnedRwLockWriteGuard<$($param,)* T> = $crate::rwlock::OwnedRwLockWriteGuard<T, $platform>;
        /// The guard of [`OwnedRwLockWriteGuard::map`].
        pub type OwnedRwLockMappedWriteGuard<$($param,)* T, U = T> = $crate::rwlock::OwnedRwLockMappedWriteGuard<T, U, $platform>;
        /// The future of [`RwLock::read_owned`].
        pub type ReadOwned<$($param,)* T> = $crate::rwlock::ReadOwned<T, $platform>;
        /// The future of [`RwLock::read_owned_until`].
        pub type ReadOwnedUntil<$($param,)* T, F> = $crate::rwlock::ReadOwnedUntil<T, $platform, F>;
        /// The future of [`RwLock::upgradable_read_owned`].
        pub type UpgradableReadOwned<$($param,)* T> = $crate::rwlock::UpgradableReadOwned<T, $platform>;
        /// The future of [`RwLock::upgradable_read_owned_until`].
        pub type UpgradableReadOwnedUntil<$($param,)* T, F> = $crate::rwlock::UpgradableReadOwnedUntil<T, $platform, F>;
        /// The future of [`OwnedRwLockUpgradableReadGuard::upgrade`].
        pub type UpgradeOwned<$($param,)* T> = $crate::rwlock::UpgradeOwned<T, $platform>;
        /// The future of [`OwnedRwLockUpgradableReadGuard::upgrade_until`].
        pub type UpgradeOwnedUntil<$($param,)* T, F> = $crate::rwlock::UpgradeOwnedUntil<T, $platform, F>;
        /// The future of [`RwLock::write_owned`].
        pub type WriteOwned<$($param,)* T> = $crate::rwlock::WriteOwned<T, $platform>;
        /// The future of [`RwLock::write_owned_until`].
        pub type WriteOwnedUntil<$($param,)* T, F> = $crate::rwlock::WriteOwnedUntil<T, $platform, F>;
    };
}

#[cfg(not(all(feature = "alloc", target_has_atomic = "ptr")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __adapter_owned {
    ([$($param:ident),*] $platform:ty) => {};
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __adapter_owned_timer {
    ([$($param:ident),*] $platform:ty) => {
        /// The future of [`Mutex::lock_owned_timeout`].
        pub type LockOwnedTimeout<$($param,)* T> = $crate::mutex::LockOwnedTimeout<T, $platform>;
        /// The future of [`Mutex::lock_owned_deadline`].
        pub type LockOwnedDeadline<$($param,)* T> = $crate::mutex::LockOwnedDeadline<T, $platform>;
        /// The future of [`RwLock::read_owned_timeout`].
        pub type ReadOwnedTimeout<$($param,)* T> = $crate::rwlock::ReadOwnedTimeout<T, $platform>;
        /// The future of [`RwLock::read_owned_deadline`].
        pub type ReadOwnedDeadline<$($param,)* T> = $crate::rwlock::ReadOwnedDeadline<T, $platform>;
        /// The future of [`RwLock::upgradable_read_owned_timeout`].
        pub type UpgradableReadOwnedTimeout<$($param,)* T> = $crate::rwlock::UpgradableReadOwnedTimeout<T, $platform>;
        /// The future of [`RwLock::upgradable_read_owned_deadline`].
        pub type UpgradableReadOwnedDeadline<$($param,)* T> = $crate::rwlock::UpgradableReadOwnedDeadline<T, $platform>;
        /// The future of [`OwnedRwLockUpgradableReadGuard::upgrade_timeout`].
        pub type UpgradeOwnedTimeout<$($param,)* T> = $crate::rwlock::UpgradeOwnedTimeout<T, $platform>;
        /// The future of [`OwnedRwLockUpgradableReadGuard::upgrade_deadline`].
        pub type UpgradeOwnedDeadline<$($param,)* T> = $crate::rwlock::UpgradeOwnedDeadline<T, $platform>;
        /// The future of [`RwLock::write_owned_timeout`].
        pub type WriteOwnedTimeout<$($param,)* T> = $crate::rwlock::WriteOwnedTimeout<T, $platform>;
        /// The future of [`RwLock::write_owned_deadline`].
        pub type WriteOwnedDeadline<$($param,)* T> = $crate::rwlock::WriteOwnedDeadline<T, $platform>;
    };
}

#[cfg(not(all(feature = "alloc", target_has_atomic = "ptr")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __adapter_owned_timer {
    ([$($param:ident),*] $platform:ty) => {};
}

/// The names of the facade and of tokio's clock, for the examples: a reader copies them into a program that depends on
/// `fifolock`. A sleep of this `tokio` is over at once.
#[doc(hidden)]
#[macro_export]
macro_rules! __facade {
    () => {
        #[allow(dead_code, unused_imports, missing_debug_implementations)]
        mod fifolock {
            pub use $crate::{mutex, platform, rwlock};
            $crate::__facade_std!();

            pub mod local {
                $crate::adapter!([] $crate::platform::Local);
            }

            pub mod tokio {
                use core::time::Duration;
                use std::time::Instant;

                pub enum Tokio {}

                impl $crate::platform::Platform for Tokio {
                    type Raw = <super::Plain as $crate::platform::Platform>::Raw;
                }

                impl $crate::platform::Timer for Tokio {
                    type Duration = Duration;
                    type Instant = Instant;
                    type Sleep = core::future::Ready<()>;

                    fn sleep(_: Duration) -> Option<Self::Sleep> {
                        Some(core::future::ready(()))
                    }

                    fn sleep_until(_: Instant) -> Option<Self::Sleep> {
                        Some(core::future::ready(()))
                    }

                    fn now() -> Instant {
                        Instant::now()
                    }

                    fn to_core(duration: Duration) -> Duration {
                        duration
                    }
                }

                $crate::adapter!([] Tokio, Timer);
            }
        }
        #[allow(dead_code, unused_imports)]
        mod tokio {
            pub mod time {
                pub use core::time::Duration;
                pub use std::time::Instant;
            }
        }
    };
}

#[cfg(feature = "std")]
#[doc(hidden)]
#[macro_export]
macro_rules! __facade_std {
    () => {
        type Plain = $crate::platform::Std;
        $crate::adapter!([] $crate::platform::Std);
    };
}

#[cfg(not(feature = "std"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __facade_std {
    () => {
        type Plain = $crate::platform::Local;
        pub use $crate::{TimeoutError, TryLockError, UpgradeError};
    };
}

/// The example of the registry's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

//! What locks, guards and futures cost in memory: asserted, and so documented. A wrong size doesn't build.
#![cfg(not(feature = "diagnostics"))]

use core::mem::size_of;
use fifolock_core::TimeoutError;
use fifolock_core::mutex::*;
use fifolock_core::platform::{CriticalSection, Local, Platform, Spin, Std, Timer};
use fifolock_core::rwlock::*;

/// A row: the type, its size in bytes where a pointer has 64 bits, and where it has 32.
macro_rules! sizes {
    ($($type:ty: $on_64:literal, $on_32:literal;)+) => {
        $(
            const {
                let size = if cfg!(target_pointer_width = "64") { $on_64 } else { $on_32 };
                assert!(size_of::<$type>() == size, stringify!($type));
            }
        )+
    };
}

macro_rules! on_each_platform {
    ($($name:ident: $platform:ident,)+) => {
        $(
            #[test]
            fn $name() {
                type P = $platform;
                sizes! {
                    // The lock's own; the data comes on top, and only its alignment may add to that.
                    Mutex<(), P>:                                   24, 16;
                    Mutex<usize, P>:                                32, 20;
                    RwLock<(), P>:                                  64, 48;
                    RwLock<usize, P>:                               72, 52;

                    MutexGuard<'static, u8, P>:                      8,  4;
                    MappedMutexGuard<'static, u8, P>:               16,  8;
                    OwnedMutexGuard<u8, P>:                          8,  4;
                    OwnedMappedMutexGuard<u8, u8, P>:               16,  8;
                    RwLockReadGuard<'static, u8, P>:                16,  8;
                    RwLockWriteGuard<'static, u8, P>:                8,  4;
                    RwLockMappedWriteGuard<'static, u8, P>:         16,  8;
                    OwnedRwLockReadGuard<u8, u8, P>:                16,  8;
                    OwnedRwLockWriteGuard<u8, P>:                    8,  4;
                    OwnedRwLockMappedWriteGuard<u8, u8, P>:         16,  8;
                    RwLockUpgradableReadGuard<'static, u8, P>:       8,  4;
                    OwnedRwLockUpgradableReadGuard<u8, P>:           8,  4;
                    Option<MutexGuard<'static, u8, P>>:              8,  4;
                    Option<RwLockReadGuard<'static, u8, P>>:        16,  8;

                    Lock<'static, u8, P>:                           56, 40;
                    LockOwned<u8, P>:                               56, 40;
                    Read<'static, u8, P>:                           56, 40;
                    ReadOwned<u8, P>:                               56, 40;
                    Write<'static, u8, P>:                          56, 40;
                    WriteOwned<u8, P>:                              56, 40;
                    UpgradableRead<'static, u8, P>:                 56, 40;
                    UpgradableReadOwned<u8, P>:                     56, 40;
                    Upgrade<'static, u8, P>:                        56, 40;
                    UpgradeOwned<u8, P>:                            56, 40;
                }
            }
        )+
    };
}

on_each_platform! {
    std: Std,
    critical_section: CriticalSection,
    spin: Spin,
    local: Local,
}

#[test]
fn errors() {
    const { assert!(size_of::<TimeoutError>() <= 24) };
    const { assert!(size_of::<fifolock_core::TryLockError>() == 0) };
}

/// A timed future is the plain one, the sleep, and the limit.
const fn timed<P: Timer, F>(future: usize) -> bool {
    size_of::<F>() <= future + size_of::<Option<P::Sleep>>() + 24
}

#[test]
fn timed_futures_of_tokio() {
    use fifolock::tokio as locks;
    use locks::Tokio;
    const {
        let plain = size_of::<Lock<'static, u8, Tokio>>();
        assert!(timed::<Tokio, locks::LockTimeout<'static, u8>>(plain));
        assert!(timed::<Tokio, locks::LockDeadline<'static, u8>>(plain));
        assert!(timed::<Tokio, locks::LockOwnedTimeout<u8>>(plain));
        assert!(timed::<Tokio, locks::ReadTimeout<'static, u8>>(plain));
        assert!(timed::<Tokio, locks::ReadDeadline<'static, u8>>(plain));
        assert!(timed::<Tokio, locks::WriteOwnedTimeout<u8>>(plain));
        assert!(timed::<Tokio, locks::WriteOwnedDeadline<u8>>(plain));
    };
}

/// The smallest timer: what a timed future adds by itself.
#[test]
fn timed_futures_of_a_tick_clock() {
    struct Ticks;
    impl Platform for Ticks {
        type Raw = <CriticalSection as Platform>::Raw;
    }
    impl Timer for Ticks {
        type Duration = u64;
        type Instant = u64;
        type Sleep = core::future::Ready<()>;

        fn sleep(_: u64) -> Option<Self::Sleep> {
            Some(core::future::ready(()))
        }

        fn sleep_until(_: u64) -> Option<Self::Sleep> {
            Some(core::future::ready(()))
        }

        fn now() -> u64 {
            0
        }

        fn to_core(ticks: u64) -> core::time::Duration {
            core::time::Duration::from_millis(ticks)
        }
    }
    sizes! {
        LockTimeout<'static, u8, Ticks>:    72, 56;
        LockDeadline<'static, u8, Ticks>:   72, 56;
        ReadTimeout<'static, u8, Ticks>:    72, 56;
        WriteTimeout<'static, u8, Ticks>:   72, 56;
    }
}

/// The other future, and nothing else.
#[test]
fn until_futures() {
    const { assert!(size_of::<LockUntil<'static, u8, Std, [usize; 4]>>() <= 56 + size_of::<Option<[usize; 4]>>()) };
}

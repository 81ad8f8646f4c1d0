//! The memory of locks, guards and futures, asserted at compile time and so documented.
#![cfg(not(feature = "diagnostics"))]

use core::mem::size_of;
use fifolock_core::TimeoutError;
use fifolock_core::mutex::*;
use fifolock_core::platform::{CriticalSection, Local, Platform, Spin, Std, Timer};
use fifolock_core::rwlock::*;

/// A row: a type, its size in bytes with 64-bit pointers, and its size with 32-bit pointers.
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
                    // The size of the lock without data. The data's alignment may add to the sum.
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

/// Whether a timed future has the size of the plain one, the sleep, and the limit.
const fn timed<P: Timer, F>(future: usize) -> bool {
    size_of::<F>() <= future + size_of::<Option<P::Sleep>>() + 24
}

#[test]
fn timed_futures_of_tokio() {
    use fifolock::tokio as locks;
    use locks::Tokio;
    const {
        let plain = size_of::<Lock<'static, u8, Tokio>>();
        // README.md states this number.
        assert!(cfg!(not(target_pointer_width = "64")) || size_of::<locks::LockTimeout<'static, u8>>() == 184);
        assert!(timed::<Tokio, locks::LockTimeout<'static, u8>>(plain));
        assert!(timed::<Tokio, locks::LockDeadline<'static, u8>>(plain));
        assert!(timed::<Tokio, locks::LockOwnedTimeout<u8>>(plain));
        assert!(timed::<Tokio, locks::ReadTimeout<'static, u8>>(plain));
        assert!(timed::<Tokio, locks::ReadDeadline<'static, u8>>(plain));
        assert!(timed::<Tokio, locks::WriteOwnedTimeout<u8>>(plain));
        assert!(timed::<Tokio, locks::WriteOwnedDeadline<u8>>(plain));
    };
}

/// The smallest timer shows what a timed future adds by itself.
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

/// A future with another one as its limit adds that one, and nothing else.
#[test]
fn until_futures() {
    const { assert!(size_of::<LockUntil<'static, u8, Std, [usize; 4]>>() <= 56 + size_of::<Option<[usize; 4]>>()) };
}

/// The captures of a closure are stored once, as in the same program by hand. The future adds the state of the closure
/// and the guard. An `async` block that owns the closure would store the captures twice.
#[test]
fn m8_run_stores_its_captures_once() {
    use core::future::ready;
    use core::mem::size_of_val;
    use core::time::Duration;
    use fifolock::tokio::{Mutex, RwLock};

    const CAPTURED: usize = 1024;
    let captured = [7_u8; CAPTURED];
    let (mutex, lock) = (Mutex::new(0), RwLock::new(0));
    let borrowed = &mutex;
    let by_hand = size_of_val(&async move {
        let mut guard = borrowed.lock().await;
        ready(()).await;
        *guard = captured[0];
    });
    let timed = by_hand + size_of_val(&mutex.lock_timeout(Duration::MAX)) - size_of_val(&mutex.lock());
    assert!(by_hand >= CAPTURED, "the compiler has removed the captures, so this test shows nothing");

    /// The closure of the program by hand, the future that it belongs to, and the largest size allowed.
    macro_rules! sizes {
        ($($most:expr, |$run:ident| $future:expr;)+) => {
            $(
                let $run = async move |data: &mut u8| {
                    ready(()).await;
                    *data = captured[0];
                };
                let size = size_of_val(&$future);
                assert!((CAPTURED..=$most).contains(&size), "{}: {size} bytes, not {}", stringify!($future), $most);
            )+
        };
    }
    let read = async move |_: &u8| {
        ready(()).await;
        ready(captured[0]).await;
    };
    sizes! {
        by_hand + 16, |run| mutex.run_exclusive(run);
        by_hand + 16, |run| lock.run_exclusive(run);
        by_hand + 16, |_run| lock.run_shared(read);
        timed + 16, |run| mutex.run_exclusive_timeout(Duration::MAX, run);
        timed + 16, |run| lock.run_exclusive_timeout(Duration::MAX, run);
        timed + 16, |_run| lock.run_shared_timeout(Duration::MAX, read);
        // One run is inside the other: each stores the captures at its time, and the outer one keeps their space.
        2 * by_hand + 16, |run| mutex.run_exclusive(async move |_| lock.run_exclusive(run).await);
    }
}

//! Upgradable reads on every platform, upgrades with a limit on the manual clock, and threads.

use core::time::Duration;
use fifolock_conformance::tools::subject::POLICIES;
use fifolock_core::RwLock;
use fifolock_core::platform::{Platform, Std};
use fifolock_core::rwlock::{
    OwnedRwLockUpgradableReadGuard, RwLockUpgradableReadGuard, UpgradableReadOwned, UpgradeOwned,
};
use static_assertions::assert_not_impl_any;
use std::thread;

fifolock_conformance::on_every_platform!(upgradable_rules; upgrade_limited_rules);

fn until(what: impl Fn() -> bool) {
    let mut patience = 0;
    while !what() {
        thread::sleep(Duration::from_millis(1));
        patience += 1;
        assert!(patience < 20_000, "it hangs");
    }
}

/// A thread that blocks waits in the same queue.
#[test]
fn u2_blocking_upgradable_read_waits_its_turn() {
    for policy in POLICIES {
        let lock = RwLock::<Vec<u32>, Std>::with_policy(Vec::new(), policy);
        assert!(lock.blocking_upgradable_read().is_empty(), "free");
        let first = lock.blocking_upgradable_read();
        thread::scope(|scope| {
            for n in 0..3 {
                let lock = &lock;
                scope.spawn(move || {
                    let guard = lock.blocking_upgradable_read();
                    match RwLockUpgradableReadGuard::try_upgrade(guard) {
                        Ok(mut guard) => guard.push(n),
                        Err(_) => panic!("nobody else is inside"),
                    }
                });
                until(|| lock.state().waiting_upgradable == n as usize + 1);
            }
            drop(first);
        });
        assert_eq!(lock.into_inner(), [0, 1, 2]);
    }
}

/// Threads that read, write, upgrade and downgrade. No write is lost, and an upgrade sees the value that its reader
/// saw.
#[test]
#[cfg(not(miri))]
fn u3_threads_upgrade() {
    use std::sync::Arc;

    for policy in POLICIES {
        let lock = Arc::new(RwLock::<u64, Std>::with_policy(0, policy));
        const TURNS: u64 = 300;
        let threads: Vec<_> = (0..4)
            .map(|n| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || {
                    for turn in 0..TURNS {
                        let guard = lock.blocking_upgradable_read();
                        let seen = *guard;
                        if turn % 7 == n {
                            // The upgrade is dropped before or after its first poll.
                            drop(RwLockUpgradableReadGuard::upgrade(guard));
                        } else {
                            let mut guard = smol::block_on(RwLockUpgradableReadGuard::upgrade(guard));
                            assert_eq!(*guard, seen, "the value changed under the upgradable read");
                            *guard += 1;
                            if turn % 3 == 0 {
                                let guard = fifolock_core::rwlock::RwLockWriteGuard::downgrade_to_upgradable(guard);
                                assert_eq!(*guard, seen + 1);
                                drop(RwLockUpgradableReadGuard::downgrade(guard));
                            }
                        }
                        drop(lock.blocking_read());
                        if turn % 5 == 0 {
                            *lock.blocking_write() += 1;
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        let given_up: u64 = (0..4).map(|n| (0..TURNS).filter(|turn| turn % 7 == n).count() as u64).sum();
        assert_eq!(*lock.blocking_read(), 4 * TURNS - given_up + 4 * TURNS.div_ceil(5));
        let state = lock.state();
        assert_eq!((state.readers, state.upgradable, state.writer), (0, false, false));
    }
}

/// H13: the upgradable guards are Send and Sync as the write guards are.
mod h13 {
    use super::*;

    assert_not_impl_any!(RwLockUpgradableReadGuard<'static, u8, Std>: Clone, Copy);
    assert_not_impl_any!(OwnedRwLockUpgradableReadGuard<u8, Std>: Clone, Copy);

    /// Owned futures are `'static`.
    const fn is_static<T: 'static>() {}
    const _: () = is_static::<UpgradableReadOwned<u8, Std>>();
    const _: () = is_static::<UpgradeOwned<u8, Std>>();

    /// Unsized data.
    #[test]
    fn h13_unsized_data() {
        fn upgrades<T: ?Sized, P: Platform>(lock: &RwLock<T, P>) -> bool {
            let guard = lock.try_upgradable_read().expect("free");
            RwLockUpgradableReadGuard::try_upgrade(guard).is_ok()
        }
        let lock: Box<RwLock<[u8], Std>> = Box::new(RwLock::<[u8; 2], Std>::new([1, 2]));
        assert!(upgrades(&*lock));
    }
}

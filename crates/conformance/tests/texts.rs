//! The texts that people read: errors say what happened and what to do. Printing a lock, a guard or a future changes
//! nothing.

use core::future::ready;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use fifolock_conformance::tools::clock::{Manual, TestTimer};
use fifolock_core::error::LockKind;
use fifolock_core::platform::Timer;
use fifolock_core::raw::StdLock;
use fifolock_core::{Mutex, RwLock};
use std::pin::pin;

type Platform = Manual<StdLock>;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn errors_name_the_lock_and_the_way_out() {
    let kinds = [LockKind::Mutex, LockKind::Read, LockKind::UpgradableRead, LockKind::Write, LockKind::Upgrade];
    assert_eq!(
        kinds.map(|kind| kind.to_string()),
        ["mutex", "read lock", "upgradable read lock", "write lock", "upgrade to write lock"]
    );
    Platform::with(|| {
        let mutex: Mutex<u8, Platform> = Mutex::const_new(0);
        let cx = &mut Context::from_waker(Waker::noop());
        let Poll::Ready(Err(zero)) = pin!(mutex.lock_timeout(Duration::ZERO)).poll(cx) else {
            panic!("zero is refused");
        };
        assert_eq!(
            zero.to_string(),
            "timeout must be longer than zero; to take the lock only if it is free, use a try method"
        );
        let held = mutex.try_lock().expect("free");
        assert_eq!(mutex.try_lock().expect_err("held").to_string(), "operation would block");
        let mut late = pin!(mutex.lock_deadline(Platform::now()));
        let Poll::Ready(Err(late)) = late.as_mut().poll(cx) else { panic!("the deadline has passed") };
        assert_eq!(late.to_string(), "deadline passed while waiting for mutex");
        drop(held);
    });
}

#[test]
fn m10_what_is_printed_is_as_it_was() {
    Platform::with(|| {
        let mutex: Mutex<u8, Platform> = Mutex::new(7);
        let rwlock: RwLock<u8, Platform> = RwLock::const_new(7);
        let held = mutex.try_lock().expect("free");
        let mut waits = pin!(mutex.lock());
        assert!(waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let before = (mutex.state(), rwlock.state());
        let upgrade = rwlock.try_upgradable_read().expect("free");
        let texts = [
            format!("{waits:?}"),
            format!("{:?}", mutex.lock_timeout(SECOND)),
            format!("{:?}", rwlock.write_deadline(Platform::now())),
            format!("{:?}", rwlock.read_until(ready(()))),
            format!("{:?}", fifolock_core::rwlock::RwLockUpgradableReadGuard::upgrade(upgrade)),
        ];
        for (text, kind) in texts.iter().zip(["Mutex", "Mutex", "Write", "Read", "Upgrade"]) {
            assert!(text.contains(&format!("waits_for: {kind}")), "{text}");
        }
        assert!(texts[1].contains("timeout: 1s"), "{}", texts[1]);
        assert!(texts[2].contains("deadline: "), "{}", texts[2]);
        assert_eq!(format!("{held:?}"), "7");
        assert!(format!("{mutex:?} {rwlock:?}").contains("data: 7"), "{mutex:?} {rwlock:?}");
        assert_eq!((mutex.state(), rwlock.state()), before);
        drop(held);
    });
}

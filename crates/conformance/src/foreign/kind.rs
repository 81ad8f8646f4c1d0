//! The ways to wait, as one interface: what holds for one holds for all.

use crate::tools::Platform;
use core::fmt;
use core::future::Future;
use fifolock_core::mutex::{LockOwned, OwnedMutexGuard};
use fifolock_core::rwlock::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, ReadOwned, WriteOwned};
use fifolock_core::{Mutex, RwLock};
use std::sync::Arc;

/// A way to wait: for what, and behind what. Owned, so that hooks can have it all.
pub(super) trait Kind<P: Platform>: 'static {
    const NAME: &'static str;
    type Lock: fmt::Debug + 'static;
    type Guard: 'static;
    type Future: Future<Output = Self::Guard> + 'static;
    /// What keeps the future waiting.
    type Blocker: 'static;
    /// A future that has to wait while a guard of this kind is there.
    type Rival: Future<Output: 'static> + 'static;

    fn new() -> Arc<Self::Lock>;
    fn wait(lock: &Arc<Self::Lock>) -> Self::Future;
    fn block(lock: &Arc<Self::Lock>) -> Self::Blocker;
    fn rival(lock: &Arc<Self::Lock>) -> Self::Rival;
    fn try_now(lock: &Arc<Self::Lock>) -> Option<Self::Guard>;
    /// How many hold it, granted ones included, and how many wait.
    fn state(lock: &Arc<Self::Lock>) -> (usize, usize);
}

/// `lock`, behind a guard.
pub(super) enum ToLock {}

impl<P: Platform> Kind<P> for ToLock {
    const NAME: &'static str = "lock";
    type Lock = Mutex<(), P>;
    type Guard = OwnedMutexGuard<(), P>;
    type Future = LockOwned<(), P>;
    type Blocker = OwnedMutexGuard<(), P>;
    type Rival = LockOwned<(), P>;

    fn new() -> Arc<Self::Lock> {
        Arc::new(Mutex::new(()))
    }

    fn wait(lock: &Arc<Self::Lock>) -> Self::Future {
        Arc::clone(lock).lock_owned()
    }

    fn block(lock: &Arc<Self::Lock>) -> Self::Blocker {
        Arc::clone(lock).try_lock_owned().expect("free")
    }

    fn rival(lock: &Arc<Self::Lock>) -> Self::Rival {
        Arc::clone(lock).lock_owned()
    }

    fn try_now(lock: &Arc<Self::Lock>) -> Option<Self::Guard> {
        Arc::clone(lock).try_lock_owned().ok()
    }

    fn state(lock: &Arc<Self::Lock>) -> (usize, usize) {
        let state = lock.state();
        (usize::from(state.locked), state.queued)
    }
}

fn rw_state<P: Platform>(lock: &RwLock<(), P>) -> (usize, usize) {
    let state = lock.state();
    (state.readers + usize::from(state.writer), state.waiting_readers + state.waiting_writers)
}

/// `read`, behind a writer.
pub(super) enum ToRead {}

impl<P: Platform> Kind<P> for ToRead {
    const NAME: &'static str = "read";
    type Lock = RwLock<(), P>;
    type Guard = OwnedRwLockReadGuard<(), (), P>;
    type Future = ReadOwned<(), P>;
    type Blocker = OwnedRwLockWriteGuard<(), P>;
    type Rival = WriteOwned<(), P>;

    fn new() -> Arc<Self::Lock> {
        Arc::new(RwLock::new(()))
    }

    fn wait(lock: &Arc<Self::Lock>) -> Self::Future {
        Arc::clone(lock).read_owned()
    }

    fn block(lock: &Arc<Self::Lock>) -> Self::Blocker {
        Arc::clone(lock).try_write_owned().expect("free")
    }

    fn rival(lock: &Arc<Self::Lock>) -> Self::Rival {
        Arc::clone(lock).write_owned()
    }

    fn try_now(lock: &Arc<Self::Lock>) -> Option<Self::Guard> {
        Arc::clone(lock).try_read_owned().ok()
    }

    fn state(lock: &Arc<Self::Lock>) -> (usize, usize) {
        rw_state(lock)
    }
}

/// `write`, behind a reader.
pub(super) enum ToWrite {}

impl<P: Platform> Kind<P> for ToWrite {
    const NAME: &'static str = "write";
    type Lock = RwLock<(), P>;
    type Guard = OwnedRwLockWriteGuard<(), P>;
    type Future = WriteOwned<(), P>;
    type Blocker = OwnedRwLockReadGuard<(), (), P>;
    type Rival = ReadOwned<(), P>;

    fn new() -> Arc<Self::Lock> {
        Arc::new(RwLock::new(()))
    }

    fn wait(lock: &Arc<Self::Lock>) -> Self::Future {
        Arc::clone(lock).write_owned()
    }

    fn block(lock: &Arc<Self::Lock>) -> Self::Blocker {
        Arc::clone(lock).try_read_owned().expect("free")
    }

    fn rival(lock: &Arc<Self::Lock>) -> Self::Rival {
        Arc::clone(lock).read_owned()
    }

    fn try_now(lock: &Arc<Self::Lock>) -> Option<Self::Guard> {
        Arc::clone(lock).try_write_owned().ok()
    }

    fn state(lock: &Arc<Self::Lock>) -> (usize, usize) {
        rw_state(lock)
    }
}

/// `write`, behind a writer.
pub(super) enum ToWriteNext {}

impl<P: Platform> Kind<P> for ToWriteNext {
    const NAME: &'static str = "write behind a writer";
    type Lock = RwLock<(), P>;
    type Guard = OwnedRwLockWriteGuard<(), P>;
    type Future = WriteOwned<(), P>;
    type Blocker = OwnedRwLockWriteGuard<(), P>;
    type Rival = WriteOwned<(), P>;

    fn new() -> Arc<Self::Lock> {
        Arc::new(RwLock::new(()))
    }

    fn wait(lock: &Arc<Self::Lock>) -> Self::Future {
        Arc::clone(lock).write_owned()
    }

    fn block(lock: &Arc<Self::Lock>) -> Self::Blocker {
        Arc::clone(lock).try_write_owned().expect("free")
    }

    fn rival(lock: &Arc<Self::Lock>) -> Self::Rival {
        Arc::clone(lock).write_owned()
    }

    fn try_now(lock: &Arc<Self::Lock>) -> Option<Self::Guard> {
        Arc::clone(lock).try_write_owned().ok()
    }

    fn state(lock: &Arc<Self::Lock>) -> (usize, usize) {
        rw_state(lock)
    }
}

/// Runs a check for each kind; the output of a failure says which it was.
macro_rules! each_kind {
    ($check:ident::<$platform:ident>) => {
        each_kind!(@ $check, $platform: ToLock, ToRead, ToWrite, ToWriteNext)
    };
    (@ $check:ident, $platform:ident: $($kind:ident),+) => {
        $(
            println!("{}", <$crate::foreign::kind::$kind as $crate::foreign::kind::Kind<$platform>>::NAME);
            $check::<$platform, $crate::foreign::kind::$kind>();
        )+
    };
}
pub(super) use each_kind;

/// Nobody holds it and nobody waits, and it can be taken; nobody else has a share in it.
#[track_caller]
pub(super) fn assert_free<P: Platform, K: Kind<P>>(lock: &Arc<K::Lock>) {
    assert_eq!(K::state(lock), (0, 0));
    drop(K::try_now(lock).expect("free"));
}

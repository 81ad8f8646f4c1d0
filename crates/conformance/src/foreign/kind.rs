//! The ways to wait, behind one trait, so that a rule is written once for all of them.

use crate::tools::Platform;
use crate::tools::subject::{Form, Guard, Hidden, Op, Subject};
use fifolock_core::rwlock::RwLockPolicy::WriterPreferring;
use std::sync::Arc;

/// A way to wait: an operation and the operation that blocks it. The futures are owned, so that hooks can store them.
pub(super) trait Kind: 'static {
    const OP: Op;
    /// The operation whose guard keeps the future waiting.
    const BLOCKER: Op;
    /// An operation that a guard of this kind excludes.
    const RIVAL: Op;

    fn subject<P: Platform>() -> Arc<Subject<P>> {
        #[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
        Arc::new(Subject::new(WriterPreferring, 1000, Form::Owned))
    }

    fn wait<P: Platform>(lock: &Subject<P>) -> Hidden<'static> {
        lock.owned(Self::OP)
    }

    fn block<P: Platform>(lock: &Subject<P>) -> Guard<'static> {
        lock.attempt_owned(Self::BLOCKER).expect("free")
    }

    fn rival<P: Platform>(lock: &Subject<P>) -> Hidden<'static> {
        lock.owned(Self::RIVAL)
    }

    fn try_now<P: Platform>(lock: &Subject<P>) -> Option<Guard<'static>> {
        lock.attempt_owned(Self::OP)
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])+ $kind:ident: $op:ident, $blocker:ident, $rival:ident;)+) => {
        $(
            $(#[$doc])+
            pub(super) enum $kind {}

            impl Kind for $kind {
                const OP: Op = Op::$op;
                const BLOCKER: Op = Op::$blocker;
                const RIVAL: Op = Op::$rival;
            }
        )+
    };
}

kinds! {
    /// `lock`, behind a guard.
    ToLock: Lock, Lock, Lock;
    /// `read`, behind a writer.
    ToRead: Read, Write, Write;
    /// `upgradable_read`, behind a writer.
    ToReadUpgradably: Upgradable, Write, Write;
    /// `write`, behind a reader.
    ToWrite: Write, Read, Read;
    /// `write`, behind a writer.
    ToWriteNext: Write, Write, Write;
}

/// Runs a check for each kind. The output of a failure names the kind.
macro_rules! each_kind {
    ($check:ident::<$platform:ident>) => {
        each_kind!(@ $check, $platform: ToLock, ToRead, ToReadUpgradably, ToWrite, ToWriteNext)
    };
    (@ $check:ident, $platform:ident: $($kind:ident),+) => {
        $(
            println!(stringify!($kind));
            $check::<$platform, $crate::foreign::kind::$kind>();
        )+
    };
}
pub(super) use each_kind;

/// Asserts that the lock is free, has no waiters, can be taken, and has no other owner.
#[track_caller]
pub(super) fn assert_free<P: Platform, K: Kind>(lock: &Subject<P>) {
    assert_eq!(lock.state(), (0, 0));
    drop(K::try_now(lock).expect("free"));
}

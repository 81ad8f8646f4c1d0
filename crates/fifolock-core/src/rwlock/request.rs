//! The requests: what the futures of a read-write lock wait for.

use super::handle::{RawHandle, RwLockHandle};
use super::raw::{Access, ReadSide, Side, UpgradableSide, UpgradeSide, WriteSide};
use crate::acquire::sealed::Operations;
use crate::diagnostics::Place;
use crate::error::LockKind;
use crate::permit::{Permit, Release};
use crate::platform::Platform;
use crate::queue::{Stage, Waiter};
use crate::wait;
use core::pin::Pin;

/// A request, what it is called in errors, and the guard it ends in.
macro_rules! requests {
    ($($(#[$meta:meta])* $request:ident: $side:ty, $kind:expr, $guard:ident = $make:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $request<L>(pub(crate) L);

        impl<L: RawHandle> Release for $request<L> {
            #[inline(always)]
            fn release(&self, place: Place) {
                <$side as Side>::release(self.0.raw(), place);
            }
        }

        impl<L: RwLockHandle> Operations for $request<L> {
            type Guard = L::$guard;
            type Platform = L::Platform;
            const KIND: LockKind = $kind;

            type Lock<'a>
                = Access<'a, <L::Platform as Platform>::Raw, $side>
            where
                L: 'a;

            #[inline(always)]
            fn lock(&self) -> Self::Lock<'_> {
                Access::to(self.0.raw())
            }

            #[inline(always)]
            unsafe fn into_guard(self, place: Place) -> L::$guard {
                // SAFETY: the caller owns it and has no other guard.
                L::$make(unsafe { Permit::new(self, place) })
            }
        }
    )+};
}

requests! {
    /// The request to read, in a future's type. `L` is `&RwLock` or `Arc<RwLock>`.
    Reading: ReadSide, LockKind::Read, ReadGuard = read_guard;
    /// The request to read and perhaps to write later, in a future's type. `L` is `&RwLock` or `Arc<RwLock>`.
    ReadingUpgradable: UpgradableSide, LockKind::UpgradableRead, UpgradableGuard = upgradable_guard;
    /// The request to write, in a future's type. `L` is `&RwLock` or `Arc<RwLock>`.
    Writing: WriteSide, LockKind::Write, WriteGuard = write_guard;
}

/// The request to write after having read, in a future's type. `L` is `&RwLock` or `Arc<RwLock>`.
///
/// It owns the upgradable share that it was made from, until its waiter is done.
#[derive(Debug)]
pub struct Upgrading<L>(pub(super) L);

impl<L: RwLockHandle> Operations for Upgrading<L> {
    type Guard = L::WriteGuard;
    type Platform = L::Platform;
    const KIND: LockKind = LockKind::Upgrade;

    type Lock<'a>
        = Access<'a, <L::Platform as Platform>::Raw, UpgradeSide>
    where
        L: 'a;

    #[inline(always)]
    fn lock(&self) -> Self::Lock<'_> {
        Access::to(self.0.raw())
    }

    #[inline(always)]
    fn abandon(&self, waiter: Pin<&Waiter>) {
        self.give_unused_share_back(waiter);
        wait::leave(self.lock(), waiter);
    }

    #[inline(always)]
    unsafe fn into_guard(self, place: Place) -> L::WriteGuard {
        // SAFETY: the caller owns it and has no other guard.
        L::write_guard(unsafe { Permit::new(Writing(self.0), place) })
    }
}

impl<L: RwLockHandle> Upgrading<L> {
    /// One that was never polled has its share still; later, the queue takes it back.
    #[inline(always)]
    fn give_unused_share_back(&self, waiter: Pin<&Waiter>) {
        if waiter.stage() == Stage::Idle {
            waiter.set_done();
            UpgradableSide::release(self.0.raw(), waiter.place());
        }
    }
}

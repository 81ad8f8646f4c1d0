//! The requests: what the futures of a read-write lock wait for.

use super::handle::{RawHandle, RwLockHandle};
use super::raw::{OnSide, ReadSide, Side, UpgradableSide, UpgradeSide, WriteSide};
use super::upgradable::downgrade_to_upgradable;
use crate::acquire::sealed::{Ends, RequestImpl, keeps_nothing};
use crate::call_site::CallSite;
use crate::error::{LockKind, UpgradeError};
use crate::held::{Held, Release};
use crate::platform::Platform;
use crate::queue::{OwnWaiter, Queued};
use crate::raw::RawLock;
use crate::wait;
use core::mem;

/// A request, what it is called in errors, and the guard it ends in.
macro_rules! requests {
    ($($(#[$meta:meta])* $request:ident: $side:ty, $kind:expr, $guard:ident = $make:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $request<L>(pub(crate) L);

        impl<L: RawHandle> Release for $request<L> {
            #[inline(always)]
            fn release(&self, call_site: CallSite) {
                <$side as Side>::release(self.0.raw(), call_site);
            }
        }

        impl<L: RwLockHandle> RequestImpl for $request<L> {
            type Guard = L::$guard;
            type Platform = L::Platform;
            const KIND: LockKind = $kind;

            keeps_nothing!();

            type Lock<'a>
                = OnSide<'a, <L::Platform as Platform>::Raw, $side>
            where
                L: 'a;

            #[inline(always)]
            fn lock(&self) -> Self::Lock<'_> {
                OnSide::to(self.0.raw())
            }

            #[inline(always)]
            unsafe fn into_guard(self, call_site: CallSite) -> L::$guard {
                // SAFETY: the caller owns it and has no other guard.
                L::$make(unsafe { Held::new(self, call_site) })
            }
        }

        impl<R: RawLock> Ends for OnSide<'_, R, $side> {}
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
/// It owns the upgradable share that it was made from, until it owns the lock.
#[derive(Debug)]
pub struct Upgrading<L>(pub(super) L);

impl<L: RwLockHandle> RequestImpl for Upgrading<L> {
    type Guard = L::WriteGuard;
    type Platform = L::Platform;
    const KIND: LockKind = LockKind::Upgrade;
    type Kept = L::UpgradableGuard;
    type Failed<E> = UpgradeError<L::UpgradableGuard, E>;

    type Lock<'a>
        = OnSide<'a, <L::Platform as Platform>::Raw, UpgradeSide>
    where
        L: 'a;

    #[inline(always)]
    fn lock(&self) -> Self::Lock<'_> {
        OnSide::to(self.0.raw())
    }

    #[inline(always)]
    fn cancel(&self, waiter: OwnWaiter<'_>) {
        self.give_unused_share_back(waiter);
        wait::cancel(self.lock(), waiter);
    }

    /// A grant becomes the share again, which is held before anyone is woken: a waker may panic.
    fn give_up(&self, waiter: OwnWaiter<'_>) {
        let Some(queued) = waiter.queued() else { return };
        if self.lock().claim_or_cancel(queued) {
            // SAFETY: rule M7: just claimed, and no guard has been made.
            let owned = unsafe { Held::new(Writing(self.0.raw()), waiter.call_site()) };
            // The share is the operation's.
            mem::forget(downgrade_to_upgradable(owned));
        }
    }

    #[inline(always)]
    unsafe fn keep(self, call_site: CallSite) -> L::UpgradableGuard {
        // SAFETY: an upgrade that ends without the lock has its share.
        L::upgradable_guard(unsafe { Held::new(ReadingUpgradable(self.0), call_site) })
    }

    #[inline(always)]
    fn failed<E>(guard: L::UpgradableGuard, error: E) -> Self::Failed<E> {
        UpgradeError { guard, error }
    }

    #[inline(always)]
    unsafe fn into_guard(self, call_site: CallSite) -> L::WriteGuard {
        // SAFETY: the caller owns it and has no other guard.
        L::write_guard(unsafe { Held::new(Writing(self.0), call_site) })
    }
}

impl<L: RwLockHandle> Upgrading<L> {
    /// One that was never polled has its share still; later, leaving the queue gives it back.
    #[inline(always)]
    fn give_unused_share_back(&self, waiter: OwnWaiter<'_>) {
        if waiter.is_idle() {
            waiter.set_done();
            UpgradableSide::release(self.0.raw(), waiter.call_site());
        }
    }
}

impl<R: RawLock> Ends for OnSide<'_, R, UpgradeSide> {
    fn claim_or_cancel(self, waiter: Queued<'_>) -> bool {
        self.claim_or_stay_reader(waiter)
    }
}

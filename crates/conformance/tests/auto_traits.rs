//! H13, and so K6: which types are Send and Sync, for every kind of data and of raw lock. The compiler proves both
//! answers: a wrong row doesn't build.
//!
//! The cases of `compile_fail` show that guards which give `&mut` are invariant.

use core::cell::Cell;
use core::error::Error;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use fifolock::embassy::Embassy;
use fifolock_core::error::{Limit, LockKind};
use fifolock_core::mutex::{
    Lock, LockDeadline, LockOwned, LockOwnedDeadline, LockOwnedTimeout, LockOwnedUntil, LockTimeout, LockUntil,
    MappedMutexGuard, MutexGuard, MutexState, OwnedMappedMutexGuard, OwnedMutexGuard,
};
use fifolock_core::platform::{CriticalSection, Local, Platform, Spin, Std, Timer};
use fifolock_core::raw::{CriticalSectionLock, LocalLock, RawLock, Refusal, SpinLock, StdLock, Word};
use fifolock_core::rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, Read,
    ReadDeadline, ReadOwned, ReadOwnedDeadline, ReadOwnedTimeout, ReadOwnedUntil, ReadTimeout, ReadUntil,
    RwLockMappedWriteGuard, RwLockPolicy, RwLockReadGuard, RwLockState, RwLockUpgradableReadGuard, RwLockWriteGuard,
    UpgradableRead, UpgradableReadDeadline, UpgradableReadOwned, UpgradableReadOwnedDeadline,
    UpgradableReadOwnedTimeout, UpgradableReadOwnedUntil, UpgradableReadTimeout, UpgradableReadUntil, Upgrade,
    UpgradeDeadline, UpgradeOwned, UpgradeOwnedDeadline, UpgradeOwnedTimeout, UpgradeOwnedUntil, UpgradeTimeout,
    UpgradeUntil, Write, WriteDeadline, WriteOwned, WriteOwnedDeadline, WriteOwnedTimeout, WriteOwnedUntil,
    WriteTimeout, WriteUntil,
};
use fifolock_core::{Mutex, RwLock, TimeoutError, TryLockError, UpgradeError};
use std::rc::Rc;

/// Data that is Send and Sync, only Send, only Sync, and neither.
type YY = u8;
type YN = Cell<u8>;
type NY = std::sync::MutexGuard<'static, u8>;
type NN = Rc<u8>;

/// A constant that tells whether a type has a trait. If the bound holds, the inherent constant hides that of the trait.
macro_rules! has {
    ($type:ty: $trait:path) => {{
        #[allow(dead_code, reason = "hidden, or not there")]
        trait No {
            const HAS: bool = false;
        }
        impl<X: ?Sized> No for X {}
        struct Asked<X: ?Sized>(PhantomData<X>);
        #[allow(dead_code, reason = "not used where the answer is no")]
        impl<X: ?Sized + $trait> Asked<X> {
            const HAS: bool = true;
        }
        <Asked<$type>>::HAS
    }};
}

// Each kind of data has the auto traits of its name, so the question has both answers.
const _: () = assert!(has!(YY: Send) && has!(YY: Sync));
const _: () = assert!(has!(YN: Send) && !has!(YN: Sync));
const _: () = assert!(!has!(NY: Send) && has!(NY: Sync));
const _: () = assert!(!has!(NN: Send) && !has!(NN: Sync));

/// Whether a kind of data is Send, and whether it is Sync.
#[derive(Clone, Copy)]
struct Has {
    send: bool,
    sync: bool,
}

impl Has {
    const fn both(self) -> bool {
        self.send && self.sync
    }
}

macro_rules! rows {
    ($($type:ty: Send if $send:expr, Sync if $sync:expr;)+) => {
        $(
            const {
                assert!(has!($type: Send) == $send, concat!(stringify!($type), ": Send"));
                assert!(has!($type: Sync) == $sync, concat!(stringify!($type), ": Sync"));
            }
        )+
    };
}

/// The table for data `T`, whose traits are in `t`, and platform `P`. `raw` tells whether the raw lock of `P` is Sync.
macro_rules! rows_of_one {
    () => {
        rows! {
            Mutex<T, P>:                            Send if t.send,                 Sync if t.send && raw;
            MutexGuard<'static, T, P>:              Send if t.send && raw,          Sync if t.both() && raw;
            MappedMutexGuard<'static, T, P>:        Send if t.send && raw,          Sync if t.both() && raw;
            OwnedMutexGuard<T, P>:                  Send if t.send && raw,          Sync if t.both() && raw;

            RwLock<T, P>:                           Send if t.send,                 Sync if t.both() && raw;
            // The guard is like `&T`. It can't become a write guard.
            RwLockReadGuard<'static, T, P>:         Send if t.sync && raw,          Sync if t.sync && raw;
            RwLockWriteGuard<'static, T, P>:        Send if t.both() && raw,        Sync if t.both() && raw;
            RwLockMappedWriteGuard<'static, T, P>:  Send if t.both() && raw,        Sync if t.both() && raw;
            OwnedRwLockWriteGuard<T, P>:            Send if t.both() && raw,        Sync if t.both() && raw;
            // These can become a write guard.
            RwLockUpgradableReadGuard<'static, T, P>: Send if t.both() && raw,      Sync if t.both() && raw;
            OwnedRwLockUpgradableReadGuard<T, P>:   Send if t.both() && raw,        Sync if t.both() && raw;

            Lock<'static, T, P>:                    Send if t.send && raw,          Sync if t.send && raw;
            LockOwned<T, P>:                        Send if t.send && raw,          Sync if t.send && raw;
            Read<'static, T, P>:                    Send if t.both() && raw,        Sync if t.both() && raw;
            ReadOwned<T, P>:                        Send if t.both() && raw,        Sync if t.both() && raw;
            Write<'static, T, P>:                   Send if t.both() && raw,        Sync if t.both() && raw;
            WriteOwned<T, P>:                       Send if t.both() && raw,        Sync if t.both() && raw;
            UpgradableRead<'static, T, P>:          Send if t.both() && raw,        Sync if t.both() && raw;
            UpgradableReadOwned<T, P>:              Send if t.both() && raw,        Sync if t.both() && raw;
            Upgrade<'static, T, P>:                 Send if t.both() && raw,        Sync if t.both() && raw;
            UpgradeOwned<T, P>:                     Send if t.both() && raw,        Sync if t.both() && raw;
        }
    };
}

/// The table for data `T` and a part `U` of the data. In rows where `U` is no part, it is the other future or the
/// sleep.
macro_rules! rows_of_two {
    () => {
        rows! {
            OwnedMappedMutexGuard<T, U, P>:         Send if t.send && u.send && raw,    Sync if t.send && u.both() && raw;
            // The guard may drop the lock, and so `T`.
            OwnedRwLockReadGuard<T, U, P>:          Send if t.both() && u.sync && raw,  Sync if t.both() && u.sync && raw;
            OwnedRwLockMappedWriteGuard<T, U, P>:   Send if t.both() && u.both() && raw, Sync if t.both() && u.both() && raw;

            LockUntil<'static, T, P, Sleep<U>>:     Send if t.send && u.send && raw,    Sync if t.send && u.sync && raw;
            ReadUntil<'static, T, P, Sleep<U>>:     Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            WriteUntil<'static, T, P, Sleep<U>>:    Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;

            LockTimeout<'static, T, Q>:             Send if t.send && u.send && raw,    Sync if t.send && u.sync && raw;
            LockDeadline<'static, T, Q>:            Send if t.send && u.send && raw,    Sync if t.send && u.sync && raw;
            LockOwnedTimeout<T, Q>:                 Send if t.send && u.send && raw,    Sync if t.send && u.sync && raw;
            LockOwnedDeadline<T, Q>:                Send if t.send && u.send && raw,    Sync if t.send && u.sync && raw;
            ReadTimeout<'static, T, Q>:             Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            ReadDeadline<'static, T, Q>:            Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            ReadOwnedTimeout<T, Q>:                 Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            ReadOwnedDeadline<T, Q>:                Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            WriteTimeout<'static, T, Q>:            Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            WriteDeadline<'static, T, Q>:           Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            WriteOwnedTimeout<T, Q>:                Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            WriteOwnedDeadline<T, Q>:               Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;

            UpgradableReadUntil<'static, T, P, Sleep<U>>: Send if t.both() && u.send && raw, Sync if t.both() && u.sync && raw;
            UpgradableReadTimeout<'static, T, Q>:   Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            UpgradableReadDeadline<'static, T, Q>:  Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            UpgradableReadOwnedTimeout<T, Q>:       Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            UpgradableReadOwnedDeadline<T, Q>:      Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;

            LockOwnedUntil<T, P, Sleep<U>>:         Send if t.send && u.send && raw,    Sync if t.send && u.sync && raw;
            ReadOwnedUntil<T, P, Sleep<U>>:         Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            WriteOwnedUntil<T, P, Sleep<U>>:        Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            UpgradableReadOwnedUntil<T, P, Sleep<U>>: Send if t.both() && u.send && raw, Sync if t.both() && u.sync && raw;
            UpgradeUntil<'static, T, P, Sleep<U>>:  Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            UpgradeOwnedUntil<T, P, Sleep<U>>:      Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            UpgradeTimeout<'static, T, Q>:          Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            UpgradeDeadline<'static, T, Q>:         Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            UpgradeOwnedTimeout<T, Q>:              Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            UpgradeOwnedDeadline<T, Q>:             Send if t.both() && u.send && raw,  Sync if t.both() && u.sync && raw;
            UpgradeError<RwLockUpgradableReadGuard<'static, T, P>, U>: Send if t.both() && u.send && raw, Sync if t.both() && u.sync && raw;
        }
    };
}

/// The rows for every kind of data, and every pair of kinds, on one platform.
macro_rules! table {
    ($name:ident: $platform:ident, raw lock Sync: $raw:literal) => {
        #[test]
        #[allow(non_upper_case_globals, reason = "read like the variables of a table")]
        fn $name() {
            table!(@data $platform, $raw, [YY YN NY NN]);
        }
    };
    (@data $platform:ident, $raw:literal, [$($data:ident)+]) => {
        $({
            table!(@items $platform, $raw, $data);
            rows_of_one!();
            table!(@part $platform, $raw, $data, YY);
            table!(@part $platform, $raw, $data, YN);
            table!(@part $platform, $raw, $data, NY);
            table!(@part $platform, $raw, $data, NN);
        })+
    };
    (@items $platform:ident, $raw:literal, $data:ident) => {
        type P = $platform;
        type T = $data;
        const raw: bool = $raw;
        const t: Has = Has { send: has!($data: Send), sync: has!($data: Sync) };
    };
    (@part $platform:ident, $raw:literal, $data:ident, $part:ident) => {{
        table!(@items $platform, $raw, $data);
        type U = $part;
        type Q = Timed<<P as Platform>::Raw, U>;
        const u: Has = Has { send: has!($part: Send), sync: has!($part: Sync) };
        rows_of_two!();
    }};
}

table!(h13_std: Std, raw lock Sync: true);
table!(h13_critical_section: CriticalSection, raw lock Sync: true);
table!(h13_spin: Spin, raw lock Sync: true);
// A borrow or share of such a lock stays on its thread. The lock itself may move to another thread.
table!(h13_local: Local, raw lock Sync: false);

// The same tables over raw locks of embassy-sync.
type EmbassyMasking = Embassy<embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex>;
type EmbassyNoop = Embassy<embassy_sync::blocking_mutex::raw::NoopRawMutex>;
table!(h13_embassy: EmbassyMasking, raw lock Sync: true);
table!(h13_embassy_of_one_executor: EmbassyNoop, raw lock Sync: false);

#[test]
fn h13_raw_locks() {
    rows! {
        StdLock:                Send if true,   Sync if true;
        SpinLock:               Send if true,   Sync if true;
        CriticalSectionLock:    Send if true,   Sync if true;
        LocalLock:              Send if true,   Sync if false;
        Word:                   Send if true,   Sync if true;
        Refusal:                Send if true,   Sync if true;
        // These types are names only, without values.
        Std:                    Send if true,   Sync if true;
        Spin:                   Send if true,   Sync if true;
        CriticalSection:        Send if true,   Sync if true;
        Local:                  Send if true,   Sync if true;
    }
}

/// Every public type is in a table of this file.
#[test]
#[cfg_attr(miri, ignore = "reads the sources and runs no lock")]
fn h13_no_type_is_left_out() {
    // These are parts of futures that aliases name, or types that only the crate uses.
    const ELSEWHERE: &[&str] = &[
        "Acquire",
        "Deadline",
        "Timeout",
        "Until",
        "Within",
        "Outcome",
        "Locking",
        "Reading",
        "ReadingUpgradable",
        "Writing",
        "Upgrading",
        "CellLock",
        "InCriticalSection",
        "OneThread",
    ];
    // Types of the reports, which `diagnostics` tests.
    const REPORTS: &[&str] = &["Holder", "LockReport", "Waiting"];
    let api = include_str!("../../../docs/api/fifolock-core.txt");
    let here = include_str!("auto_traits.rs");
    let mut types = 0;
    for item in api.lines() {
        let item = item.rsplit_once("] pub ").map_or(item.trim_start_matches("pub "), |(_, item)| item);
        let Some((what, path)) = item.split_once(' ') else { continue };
        let name = path.split(['<', '(', ' ']).next().and_then(|path| path.rsplit("::").next()).expect("a name");
        // Only aliases of the crate count. In an associated type of a trait, a type stands before the last name.
        let is_alias = what == "type" && path.split_once(" = ").is_some_and(|(alias, _)| !alias.contains(">::"));
        if !(matches!(what, "struct" | "enum" | "union") || is_alias && !["Raw", "Sleep", "Target"].contains(&name)) {
            continue;
        }
        types += 1;
        let is_here = here.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == name);
        assert!(is_here || ELSEWHERE.contains(&name) || REPORTS.contains(&name), "{item} is in no table");
    }
    assert!(types > 60, "the test has read only {types} types in the page of the API");
}

/// A platform over the raw lock `R`, with a timer whose sleep has the traits of `S`. By `fn`, the platform itself has
/// all of them.
struct Timed<R, S>(PhantomData<fn() -> (R, S)>);

impl<R: RawLock + 'static, S: 'static> Platform for Timed<R, S> {
    type Raw = R;
}

impl<R: RawLock + 'static, S: 'static> Timer for Timed<R, S> {
    type Duration = Duration;
    type Instant = Duration;
    type Sleep = Sleep<S>;

    fn sleep(_: Duration) -> Option<Sleep<S>> {
        unreachable!("the test uses the type only")
    }

    fn sleep_until(_: Duration) -> Option<Sleep<S>> {
        unreachable!("the test uses the type only")
    }

    fn now() -> Duration {
        unreachable!("the test uses the type only")
    }

    fn to_core(duration: Duration) -> Duration {
        duration
    }
}

/// A future with the auto traits of `S`.
struct Sleep<S>(PhantomData<S>);

impl<S> Future for Sleep<S> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        unreachable!("the test uses the type only")
    }
}

/// A queued future must not move. So no future is Unpin, whatever its parts are.
#[test]
fn k5_no_lock_future_is_unpin() {
    type Q = Timed<<Std as Platform>::Raw, u8>;
    macro_rules! not_unpin {
        ($($type:ty),+ $(,)?) => {
            $(const { assert!(!has!($type: Unpin), concat!(stringify!($type), ": Unpin")) };)+
        };
    }
    const { assert!(has!(Sleep<u8>: Unpin) && has!(u8: Unpin)) };
    not_unpin! {
        Lock<'static, u8, Std>,
        LockOwned<u8, Std>,
        LockUntil<'static, u8, Std, Sleep<u8>>,
        LockTimeout<'static, u8, Q>,
        LockDeadline<'static, u8, Q>,
        LockOwnedTimeout<u8, Q>,
        LockOwnedDeadline<u8, Q>,
        Read<'static, u8, Std>,
        ReadOwned<u8, Std>,
        ReadUntil<'static, u8, Std, Sleep<u8>>,
        ReadTimeout<'static, u8, Q>,
        ReadDeadline<'static, u8, Q>,
        ReadOwnedTimeout<u8, Q>,
        ReadOwnedDeadline<u8, Q>,
        Write<'static, u8, Std>,
        WriteOwned<u8, Std>,
        WriteUntil<'static, u8, Std, Sleep<u8>>,
        WriteTimeout<'static, u8, Q>,
        WriteDeadline<'static, u8, Q>,
        WriteOwnedTimeout<u8, Q>,
        WriteOwnedDeadline<u8, Q>,
        UpgradableRead<'static, u8, Std>,
        UpgradableReadOwned<u8, Std>,
        UpgradableReadUntil<'static, u8, Std, Sleep<u8>>,
        UpgradableReadTimeout<'static, u8, Q>,
        UpgradableReadDeadline<'static, u8, Q>,
        UpgradableReadOwnedTimeout<u8, Q>,
        UpgradableReadOwnedDeadline<u8, Q>,
        Upgrade<'static, u8, Std>,
        UpgradeOwned<u8, Std>,
        LockOwnedUntil<u8, Std, Sleep<u8>>,
        ReadOwnedUntil<u8, Std, Sleep<u8>>,
        WriteOwnedUntil<u8, Std, Sleep<u8>>,
        UpgradableReadOwnedUntil<u8, Std, Sleep<u8>>,
        UpgradeUntil<'static, u8, Std, Sleep<u8>>,
        UpgradeOwnedUntil<u8, Std, Sleep<u8>>,
        UpgradeTimeout<'static, u8, Q>,
        UpgradeDeadline<'static, u8, Q>,
        UpgradeOwnedTimeout<u8, Q>,
        UpgradeOwnedDeadline<u8, Q>,
    }
}

#[test]
fn k6_errors_and_states_go_anywhere() {
    fn error<E: Error + Send + Sync + Unpin + 'static>() {}
    fn state<S: Copy + Eq + Send + Sync + Unpin + 'static>() {}
    error::<TimeoutError>();
    error::<TryLockError>();
    state::<TimeoutError>();
    state::<MutexState>();
    state::<RwLockState>();
    state::<RwLockPolicy>();
    state::<LockKind>();
    fn plain<S: Send + Sync + Unpin + 'static>() {}
    plain::<Limit>();
}

/// Unsized data: the traits that a trait object or a slice promises decide.
#[test]
fn h13_unsized_data() {
    rows! {
        Mutex<[u8], Std>:               Send if true,   Sync if true;
        Mutex<dyn Fn(), Std>:           Send if false,  Sync if false;
        Mutex<dyn Fn() + Send, Std>:    Send if true,   Sync if true;
        RwLock<dyn Fn() + Send, Std>:   Send if true,   Sync if false;
        RwLock<dyn Fn() + Send + Sync, Std>: Send if true, Sync if true;
        RwLockReadGuard<'static, dyn Fn() + Send, Std>: Send if false, Sync if false;
        RwLockReadGuard<'static, dyn Fn() + Sync, Std>: Send if true, Sync if true;
        OwnedRwLockReadGuard<u8, dyn Fn() + Send, Std>: Send if false, Sync if false;
        OwnedRwLockReadGuard<u8, dyn Fn() + Sync, Std>: Send if true, Sync if true;
        // The last owner drops the closure.
        OwnedRwLockReadGuard<dyn Fn() + Sync, u8, Std>: Send if false, Sync if false;
        // These give out the closure mutably, or can become a guard that does.
        RwLockWriteGuard<'static, dyn Fn() + Sync, Std>: Send if false, Sync if false;
        RwLockMappedWriteGuard<'static, dyn Fn() + Sync, Std>: Send if false, Sync if false;
        OwnedRwLockWriteGuard<dyn Fn() + Sync, Std>: Send if false, Sync if false;
        OwnedRwLockMappedWriteGuard<u8, dyn Fn() + Sync, Std>: Send if false, Sync if false;
        RwLockUpgradableReadGuard<'static, dyn Fn() + Sync, Std>: Send if false, Sync if false;
        RwLockUpgradableReadGuard<'static, dyn Fn() + Send, Std>: Send if false, Sync if false;
        RwLockUpgradableReadGuard<'static, dyn Fn() + Send + Sync, Std>: Send if true, Sync if true;
    }
}

/// The futures of `run_…` are Send if the data, the closure and its future are.
#[test]
fn h13_run_futures() {
    fn goes<F: Future<Output = u8> + Send>(_: F) {}

    async fn both<T: Sync + Send + From<u8> + Copy + Into<u8>>(mutex: &Mutex<T, Std>, lock: &RwLock<T, Std>) -> u8 {
        let captured = T::from(3);
        let value = mutex
            .run_exclusive(async move |data| {
                core::future::ready(()).await;
                *data = captured;
                lock.run_exclusive(async |data| core::mem::replace(data, captured)).await
            })
            .await;
        lock.run_shared(async move |data| (*data).into().max(value.into())).await
    }
    let (mutex, lock) = (Mutex::new(1_u8), RwLock::new(2));
    goes(both(&mutex, &lock));
    goes(mutex.on::<fifolock::tokio::Tokio>().run_exclusive(async |data| {
        core::future::ready(()).await;
        *data
    }));
}

/// Tokio's platform follows the table, with tokio's own sleep.
#[test]
fn h13_tokio() {
    use fifolock::tokio as locks;
    rows! {
        locks::Mutex<YN>:                   Send if true,   Sync if true;
        locks::LockTimeout<'static, YN>:    Send if true,   Sync if true;
        locks::LockOwnedDeadline<YN>:       Send if true,   Sync if true;
        locks::LockTimeout<'static, NY>:    Send if false,  Sync if false;
        locks::ReadTimeout<'static, YY>:    Send if true,   Sync if true;
        locks::ReadTimeout<'static, YN>:    Send if false,  Sync if false;
        locks::WriteOwnedTimeout<YY>:       Send if true,   Sync if true;
        locks::WriteOwnedTimeout<NY>:       Send if false,  Sync if false;
    }
}

/// The guard of a part that is Sync but not Send is kept over an await, in a task that may move to another thread.
#[test]
fn h13_a_task_that_reads_a_part_may_be_spawned() {
    use core::fmt::Display;
    use fifolock::tokio as locks;
    use std::sync::Arc;

    struct State {
        name: String,
    }

    type Part = dyn Display + Sync;
    const { assert!(has!(Part: Sync) && !has!(Part: Send)) };

    async fn read(lock: Arc<locks::RwLock<State>>) -> String {
        let plain = locks::RwLockReadGuard::map(lock.read().await, |state| &state.name as &Part);
        let owned =
            locks::OwnedRwLockReadGuard::map(Arc::clone(&lock).read_owned().await, |state| &state.name as &Part);
        let shared = &plain;
        tokio::task::yield_now().await;
        format!("{shared} {owned}")
    }

    async fn write(lock: Arc<locks::RwLock<State>>) -> String {
        let guard = lock.write().await;
        let part = locks::RwLockWriteGuard::downgrade_map(guard, |state| &state.name as &Part);
        tokio::task::yield_now().await;
        part.to_string()
    }

    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let lock = Arc::new(locks::RwLock::new(State { name: "a".into() }));
        assert_eq!(tokio::spawn(read(Arc::clone(&lock))).await.expect("no panic"), "a a");
        assert_eq!(tokio::spawn(write(Arc::clone(&lock))).await.expect("no panic"), "a");
        assert_eq!(Arc::strong_count(&lock), 1);
        assert!(lock.try_write().is_ok());
    });
}

/// The lifetime of a read guard may be shortened, as that of `&T`.
#[test]
fn k6_read_guards_are_covariant() {
    fn borrowed<'a, 'b: 'a>(guard: RwLockReadGuard<'b, &'b str, Std>) -> RwLockReadGuard<'a, &'a str, Std> {
        guard
    }
    fn owned<'a, T>(guard: OwnedRwLockReadGuard<T, &'static str, Std>) -> OwnedRwLockReadGuard<T, &'a str, Std> {
        guard
    }
    let lock = std::sync::Arc::new(RwLock::<_, Std>::new("x"));
    assert_eq!(*borrowed(lock.try_read().expect("free")), "x");
    assert_eq!(*owned(lock.try_read_owned().expect("free")), "x");
}

/// All guards may have a shorter lifetime than the borrow of their lock.
#[test]
fn k6_guards_are_covariant_in_the_locks_lifetime() {
    fn mutex<'a>(guard: MutexGuard<'static, u8, Std>) -> MutexGuard<'a, u8, Std> {
        guard
    }
    fn mapped<'a>(guard: MappedMutexGuard<'static, u8, Std>) -> MappedMutexGuard<'a, u8, Std> {
        guard
    }
    fn write<'a>(guard: RwLockWriteGuard<'static, u8, Std>) -> RwLockWriteGuard<'a, u8, Std> {
        guard
    }
    static MUTEX: Mutex<u8, Std> = Mutex::new(1);
    static LOCK: RwLock<u8, Std> = RwLock::new(2);
    let guard = mutex(MUTEX.try_lock().expect("free"));
    drop(guard);
    assert_eq!(*mapped(MutexGuard::map(MUTEX.try_lock().expect("free"), |data| data)), 1);
    assert_eq!(*write(LOCK.try_write().expect("free")), 2);
}

//! The contract of the fifolock crates as one test suite.
//!
//! A rule is a function, generic over the platform, named after the rule: `m3_…`, `w4_…`, `t2_…`, `k2_…`; the thirteen
//! scenarios that other locks fail are `h01_…` to `h13_…`. It is written once and run for every platform. Futures are
//! polled by hand, with wakers that count: no runtime, no real time, no threads, but where a rule is about those.

#[cfg(feature = "diagnostics")]
pub mod diagnostics;
#[cfg(feature = "diagnostics")]
pub mod diagnostics_time;
pub mod foreign;
pub mod mutex;
pub mod policies;
pub mod raw;
pub mod rescue;
pub mod rwlock;
pub mod stress;
pub mod time;
pub mod time_foreign;
pub mod tools;
pub mod until;
pub mod upgradable;

/// Makes the tests of a module available to any platform: `rules! { ($) mutex_rules in mutex: m1_…, m2_… }` defines the
/// macro `mutex_rules!(Platform)`, which expands to one `#[test]` for each rule.
///
/// The rules themselves stay private, so that the compiler warns of one that is not listed.
macro_rules! rules {
    (($dollar:tt) $name:ident in $($module:ident)::+ where $bound:path: $($rule:ident),+ $(,)?) => {
        /// The rules, for whoever instantiates them.
        pub mod run {
            use super::*;

            $(
                #[doc = concat!("The rule `", stringify!($rule), "`.")]
                pub fn $rule<P: $bound>() {
                    super::$rule::<P>();
                }
            )+

            /// All of them with their names, for a platform that needs a test program of its own.
            #[must_use]
            pub fn all<P: $bound>() -> Vec<(&'static str, fn())> {
                vec![$((stringify!($rule), $rule::<P>)),+]
            }
        }

        /// A test for each rule of the module, on the given platform.
        #[macro_export]
        macro_rules! $name {
            ($dollar platform:ty) => {
                use $crate::$($module)::+::run as $name;
                $(
                    #[test]
                    fn $rule() {
                        $name::$rule::<$dollar platform>();
                    }
                )+
            };
        }
    };
}
pub(crate) use rules;

/// Makes rules into tests of every platform: `on_every_platform!(rules, …)`. Those after a semicolon are about time, and run
/// on the manual clock over each raw lock: `on_every_platform!(rules; timed_rules)`.
///
/// The module of a platform has its name. Under Miri one raw lock with atomics and one that is a plain cell have to do: only
/// these two differ in how the queue is reached.
#[macro_export]
macro_rules! on_every_platform {
    ($($rules:ident),* $(; $($timed:ident),+)?) => {
        $crate::on_every_platform!(@ std_lock: StdLock, [$($rules),*] [$($($timed),+)?]);
        $crate::on_every_platform!(@ local: LocalLock, [$($rules),*] [$($($timed),+)?]);
        #[cfg(not(miri))]
        $crate::on_every_platform!(@ critical_section: CriticalSectionLock, [$($rules),*] [$($($timed),+)?]);
        #[cfg(not(miri))]
        $crate::on_every_platform!(@ spin: SpinLock, [$($rules),*] [$($($timed),+)?]);
        #[cfg(not(miri))]
        mod on_std {
            $($crate::$rules!(fifolock_core::platform::Std);)*
        }
        #[cfg(not(miri))]
        mod on_tokio {
            $($crate::$rules!(fifolock::tokio::Tokio);)*
        }
    };
    (@ $module:ident: $raw:ident, [$($rules:ident),*] [$($timed:ident),*]) => {
        mod $module {
            $($crate::$rules!($crate::tools::Watched<fifolock_core::raw::$raw>);)*
            $($crate::$timed!($crate::tools::clock::Manual<fifolock_core::raw::$raw>);)*
        }
    };
}

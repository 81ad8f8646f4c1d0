//! The contract of the fifolock crates as one test suite.
//!
//! A rule is a function, generic over the platform, with the name of the rule: `m3_…`, `w4_…`, `t2_…`, `k2_…`. The
//! thirteen scenarios that other locks fail are `h01_…` to `h13_…`. Each is written once and runs on every platform.
//! The rules poll futures by hand, with wakers that count. They use no runtime, no real time and no threads, unless the
//! rule is about those.

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
/// The rules stay private, so the compiler warns of a rule that is not listed.
macro_rules! rules {
    (($dollar:tt) $name:ident in $($module:ident)::+ where $bound:path: $($rule:ident),+ $(,)?) => {
        /// The rules, as public functions for the macro below.
        pub mod run {
            use super::*;

            $(
                #[doc = concat!("The rule `", stringify!($rule), "`.")]
                pub fn $rule<P: $bound>() {
                    super::$rule::<P>();
                }
            )+

            /// All rules with their names, for a platform that needs a test program of its own.
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

/// `rules!`, with rules of two kinds: those that run in both forms, with borrowed and with owned futures and guards, and
/// those that need no form.
macro_rules! rules_in_forms {
    (
        ($dollar:tt) $name:ident in $parent:ident
        both forms { $($form_module:ident: $($form_rule:ident),+;)+ }
        once { $($module:ident: $($rule:ident),+;)* }
    ) => {
        $($(
            fn $form_rule<P: Platform>() {
                println!("in the form {}", <$crate::tools::form::Borrowed as $crate::tools::form::Form>::NAME);
                $form_module::$form_rule::<P, $crate::tools::form::Borrowed>();
                println!("in the form {}", <$crate::tools::form::Owned as $crate::tools::form::Form>::NAME);
                $form_module::$form_rule::<P, $crate::tools::form::Owned>();
            }
        )+)+

        $($(
            fn $rule<P: Platform>() {
                $module::$rule::<P>();
            }
        )+)*

        $crate::rules! {
            ($dollar) $name in $parent where Platform:
            $($($form_rule,)+)+ $($($rule,)+)*
        }
    };
}
pub(crate) use rules_in_forms;

/// Makes rules into tests on every platform: `on_every_platform!(rules, …)`. The rules after a semicolon are about
/// time, and run on the manual clock over each raw lock: `on_every_platform!(rules; timed_rules)`.
///
/// The module of a platform has its name. Miri runs one raw lock with an atomic word and one with a plain cell: these
/// two differ in how the queue is reached, and the others don't.
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

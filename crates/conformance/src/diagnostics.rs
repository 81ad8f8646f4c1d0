//! What a lock reports about its holders and waiters, with the feature `diagnostics` (M9, F24, F25).

mod mutex;
mod rwlock;

use crate::tools::Platform;
use core::panic::Location;
use fifolock_core::diagnostics::LockReport;
use fifolock_core::error::LockKind;

/// Evaluates an expression; returns the value and the line of the expression.
macro_rules! marked {
    ($taken:expr) => {
        ($taken, line!())
    };
}
pub(crate) use marked;

/// Line, kind, whether the holder is unclaimed, count.
pub(crate) type Held = (u32, LockKind, bool, usize);

/// The line of a call site, which must be in `file`.
#[track_caller]
fn line_in(file: &str, place: &Location<'_>) -> u32 {
    assert_eq!(place.file(), file, "line {}", place.line());
    assert!(place.column() > 1);
    place.line()
}

#[track_caller]
pub(crate) fn holders(file: &str, report: &LockReport) -> Vec<Held> {
    let held = report.holders().iter();
    held.map(|it| (line_in(file, it.location), it.kind, it.unclaimed, it.count)).collect()
}

#[track_caller]
pub(crate) fn waiters(file: &str, report: &LockReport) -> Vec<(u32, LockKind)> {
    report.waiters().iter().map(|it| (line_in(file, it.location), it.kind)).collect()
}

/// Asserts that the report lists no holder and leaves none out.
#[track_caller]
pub(crate) fn assert_empty(report: &LockReport) {
    assert!(report.holders().is_empty() && report.waiters().is_empty(), "{report}");
    assert_eq!((report.holders_not_listed(), report.waiters_not_listed()), (0, 0), "{report}");
}

macro_rules! diagnostics_rules_of {
    (($dollar:tt) $($module:ident: $($rule:ident),+;)+) => {
        $($(
            fn $rule<P: Platform>() {
                $module::$rule::<P>();
            }
        )+)+

        crate::rules! { ($dollar) diagnostics_rules in diagnostics where Platform: $($($rule),+),+ }
    };
}

diagnostics_rules_of! {
    ($)
    mutex:
        m9_a_mutex_names_its_holder,
        m9_run_exclusive_is_named_by_its_caller,
        m9_waiters_are_named_in_order,
        m9_a_long_queue_is_listed_in_part,
        m9_a_view_of_the_same_mutex_says_the_same,
        m9_a_forgotten_guard_is_named,
        m9_a_report_prints_as_text,
        m10_a_report_changes_nothing,
        m10_debug_leaves_no_holder_behind,
        f24_a_granted_waiter_is_named_as_unclaimed,
        f24_a_dropped_grant_is_that_of_the_next,
        f24_chosen_but_never_polled;
    rwlock:
        m9_a_writer_is_named,
        m9_readers_are_counted_by_call_site,
        m9_one_call_is_one_site_whatever_its_types,
        m9_readers_of_many_sites_are_counted_elsewhere,
        m9_writers_are_listed_before_readers,
        m9_a_downgraded_guard_is_named_as_a_reader,
        m9_a_mapped_guard_keeps_its_place,
        m9_run_is_named_by_its_caller,
        f24_an_unclaimed_writer_is_named,
        f24_unclaimed_readers_are_named,
        f24_a_batch_is_accounted_for_while_it_is_marked,
        f24_members_before_their_mark_are_unclaimed_holders,
        f25_reading_twice_around_a_writer,
        m9_a_robbed_read_is_printed,
        m9_upgradable_readers_and_upgrades_are_named;
}

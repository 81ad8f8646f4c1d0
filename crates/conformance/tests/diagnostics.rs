//! The rules of the reports, on every platform: `cargo test -p fifolock-conformance --features diagnostics`.
#![cfg(feature = "diagnostics")]

fifolock_conformance::on_every_platform!(diagnostics_rules);

mod time_on_tokio {
    fifolock_conformance::diagnostics_time_rules!(fifolock::tokio::Tokio);
}

mod time_on_smol {
    fifolock_conformance::diagnostics_time_rules!(fifolock::smol::Smol);
}

mod time_on_a_manual_clock {
    fifolock_conformance::diagnostics_time_rules!(
        fifolock_conformance::tools::clock::Manual<fifolock_core::raw::StdLock>
    );
}

/// A report can leave the thread that made it, and the adapters name its type.
#[test]
fn k6_reports_are_plain_data() {
    use core::panic::{RefUnwindSafe, UnwindSafe};
    fn plain<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + 'static>() {}
    plain::<fifolock::tokio::LockReport>();
    plain::<fifolock::diagnostics::Holder>();
    plain::<fifolock::diagnostics::Waiting>();
}

/// The record of call sites changes no auto trait of a lock.
#[test]
fn k6_locks_with_reports_are_as_without() {
    use core::panic::UnwindSafe;
    fn send_sync<T: Send + Sync + UnwindSafe>() {}
    send_sync::<fifolock::Mutex<u8>>();
    send_sync::<fifolock::RwLock<u8>>();
}

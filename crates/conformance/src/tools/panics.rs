//! Expected panics.

use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

/// Runs `f`, which must panic; returns the message.
///
/// # Panics
///
/// If `f` does not panic, or panics without a message.
#[track_caller]
pub fn panics<T>(f: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("expected a panic"),
        Err(payload) => match payload.downcast::<String>() {
            Ok(message) => *message,
            Err(payload) => (*payload.downcast_ref::<&str>().expect("a panic with a message")).to_owned(),
        },
    }
}

//! A mutex and its reference.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fifolock_model::program::mutex(data));

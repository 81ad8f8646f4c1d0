//! Tasks with several futures each, so that the rescue acts.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fifolock_model::program::shared(data));

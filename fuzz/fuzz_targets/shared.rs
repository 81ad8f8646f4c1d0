//! Tasks with several futures each: the rescue.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fifolock_model::program::shared(data));

//! Naive locks, written after the rules, and the tests that compare them with the real locks.
//!
//! - [`alphabet`]: the steps. Fuzzers, random sequences and exhaustive ones use the same letters.
//! - [`mod@reference`]: the locks as the rules describe them, their futures and guards, and a clock.
//! - [`driver`]: makes the same steps on both and compares all visible state after each step.
//! - [`explore`]: all sequences up to a length, and every letter in every state.
//! - [`shared`]: the same letters, by tasks that have several futures each, so that the rescue acts.
//! - [`program`]: sequences from bytes, for the fuzzers.
//! - [`programs`]: programs of tasks, whose runs with the rescue and without it are compared.
//!
//! Raw locks are watched: foreign code that runs inside a section fails the test.

pub mod alphabet;
pub mod driver;
pub mod explore;
mod leaked;
pub mod program;
pub mod programs;
pub mod real;
pub mod reference;
pub mod shared;

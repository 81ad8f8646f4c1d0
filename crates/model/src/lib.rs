//! The locks written naively, from their rules, and what compares them with the real ones.
//!
//! - [`alphabet`]: what can be done to a lock. Fuzzers, random sequences and exhaustive ones use the same letters.
//! - [`mod@reference`]: the locks as the rules describe them, who uses them, and a clock.
//! - [`driver`]: does the same to both and compares everything that can be seen, after each step.
//! - [`explore`]: all sequences up to a length, and every letter in every state.
//! - [`shared`]: the same letters by tasks that have several futures each, where the rescue has its part.
//! - [`program`]: a sequence out of bytes, for the fuzzers.
//! - [`programs`]: whole programs of tasks, with the rescue and without it, compared.
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

//! What is measured with a clock, beside what the locks take of memory.
//!
//! | program | measures |
//! |---|---|
//! | `clock` | nanoseconds per operation, in rounds in which every lock has its turn |
//! | `fairness` | who gets the lock how often, and how long they wait |
//! | `memory` | sizes, and what a waiter allocates |
//!
//! Each takes the file to write, and `--quick` for short rounds; `clock` also `--only TEXT`, for the rows that have it in their
//! runtime and name.

use std::env;
use std::path::PathBuf;

pub mod locks;
pub mod round;
pub mod runtime;
pub mod tasks;
pub mod thread;

/// What a program was told.
#[derive(Debug)]
pub struct Args {
    /// Where to write.
    pub file: PathBuf,
    /// Short rounds: to see that it runs.
    pub is_quick: bool,
    /// Which rows; all, if it isn't told.
    pub only: Option<String>,
}

impl Args {
    /// Reads the program's arguments.
    ///
    /// # Panics
    ///
    /// If there is no file, or an argument that it doesn't know.
    pub fn read() -> Self {
        let mut args = env::args().skip(1);
        let file = args.next().expect("it is told where to write").into();
        let mut read = Self { file, is_quick: false, only: None };
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--quick" => read.is_quick = true,
                "--only" => read.only = Some(args.next().expect("it is told which rows")),
                _ => panic!("it can't read `{arg}`"),
            }
        }
        read
    }
}

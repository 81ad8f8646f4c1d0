//! The measurements with a clock, and of memory.
//!
//! | program | measures |
//! |---|---|
//! | `clock` | nanoseconds per operation, in rounds in which every lock has its turn |
//! | `fairness` | how often each task gets the lock, and how long the tasks wait |
//! | `memory` | sizes, and the allocations of a waiter |
//!
//! Each program takes the name of the file to write, and `--quick` for short rounds. `clock` also takes `--only TEXT`,
//! which chooses the rows whose runtime and name contain the text.

use std::env;
use std::path::PathBuf;

pub mod locks;
pub mod round;
pub mod runtime;
pub mod tasks;
pub mod thread;

/// The arguments of a program.
#[derive(Debug)]
pub struct Args {
    /// The file to write.
    pub file: PathBuf,
    /// Whether the rounds are short, only to see that the program runs.
    pub is_quick: bool,
    /// The text that chooses rows; all rows if `None`.
    pub only: Option<String>,
}

impl Args {
    /// Reads the program's arguments.
    ///
    /// # Panics
    ///
    /// If no file is named, or if the program doesn't know an argument.
    pub fn read() -> Self {
        let mut args = env::args().skip(1);
        let file = args.next().expect("name the file to write").into();
        let mut read = Self { file, is_quick: false, only: None };
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--quick" => read.is_quick = true,
                "--only" => read.only = Some(args.next().expect("name the rows after `--only`")),
                _ => panic!("the argument `{arg}` is unknown"),
            }
        }
        read
    }
}

//! The command line.

use core::time::Duration;
use std::path::PathBuf;
use std::thread;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, value_parser};
use indexd::{Config, ConfigError};

const MAX_THREADS: u16 = 512;

/// Indexes the text files of a directory with many tasks at once, and prints what it measured about its
/// locks
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Directory to index; symbolic links in it are not followed
    #[arg(default_value = ".")]
    directory: PathBuf,

    /// File to write, a line for each indexed file [default: a new one in the temporary folder]
    ///
    /// The line's fields are separated by tabs: path, bytes, words, different words. In the path, control
    /// characters and backslashes are escaped. A file that exists is overwritten.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,

    /// Tasks that index files
    #[arg(long, value_name = "N", default_value_t = Config::new("").tasks)]
    tasks: usize,

    /// Threads that run the tasks [default: one per processor]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=i64::from(MAX_THREADS)))]
    threads: Option<u16>,

    /// Tasks that query the index while it is being built
    #[arg(long, value_name = "N", default_value_t = Config::new("").queries)]
    queries: usize,

    /// How long a query waits for the index, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 100)]
    query_timeout_ms: u64,

    /// How many of the most frequent words to print
    #[arg(long, value_name = "N", default_value_t = Config::new("").top)]
    top: usize,
}

/// What to do, and the number of threads to do it with. Ends the process if the flags can't be understood;
/// whether their values make sense is the library's to say.
pub(crate) fn parse() -> (Config, usize) {
    let arguments = Arguments::parse();
    let mut config = Config::new(arguments.directory);
    config.output = arguments.output;
    config.tasks = arguments.tasks;
    config.queries = arguments.queries;
    config.query_timeout = Duration::from_millis(arguments.query_timeout_ms);
    config.top = arguments.top;
    let threads = arguments.threads.map_or_else(processors, usize::from);
    (config, threads)
}

/// Ends the process as for any other wrong flag.
pub(crate) fn refuse(error: ConfigError) -> ! {
    Arguments::command().error(ErrorKind::ValueValidation, error).exit()
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(usize::from(MAX_THREADS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn without_flags_the_defaults_are_those_of_the_library() {
        let arguments = Arguments::parse_from(["indexd"]);
        let config = Config::new(".");
        assert_eq!(arguments.directory, config.directory);
        assert_eq!(Duration::from_millis(arguments.query_timeout_ms), config.query_timeout);
    }
}

//! The program: flags in, a progress bar meanwhile, a report out.

mod program {
    pub(crate) mod bar;
    pub(crate) mod cli;
}

use std::io::{self, Write};
use std::process::ExitCode;

use indexd::{Error, Indexer, Report};
use program::{bar, cli};

fn main() -> ExitCode {
    let (config, threads) = cli::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_time().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return fail(format_args!("can't start {threads} threads: {error}")),
    };
    match Indexer::open(config) {
        // The bar begins when nothing can go wrong any more that would be printed across it.
        Ok(mut indexer) => finish(&runtime.block_on(indexer.run(bar::progress()))),
        Err(Error::Config(error)) => cli::refuse(error),
        Err(error) => fail(format_args!("{error}")),
    }
}

fn finish(report: &Report) -> ExitCode {
    match write!(io::stdout().lock(), "{report}") {
        // Whoever reads the report may have seen enough of it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => return fail(format_args!("can't print the report: {error}")),
        Ok(()) => {}
    }
    match report.verdict() {
        Ok(()) => ExitCode::SUCCESS,
        Err(incomplete) => fail(format_args!("{incomplete}")),
    }
}

fn fail(message: core::fmt::Arguments<'_>) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::FAILURE
}

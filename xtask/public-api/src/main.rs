//! Prints the public API that a rustdoc JSON file describes, one item a line.

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(file) = env::args_os().nth(1) else {
        eprintln!("name a file that `rustdoc --output-format json` wrote");
        return ExitCode::FAILURE;
    };
    // The test `auto_traits` covers auto traits. New compilers add some, so they are left out here.
    let api = public_api::Builder::from_rustdoc_json(file).omit_blanket_impls(true).omit_auto_trait_impls(true).build();
    match api {
        Ok(api) => {
            api.items().for_each(|item| println!("{item}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

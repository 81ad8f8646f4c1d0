//! Code that must not compile: the cases in `compile_fail`, each with the compiler's errors.
//!
//! The `.stderr` files have the words of the compiler [`COMPILER`]. Another compiler must reject the same cases with
//! the same error codes. To record them anew, run `TRYBUILD=overwrite cargo test -p fifolock-conformance --test
//! compile_fail` and read the differences.
#![cfg(not(miri))]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const COMPILER: &str = "rustc 1.95.";
/// Names the folder of the cases, for the process that runs them with a compiler of other words.
const CASES: &str = "FIFOLOCK_COMPILE_FAIL_CASES";

#[test]
fn k6_m7_what_must_not_compile() {
    if let Some(cases) = env::var_os(CASES) {
        run(Path::new(&cases));
    } else if version().starts_with(COMPILER) || env::var_os("TRYBUILD").is_some() {
        run(Path::new("tests/compile_fail"));
    } else {
        refuses_with_the_same_codes();
    }
}

fn run(cases: &Path) {
    trybuild::TestCases::new().compile_fail(cases.join("*.rs"));
}

fn version() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("a compiler");
    String::from_utf8(output.stdout).expect("text")
}

/// Makes trybuild record this compiler's errors beside copies of the cases, and compares the error codes.
fn refuses_with_the_same_codes() {
    let originals = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    let copies = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_fail");
    drop(fs::remove_dir_all(&copies));
    fs::create_dir_all(&copies).expect("a folder for the copies");
    let files = |extension: &'static str| {
        let files = fs::read_dir(&originals).expect("the cases").map(|entry| entry.expect("a file").path());
        files.filter(move |path| path.extension().is_some_and(|it| it == extension))
    };
    let copy_of = |path: &PathBuf| copies.join(path.file_name().expect("a file"));
    for case in files("rs") {
        fs::copy(&case, copy_of(&case)).expect("a copy");
    }
    let mut again = Command::new(env::current_exe().expect("this test"));
    let status = again.env(CASES, &copies).env("TRYBUILD", "overwrite").status().expect("it runs");
    assert!(status.success(), "a case compiles; the output above names it");

    let code = |path: &Path| {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        text.split(':').next().expect("the first line").to_owned()
    };
    for expected in files("stderr") {
        assert_eq!(code(&copy_of(&expected)), code(&expected), "{}", expected.display());
    }
}

//! The program as its users run it.

mod common;

use std::fs;
use std::process::{Command, Output, Stdio};

use common::{Tree, count_plainly};

fn indexd() -> Command {
    Command::new(env!("CARGO_BIN_EXE_indexd"))
}

/// Runs the program on a tree.
fn run(tree: &Tree, arguments: &[&str]) -> Output {
    let mut command = indexd();
    command.arg(tree.directory()).arg("--output").arg(tree.output()).args(arguments);
    command.output().expect("the program starts")
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).expect("the report is a text")
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).expect("errors are text")
}

/// The fields after `name` in the report's line that begins with it.
fn line<'a>(output: &'a Output, name: &str) -> Vec<&'a str> {
    let line = stdout(output).lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_else(|| panic!("no line {name}: {}", stdout(output))).split_whitespace().collect()
}

#[test]
fn a_directory_is_indexed_and_reported() {
    let tree = Tree::with_files(50);
    tree.file("binary", [0]);
    let output = run(&tree, &["--tasks", "8", "--threads", "3", "--queries", "2", "--top", "1"]);
    assert!(output.status.success(), "{}", stderr(&output));
    // No terminal, no bar.
    assert_eq!(stderr(&output), "");

    let (plain, files) = count_plainly(&tree.directory());
    assert_eq!(tree.written(), files);
    assert_eq!(line(&output, "indexed")[..3], ["50", "of", "51"]);
    assert_eq!(line(&output, "skipped"), ["binary:", "1"]);
    assert_eq!(line(&output, "backend")[..2], ["51", "1"]);
    assert_eq!(line(&output, "output  "), [tree.output().to_str().expect("a plain path")]);
    let (word, (times, in_files)) =
        plain.iter().max_by_key(|(_, (occurrences, _))| occurrences).expect("there are words");
    assert_eq!(line(&output, "   1"), [&times.to_string(), &in_files.to_string(), word]);
}

#[test]
fn without_arguments_the_current_directory_is_indexed() {
    let tree = Tree::with_files(2);
    let temporary = Tree::new();
    let output = indexd()
        .current_dir(tree.directory())
        .env("TMPDIR", temporary.directory())
        .env("TMP", temporary.directory())
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(line(&output, "indexed")[..3], ["2", "of", "2"]);
    // Nothing is written where it was not asked to.
    assert_eq!(count_plainly(&tree.directory()).1.len(), 2);
    assert_eq!(count_plainly(&temporary.directory()).1.len(), 1);
}

#[test]
fn an_empty_directory_is_no_error() {
    let output = run(&Tree::new(), &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(line(&output, "indexed")[..3], ["0", "of", "0"]);
}

#[track_caller]
fn assert_fails(output: &Output, code: i32, message: &str) {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
    assert!(stderr(output).starts_with("error: "), "{}", stderr(output));
    assert!(stderr(output).contains(message), "{}", stderr(output));
}

#[test]
fn wrong_flags_are_refused() {
    let tree = Tree::new();
    for (arguments, message) in [
        (&["--tasks", "0"][..], "the number of tasks must be 1 to 65536, not 0"),
        (&["--tasks", "70000"], "the number of tasks must be 1 to 65536, not 70000"),
        (&["--tasks", "many"], "invalid value 'many' for '--tasks <N>'"),
        (&["--tasks=-1"], "invalid value '-1' for '--tasks <N>'"),
        (&["--queries", "70000"], "querying tasks must be 0 to 65536, not 70000"),
        (&["--query-timeout-ms", "0"], "the query timeout must be longer than zero"),
        (&["--threads", "0"], "0 is not in 1..=512"),
        (&["--threads"], "a value is required for '--threads <N>'"),
        (&["--top", "ten"], "invalid value 'ten' for '--top <N>'"),
        (&["--fast"], "unexpected argument '--fast'"),
        (&["another-directory"], "unexpected argument 'another-directory'"),
    ] {
        let output = run(&tree, arguments);
        assert_fails(&output, 2, message);
        assert_eq!(stdout(&output), "");
    }
    assert!(!tree.output().exists(), "refused before anything is written");
}

#[test]
fn a_directory_that_cannot_be_listed_is_an_error() {
    let tree = Tree::new();
    tree.file("file", "text");
    for name in ["none", "file", "file/in-a-file"] {
        let directory = tree.directory().join(name);
        let output = indexd().arg(&directory).arg("--output").arg(tree.output()).output().expect("the program starts");
        let message = format!("can't list the directory '{}': ", directory.display());
        assert_fails(&output, 1, &message);
    }
    assert!(!tree.output().exists(), "refused before anything is written");
}

#[test]
fn an_output_that_cannot_be_created_is_an_error_before_the_run() {
    let tree = Tree::with_files(1);
    for path in [tree.directory(), tree.directory().join("none/out.tsv")] {
        let output = indexd().arg(tree.directory()).arg("--output").arg(&path).output().expect("the program starts");
        assert_fails(&output, 1, &format!("can't write the output file '{}': ", path.display()));
        assert_eq!(stdout(&output), "");
    }
}

/// The device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn an_output_that_fills_up_is_reported_at_the_end() {
    let tree = Tree::with_files(5);
    let output = indexd().arg(tree.directory()).args(["--output", "/dev/full"]).output().expect("the program starts");
    assert_fails(&output, 1, "'/dev/full' is incomplete: lines that could not be written: 5");
    assert_eq!(line(&output, "indexed")[..3], ["5", "of", "5"]);
    assert_eq!(line(&output, "unwritten"), ["lines", "of", "the", "output:", "5"]);
    assert!(stdout(&output).contains("No space left on device"), "{}", stdout(&output));
    assert!(stdout(&output).contains("and 2 more"), "{}", stdout(&output));
}

#[test]
fn a_reader_of_the_report_may_leave_early() {
    let tree = Tree::with_files(2);
    let mut command = indexd();
    command.arg(tree.directory()).arg("--output").arg(tree.output());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
}

#[test]
fn help_and_version_are_there() {
    let output = indexd().arg("--help").output().expect("the program starts");
    assert!(output.status.success());
    for flag in ["--output", "--tasks", "--threads", "--queries", "--query-timeout-ms", "--top"] {
        assert!(stdout(&output).contains(flag), "{flag}");
    }
    let output = indexd().arg("--version").output().expect("the program starts");
    assert_eq!(stdout(&output), concat!("indexd ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn ten_thousand_files_are_indexed_with_one_holder_at_most() {
    let tree = Tree::with_files(10_000);
    let output = run(&tree, &["--tasks", "100"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(line(&output, "indexed")[..3], ["10000", "of", "10000"]);
    for (name, entries) in [("backend", "10000"), ("output  ", "10000"), ("index, writers", "10001")] {
        // In the output's case the second line of this name.
        let fields = stdout(&output)
            .lines()
            .filter(|line| line.starts_with(name.trim_end()))
            .map(|line| line[15..].split_whitespace().collect::<Vec<_>>())
            .next_back()
            .expect("each lock has a line");
        assert_eq!(fields[..2], [entries, "1"], "entries, most held");
        assert_eq!(fields[4..], ["0", "free,", "0", "waiting"], "out of order, at the end");
    }
    let lines = fs::read_to_string(tree.output()).expect("the output").lines().count();
    assert_eq!(lines, 10_000);
}

//! The checks of the project, as commands. Every job of CI is one of them, so a contributor runs exactly what CI runs:
//! `cargo xtask ci`, or one of its steps.

mod api;
mod bench;
mod context;
mod coverage;
mod deny;
mod deps;
mod doc_examples;
mod docs;
mod examples;
mod features;
mod firmware;
mod fuzz;
mod layers;
mod lint;
mod mutants;
mod nostd;
mod oldest;
mod package;
mod prose;
mod publish;
mod sanitize;
mod semver;
mod shuttle;
mod suites;
mod table;
mod tokio_tests;
mod verification;
mod verify;

use core::fmt::Write as _;
use core::time::Duration;
use std::env;
use std::process::ExitCode;
use std::time::Instant;

use context::{Context, Failure, Outcome, Result};

/// One command of `cargo xtask`.
struct Command {
    name: &'static str,
    help: &'static str,
    /// Whether the command passes its arguments on, mostly to `cargo test`.
    takes_args: bool,
    /// Whether the command is a step of `cargo xtask ci`, which runs them in the order of [`COMMANDS`].
    in_ci: bool,
    run: fn(&Context, &[String]) -> Result<Outcome>,
}

impl Command {
    const fn new(name: &'static str, help: &'static str, run: fn(&Context, &[String]) -> Result<Outcome>) -> Self {
        Self { name, help, takes_args: false, in_ci: true, run }
    }

    const fn by_hand(mut self) -> Self {
        self.in_ci = false;
        self
    }

    const fn with_args(mut self) -> Self {
        self.takes_args = true;
        self
    }
}

/// The cheap steps come first: a slip in formatting should not cost half an hour.
const COMMANDS: &[Command] = &[
    Command::new("ci", "all steps marked *, and a table of the results", ci).by_hand(),
    Command::new("test", "the README's test command", suites::test).by_hand().with_args(),
    Command::new("readme", "whether README.md shows the test command that CI runs", lint::readme),
    Command::new("links", "whether the links between pages lead to files", lint::links),
    Command::new("prose", "whether comments and pages do without phrases that have to be read twice", prose::run),
    Command::new(
        "verification",
        "whether each rule and kind of fault has its tests; --bless writes the generated pages",
        verification::run,
    )
    .with_args(),
    Command::new("layers", "whether modules keep the boundaries, without circles of imports", layers::run),
    Command::new("fmt", "formatting (check only)", lint::fmt),
    Command::new("spelling", "spelling, by typos", lint::spelling),
    Command::new("deps", "dependency and feature hygiene", deps::run),
    Command::new("deny", "licences and sources of the dependencies; `advisories` asks the database", deny::run)
        .with_args(),
    Command::new("clippy", "clippy, warnings are errors", lint::clippy),
    Command::new("docs", "documentation, also as docs.rs builds it: no broken link, no false label", docs::run),
    Command::new("api", "whether the public API is the recorded one; --bless records it", api::run).with_args(),
    Command::new("table", "every method of other locks has its row in docs/API-TABLE.md", table::run),
    Command::new("semver", "whether the version tells users of each break since the last release", semver::run),
    Command::new("features", "every combination of features", features::run),
    Command::new("nostd", "builds without std, and for a chip without compare-and-swap", nostd::run),
    Command::new("firmware", "the images for microcontrollers, under QEMU", firmware::run).with_args(),
    Command::new("embassy-std", "the locks on embassy's executor and clock for hosts", suites::embassy_std).with_args(),
    Command::new("diagnostics", "all tests, with locks that report their holders", suites::diagnostics).with_args(),
    Command::new("examples", "each example prints what the pages show", examples::run),
    Command::new("msrv", "the declared minimum Rust version", lint::msrv),
    Command::new("oldest", "the oldest dependencies that the manifests allow, and the newest", oldest::run),
    Command::new("package", "each published crate from its .crate file, by itself", package::run),
    Command::new("publish", "a rehearsal of the release; `--tag TAG` is the release", publish::run).with_args(),
    Command::new("loom", "every interleaving of the models", suites::loom).with_args(),
    Command::new("shuttle", "random schedules of large programs", shuttle::run).with_args(),
    Command::new("sanitize-quick", "the core's own tests under AddressSanitizer", sanitize::quick),
    Command::new("mutants-quick", "a few planted faults, and the core's own tests that must fall", mutants::quick),
    Command::new("tokio-tests", "tokio's own tests of its locks, compiled against these", tokio_tests::run),
    Command::new("gate", "instruction counts against the recorded ones; --record records", bench::gate).with_args(),
    Command::new("bench", "the locks beside their peers, into docs/BENCHMARKS.md", bench::run).by_hand().with_args(),
    Command::new(
        "coverage",
        "lines of the core that no test runs, and that xtask/coverage.toml does not explain",
        coverage::run,
    )
    .by_hand(),
    Command::new("verify", "the long forms of all checks, and a table of the results", verify::run).by_hand(),
    Command::new(
        "sanitize",
        "the tests under AddressSanitizer and ThreadSanitizer, or under the named one",
        sanitize::run,
    )
    .by_hand()
    .with_args(),
    Command::new("model", "all sequences of operations, longer than in the tests", suites::model).by_hand(),
    Command::new("mutants", "planted faults, and the tests that must fall", mutants::run).by_hand().with_args(),
    Command::new("fuzz", "odd sequences against the reference model; SECONDS for each target", fuzz::run)
        .by_hand()
        .with_args(),
    Command::new("miri", "Miri, both borrow models", suites::miri).by_hand().with_args(),
];

fn main() -> ExitCode {
    let mut args = env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let args: Vec<String> = args.collect();
    if matches!(name.as_str(), "" | "help" | "-h" | "--help") {
        println!("{}", usage());
        return ExitCode::SUCCESS;
    }
    match dispatch(&name, &args) {
        Ok(Outcome::Passed) => ExitCode::SUCCESS,
        Ok(Outcome::Skipped(why)) => {
            eprintln!("\n{name}: SKIPPED: {why}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("\n{name}: FAILED: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(name: &str, args: &[String]) -> Result<Outcome> {
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(Failure::new("there is no such command", &format!("choose one of these:\n{}", usage())));
    };
    if !command.takes_args && !args.is_empty() {
        return Err(Failure::new(
            &format!("the command takes no arguments, but was given `{}`", args.join(" ")),
            &format!("run `cargo xtask {name}`"),
        ));
    }
    (command.run)(&Context::new()?, args)
}

fn usage() -> String {
    let mut text = String::from("cargo xtask COMMAND [ARGS]\n");
    for command in COMMANDS {
        let mark = if command.in_ci { '*' } else { ' ' };
        let args = if command.takes_args { " [ARGS]" } else { "" };
        let call = format!("{}{args}", command.name);
        let _ = write!(text, "\n {mark} {call:<19} {}", command.help);
    }
    text
}

fn ci(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let steps = COMMANDS.iter().filter(|command| command.in_ci);
    run_steps(cx, steps.map(|command| Step { title: command.name.to_owned(), run: command.run, args: Vec::new() }))
}

/// A command with its arguments.
struct Step {
    title: String,
    run: fn(&Context, &[String]) -> Result<Outcome>,
    args: Vec<String>,
}

/// Runs every step, also after a failure, so that one run shows all failures.
fn run_steps(cx: &Context, steps: impl Iterator<Item = Step>) -> Result<Outcome> {
    let mut rows = Vec::new();
    for Step { title, run, args } in steps {
        eprintln!("\n===== {title} =====");
        let start = Instant::now();
        let result = run(cx, &args);
        if let Err(failure) = &result {
            eprintln!("\n{title}: FAILED: {failure}");
        }
        rows.push((title, result, start.elapsed()));
    }
    println!("\n{}", table(&rows));
    let failed: Vec<&str> = rows.iter().filter(|(_, result, _)| result.is_err()).map(|(title, ..)| &**title).collect();
    if failed.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(
        &format!("{} of {} steps failed: {}", failed.len(), rows.len(), failed.join(", ")),
        "the message of each step stands above; `cargo xtask STEP` runs one step",
    ))
}

fn table(rows: &[(String, Result<Outcome>, Duration)]) -> String {
    let width = rows.iter().map(|(title, ..)| title.len()).max().unwrap_or(0).max(12);
    let mut text = format!("{:<width$} {:<8} {:>8}", "step", "result", "seconds");
    for (title, result, duration) in rows {
        let (word, note) = match result {
            Ok(Outcome::Passed) => ("pass", String::new()),
            Ok(Outcome::Skipped(why)) => ("SKIPPED", first_line(why)),
            Err(failure) => ("FAIL", first_line(&failure.to_string())),
        };
        let seconds = duration.as_secs_f64();
        let row = format!("{title:<width$} {word:<8} {seconds:>8.1}  {note}");
        let _ = write!(text, "\n{}", row.trim_end());
    }
    text
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn table_shows_every_outcome_with_its_reason() {
        let second = Duration::from_secs(1);
        let text = table(&[
            ("fmt".to_owned(), Ok(Outcome::Passed), second),
            ("msrv".to_owned(), Ok(Outcome::Skipped("no toolchain".into())), second),
            ("docs".to_owned(), Err(Failure::new("a broken link", "fix it")), second),
        ]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "fmt          pass          1.0");
        assert_eq!(lines[2], "msrv         SKIPPED       1.0  no toolchain");
        assert_eq!(lines[3], "docs         FAIL          1.0  a broken link");
    }

    #[test]
    fn unknown_commands_and_stray_arguments_are_refused() {
        let unknown = dispatch("frmt", &[]).unwrap_err().to_string();
        assert!(unknown.contains("no such command"), "{unknown}");
        let stray = dispatch("fmt", &["--all".into()]).unwrap_err().to_string();
        assert!(stray.contains("takes no arguments"), "{stray}");
    }

    #[test]
    fn names_are_unique_and_the_test_command_is_not_repeated_by_ci() {
        for (index, command) in COMMANDS.iter().enumerate() {
            assert!(COMMANDS[..index].iter().all(|other| other.name != command.name));
        }
        assert!(COMMANDS.iter().any(|command| command.name == "test" && !command.in_ci));
    }

    fn workflow() -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/workflows/ci.yml");
        fs::read_to_string(path).expect("it is in the repository")
    }

    /// The commands of CI with their arguments, from `- step: NAME ARGS` and `run: cargo xtask NAME ARGS`.
    fn steps_of(workflow: &str) -> Vec<Vec<&str>> {
        let marks = ["- step: ", "run: cargo xtask "];
        let steps = workflow.lines().filter_map(|line| marks.iter().find_map(|mark| Some(line.split_once(mark)?.1)));
        steps.filter(|step| !step.contains("${{")).map(|step| step.split_whitespace().collect()).collect()
    }

    /// The errors in the steps of CI.
    fn slips_of(workflow: &str) -> Vec<String> {
        let steps = steps_of(workflow);
        let mut slips = Vec::new();
        for step in &steps {
            match COMMANDS.iter().find(|command| command.name == step[0]) {
                None => slips.push(format!("there is no command `{}`", step[0])),
                Some(command) if !command.takes_args && step.len() > 1 => {
                    slips.push(format!("`{}` takes no arguments", step.join(" ")));
                }
                Some(_) => {}
            }
        }
        // CI runs `cargo test` before `cargo xtask ci`.
        let asked = COMMANDS.iter().filter(|command| command.in_ci || command.name == "test");
        let missing = asked.filter(|command| !steps.contains(&vec![command.name]));
        slips.extend(missing.map(|command| format!("`{}` is a step of `cargo xtask ci`, and of no job", command.name)));
        slips
    }

    #[test]
    fn the_workflow_runs_what_cargo_xtask_ci_runs() {
        assert!(slips_of(&workflow()).is_empty(), "{:#?}", slips_of(&workflow()));
    }

    #[test]
    fn steps_that_the_workflow_lacks_or_makes_up_are_found() {
        let workflow = workflow();
        let slips = |old: &str, new: &str| {
            assert!(workflow.contains(old), "{old}");
            slips_of(&workflow.replace(old, new)).join("\n")
        };
        assert!(slips("- step: layers\n", "").contains("`layers` is a step"));
        assert!(slips("run: cargo xtask test\n", "run: cargo test\n").contains("`test` is a step"));
        assert!(slips("- step: layers\n", "- step: layres\n").contains("no command `layres`"));
        assert!(slips("- step: layers\n", "- step: layers now\n").contains("`layers now` takes no arguments"));
    }

    /// A merge waits for the last job only.
    #[test]
    fn the_last_job_of_the_workflow_needs_all_others() {
        let workflow = workflow();
        let (_, jobs) = workflow.split_once("\njobs:\n").expect("a workflow has jobs");
        let names: Vec<&str> = jobs
            .lines()
            .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'))
            .filter(|name| !name.starts_with([' ', '#']))
            .collect();
        let (last, others) = names.split_last().expect("there are jobs");
        let (_, last_job) = jobs.split_once(&format!("  {last}:\n")).expect("it is there");
        assert!(others.len() > 1, "{names:?}");
        assert!(last_job.contains(&format!("    needs: [{}]\n    if: always()\n", others.join(", "))), "{last_job}");
    }
}

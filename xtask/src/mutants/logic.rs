//! The mutants that cargo-mutants makes of the core, in rounds. Each round runs more tests on the mutants that
//! survived.

use core::num::NonZero;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::thread;

use super::breaks::Record;
use super::none_chosen;
use crate::context::{Context, Failure, OrElse as _, Outcome, Result};
use crate::suites::{LOOM_FEATURES, LOOM_FLAGS, LOOM_MAX_PREEMPTIONS};

/// A round: the tests, the arguments that keep cargo from building others, and the mutants that the round tries.
struct Round {
    name: &'static str,
    args: &'static [&'static str],
    /// Whether the round tries mutants of the transitions only. Their exhaustive models take long, and test nothing
    /// else.
    state_only: bool,
    loom: bool,
}

const ROUNDS: [Round; 5] = [
    Round {
        name: "the rules on one platform",
        args: &[
            "--test-package=fifolock-conformance",
            "--features=one-platform",
            "-C=--test=one_platform",
            "--timeout=15",
        ],
        state_only: false,
        loom: false,
    },
    Round {
        name: "the core's own tests",
        args: &[
            "--test-package=fifolock-core",
            "--features=std,spin,critical-section",
            "-C=--lib",
            "--timeout=60",
            "--cargo-test-arg=--",
            "--cargo-test-arg=--skip=state::",
        ],
        state_only: false,
        loom: false,
    },
    Round {
        name: "the models of the transitions",
        args: &[
            "--test-package=fifolock-core",
            "--features=std,spin,critical-section",
            "-C=--lib",
            "--timeout=240",
            "--cargo-test-arg=state::",
        ],
        state_only: true,
        loom: false,
    },
    Round {
        name: "texts, threads, and locks without a fast path",
        args: &[
            "--test-package=fifolock-conformance",
            "-C=--test=texts",
            "-C=--test=threads",
            "-C=--test=mutex",
            "-C=--test=rwlock",
            "-C=--test=upgradable",
            "--timeout=120",
        ],
        state_only: false,
        loom: false,
    },
    Round {
        name: "the loom models",
        args: &[
            "--test-package=fifolock-core",
            "--profile=loom",
            "-C=--lib",
            "--timeout=900",
            "--cargo-test-arg=loom_",
        ],
        state_only: false,
        loom: true,
    },
];

/// The exit statuses of cargo-mutants when some mutants survived or hung.
const LIVED: [i32; 2] = [2, 3];

pub(super) fn run(cx: &Context, only: Option<&str>, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    if xshell::cmd!(sh, "cargo mutants --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        return cx.skip_unless_ci("cargo-mutants is not installed", "run `cargo install --locked cargo-mutants`");
    }
    let record = Record::read(cx)?;
    let out = cx.target.join("mutants/out");
    // `--iterate` goes on where the last run ended.
    let goes_on = args.iter().any(|arg| arg == "--iterate");
    if !goes_on {
        let _ = fs::remove_dir_all(&out);
    }
    fs::create_dir_all(&out).or_tell("check that the target folder can be written")?;
    // Most of the time goes into the build after each mutant, which is mostly the work of one thread.
    let jobs = thread::available_parallelism().map_or(1, NonZero::get);
    let mut live = BTreeSet::new();
    let mut caught = BTreeSet::new();
    for (index, round) in ROUNDS.iter().enumerate() {
        println!("mutants: {}", round.name);
        let mut cargo = Command::new("cargo");
        cargo.args(["mutants", "--baseline=skip", "--annotations=none"]).arg(format!("--jobs={jobs}"));
        cargo.args(["--build-timeout=600", "--package=fifolock-core", "--output"]).arg(&out).args(round.args);
        cargo.args(only.map(|pattern| format!("--re={pattern}"))).args(args);
        if index > 0 && !goes_on {
            // Only the survivors are tried.
            cargo.arg("--iterate");
        }
        if round.state_only {
            cargo.arg("--file=crates/fifolock-core/src/state/**");
        }
        if round.loom {
            cargo.arg(format!("--features={LOOM_FEATURES}"));
            // A warning must not count as a caught mutant.
            cargo.env("RUSTFLAGS", LOOM_FLAGS.replace("-D warnings", ""));
            cargo.env("LOOM_MAX_PREEMPTIONS", LOOM_MAX_PREEMPTIONS);
        }
        // Each copy of the project has a target folder of its own. The builds need no backtraces.
        cargo.env_remove("CARGO_TARGET_DIR").env("CARGO_PROFILE_DEV_DEBUG", "0");
        let status = cargo.status().or_tell("check that cargo is on PATH")?;
        if status.success() && index == 0 && outcomes(&out, "caught.txt").is_empty() {
            return Err(none_chosen(only));
        }
        if !status.success() && !status.code().is_some_and(|code| LIVED.contains(&code)) {
            return Err(Failure::new(
                &format!("cargo-mutants ended with {status}"),
                "read the message of cargo-mutants above",
            ));
        }
        // A mutant that hangs is caught too, and the next round must not run it.
        caught.extend([CAUGHT, CAUGHT_BEFORE, "timeout.txt"].iter().flat_map(|list| outcomes(&out, list)));
        let list: Vec<&str> = caught.iter().map(String::as_str).collect();
        fs::write(out.join("mutants.out").join(CAUGHT), list.join("\n") + "\n")
            .or_tell("check that the target folder can be written")?;
        live.extend(outcomes(&out, "missed.txt"));
        live.retain(|name| !caught.contains(name));
        println!("mutants: {} live", live.len());
        if live.is_empty() {
            break;
        }
    }
    report(&record, &live)
}

/// The lists of mutants that a later round leaves out: those of this round, and those of earlier rounds.
const CAUGHT: &str = "caught.txt";
const CAUGHT_BEFORE: &str = "previously_caught.txt";

/// The names in one of the lists of cargo-mutants.
fn outcomes(out: &std::path::Path, list: &str) -> Vec<String> {
    let text = fs::read_to_string(out.join("mutants.out").join(list)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn report(record: &Record, missed: &BTreeSet<String>) -> Result<Outcome> {
    let mut wrong = Vec::new();
    for name in missed {
        match record.explains_mutant(name) {
            Some(explained) => println!("explained {name}\n          {}", explained.reason),
            None => wrong.push(name.as_str()),
        }
    }
    let known = record.explained_mutants().count();
    println!("logic: {} live, {known} are explained", missed.len());
    if wrong.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(
        &format!("no test falls for\n{}", wrong.join("\n")),
        "write a test that does, or explain it in `[[logic]]` of xtask/breaks.toml",
    ))
}

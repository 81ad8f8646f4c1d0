//! The cost of the locks and of their peers. The workspace `bench/` measures and writes docs/BENCHMARKS.md. This
//! command builds that workspace, and tells it which parts to run.

use std::path::PathBuf;
use std::process;

use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

pub(crate) const MANIFEST: &str = "bench/Cargo.toml";

/// The exit status of the report when it could check nothing.
const SKIPPED: i32 = 3;

const USAGE: &str = "run `cargo xtask bench`, alone or with
    --quick          short rounds: to see that everything runs, not to be believed
    --instructions   count instructions only, and write the report with what was measured before
    --report-only    write the report from what was measured before
    --build-cost     also compile each peer from clean
    --lto            measure with link-time optimisation; the report says so
    --gate           check fifolock's instruction counts against bench/instructions.toml
    --gate --record  write bench/instructions.toml";

/// The options of the command line.
#[derive(Debug, Default, PartialEq)]
struct Options {
    gate: bool,
    record: bool,
    quick: bool,
    instructions: bool,
    report_only: bool,
    build_cost: bool,
    lto: bool,
}

impl Options {
    fn parse(args: &[String]) -> Option<Self> {
        let mut options = Self::default();
        for arg in args {
            match arg.as_str() {
                "--gate" => options.gate = true,
                "--record" => options.record = true,
                "--quick" => options.quick = true,
                "--instructions" => options.instructions = true,
                "--report-only" => options.report_only = true,
                "--build-cost" => options.build_cost = true,
                "--lto" => options.lto = true,
                _ => return None,
            }
        }
        let is_gate = options.gate || options.record;
        let is_report =
            options.quick || options.instructions || options.report_only || options.build_cost || options.lto;
        // Only the gate records. The gate measures nothing else, in one profile.
        (!(is_gate && is_report) && (options.gate || !options.record)).then_some(options)
    }

    fn profile(&self) -> &'static str {
        if self.lto { "lto" } else { "release" }
    }

    /// The packages to build, in steps. Packages that are built together share the features of their dependencies, and
    /// the counts of fifolock must not depend on the other measurements.
    fn builds(&self) -> &'static [&'static [&'static str]] {
        match self {
            Self { report_only: true, .. } => &[&["report"]],
            Self { gate: true, .. } => &[&["ours", "report"]],
            Self { instructions: true, .. } => &[&["ours", "report"], &["peers"]],
            _ => &[&["ours", "report"], &["peers"], &["clock"], &["overload"]],
        }
    }

    fn parts(&self) -> Vec<&'static str> {
        match self {
            Self { record: true, .. } => return vec!["record"],
            Self { gate: true, .. } => return vec!["gate"],
            Self { report_only: true, .. } => return vec!["report"],
            Self { instructions: true, .. } => return vec!["instructions", "report"],
            _ => {}
        }
        let mut parts = vec!["instructions", "memory", "overload"];
        parts.extend(self.build_cost.then_some("build-cost"));
        parts.extend(if self.quick { ["fairness-quick", "clock-quick"] } else { ["fairness", "clock"] });
        parts.push("report");
        parts
    }
}

pub(crate) fn run(cx: &Context, args: &[String]) -> Result<Outcome> {
    let options = Options::parse(args)
        .ok_or_else(|| Failure::new(&format!("the command can't read `{}`", args.join(" ")), USAGE))?;
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return cx.skip_unless_ci("instructions are counted on x86-64 Linux only", "run the command there");
    }
    let (sh, profile) = (&cx.sh, options.profile());
    let target = target_dir(cx);
    for build in options.builds() {
        let packages = build.iter().flat_map(|name| ["-p", name]);
        cmd!(
            sh,
            "cargo build --locked --manifest-path {MANIFEST} --profile {profile} --target-dir {target} {packages...}"
        )
        .run()
        .or_tell("fix what the compiler reports")?;
    }
    let (root, programs, parts) = (&cx.root, target.join(profile), options.parts());
    let report = programs.join("report");
    let results = target.join(if options.lto { "results-lto" } else { "results" });
    let report = cmd!(sh, "{report} {root} {programs} {results} {parts...}");
    let status =
        process::Command::from(report).status().or_tell("the program was built a moment ago; run the command again")?;
    match status.code() {
        Some(0) => Ok(Outcome::Passed),
        Some(SKIPPED) => Ok(Outcome::Skipped("the compiler is not the recorded one, see above".to_owned())),
        _ => Err(Failure::new(
            "the benchmarks were not measured, or differ from the record",
            "the message of the report stands above",
        )),
    }
}

/// The gate as a step of CI.
pub(crate) fn gate(cx: &Context, args: &[String]) -> Result<Outcome> {
    let mut all = vec!["--gate".to_owned()];
    all.extend_from_slice(args);
    run(cx, &all)
}

pub(crate) fn target_dir(cx: &Context) -> PathBuf {
    cx.target.join("bench")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &str) -> Option<Options> {
        Options::parse(&args.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        assert!(parse("").is_some_and(|options| options.parts().contains(&"clock")));
        assert!(parse("--quick").is_some_and(|options| options.parts().contains(&"clock-quick")));
        assert_eq!(parse("--gate --record").unwrap().parts(), ["record"]);
        assert_eq!(parse("--gate").unwrap().builds(), [["ours", "report"]]);
        assert_eq!(parse("--record"), None);
        assert_eq!(parse("--gate --quick"), None);
        assert_eq!(parse("--qiuck"), None);
    }
}

//! The lines of the core that the tests run: the core's own tests, those of the contract, and those of the adapters,
//! with reports and without. `coverage.toml` must explain each line that no test runs.

use core::fmt::Write as _;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result, run_tests};

const SOURCES: &str = "crates/fifolock-core/src/";
const FILE: &str = "xtask/coverage.toml";

/// The builds whose tests are counted together: features, and tests. Only the second build makes reports.
const BUILDS: &[(&str, &[&str])] = &[
    ("", &["--tests"]),
    (
        "fifolock-core/diagnostics,fifolock-conformance/diagnostics",
        &["--lib", "--test", "diagnostics", "--test", "upgradable", "--test", "rescue"],
    ),
];

/// Parts of paths below [`SOURCES`] that are tests.
const TESTS: &[&str] = &["test", "loom"];

/// The number of times that each line of each file ran.
type Lines = BTreeMap<String, BTreeMap<usize, u64>>;

pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let Some(tools) = Tools::find(cx)? else {
        return cx.skip_unless_ci(
            "no llvm-profdata and llvm-cov of the compiler's LLVM version",
            "run `rustup component add llvm-tools`, or install the package llvm-N of your system with the N that \
             `rustc -vV` tells",
        );
    };
    let mut lines = Lines::new();
    for (features, tests) in BUILDS {
        add(&mut lines, measure(cx, &tools, features, tests)?);
    }
    report(cx, &lines)
}

/// Runs the tests of one build; returns the lines that ran.
fn measure(cx: &Context, tools: &Tools, features: &str, tests: &[&str]) -> Result<Lines> {
    let sh = &cx.sh;
    let target = cx.target.join("coverage");
    let profiles = target.join("profiles");
    sh.remove_path(&profiles).or_tell("check that the target folder can be written")?;
    let build = |mode: &[&str]| {
        cmd!(sh, "cargo test -p fifolock-core -p fifolock-conformance --features=fifolock-core/std,fifolock-core/spin,{features}")
            .args(tests)
            .arg("--target-dir")
            .arg(&target)
            .args(mode)
            .env("RUSTFLAGS", "-C instrument-coverage")
            .env("LLVM_PROFILE_FILE", profiles.join("%p-%m.profraw"))
            // Without debug information a build takes half of the space. The coverage has its own map of the lines.
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_INCREMENTAL", "0")
    };
    let messages = build(&["--no-run", "--message-format=json"]).read().or_tell("the tests must build")?;
    // The test of the compiler's errors runs no line of the locks.
    run_tests(build(&["--", "--skip", "k6_m7_what_must_not_compile"]))?;

    let profile = target.join("merged.profdata");
    let raw = sh.read_dir(&profiles).or_tell("the test programs should have written profiles there")?;
    let list: Vec<String> = raw.iter().map(|file| file.display().to_string()).collect();
    let names = target.join("profiles.txt");
    sh.write_file(&names, list.join("\n")).or_tell("check that the target folder can be written")?;
    let (profdata, cov) = (&tools.profdata, &tools.cov);
    cmd!(sh, "{profdata} merge --sparse --input-files {names} --output {profile}")
        .run()
        .or_tell("use the tool of the compiler's LLVM version, see `rustc -vV`")?;
    let sources = cx.root.join(SOURCES);
    let mut lines = Lines::new();
    // The programs are read one by one. If two programs have the same function, the tool counts the first one's only,
    // which may be the one that never calls the function.
    for program in executables(&messages) {
        let export =
            cmd!(sh, "{cov} export --format=lcov --instr-profile {profile} --object {program} --sources {sources}");
        let export = export.quiet().ignore_status().output().or_tell("check that llvm-cov can be run")?;
        let messages = String::from_utf8_lossy(&export.stderr);
        // The program has no test for these features.
        if messages.contains("no coverage data found") {
            continue;
        }
        if !export.status.success() {
            return Err(Failure::new(
                &format!("llvm-cov can't read {program}: {messages}"),
                "use the tool of the compiler's LLVM version, see `rustc -vV`",
            ));
        }
        let table = String::from_utf8_lossy(&export.stdout);
        add(&mut lines, lines_of(&table));
    }
    Ok(lines)
}

fn add(lines: &mut Lines, more: Lines) {
    for (file, counts) in more {
        let all = lines.entry(file).or_default();
        counts.into_iter().for_each(|(line, count)| *all.entry(line).or_default() += count);
    }
}

/// The programs that a build with `--message-format=json` made.
fn executables(messages: &str) -> Vec<String> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages.filter_map(|message| message["executable"].as_str().map(str::to_owned)).collect()
}

/// Reads lcov's format: `SF:` begins a file, and `DA:LINE,COUNT` is a line.
fn lines_of(table: &str) -> Lines {
    let mut lines = Lines::new();
    let mut file = None;
    for record in table.lines() {
        if let Some(path) = record.strip_prefix("SF:") {
            file =
                path.split_once(SOURCES).map(|(_, file)| file).filter(|file| !TESTS.iter().any(|it| file.contains(it)));
        } else if let (Some(file), Some(data)) = (file, record.strip_prefix("DA:")) {
            let (line, count) = data.split_once(',').expect("lcov writes DA:LINE,COUNT");
            let number = |text: &str| text.parse::<u64>().expect("lcov writes numbers");
            *lines.entry(file.to_owned()).or_default().entry(number(line) as usize).or_default() += number(count);
        }
    }
    lines
}

fn report(cx: &Context, lines: &Lines) -> Result<Outcome> {
    let read = |file: &str| cx.sh.read_file(cx.root.join(file)).or_tell("the file belongs in the repository");
    let explained = explained(&read(FILE)?)?;
    let (mut all, mut run) = (0, 0);
    let mut used = BTreeSet::new();
    let mut slips = String::new();
    for (file, counts) in lines {
        let source = read(&format!("{SOURCES}{file}"))?;
        let missed: Vec<_> = counts.iter().filter(|(_, count)| **count == 0).map(|(line, _)| *line).collect();
        (all, run) = (all + counts.len(), run + counts.len() - missed.len());
        println!("coverage: {file}: {} of {} lines", counts.len() - missed.len(), counts.len());
        for line in missed {
            let text = source.lines().nth(line - 1).unwrap_or_default().trim();
            // A line with only the end of a call or a block says nothing by itself.
            if text.len() < 4 {
                continue;
            }
            let entry = (file.clone(), text.to_owned());
            if explained.contains(&entry) {
                used.insert(entry);
            } else {
                _ = write!(slips, "\n  {file}:{line}: {text}");
            }
        }
    }
    println!("coverage: {run} of {all} lines");
    for (file, text) in explained.difference(&used) {
        _ = write!(slips, "\n  {file}: explained, but the line ran or is gone: {text}");
    }
    if slips.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(
        &format!("lines that no test runs:{slips}"),
        &format!("write the test; if there can be none, say why in {FILE}"),
    ))
}

/// The explained lines, as file and text.
fn explained(text: &str) -> Result<BTreeSet<(String, String)>> {
    let record: Record = toml::from_str(text).or_tell(&format!("fix {FILE}"))?;
    if let Some(reason) = record.reasons.iter().find(|reason| reason.why.is_empty() || reason.lines.is_empty()) {
        return Err(Failure::new(&format!("{FILE}: a reason is empty: {reason:?}"), "say why, and of which lines"));
    }
    Ok(record.reasons.into_iter().flat_map(|reason| reason.lines).collect())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    #[serde(rename = "reason")]
    reasons: Vec<Reason>,
}

/// The reason why no test runs some lines.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    why: String,
    lines: Vec<(String, String)>,
}

/// LLVM's tools, which read only the output of a compiler of their own version.
struct Tools {
    profdata: PathBuf,
    cov: PathBuf,
}

impl Tools {
    fn find(cx: &Context) -> Result<Option<Self>> {
        let sh = &cx.sh;
        let version = cmd!(sh, "rustc -vV").quiet().read().or_tell("check that rustc is on PATH")?;
        let field =
            |name: &str| version.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_owned();
        let sysroot = cmd!(sh, "rustc --print sysroot").quiet().read().or_tell("check that rustc is on PATH")?;
        let component = Path::new(&sysroot).join("lib/rustlib").join(field("host: ")).join("bin");
        if component.join("llvm-cov").is_file() {
            return Ok(Some(Self { profdata: component.join("llvm-profdata"), cov: component.join("llvm-cov") }));
        }
        let llvm = field("LLVM version: ");
        let major = llvm.split('.').next().unwrap_or_default();
        let tools = Self { profdata: format!("llvm-profdata-{major}").into(), cov: format!("llvm-cov-{major}").into() };
        let cov = &tools.cov;
        let works = cmd!(sh, "{cov} --version").quiet().ignore_stdout().ignore_stderr().run().is_ok();
        Ok(works.then_some(tools))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn lines_of_the_core_are_read_and_its_tests_left_out() {
        let table = "SF:/x/crates/fifolock-core/src/wake.rs\nDA:3,0\nDA:4,7\nend_of_record\n\
                     SF:/x/crates/fifolock-core/src/queue/tests.rs\nDA:1,0\n\
                     SF:/x/crates/conformance/src/lib.rs\nDA:1,0\n\
                     SF:/x/crates/fifolock-core/src/wake.rs\nDA:3,2\n";
        let lines = lines_of(table);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines["wake.rs"], BTreeMap::from([(3, 2), (4, 7)]));
    }

    #[test]
    fn explanations_are_read() {
        let text = "[[reason]]\nwhy = \"so\"\nlines = [[\"a.rs\", 'x | \"y\"']]\n";
        assert_eq!(explained(text).expect("read"), BTreeSet::from([("a.rs".to_owned(), "x | \"y\"".to_owned())]));
        assert!(explained(&text.replace("\"so\"", "\"\"")).unwrap_err().to_string().contains("a reason is empty"));
    }

    /// This test is cheap, so it is part of each test run: a change that moves a line shows before the long count.
    #[test]
    fn explained_lines_are_in_the_sources() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |file: &str| fs::read_to_string(root.join(file)).expect("the file is in the repository");
        for (file, line) in explained(&read(FILE)).expect("the file can be parsed") {
            let source = read(&format!("{SOURCES}{file}"));
            assert!(source.lines().any(|text| text.trim() == line), "{FILE}: `{line}` is not in {file}");
        }
    }

    #[test]
    fn programs_are_found_in_cargos_messages() {
        assert_eq!(executables("{\"executable\":\"/a\"}\n{\"executable\":null}\n{}\nnoise"), ["/a"]);
    }
}

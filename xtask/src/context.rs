//! The tools of every command: the shell, the paths, and the reports of errors.

use core::fmt;
use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};

use serde_json::Value;
use xshell::{Cmd, Shell, cmd};

pub(crate) type Result<T> = core::result::Result<T, Failure>;

/// The outcome of a step that did not fail.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    /// A part could not run here. The text says which part, and what to install.
    Skipped(String),
}

/// An error, and its remedy.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(what: &str, remedy: &str) -> Self {
        Self(format!("{what}\n  What to do: {remedy}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Adds a remedy to an error that only says what happened.
pub(crate) trait OrElse<T> {
    fn or_tell(self, remedy: &str) -> Result<T>;
}

impl<T, E: fmt::Display> OrElse<T> for core::result::Result<T, E> {
    fn or_tell(self, remedy: &str) -> Result<T> {
        self.map_err(|error| Failure::new(&error.to_string(), remedy))
    }
}

pub(crate) struct Context {
    /// A shell in the root of the workspace.
    pub(crate) sh: Shell,
    pub(crate) root: PathBuf,
    /// Cargo's target folder. A step with flags of its own builds in a folder below this one, so that no step evicts
    /// what another has built.
    pub(crate) target: PathBuf,
    /// Whether this is CI, where a missing toolchain is an error. Elsewhere the part is skipped.
    pub(crate) is_ci: bool,
    /// The output of `cargo metadata --no-deps`: the packages of the workspace.
    workspace: Value,
}

impl Context {
    pub(crate) fn new() -> Result<Self> {
        // Cargo sets this variable for a program that it runs. A path compiled into the program would be wrong, since
        // checkouts that share a target folder may share the program.
        let manifest = env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| {
            Failure::new("the command can't tell where the workspace is", "run the command as `cargo xtask`")
        })?;
        let root = Path::new(&manifest).parent().expect("xtask is a folder of the workspace").to_path_buf();
        let sh = Shell::new().or_tell("run the command from a folder that exists")?;
        sh.change_dir(&root);
        let workspace = read_json(&cmd!(sh, "cargo metadata --format-version 1 --no-deps"))?;
        let target = workspace["target_directory"].as_str().expect("cargo metadata names the target folder").into();
        let is_ci = sh.var("CI").is_ok_and(|value| value == "true");
        Ok(Self { sh, root, target, is_ci, workspace })
    }

    /// The packages of the workspace, as `cargo metadata` describes them.
    pub(crate) fn packages(&self) -> &[Value] {
        self.workspace["packages"].as_array().expect("cargo metadata lists packages")
    }

    /// The workspace's package with this name.
    pub(crate) fn package(&self, name: &str) -> Result<&Value> {
        self.packages().iter().find(|package| package["name"] == name).ok_or_else(|| {
            Failure::new(&format!("the workspace has no package `{name}`"), "if it was renamed, rename it in xtask too")
        })
    }

    /// Reports a part that could not run: an error in CI, a loud note elsewhere.
    pub(crate) fn skip_unless_ci(&self, what: &str, remedy: &str) -> Result<Outcome> {
        if self.is_ci {
            return Err(Failure::new(what, remedy));
        }
        Ok(Outcome::Skipped(format!("{what}\n  What to do: {remedy}")))
    }
}

/// Runs a command that prints JSON.
pub(crate) fn read_json(cmd: &Cmd<'_>) -> Result<Value> {
    let text = cmd.read().or_tell("run the command by itself; a broken Cargo.toml is the usual cause")?;
    serde_json::from_str(&text).or_tell("check that no wrapper of cargo prints to stdout")
}

/// Runs a `cargo test` command, shows its output as it comes, and returns how many tests passed. If no test passed, the
/// run has failed: a filter that matches nothing must not look like a success.
pub(crate) fn run_tests(cmd: Cmd<'_>) -> Result<usize> {
    let shown = cmd.to_string();
    eprintln!("$ {shown}");
    let mut child = process::Command::from(cmd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .or_tell("check that cargo is on PATH")?;
    let stdout = child.stdout.take().expect("stdout is piped");
    let mut passed = 0;
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line.or_tell("run the command by itself")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        passed += passed_in(&line).unwrap_or(0);
    }
    let status = child.wait().or_tell("run the command by itself")?;
    if !status.success() {
        return Err(Failure::new(&format!("`{shown}` ended with {status}"), "the failing tests are named above"));
    }
    if passed == 0 {
        return Err(Failure::new(&format!("`{shown}` ran no test"), "check its filter against the names of the tests"));
    }
    Ok(passed)
}

/// The number of passed tests, if this is libtest's summary line.
fn passed_in(line: &str) -> Option<usize> {
    let counts = line.strip_prefix("test result: ")?;
    let (before, _) = counts.split_once(" passed;")?;
    before.rsplit(' ').next()?.parse().ok()
}

/// Whether rustup has this toolchain. Without rustup there is none.
pub(crate) fn has_toolchain(cx: &Context, name: &str) -> bool {
    let sh = &cx.sh;
    cmd!(sh, "rustup toolchain list").quiet().read().is_ok_and(|list| list.lines().any(|line| is_toolchain(line, name)))
}

/// `-p NAME` for every published package.
pub(crate) fn published_packages(cx: &Context) -> Vec<&str> {
    cx.packages()
        .iter()
        .filter(|package| is_published(package))
        .filter_map(|package| package["name"].as_str())
        .flat_map(|name| ["-p", name])
        .collect()
}

/// Whether a line of `rustup toolchain list` is this toolchain, in any patch release.
fn is_toolchain(line: &str, name: &str) -> bool {
    line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['-', '.']))
}

/// Whether the package is published.
pub(crate) fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_libtest_are_counted() {
        let ok = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out";
        assert_eq!(passed_in(ok), Some(12));
        assert_eq!(passed_in("test result: FAILED. 3 passed; 1 failed"), Some(3));
        assert_eq!(passed_in("test mutex::m1_free ... ok"), None);
        assert_eq!(passed_in("test result: gibberish"), None);
    }

    #[test]
    fn failures_say_what_to_do() {
        let error: core::result::Result<(), &str> = Err("it broke");
        let text = error.or_tell("fix it").unwrap_err().to_string();
        assert_eq!(text, "it broke\n  What to do: fix it");
    }

    #[test]
    fn toolchains_are_told_apart() {
        assert!(is_toolchain("1.88-x86_64-unknown-linux-gnu", "1.88"));
        assert!(is_toolchain("1.88.0-x86_64-unknown-linux-gnu (active)", "1.88"));
        assert!(!is_toolchain("1.880-x86_64-unknown-linux-gnu", "1.88"));
        assert!(!is_toolchain("stable-x86_64-unknown-linux-gnu", "1.88"));
    }
}

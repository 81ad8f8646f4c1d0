//! A copy of the project in which faults are planted, and its test programs.

use core::time::Duration;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use serde_json::Value;
use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Result};
use crate::shuttle;
use crate::suites::{LOOM_FEATURES, LOOM_FLAGS, LOOM_MAX_PREEMPTIONS};

/// The models are small: optimising the core takes longer than it saves. The models' tools stay optimised.
const QUICK: &str = "profile.loom.package.fifolock-core.opt-level=0";

/// The features of the core's own tests.
const CORE_FEATURES: &str = "std,spin,critical-section";

/// A test program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Suite {
    /// The core's own tests.
    Core,
    /// The core's models.
    Loom,
    /// The large programs under random schedules.
    Shuttle,
    /// One program of the conformance crate.
    Conformance(String),
    /// One program of the model crate.
    Model(String),
}

impl Suite {
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "core" => Some(Self::Core),
            "loom" => Some(Self::Loom),
            "shuttle" => Some(Self::Shuttle),
            _ => {
                let (package, program) = name.split_once('/')?;
                let of: fn(String) -> Self = match package {
                    "conformance" => Self::Conformance,
                    "model" => Self::Model,
                    _ => return None,
                };
                Some(of(program.to_owned()))
            }
        }
    }
}

/// The result of a test program.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All chosen tests pass, and there is at least one.
    Passes,
    /// No test has this name.
    NoTest,
    Falls,
    /// The tests are not done within the limit.
    Hangs,
}

pub(super) struct Tree<'a> {
    cx: &'a Context,
    root: PathBuf,
}

/// The folder in which the copies are built.
pub(super) fn target_dir(cx: &Context) -> PathBuf {
    cx.target.join("mutants/target")
}

impl<'a> Tree<'a> {
    /// Copies the project into a folder of this name. Files that have not changed since the last copy stay as they are,
    /// so that cargo need not build them again.
    pub(super) fn new(cx: &'a Context, name: &str) -> Result<Self> {
        let root = cx.target.join("mutants").join(name);
        let sh = &cx.sh;
        let listed = cmd!(sh, "git ls-files -z --cached --others --exclude-standard")
            .read()
            .or_tell("mutants are planted in a copy of what git knows: run the command in a checkout")?;
        let files: Vec<&Path> = listed.split('\0').map(Path::new).filter(|file| cx.root.join(file).is_file()).collect();
        for file in &files {
            copy(&cx.root.join(file), &root.join(file))?;
        }
        remove_others(&root, Path::new(""), &files)?;
        Ok(Self { cx, root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn read(&self, file: &str) -> Result<String> {
        fs::read_to_string(self.root.join(file)).or_tell(&format!("check the name of the file: {file}"))
    }

    /// Runs `f` while `file` has another text.
    pub(super) fn with<T>(&self, file: &str, text: &str, f: impl FnOnce() -> Result<T>) -> Result<T> {
        let original = self.read(file)?;
        let path = self.root.join(file);
        let remedy = "check the permissions and the space of cargo's target folder";
        fs::write(&path, text).or_tell(remedy)?;
        let result = f();
        fs::write(&path, original).or_tell(remedy)?;
        result
    }

    /// Builds a test program. The inner `Err` has the compiler's message.
    pub(super) fn build(&self, suite: &Suite) -> Result<core::result::Result<Program, String>> {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(&self.root).args(["test", "--no-run", "--message-format=json-render-diagnostics", "-q"]);
        match suite {
            Suite::Core => cargo.args(["-p", "fifolock-core", "--lib", "--features", CORE_FEATURES]),
            Suite::Loom => cargo
                .args(["-p", "fifolock-core", "--lib", "--features", LOOM_FEATURES, "--profile", "loom"])
                .args(["--config", QUICK])
                .env("RUSTFLAGS", LOOM_FLAGS),
            Suite::Shuttle => cargo
                .args([
                    "-p",
                    "fifolock-conformance",
                    "--test",
                    "shuttle",
                    "--features",
                    shuttle::FEATURES,
                    "--profile",
                    "loom",
                    "--config",
                    QUICK,
                ])
                .env("RUSTFLAGS", shuttle::FLAGS),
            Suite::Conformance(program) => {
                if program == "one_platform" {
                    cargo.args(["--features", "one-platform"]);
                }
                cargo.args(["-p", "fifolock-conformance", "--test", program])
            }
            Suite::Model(program) => cargo.args(["-p", "fifolock-model", "--test", program]),
        };
        // Dependencies that are built already are used again. The crates of the copy have another path, and so other
        // names.
        let target = match suite {
            // Cargo gives the models of the copy the names of the original's, so they must never share a folder.
            Suite::Loom => target_dir(self.cx).join("loom"),
            Suite::Shuttle => target_dir(self.cx).join("shuttle"),
            Suite::Core | Suite::Conformance(_) | Suite::Model(_) => target_dir(self.cx),
        };
        let output = cargo.arg("--target-dir").arg(target).output().or_tell("check that cargo is on PATH")?;
        if !output.status.success() {
            return Ok(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let mut programs = text.lines().filter_map(executable);
        match (programs.next(), programs.next()) {
            (Some(program), None) => Ok(Ok(Program { program, folder: self.folder(suite) })),
            _ => Err(Failure::new(
                &format!("cargo built no test program for {suite:?}"),
                "if it was renamed, rename it in xtask/breaks.toml too",
            )),
        }
    }

    fn folder(&self, suite: &Suite) -> PathBuf {
        self.root.join(match suite {
            Suite::Core | Suite::Loom | Suite::Shuttle => "crates/fifolock-core",
            Suite::Conformance(_) => "crates/conformance",
            Suite::Model(_) => "crates/model",
        })
    }
}

fn executable(line: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    if is_test { message["executable"].as_str().map(PathBuf::from) } else { None }
}

/// A built test program.
pub(super) struct Program {
    program: PathBuf,
    folder: PathBuf,
}

impl Program {
    /// The names of its tests that contain `filter`.
    pub(super) fn tests(&self, filter: &str) -> Result<Vec<String>> {
        let output = self.command().args(["--list", filter]).output().or_tell("run the test program by itself")?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }

    /// Runs the tests whose names contain `filter`, or the one that has this name.
    pub(super) fn run(&self, filter: &str, exact: bool, limit: Duration) -> Result<Verdict> {
        if self.tests(filter)?.is_empty() {
            return Ok(Verdict::NoTest);
        }
        let log = self.program.with_extension("mutants-log");
        let open = || File::create(&log).or_tell("check the permissions and the space of cargo's target folder");
        let mut command = self.command();
        command.arg(filter).stdin(Stdio::null()).stdout(open()?).stderr(Stdio::null());
        if exact {
            command.arg("--exact");
        }
        let mut child = command.spawn().or_tell("run the test program by itself")?;
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().or_tell("run the test program by itself")? {
                return Ok(if status.success() { Verdict::Passes } else { Verdict::Falls });
            }
            if start.elapsed() > limit {
                child.kill().or_tell("end the test program by hand")?;
                child.wait().or_tell("end the test program by hand")?;
                return Ok(Verdict::Hangs);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).env("LOOM_MAX_PREEMPTIONS", LOOM_MAX_PREEMPTIONS);
        // Cargo sets this variable when it runs the tests of a package.
        command.env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

/// Copies a file, unless the copy is equal: cargo compares the times of files.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let remedy = "check the permissions and the space of cargo's target folder";
    let text = fs::read(from).or_tell("check the permissions in the checkout")?;
    if fs::read(to).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).or_tell(remedy)?;
    }
    fs::write(to, text).or_tell(remedy)
}

/// Removes the files of the copy that the project does not have.
fn remove_others(root: &Path, below: &Path, files: &[&Path]) -> Result<()> {
    let remedy = "check the rights in cargo's target folder";
    for entry in fs::read_dir(root.join(below)).or_tell(remedy)? {
        let entry = entry.or_tell(remedy)?;
        let name = below.join(entry.file_name());
        if entry.file_type().or_tell(remedy)?.is_dir() {
            remove_others(root, &name, files)?;
        } else if !files.contains(&name.as_path()) {
            fs::remove_file(entry.path()).or_tell(remedy)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_have_names() {
        assert_eq!(Suite::parse("core"), Some(Suite::Core));
        assert_eq!(Suite::parse("loom"), Some(Suite::Loom));
        assert_eq!(Suite::parse("conformance/mutex"), Some(Suite::Conformance("mutex".into())));
        assert_eq!(Suite::parse("model/programs"), Some(Suite::Model("programs".into())));
        assert_eq!(Suite::parse("mutex"), None);
    }

    #[test]
    fn test_programs_are_told_from_libraries() {
        let line = r#"{"reason":"compiler-artifact","profile":{"test":true},"executable":"/t/mutex-1"}"#;
        assert_eq!(executable(line), Some(PathBuf::from("/t/mutex-1")));
        assert_eq!(executable(&line.replace("true", "false")), None);
        assert_eq!(executable("   Compiling mutex"), None);
    }
}

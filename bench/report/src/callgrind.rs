//! Runs a program under callgrind, and reads the counts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use results::{Cost, Costs};

use crate::code::Code;
use crate::failure::{Failure, OrTell as _, Result};

/// The number of runs of a row, `scenarios::count::RUNS`.
const RUNS: f64 = 128.0;

/// The row that does nothing, `scenarios::count::EMPTY`.
const EMPTY: &str = "empty";

/// Valgrind's version. If valgrind is missing, the error says what to install.
pub(crate) fn version() -> Result<String> {
    let missing = || {
        Failure::new(
            "VALGRIND IS MISSING: instructions can't be counted",
            "install it: `apt-get install valgrind` on Debian and Ubuntu, `dnf install valgrind` on Fedora",
        )
    };
    let output = Command::new("valgrind").arg("--version").output().map_err(|_| missing())?;
    if !output.status.success() {
        return Err(missing());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().replace("valgrind-", "valgrind "))
}

/// Counts every row of a program. Callgrind's files stay in `folder`, for `callgrind_annotate`.
pub(crate) fn count(program: &Path, folder: &Path) -> Result<Costs> {
    let name = program.file_name().expect("a program has a name").to_string_lossy().into_owned();
    let folder = folder.join(&name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).or_tell("the target folder must be writable")?;
    let mut out = std::ffi::OsString::from("--callgrind-out-file=");
    out.push(folder.join("row"));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no", "--dump-instr=yes", "--dump-line=no"])
        .args(["--compress-strings=no", "--compress-pos=no"])
        .arg(out)
        .arg(program)
        .stdin(Stdio::null())
        .output()
        .or_tell("run valgrind by itself")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Failure::new(
            &format!("`{name}` failed under callgrind:\n{said}"),
            "run the program without valgrind",
        ));
    }
    let mut code = Code::default();
    let mut costs = Costs::new();
    for file in rows(&folder)? {
        let text = fs::read_to_string(&file).or_tell("check that callgrind can write its files")?;
        if let Some(row) = row_name(&text) {
            let mut cost = Cost { instructions: 0.0, atomics: 0.0 };
            for Line { object, address, count } in lines(&text) {
                cost.instructions += count / RUNS;
                if code.is_atomic(object, address)? {
                    cost.atomics += count / RUNS;
                }
            }
            costs.insert(row.to_owned(), cost);
        }
    }
    let empty = costs.remove(EMPTY).map_or(0.0, |cost| cost.instructions);
    if empty == 0.0 || costs.is_empty() {
        return Err(Failure::new(&format!("`{name}` counted nothing"), "see bench/scenarios/src/count.rs"));
    }
    costs.values_mut().for_each(|cost| cost.instructions -= empty);
    Ok(costs)
}

/// The files of callgrind: `row.1` and so on.
fn rows(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).or_tell("the target folder must be readable")?;
    Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some()).collect())
}

/// The name that the program gave to this row.
fn row_name(text: &str) -> Option<&str> {
    text.lines().take(30).find_map(|line| line.strip_prefix("desc: Trigger: Client Request: "))
}

/// An instruction, and the number of its executions.
#[derive(Debug, PartialEq)]
struct Line<'a> {
    object: &'a str,
    address: u64,
    count: f64,
}

/// The costs of the instructions themselves. The costs of calls, which have lines of their own, are left out.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let (mut object, mut is_call) = ("", false);
    text.lines().filter_map(move |line| {
        if let Some(name) = line.strip_prefix("ob=") {
            object = name;
        }
        if line.starts_with("calls=") {
            is_call = true;
            return None;
        }
        let (address, count) = line.strip_prefix("0x")?.split_once(' ')?;
        if core::mem::take(&mut is_call) {
            return None;
        }
        Some(Line { object, address: u64::from_str_radix(address, 16).ok()?, count: count.trim().parse().ok()? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_not_counted_twice() {
        let text = "desc: Trigger: Client Request: mutex/lock\n\npositions: instr\nob=/a\nfn=f\n0x10 64\n\
                    cob=/b\ncfn=g\ncalls=64 0x20\n0x14 128\n0x18 64\nob=/b\nfn=g\n0x20 128\n";
        let found: Vec<(&str, u64, f64)> = lines(text).map(|line| (line.object, line.address, line.count)).collect();
        assert_eq!(found, [("/a", 0x10, 64.0), ("/a", 0x18, 64.0), ("/b", 0x20, 128.0)]);
        assert_eq!(row_name(text), Some("mutex/lock"));
    }
}

//! Counts, checks and reports. `cargo xtask bench` builds the programs and then runs this one.

mod build_cost;
mod callgrind;
mod charts;
mod code;
mod failure;
mod gate;
mod machine;
mod measured;
mod page;
mod rows;
mod table;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use results::{Costs, Instructions};

use failure::{Failure, OrTell as _, Result};
use gate::{Record, Verdict};
use measured::Measured;
use rows::{LOCKS, RAW_LOCKS};

/// The exit status that tells xtask that nothing could be checked.
const SKIPPED: u8 = 3;

const WRITABLE: &str = "the target folder must be writable";

/// The folders.
struct Places {
    /// The repository.
    root: PathBuf,
    /// The built programs.
    programs: PathBuf,
    /// The measurements, and callgrind's files.
    results: PathBuf,
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    match run(&args) {
        Ok(Verdict::Passed(what)) => {
            println!("{what}");
            ExitCode::SUCCESS
        }
        Ok(Verdict::Skipped(why)) => {
            let line = "!".repeat(80);
            eprintln!("{line}\ninstructions: SKIPPED, nothing was checked: {why}\n{line}");
            ExitCode::from(SKIPPED)
        }
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<Verdict> {
    let [root, programs, results, parts @ ..] = args else {
        return Err(Failure::new("the arguments with the folders are missing", "run `cargo xtask bench`"));
    };
    let places = Places { root: root.into(), programs: programs.into(), results: results.into() };
    fs::create_dir_all(&places.results).or_tell(WRITABLE)?;
    for part in parts {
        match part.as_str() {
            "gate" => return Record::read(&places.root)?.check(&count_ours(&places)?),
            "record" => record(&places)?,
            "instructions" => instructions(&places)?,
            "memory" | "overload" | "fairness" | "clock" => measure(&places, part, &[])?,
            "fairness-quick" | "clock-quick" => measure(&places, part.trim_end_matches("-quick"), &["--quick"])?,
            "build-cost" => {
                let costs = build_cost::measure(&places.root, &places.results)?;
                results::write(&places.results.join("build-cost.json"), &costs).or_tell(WRITABLE)?;
            }
            "report" => {
                let profile = places.programs.file_name().unwrap_or_default().to_string_lossy().into_owned();
                page::write(&places.root, &rustc()?.0, &profile, &Measured::read(&places.results))?;
            }
            _ => return Err(Failure::new(&format!("there is no part `{part}`"), "run `cargo xtask bench`")),
        }
    }
    Ok(Verdict::Passed(format!("done: {}", parts.join(", "))))
}

fn record(places: &Places) -> Result<()> {
    count_ours(places)?.write(&places.root)?;
    println!("instructions: recorded in {}", gate::RECORD);
    Ok(())
}

fn count_ours(places: &Places) -> Result<Record> {
    callgrind::version()?;
    let (rustc, target) = rustc()?;
    Ok(Record::new(rustc, target, &count(places, ours())?))
}

fn instructions(places: &Places) -> Result<()> {
    let valgrind = callgrind::version()?;
    let peers = LOCKS[1..].iter().map(|lock| lock.program);
    let programs = count(places, ours().chain(peers))?;
    let path = places.results.join("instructions.json");
    results::write(&path, &Instructions { valgrind, programs }).or_tell(WRITABLE)
}

/// Runs a program that measures one part and writes a file.
fn measure(places: &Places, program: &str, args: &[&str]) -> Result<()> {
    eprintln!("measuring {program}");
    let file = places.results.join(program).with_extension("json");
    let status = Command::new(places.programs.join(program)).arg(file).args(args).status();
    if status.or_tell("the program was built a moment ago; run the command again")?.success() {
        return Ok(());
    }
    Err(Failure::new(&format!("`{program}` failed"), "read its message above"))
}

/// fifolock's programs, one for each raw lock.
fn ours() -> impl Iterator<Item = &'static str> {
    RAW_LOCKS.iter().map(|(_, program)| *program)
}

fn count<'a>(places: &Places, programs: impl Iterator<Item = &'a str>) -> Result<BTreeMap<String, Costs>> {
    let folder = places.results.join("callgrind");
    let mut counted = BTreeMap::new();
    for name in programs {
        eprintln!("counting {name}");
        counted.insert(name.to_owned(), callgrind::count(&places.programs.join(name), &folder)?);
    }
    Ok(counted)
}

/// The compiler's version, without the commit, and its target.
fn rustc() -> Result<(String, String)> {
    let output = Command::new("rustc").arg("-vV").output().or_tell("check that rustc is on PATH")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned();
    Ok((format!("rustc {}", line("release:")), line("host:")))
}

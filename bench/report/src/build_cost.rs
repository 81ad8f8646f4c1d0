//! The cost of building the locks: crates in the tree, and a release build from clean.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use results::BuildCost;

use crate::failure::{Failure, OrTell as _, Result};

/// The dependencies of a program that uses the locks alone. Their versions are those of `bench/Cargo.lock`.
const CRATES: &[(&str, &str)] = &[
    ("fifolock", "path = \"ROOT/crates/fifolock\""),
    ("tokio", "default-features = false, features = [\"sync\"]"),
    ("async-lock", ""),
    ("futures", ""),
    ("futures-intrusive", ""),
    ("maitake-sync", ""),
    ("embassy-sync", ""),
    ("asyncband", "features = [\"mutex\", \"rwlock\"]"),
    ("saa", ""),
    ("parking_lot", ""),
];

pub(crate) fn measure(root: &Path, folder: &Path) -> Result<Vec<BuildCost>> {
    let lock = fs::read_to_string(root.join("bench/Cargo.lock")).or_tell("the file belongs in the repository")?;
    CRATES.iter().map(|(name, how)| one(root, &folder.join("build-cost").join(name), &lock, name, how)).collect()
}

fn one(root: &Path, folder: &Path, lock: &str, name: &str, how: &str) -> Result<BuildCost> {
    eprintln!("building {name} from clean");
    let writable = "the target folder must be writable";
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder.join("src")).or_tell(writable)?;
    let how = how.replace("ROOT", &root.display().to_string());
    let version = crate::machine::version(lock, name).unwrap_or("*");
    let requirement = if how.contains("path") { String::new() } else { format!("version = \"={version}\"") };
    let comma = if how.is_empty() || requirement.is_empty() { "" } else { ", " };
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"build-cost\"\nedition = \"2024\"\n\n\
         [dependencies]\n{name} = {{ {requirement}{comma}{how} }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).or_tell(writable)?;
    fs::write(folder.join("src/lib.rs"), "").or_tell(writable)?;
    // The dependencies have the same versions. Cargo removes the packages that the program doesn't need.
    fs::write(folder.join("Cargo.lock"), lock).or_tell(writable)?;

    let tree = cargo(folder, &["tree", "--edges", "normal,build", "--prefix", "none"])?;
    let mut crates: Vec<&str> = tree.lines().skip(1).map(|line| line.trim_end_matches(" (*)")).collect();
    crates.sort_unstable();
    crates.dedup();
    // All packages are fetched before the clock runs.
    cargo(folder, &["fetch"])?;
    let start = Instant::now();
    cargo(folder, &["build", "--release", "--offline", "--target-dir", "target"])?;
    let seconds = start.elapsed().as_secs_f64();
    let _ = fs::remove_dir_all(folder.join("target"));
    Ok(BuildCost { lock: name.to_owned(), version: version.to_owned(), crates: crates.len(), seconds })
}

fn cargo(folder: &Path, args: &[&str]) -> Result<String> {
    let output = Command::new("cargo")
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .or_tell("check that cargo is on PATH")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Failure::new(&format!("`cargo {}` failed:\n{said}", args.join(" ")), "run the command by itself"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

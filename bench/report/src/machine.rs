//! The machine and the versions of the measurements.

use core::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::thread;

use crate::failure::{OrTell as _, Result};
use crate::rows::LOCKS;

/// The processor's model, the number of cores, and the system, without the name of the machine.
pub(crate) fn machine() -> String {
    let field = |file: &str, name: &str, separator: char| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let value = text.lines().find(|line| line.starts_with(name))?.split_once(separator)?.1;
        Some(value.trim().trim_matches('"').to_owned())
    };
    let unknown = || "unknown".to_owned();
    let cpu = field("/proc/cpuinfo", "model name", ':').unwrap_or_else(unknown);
    let system = field("/etc/os-release", "PRETTY_NAME", '=').unwrap_or_else(unknown);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    format!("{cpu}, {cores} cores; {system}")
}

/// The versions of the peers, as pinned by `bench/Cargo.lock`.
pub(crate) fn versions(root: &Path) -> Result<String> {
    let lock = fs::read_to_string(root.join("bench/Cargo.lock")).or_tell("the file belongs in the repository")?;
    let mut text = String::new();
    let packages = LOCKS.iter().map(|lock| lock.package).filter(|package| !package.is_empty());
    for package in packages.chain(["smol"]) {
        let version = version(&lock, package).unwrap_or("of an unknown version");
        let _ = write!(text, "{}{package} {version}", if text.is_empty() { "" } else { ", " });
    }
    Ok(text)
}

/// The newest version of a package. An older one is a dependency of another package.
pub(crate) fn version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, rest) = lock.rsplit_once(&format!("name = \"{package}\"\nversion = \""))?;
    rest.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_two_versions_is_named() {
        let lock = "name = \"a\"\nversion = \"0.12.5\"\n\n[[package]]\nname = \"a\"\nversion = \"0.13.0\"\n";
        assert_eq!(version(lock, "a"), Some("0.13.0"));
        assert_eq!(version(lock, "b"), None);
    }
}

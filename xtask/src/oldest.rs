//! The published crates build with the oldest dependencies that their manifests allow, and with the newest.
//!
//! The lock file has the versions that the tests run with. A user's program may have any version that the manifests
//! allow, often one of a line with long-term support.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result, has_toolchain, is_published};

const HERE: &str = "check that files can be written below cargo's target folder";

/// The release lines that users stay on: the package that uses them, and the versions. Tokio's are the lines with
/// long-term support. The two crates of embassy are released together.
const LINES: &[(&str, &[(&str, &str)])] = &[
    ("fifolock-tokio", &[("tokio", "~1.47")]),
    ("fifolock-tokio", &[("tokio", "~1.51")]),
    ("fifolock-embassy", &[("embassy-sync", "~0.7"), ("embassy-time", "~0.4")]),
    ("fifolock-embassy", &[("embassy-sync", "~0.8"), ("embassy-time", "~0.5")]),
    ("fifolock-smol", &[("async-io", "~2.3")]),
];

pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    if !has_toolchain(cx, "nightly") {
        return cx.skip_unless_ci(
            "no toolchain `nightly`: only its cargo chooses the oldest versions",
            "run `rustup toolchain install nightly --profile minimal`",
        );
    }
    let copy = write_copy(cx)?;
    let sh = &cx.sh;
    let _in_copy = sh.push_dir(&copy);
    // Cargo would keep the versions of an existing lock file as far as possible.
    sh.remove_path("Cargo.lock").or_tell("check that files can be removed below cargo's target folder")?;
    cmd!(sh, "rustup run nightly cargo update -Zdirect-minimal-versions")
        .run()
        .or_tell("raise the lower bound in Cargo.toml to the one that cargo names")?;
    check(cx, "raise the lower bound in Cargo.toml, or do without what the old version lacks")?;
    cmd!(sh, "cargo update --quiet").run().or_tell("check that the registry can be reached")?;
    check(cx, "adapt to the new version; if it no longer allows an old one, raise the lower bound in Cargo.toml")?;
    let manifest = sh.read_file("Cargo.toml").or_tell(HERE)?;
    for (name, versions) in LINES {
        let chosen = versions.iter().try_fold(manifest.clone(), |text, (dependency, version)| {
            with_version(&text, dependency, version).ok_or_else(|| {
                Failure::new(
                    &format!("Cargo.toml has no `{dependency}` of the workspace"),
                    "correct LINES in xtask/src/oldest.rs",
                )
            })
        });
        sh.write_file("Cargo.toml", chosen?).or_tell(HERE)?;
        println!("oldest: {name} with {versions:?}");
        cmd!(sh, "cargo update --quiet")
            .run()
            .or_tell("remove the line from LINES if the manifests don't allow it any more")?;
        check_one(cx, name, "adapt to the line, or drop it from LINES, docs/POLICY.md and the adapter's page")?;
    }
    Ok(Outcome::Passed)
}

/// Checks each published crate by itself. Beside others, a crate could use a feature that only they turn on.
fn check(cx: &Context, remedy: &str) -> Result<()> {
    published(cx).try_for_each(|package| check_one(cx, name(package), remedy))
}

fn check_one(cx: &Context, name: &str, remedy: &str) -> Result<()> {
    let sh = &cx.sh;
    let target = cx.target.join("oldest");
    cmd!(sh, "cargo check --quiet --locked -p {name} --all-features --target-dir {target}").run().or_tell(remedy)
}

/// Writes a workspace with the published crates only, without the dependencies of their tests. The manifests are
/// copied, and point to the original sources.
fn write_copy(cx: &Context) -> Result<PathBuf> {
    let sh = &cx.sh;
    let read = |path: &Path| sh.read_file(path).or_tell("the file belongs in the repository");
    let copy = cx.target.join("oldest").join("workspace");
    let crates = copy.join("crates");
    // The folder may have a crate that was renamed or is not published any more.
    sh.remove_path(&crates).or_tell(HERE)?;
    let root = read(&cx.root.join("Cargo.toml"))?;
    let root = with_members(&root).ok_or_else(|| {
        Failure::new("Cargo.toml has no line that begins with `members`", "fix it, or xtask/src/oldest.rs")
    })?;
    sh.write_file(copy.join("Cargo.toml"), root).or_tell(HERE)?;
    for package in published(cx) {
        let manifest = Path::new(package["manifest_path"].as_str().expect("cargo metadata names the manifest"));
        let library = manifest.with_file_name("src").join("lib.rs");
        let text = format!("{}\n[lib]\npath = '{}'\n", for_users(&read(manifest)?), library.display());
        sh.write_file(crates.join(name(package)).join("Cargo.toml"), text).or_tell(HERE)?;
    }
    fs::canonicalize(copy).or_tell(HERE)
}

fn published(cx: &Context) -> impl Iterator<Item = &Value> {
    cx.packages().iter().filter(|package| is_published(package))
}

fn name(package: &Value) -> &str {
    package["name"].as_str().expect("a package has a name")
}

/// The workspace's manifest with the members that stand in `crates`.
fn with_members(manifest: &str) -> Option<String> {
    let members = manifest.lines().find(|line| line.starts_with("members = "))?;
    Some(manifest.replace(members, "members = [\"crates/*\"]"))
}

/// The workspace's manifest with another version of a dependency. The new line replaces the old one, since cargo
/// refuses two.
fn with_version(manifest: &str, dependency: &str, version: &str) -> Option<String> {
    let line = manifest.lines().find(|line| line.starts_with(&format!("{dependency} = ")))?;
    let (before, after) = match line.split_once("version = \"") {
        Some((before, after)) => (format!("{before}version = "), after),
        None => (format!("{dependency} = "), line.split_once(" = \"")?.1),
    };
    let (_, rest) = after.split_once('"')?;
    Some(manifest.replace(line, &format!("{before}\"{version}\"{rest}")))
}

/// A package's manifest without the dependencies of its tests, and without its examples.
fn for_users(manifest: &str) -> String {
    let mut is_for_users = true;
    let lines = manifest.lines().filter(|line| {
        if line.starts_with('[') {
            is_for_users = !line.contains("dev-dependencies") && !line.starts_with("[[");
        }
        is_for_users
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_of_tests_are_left_out() {
        let manifest = "[package]\nname = \"a\"\n[dependencies]\nb = \"1\"\n[dev-dependencies]\nc = \"1\"\n\
                        [target.'cfg(x)'.dev-dependencies]\nd = \"1\"\n[[example]]\nname = \"e\"\n[features]\nf = []";
        let users = "[package]\nname = \"a\"\n[dependencies]\nb = \"1\"\n[features]\nf = []";
        assert_eq!(for_users(manifest), users);
    }

    #[test]
    fn versions_are_replaced() {
        let manifest = "a = \"1\"\nab = { version = \">=0.4, <1\", features = [\"c\"] }";
        assert_eq!(with_version(manifest, "a", "~2.1").unwrap(), manifest.replace("\"1\"", "\"~2.1\""));
        assert_eq!(with_version(manifest, "ab", "~2").unwrap(), manifest.replace(">=0.4, <1", "~2"));
        assert_eq!(with_version(manifest, "c", "~2"), None);
    }

    #[test]
    fn members_are_replaced() {
        let manifest = "[workspace]\nmembers = [\"crates/*\", \"xtask\"]\n\n[workspace.package]\n";
        assert_eq!(with_members(manifest).unwrap(), "[workspace]\nmembers = [\"crates/*\"]\n\n[workspace.package]\n");
        assert_eq!(with_members("[package]"), None);
    }
}

//! The published crates build with the oldest dependencies that they say they do, and with the newest.
//!
//! A lock file holds the versions that the tests run with. A user's program may hold any that the manifests allow.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result};
use crate::lint::{has_toolchain, is_published};

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
    // A lock file that is there would be kept as far as possible.
    sh.remove_path("Cargo.lock").or_tell("check that files can be removed below cargo's target folder")?;
    cmd!(sh, "rustup run nightly cargo update -Zdirect-minimal-versions")
        .run()
        .or_tell("raise the lower bound in Cargo.toml to the one that cargo names")?;
    check(cx, "raise the lower bound in Cargo.toml, or do without what the old version has not")?;
    cmd!(sh, "cargo update --quiet").run().or_tell("check that the registry can be reached")?;
    check(cx, "adapt to the new version; if it allows no old one any more, raise the lower bound in Cargo.toml")?;
    Ok(Outcome::Passed)
}

/// Checks each published crate by itself: beside others it could use what only they turn on.
fn check(cx: &Context, remedy: &str) -> Result<()> {
    let sh = &cx.sh;
    let target = cx.target.join("oldest");
    for package in published(cx) {
        let name = name(package);
        cmd!(sh, "cargo check --quiet --locked -p {name} --all-features --target-dir {target}")
            .run()
            .or_tell(remedy)?;
    }
    Ok(())
}

/// A workspace of the published crates alone, without what their tests need: their manifests, and the sources where they
/// are.
fn write_copy(cx: &Context) -> Result<PathBuf> {
    const HERE: &str = "check that files can be written below cargo's target folder";
    let sh = &cx.sh;
    let read = |path: &Path| sh.read_file(path).or_tell("the file belongs in the repository");
    let copy = cx.target.join("oldest").join("workspace");
    let crates = copy.join("crates");
    // A crate that was renamed or is no longer published.
    sh.remove_path(&crates).or_tell(HERE)?;
    let root = read(&cx.root.join("Cargo.toml"))?;
    let root = with_members(&root).ok_or_else(|| {
        Failure::new("Cargo.toml has no line that begins with `members`", "mend it, or xtask/src/oldest.rs")
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

/// The workspace's manifest with those members that stand in `crates`.
fn with_members(manifest: &str) -> Option<String> {
    let members = manifest.lines().find(|line| line.starts_with("members = "))?;
    Some(manifest.replace(members, "members = [\"crates/*\"]"))
}

/// A package's manifest without its tests' dependencies and its examples.
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
    fn members_are_replaced() {
        let manifest = "[workspace]\nmembers = [\"crates/*\", \"xtask\"]\n\n[workspace.package]\n";
        assert_eq!(with_members(manifest).unwrap(), "[workspace]\nmembers = [\"crates/*\"]\n\n[workspace.package]\n");
        assert_eq!(with_members("[package]"), None);
    }
}

//! What users get with the locks: few dependencies, also in their lock files, no proc macros in the core, and no
//! implementation of `critical-section`. The final binary chooses that implementation, and two of them don't link.

use core::fmt::Write as _;

use serde_json::Value;
use xshell::cmd;

use crate::api;
use crate::bench;
use crate::context::{Context, Failure, OrElse as _, Outcome, Result, is_published};
use crate::features::declared;
use crate::fuzz;
use crate::suites::EMBASSY_STD;

/// What the core may depend on, and under which condition. A condition that
/// is not here, such as loom's, is no user's build.
const CORE_DEPENDENCIES: &[&str] = &["critical-section", "defmt", "heapless", "pin-project-lite", "spin"];

/// Dependencies of builds that only the project makes.
const CORE_TEST_CFGS: [&str; 2] = ["cfg(fifolock_loom)", "cfg(fifolock_shuttle)"];

/// All that the lock file of a user of `fifolock` with the feature `tokio` names.
const TOKIO_USERS_LOCK_FILE: &[&str] = &[
    "byteorder",
    "fifolock",
    "fifolock-core",
    "fifolock-tokio",
    "hash32",
    "heapless",
    "pin-project-lite",
    "stable_deref_trait",
    "tokio",
];

/// Packages that only the project's own tests need. No user's lock file names them, with any features.
const NO_USERS: &[&str] = &["fifolock-conformance", "loom", "proptest", "shuttle", "trybuild"];

/// Features that choose an implementation: only a binary may.
const BINARYS_CHOICE: &[(&str, &[&str])] = &[
    (
        "critical-section",
        &[
            "std",
            "restore-state-none",
            "restore-state-bool",
            "restore-state-u8",
            "restore-state-u16",
            "restore-state-u32",
            "restore-state-u64",
            "restore-state-usize",
        ],
    ),
    ("portable-atomic", &["critical-section", "unsafe-assume-single-core"]),
];

/// The manifest of a user's program, without the dependencies.
const USER: &str = "\
[workspace]
[package]
name = \"user\"
version = \"0.0.0\"
edition = \"2024\"
[dependencies]
";

pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    core_depends_on_little(cx)?;
    core_has_no_proc_macros(cx)?;
    no_implementation_is_chosen(cx)?;
    users_lock_files_are_short(cx)?;
    lock_files_are_current(cx)?;
    Ok(Outcome::Passed)
}

fn core_depends_on_little(cx: &Context) -> Result<()> {
    let strangers = strangers(cx.package("fifolock-core")?);
    if strangers.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        &format!("fifolock-core depends on {}", strangers.join(", ")),
        &format!(
            "remove the dependency, or argue for it in CORE_DEPENDENCIES, which has {}",
            CORE_DEPENDENCIES.join(", ")
        ),
    ))
}

/// Normal dependencies that the core must not have.
fn strangers(package: &Value) -> Vec<&str> {
    package["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|dependency| dependency["kind"].is_null())
        .filter(|dependency| !CORE_TEST_CFGS.iter().any(|cfg| dependency["target"] == *cfg))
        .filter_map(|dependency| dependency["name"].as_str())
        .filter(|name| !CORE_DEPENDENCIES.contains(name))
        .collect()
}

fn core_has_no_proc_macros(cx: &Context) -> Result<()> {
    let sh = &cx.sh;
    // defmt has a proc macro, and is a dependency only if the user asks for it.
    let features: Vec<&str> =
        declared(cx.package("fifolock-core")?).into_keys().filter(|feature| *feature != "defmt").collect();
    let features = features.join(",");
    let tree = cmd!(sh, "cargo tree -p fifolock-core --features {features} -e normal --prefix none")
        .read()
        .or_tell("run the command by itself")?;
    match tree.lines().find(|line| line.contains("(proc-macro)")) {
        None => Ok(()),
        Some(line) => Err(Failure::new(
            &format!("fifolock-core's tree has a proc macro: {line}"),
            "`cargo tree -p fifolock-core -e normal` shows which dependency brings it; use a macro by example",
        )),
    }
}

fn no_implementation_is_chosen(cx: &Context) -> Result<()> {
    let sh = &cx.sh;
    // Without the default features, as firmware uses the crate, and with all features.
    let no_std: &[&str] = &["--no-default-features", "--features", "alloc,critical-section,spin"];
    for features in [no_std, &["--all-features"]] {
        // All targets, since some dependencies exist on microcontrollers only.
        let tree = cmd!(sh, "cargo tree -p fifolock {features...} -e normal,features --target all --prefix none")
            .read()
            .or_tell("run the command by itself")?;
        if !tree.contains("critical-section feature") {
            return Err(Failure::new(
                "fifolock's tree of features has no critical-section",
                "see whether `cargo tree` prints features differently now, and mend xtask/src/deps.rs",
            ));
        }
        if let Some(choice) = chosen_implementation(&tree) {
            return Err(Failure::new(
                &format!("fifolock turns on an implementation: {choice}"),
                "turn the feature off: the final binary chooses the implementation",
            ));
        }
    }
    Ok(())
}

/// The first line of `cargo tree -e features` that turns on an implementation.
fn chosen_implementation(tree: &str) -> Option<&str> {
    tree.lines().find(|line| {
        BINARYS_CHOICE.iter().any(|(name, features)| {
            features.iter().any(|feature| line.starts_with(&format!("{name} feature \"{feature}\"")))
        })
    })
}

/// A dependency that is not optional is in every user's lock file, even if a `cfg` keeps it out of every build. `cargo
/// vendor` downloads such a dependency, and audits report it.
fn users_lock_files_are_short(cx: &Context) -> Result<()> {
    let named = users_lock_file(cx, &[("fifolock", vec!["tokio"])])?;
    if named != TOKIO_USERS_LOCK_FILE {
        return Err(Failure::new(
            &format!("the lock file of a user with tokio names {}", named.join(", ")),
            "make the new dependency optional, behind a feature whose name begins with `_`, or argue for it in TOKIO_USERS_LOCK_FILE",
        ));
    }
    let published = cx.packages().iter().filter(|package| is_published(package));
    let all: Vec<_> = published
        .map(|package| (package["name"].as_str().expect("a name"), declared(package).into_keys().collect()))
        .collect();
    let named = users_lock_file(cx, &all)?;
    if let Some(name) = named.iter().find(|name| NO_USERS.contains(&name.as_str())) {
        return Err(Failure::new(
            &format!("the lock file of a user of all features names {name}"),
            "make the dependency optional, behind a feature whose name begins with `_`",
        ));
    }
    Ok(())
}

/// The packages in the lock file of a program that depends on these crates with these features, without the program
/// itself.
fn users_lock_file(cx: &Context, crates: &[(&str, Vec<&str>)]) -> Result<Vec<String>> {
    const HERE: &str = "check that files can be written below cargo's target folder";
    let sh = &cx.sh;
    let user = cx.target.join("user");
    let mut manifest = USER.to_owned();
    for (name, features) in crates {
        let path = cx.root.join("crates").join(name);
        let _ = writeln!(manifest, "{name} = {{ path = '{}', features = {features:?} }}", path.display());
    }
    sh.write_file(user.join("src/lib.rs"), "").or_tell(HERE)?;
    sh.write_file(user.join("Cargo.toml"), manifest).or_tell(HERE)?;
    // The program starts from the workspace's lock file, so cargo needs no registry, and removes the packages that the
    // program does not use.
    sh.copy_file(cx.root.join("Cargo.lock"), user.join("Cargo.lock")).or_tell(HERE)?;
    cmd!(sh, "cargo tree --quiet --depth 0")
        .args(["--manifest-path".into(), user.join("Cargo.toml")])
        .ignore_stdout()
        .run()
        .or_tell("run the command by itself")?;
    Ok(names(&sh.read_file(user.join("Cargo.lock")).or_tell(HERE)?))
}

/// The names in a lock file, without the user's program.
fn names(lock_file: &str) -> Vec<String> {
    let names = lock_file.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    names.filter(|name| *name != "user").map(str::to_owned).collect()
}

fn lock_files_are_current(cx: &Context) -> Result<()> {
    let sh = &cx.sh;
    for manifest in
        ["Cargo.toml", "xtask/nostd-check/Cargo.toml", EMBASSY_STD, bench::MANIFEST, api::MANIFEST, fuzz::MANIFEST]
    {
        cmd!(sh, "cargo tree --locked --quiet --manifest-path {manifest} --depth 0")
            .ignore_stdout()
            .run()
            .or_tell(&format!("run `cargo check --manifest-path {manifest}` and commit Cargo.lock with the change"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_normal_dependencies_of_user_builds_are_strangers() {
        let package = json!({ "dependencies": [
            { "name": "heapless", "kind": null, "target": null },
            { "name": "loom", "kind": null, "target": "cfg(fifolock_loom)" },
            { "name": "shuttle", "kind": null, "target": "cfg(fifolock_shuttle)" },
            { "name": "proptest", "kind": "dev", "target": null },
            { "name": "tokio", "kind": null, "target": null },
            { "name": "libc", "kind": null, "target": "cfg(unix)" },
        ]});
        assert_eq!(strangers(&package), ["tokio", "libc"]);
    }

    #[test]
    fn choices_of_an_implementation_are_found() {
        let harmless = "critical-section feature \"default\"\ncritical-section v1.2.0";
        assert_eq!(chosen_implementation(harmless), None);
        let choice = "critical-section feature \"restore-state-bool\"";
        let tree = format!("{harmless}\n{choice}");
        assert_eq!(chosen_implementation(&tree), Some(choice));
        let other = "heapless feature \"std\"";
        assert_eq!(chosen_implementation(other), None);
    }

    #[test]
    fn names_are_read_from_a_lock_file() {
        let lock_file = "version = 4\n\n[[package]]\nname = \"loom\"\nversion = \"0.7.2\"\n\n[[package]]\nname = \"user\"\n\
                         dependencies = [\n \"loom\",\n]\n";
        assert_eq!(names(lock_file), ["loom"]);
    }
}

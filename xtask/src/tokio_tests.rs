//! tokio's own tests of its locks, run with fifolock's locks. Only the meaning of the name `tokio` changes: a generated
//! crate of that name re-exports tokio, with the locks of `fifolock::tokio` or of `fifolock::tokio::drop_in` in the
//! place of tokio's.
//!
//! The test files come from tokio's published package, in the version that the workspace builds with. The repository
//! contains none of them.

use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::{Cmd, cmd};

use crate::context::{Context, Failure, OrElse as _, Outcome, Result, read_json, run_tests};

/// A test file of tokio, and the parts that can't hold for other locks.
struct Suite {
    file: &'static str,
    /// The files that it includes as modules.
    modules: &'static [&'static str],
    kind: Kind,
}

impl Suite {
    const fn tests(file: &'static str) -> Self {
        Self { file, modules: &[], kind: Kind::Tests { skip: &[] } }
    }
}

enum Kind {
    /// All tests must pass, except those named, each with the reason.
    Tests { skip: &'static [(&'static str, &'static str)] },
    /// A table of assertions, which hold if the file compiles, without the rows named, each with the reason.
    Table { without: &'static [(&'static str, &'static str)] },
}

const SUITES: &[Suite] = &[
    Suite::tests("sync_mutex"),
    Suite::tests("sync_mutex_owned"),
    Suite { modules: &["support/panic"], ..Suite::tests("sync_panic") },
    Suite::tests("sync_rwlock"),
    Suite {
        file: "async_send_sync",
        modules: &[],
        kind: Kind::Table {
            without: &[(
                "assert_value!(tokio::sync::OwnedMappedMutexGuard<YN,YY>: Send & !Sync & Unpin);",
                "sharing fifolock's guard shares the part and the mutex, and Mutex<T> is Sync for T: Send; \
                 tokio asks for T: Sync without need",
            )],
        },
    },
];

/// The modules whose locks replace tokio's, with the features that choose each in the generated crate.
const MODULES: [(&str, &[&str]); 2] =
    [("fifolock::tokio", &[]), ("fifolock::tokio::drop_in", &["--features", "drop-in"])];

/// The names of `tokio::sync` that the generated crate replaces.
const RENAMED: &[&str] = &[
    "MappedMutexGuard",
    "Mutex",
    "MutexGuard",
    "OwnedMappedMutexGuard",
    "OwnedMutexGuard",
    "OwnedRwLockMappedWriteGuard",
    "OwnedRwLockReadGuard",
    "OwnedRwLockWriteGuard",
    "RwLock",
    "RwLockMappedWriteGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "TryLockError",
];

pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let metadata = read_json(&cmd!(sh, "cargo metadata --format-version 1"))?;
    let tokio = published_tokio(&metadata)?;
    let folder = cx.target.join("tokio-shadow");
    generate(cx, tokio, &folder)?;
    let mut report = String::new();
    let mut failed = Vec::new();
    for (module, features) in MODULES {
        for &Suite { file, ref kind, .. } in SUITES {
            let test = || cargo_test(cx, &folder, file).args(features);
            let done = match kind {
                Kind::Tests { skip } => run_suite(test, file, skip),
                Kind::Table { without } => compile_table(cx, test, &suite_file(&folder, file), file, without),
            };
            let done = done.unwrap_or_else(|failure| {
                failed.push(format!("{file} on {module}"));
                format!("FAILED: {failure}")
            });
            report.push_str(&format!("\n  {file} on {module}: {done}"));
        }
    }
    let version = text(tokio, "version");
    println!("tokio-tests: of tokio {version}, on fifolock's locks:{report}");
    if failed.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(
        &format!("tokio's tests don't hold for fifolock's locks: {}", failed.join(", ")),
        "see the report above; a test that can't hold by contract goes on the list in xtask/src/tokio_tests.rs, \
         with the reason",
    ))
}

/// `cargo test` for one file of the generated suite.
fn cargo_test<'a>(cx: &'a Context, folder: &Path, file: &str) -> Cmd<'a> {
    let sh = &cx.sh;
    let (manifest, target) = (folder.join("Cargo.toml"), folder.join("target"));
    cmd!(sh, "cargo test --manifest-path {manifest} --target-dir {target} --package tokio-suite --test {file}")
}

fn run_suite<'a>(test: impl Fn() -> Cmd<'a>, file: &str, skip: &[(&str, &str)]) -> Result<String> {
    let names = test()
        .args(["--", "--list"])
        .read()
        .or_tell("if it doesn't compile, a name or bound of fifolock::tokio differs from tokio's")?;
    for (name, _) in skip {
        if !names.lines().any(|line| line == format!("{name}: test")) {
            return Err(Failure::new(
                &format!("{file} has no test `{name}`, which the list skips"),
                "take it off the list in xtask/src/tokio_tests.rs, or give it the new name",
            ));
        }
    }
    let skipped = skip.iter().flat_map(|(name, _)| ["--skip", name]);
    let passed = run_tests(test().args(["--", "--exact"]).args(skipped))?;
    Ok(format!("{passed} tests passed{}", exceptions(skip)))
}

fn compile_table<'a>(
    cx: &Context,
    test: impl Fn() -> Cmd<'a>,
    table: &Path,
    file: &str,
    without: &[(&str, &str)],
) -> Result<String> {
    let source = cx.sh.read_file(table).or_tell("run the command again")?;
    let rows = source.lines().filter(|line| names_a_lock(line)).count();
    if rows == 0 {
        return Err(Failure::new(
            &format!("{file} asserts nothing about a lock"),
            "see where tokio keeps its table of auto traits now, and follow it in xtask",
        ));
    }
    test()
        .arg("--no-run")
        .run()
        .or_tell("an auto trait of a lock, guard or future differs from tokio's; the error names it")?;
    Ok(format!("compiles, with {rows} assertions about locks{}", exceptions(without)))
}

/// The table without these rows. Each row leaves an empty line, so that errors have the line numbers of tokio's file.
fn leave_out(table: &str, rows: &[(&str, &str)]) -> Result<String> {
    let mut lines: Vec<&str> = table.lines().collect();
    for (row, _) in rows {
        let Some(line) = lines.iter_mut().find(|line| *line == row) else {
            return Err(Failure::new(
                &format!("tokio's table of auto traits has no row `{row}`, which the list leaves out"),
                "take it off the list in xtask/src/tokio_tests.rs, or give the row its new form",
            ));
        };
        *line = "";
    }
    Ok(lines.join("\n") + "\n")
}

/// The tests or rows that are left out, with the reasons, for the report.
fn exceptions(list: &[(&str, &str)]) -> String {
    list.iter().map(|(what, reason)| format!("\n    without {what}: {reason}")).collect()
}

/// Whether the line asserts something about one of [`RENAMED`].
fn names_a_lock(line: &str) -> bool {
    let Some((_, path)) = line.split_once("tokio::sync::") else {
        return false;
    };
    let name = path.split(|c: char| !c.is_alphanumeric()).next();
    name.is_some_and(|name| RENAMED.contains(&name))
}

fn published_tokio(metadata: &Value) -> Result<&Value> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let found: Vec<&Value> = packages.filter(|package| package["name"] == "tokio").collect();
    match found[..] {
        [tokio] => Ok(tokio),
        _ => Err(Failure::new(
            &format!("the workspace depends on {} versions of tokio", found.len()),
            "`cargo tree -i tokio` shows which crate needs which version; agree on one",
        )),
    }
}

/// Writes the generated crate and the suite. A file that has not changed is left as it is.
fn generate(cx: &Context, tokio: &Value, folder: &Path) -> Result<()> {
    let write = |path: PathBuf, contents: &str| write_if_changed(cx, &path, contents);
    write(folder.join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"shadow\", \"suite\"]\n")?;
    write(folder.join("shadow/Cargo.toml"), &shadow_manifest(cx, tokio))?;
    write(folder.join("shadow/src/lib.rs"), &shadow_library())?;
    write(folder.join("suite/Cargo.toml"), &suite_manifest(tokio)?)?;
    write(folder.join("suite/src/lib.rs"), "")?;

    let manifest = PathBuf::from(text(tokio, "manifest_path"));
    let tests = manifest.with_file_name("tests");
    for suite in SUITES {
        let source = tests.join(suite.file).with_extension("rs");
        let mut source =
            cx.sh.read_file(source).or_tell("see where tokio keeps this test now, and follow it in xtask")?;
        if let Kind::Table { without } = suite.kind {
            source = leave_out(&source, without)?;
        }
        write(suite_file(folder, suite.file), &source)?;
        for module in suite.modules {
            let source = cx.sh.read_file(tests.join(module).with_extension("rs"));
            write(
                suite_file(folder, module),
                &source.or_tell("see where tokio keeps this file now, and follow it in xtask")?,
            )?;
        }
    }
    pin_versions(cx, folder)
}

/// Starts from the workspace's lock file, so that the same versions are tested. Cargo adds the dependencies of the
/// suite, so the file is copied again only after the workspace's has changed.
fn pin_versions(cx: &Context, folder: &Path) -> Result<()> {
    let lock = cx.sh.read_file(cx.root.join("Cargo.lock")).or_tell("run `cargo check`, which writes it")?;
    let origin = folder.join("Cargo.lock.origin");
    if cx.sh.read_file(&origin).is_ok_and(|old| old == lock) {
        return Ok(());
    }
    write_if_changed(cx, &folder.join("Cargo.lock"), &lock)?;
    write_if_changed(cx, &origin, &lock)
}

fn suite_file(folder: &Path, file: &str) -> PathBuf {
    folder.join("suite/tests").join(file).with_extension("rs")
}

fn shadow_manifest(cx: &Context, tokio: &Value) -> String {
    // TOML's literal strings take a Windows path unchanged.
    let fifolock = cx.root.join("crates/fifolock");
    format!(
        r#"[package]
name = "tokio"
version = "0.0.0"
edition = "2024"
publish = false

[features]
drop-in = []

[dependencies]
fifolock = {{ path = '{}', features = ["tokio"] }}
real_tokio = {{ package = "tokio", version = "={}", features = ["full", "test-util"] }}
"#,
        fifolock.display(),
        text(tokio, "version"),
    )
}

/// An explicit re-export takes precedence over a glob, which makes the replacement.
fn shadow_library() -> String {
    let names = RENAMED.join(", ");
    format!(
        "pub use real_tokio::*;\n\n\
         pub mod sync {{\n    \
         #[cfg(not(feature = \"drop-in\"))]\n    pub use fifolock::tokio::{{{names}}};\n    \
         #[cfg(feature = \"drop-in\")]\n    pub use fifolock::tokio::drop_in::{{{names}}};\n    \
         pub use real_tokio::sync::*;\n}}\n"
    )
}

fn suite_manifest(tokio: &Value) -> Result<String> {
    let mut manifest = format!(
        r#"[package]
name = "tokio-suite"
version = "0.0.0"
edition = "{}"
publish = false

[features]
default = ["full", "sync"]
full = []
sync = []
drop-in = ["tokio/drop-in"]

[dependencies]
tokio = {{ path = "../shadow" }}

[dev-dependencies]
"#,
        text(tokio, "edition"),
    );
    for name in ["bytes", "futures", "tokio-test"] {
        manifest.push_str(&format!("{name} = \"{}\"\n", requirement(tokio, name)?));
    }
    // The conditions of tokio's own build mean nothing here.
    manifest.push_str("\n[lints.rust]\nunexpected_cfgs = \"allow\"\n");
    Ok(manifest)
}

/// The version of a dependency that tokio itself requires.
fn requirement<'a>(tokio: &'a Value, name: &str) -> Result<&'a str> {
    let dependencies = tokio["dependencies"].as_array().into_iter().flatten();
    dependencies
        .filter(|dependency| dependency["name"] == name)
        .find_map(|dependency| dependency["req"].as_str())
        .ok_or_else(|| {
            Failure::new(
                &format!("tokio does not depend on {name}"),
                "see what its tests import now, and follow it in xtask/src/tokio_tests.rs",
            )
        })
}

fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().expect("cargo metadata gives every package this key")
}

fn write_if_changed(cx: &Context, path: &Path, contents: &str) -> Result<()> {
    if cx.sh.read_file(path).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    cx.sh.write_file(path, contents).or_tell("check that the target folder can be written")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn assertions_about_locks_are_told_from_others() {
        assert!(names_a_lock("assert_value!(tokio::sync::Mutex<NN>: !Send & !Sync & Unpin);"));
        assert!(names_a_lock("async_assert_fn!(tokio::sync::RwLock<YY>::read(_): Send);"));
        assert!(!names_a_lock("assert_value!(tokio::sync::MutexLike: Send);"));
        assert!(!names_a_lock("assert_value!(tokio::sync::Barrier: Send & Sync & Unpin);"));
        assert!(!names_a_lock("use std::rc::Rc;"));
    }

    #[test]
    fn rows_that_are_left_out_must_be_there() {
        let left = leave_out("a;\nb;\nc;\n", &[("b;", "why")]).unwrap();
        assert_eq!(left, "a;\n\nc;\n");
        assert!(leave_out("a;\n", &[("b;", "why")]).is_err());
    }

    #[test]
    fn exactly_one_tokio_is_taken() {
        let one = json!({ "packages": [{ "name": "tokio" }, { "name": "tokio-test" }] });
        assert!(published_tokio(&one).is_ok());
        let two = json!({ "packages": [{ "name": "tokio" }, { "name": "tokio" }] });
        assert!(published_tokio(&two).is_err());
        assert!(published_tokio(&json!({})).is_err());
    }
}

//! The examples of the documentation: every public method has one that a reader can copy.
//!
//! The facade's pages show the core's methods. An example that names the core would not compile in a user's program.

use std::fs;
use std::path::Path;

use crate::context::{Context, Failure, OrElse as _, Result};

/// The folders whose documentation users read.
const SOURCES: [&str; 5] = [
    "crates/fifolock-core/src",
    "crates/fifolock-tokio/src",
    "crates/fifolock-smol/src",
    "crates/fifolock-async-std/src",
    "crates/fifolock-embassy/src",
];

/// Sources for authors of adapters only, who use the core's own names.
const FOR_ADAPTERS: [&str; 3] = ["src/error.rs", "src/platform.rs", "src/raw/"];

pub(crate) fn check(cx: &Context) -> Result<()> {
    let mut faults = Vec::new();
    for folder in SOURCES {
        read(&cx.root, &cx.root.join(folder), &mut faults).or_tell("the sources belong in the repository")?;
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        &format!("examples of the documentation are missing, or can't be copied:{}", faults.concat()),
        "show in a few lines what the method is for, below `# fifolock_core::__facade!();` and a `use` of the facade",
    ))
}

fn read(root: &Path, folder: &Path, faults: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let shown = path.strip_prefix(root).expect("below it").display().to_string();
        // Tests are left out, and so are items that are public only inside the crate.
        let is_shown = !["tests", "test_tools", "src/queue", "src/state"].iter().any(|part| shown.contains(part));
        if path.is_dir() {
            if is_shown {
                read(root, &path, faults)?;
            }
        } else if is_shown && path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path)?;
            faults.extend(methods_without(&source).map(|method| format!("\n  {shown}: `{method}` has no example")));
            if !FOR_ADAPTERS.iter().any(|part| shown.contains(part)) {
                faults.extend(foreign_names(&source).map(|line| format!("\n  {shown}: not the facade's name: {line}")));
            }
        }
    }
    Ok(())
}

/// The documented public methods that have no example.
fn methods_without(source: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = source.lines().collect();
    let methods = lines.iter().enumerate().filter_map(|(at, line)| Some((at, public_method(line)?)));
    let without: Vec<&str> = methods
        .filter(|(at, _)| {
            let is_above = |line: &&&str| {
                let line = line.trim_start();
                ["///", "#[", "//", ")]", "\""].iter().any(|start| line.starts_with(start))
            };
            let above: Vec<&&str> = lines[..*at].iter().rev().take_while(is_above).collect();
            let is_doc = |line: &&&str| line.trim_start().starts_with("///");
            above.iter().any(is_doc) && !above.iter().any(|line| line.contains("```"))
        })
        .map(|(_, name)| name)
        .collect();
    without.into_iter()
}

/// The name in `pub const fn name<`, if the line is indented.
fn public_method(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("    ")?.trim_start().strip_prefix("pub ")?;
    let rest = ["const ", "unsafe ", "async "].iter().fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
    rest.strip_prefix("fn ")?.split(['<', '(']).next()
}

/// The lines of examples that a reader sees and that name a crate below the facade.
fn foreign_names(source: &str) -> impl Iterator<Item = &str> {
    let mut in_example = false;
    source.lines().map(str::trim_start).filter(move |line| {
        let Some(text) = line.strip_prefix("///").or(line.strip_prefix("//!")) else {
            in_example = false;
            return false;
        };
        let text = text.trim_start();
        if text.starts_with("```") {
            in_example = !in_example;
        }
        in_example && !text.starts_with("# ") && text.contains("fifolock_")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_without_an_example_are_found() {
        let source = "impl A {\n    /// Does it.\n    #[inline]\n    pub fn a<T>() {}\n\n    /// ```\n    /// a();\n    /// ```\n    \
                      pub const fn b() {}\n    fn c() {}\n    pub(crate) fn d() {}\n    pub fn e() {}\n}\n/// F.\npub fn f() {}";
        assert_eq!(methods_without(source).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn names_below_the_facade_are_found() {
        let source = "/// As fifolock_core says.\n/// ```\n/// # use fifolock_core::a;\n/// use fifolock_core::b;\n/// ```\n/// fifolock_core\n\
                      fn fifolock_core() {}\n//! ```\n//! fifolock_tokio::c();\n//! ```";
        assert_eq!(
            foreign_names(source).collect::<Vec<_>>(),
            ["/// use fifolock_core::b;", "//! fifolock_tokio::c();"]
        );
    }
}

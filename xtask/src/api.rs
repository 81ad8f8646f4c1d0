//! The public API of each published crate, one item a line, as recorded in docs/api/. So a reviewer sees each change of
//! the API before publication.

use std::path::PathBuf;

use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result, has_toolchain, published_packages};
use crate::docs;

const FOLDER: &str = "docs/api";

/// The program that turns rustdoc's JSON into text.
pub(crate) const MANIFEST: &str = "xtask/public-api/Cargo.toml";

/// Names another nightly, for when rustup's `nightly` writes a JSON that [`MANIFEST`]'s version of `public-api` can't
/// read.
const TOOLCHAIN_VAR: &str = "FIFOLOCK_API_TOOLCHAIN";

pub(crate) fn target_dir(cx: &Context) -> PathBuf {
    cx.target.join("public-api")
}

pub(crate) fn run(cx: &Context, args: &[String]) -> Result<Outcome> {
    let bless = match args {
        [] => false,
        [flag] if flag == "--bless" => true,
        _ => return Err(Failure::new("the command takes `--bless`, or nothing", "run `cargo xtask api`")),
    };
    let sh = &cx.sh;
    let toolchain = sh.var(TOOLCHAIN_VAR).unwrap_or_else(|_| "nightly".to_owned());
    if !has_toolchain(cx, &toolchain) {
        return cx.skip_unless_ci(
            &format!("no toolchain `{toolchain}`: rustdoc writes JSON only there"),
            &format!("run `rustup toolchain install {toolchain} --profile minimal`"),
        );
    }
    // If the step `docs` has run, the dependencies are built already.
    let docs = docs::target_dir(cx);
    let packages = published_packages(cx);
    cmd!(sh, "rustup run {toolchain} cargo doc --quiet --no-deps --all-features --target-dir {docs}")
        .args(&packages)
        .env("RUSTDOCFLAGS", "-Zunstable-options --output-format json")
        .run()
        .or_tell("`cargo xtask docs` builds the same pages, and says more")?;
    let mut changes = String::new();
    for package in packages.iter().filter(|word| **word != "-p") {
        let json = docs.join("doc").join(package.replace('-', "_")).with_extension("json");
        let target = target_dir(cx);
        let new = cmd!(sh, "cargo run --quiet --manifest-path {MANIFEST} --target-dir {target} -- {json}")
            .read()
            .or_tell(&format!(
                "if it can't read the format, this nightly is too new for `public-api`: update that in {MANIFEST}, \
                 or let {TOOLCHAIN_VAR} name an older nightly"
            ))?;
        let file = cx.root.join(FOLDER).join(package).with_extension("txt");
        let old = sh.read_file(&file).unwrap_or_default();
        if bless {
            sh.write_file(&file, format!("{}\n", new.trim_end())).or_tell("check that the folder can be written")?;
        } else {
            changes.extend(differences(&old, &new).iter().map(|line| format!("\n  {package}: {line}")));
        }
    }
    if changes.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(
        &format!("the public API is not what {FOLDER} has:{changes}"),
        "if that is intended, run `cargo xtask api --bless`, look at the differences, and tell users in CHANGELOG.md",
    ))
}

/// The lines that only one of the texts has, with `-` for the first and `+` for the second.
fn differences(old: &str, new: &str) -> Vec<String> {
    let only = |sign: char, text: &str, other: &str| {
        let mut others: Vec<&str> = other.lines().collect();
        let mut lines = Vec::new();
        for line in text.lines() {
            match others.iter().position(|it| *it == line) {
                Some(found) => _ = others.swap_remove(found),
                None => lines.push(format!("{sign} {line}")),
            }
        }
        lines
    };
    let mut lines = only('-', old, new);
    lines.extend(only('+', new, old));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_come_and_go_are_found() {
        assert!(differences("a\nb\n", "a\nb").is_empty());
        assert!(differences("a\nb\n", "b\na").is_empty());
        assert_eq!(differences("a\nb\n", "a\nc"), ["- b", "+ c"]);
        assert_eq!(differences("a\na\n", "a"), ["- a"]);
        assert_eq!(differences("", "a"), ["+ a"]);
    }
}

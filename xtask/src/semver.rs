//! A release that breaks its users' code must say so in its version: compares the public API with that of the last
//! release.

use xshell::cmd;

use crate::context::published_packages;
use crate::context::{Context, OrElse as _, Outcome, Result};

const VERSION: &str = "0.51.0";

pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let tags = cmd!(sh, "git tag --list v* --sort=-version:refname --merged HEAD")
        .read()
        .or_tell("run the command in a git checkout with its tags")?;
    let Some(last) = tags.lines().next() else {
        // Before the first release no user's code can break. `cargo xtask api` shows each change of the API in any
        // case.
        return Ok(Outcome::Skipped("there is no release yet: no tag `v…` stands before this commit".to_owned()));
    };
    if cmd!(sh, "cargo semver-checks --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        return cx.skip_unless_ci(
            "cargo-semver-checks is not installed",
            &format!("run `cargo install --locked cargo-semver-checks --version {VERSION}`"),
        );
    }
    let packages = published_packages(cx);
    cmd!(sh, "cargo semver-checks --all-features --baseline-rev {last} {packages...}")
        .run()
        .or_tell("keep what users call, or raise the version as docs/POLICY.md says and tell them in CHANGELOG.md")?;
    Ok(Outcome::Passed)
}

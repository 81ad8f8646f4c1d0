//! Licences and sources of the dependencies and, where the database can be fetched, known vulnerabilities.

use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

/// The version that `.ci/run` and the workflow install.
const VERSION: &str = "0.20.2";

/// The checks that need only the packages of the lock file, with those for other targets.
const CHECKS: &[&str] = &["bans", "licenses", "sources"];

pub(crate) fn run(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let checks: &[&str] = match args {
        [] => CHECKS,
        [what] if what == "advisories" => &["advisories"],
        _ => return Err(Failure::new("the command takes `advisories`, or nothing", "run `cargo xtask deny`")),
    };
    if cmd!(sh, "cargo deny --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        return cx.skip_unless_ci(
            "cargo-deny is not installed",
            &format!("run `cargo install --locked cargo-deny --version {VERSION}`"),
        );
    }
    cmd!(sh, "cargo deny --locked check {checks...}")
        .run()
        .or_tell("do without the dependency that is named, or argue for it in deny.toml")?;
    Ok(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_installs_the_version_that_the_step_names() {
        let cx = Context::new().expect("in the workspace");
        let read = |file: &str| cx.sh.read_file(cx.root.join(file)).expect("it is in the repository");
        assert!(read(".ci/run").contains(&format!("\ndeny={VERSION}\n")));
        let workflow = read(".github/workflows/ci.yml");
        assert_eq!(
            workflow.matches("cargo-deny").count(),
            workflow.matches(&format!("cargo-deny --version {VERSION}")).count()
        );
    }
}

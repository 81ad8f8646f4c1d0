//! The release: publishes the crates in the order of their dependencies. Without a tag it is a rehearsal.

use xshell::cmd;

use crate::context::published_packages;
use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

const CHANGELOG: &str = "CHANGELOG.md";

pub(crate) fn run(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let packages = published_packages(cx);
    let tag = match args {
        [] => None,
        [flag, tag] if flag == "--tag" => Some(tag),
        _ => {
            return Err(Failure::new(
                "the command takes `--tag TAG`, or nothing",
                "run `cargo xtask publish` to rehearse",
            ));
        }
    };
    let Some(tag) = tag else {
        // `cargo xtask package` has built the same files.
        cmd!(sh, "cargo publish --dry-run --no-verify --allow-dirty {packages...}")
            .run()
            .or_tell("mend the manifest that cargo names")?;
        return Ok(Outcome::Passed);
    };
    let version = cx.package("fifolock")?["version"].as_str().expect("cargo metadata gives each package a version");
    let changelog = sh.read_file(cx.root.join(CHANGELOG)).or_tell("the file belongs in the repository")?;
    fits(tag, version, &changelog)?;
    // Cargo finds the order, and waits until the registry has each crate that the next one needs.
    cmd!(sh, "cargo publish --locked {packages...}").run().or_tell(
        "if some crates were sent already, publish the others by name, in the order that cargo prints; a version is never \
         sent twice",
    )?;
    Ok(Outcome::Passed)
}

/// Checks that the tag has the version of the crates, and that the changelog describes this version.
fn fits(tag: &str, version: &str, changelog: &str) -> Result<()> {
    if tag.strip_prefix('v') != Some(version) {
        return Err(Failure::new(
            &format!("the tag {tag} is not of version {version}"),
            "raise the version in Cargo.toml first, and name the tag after it",
        ));
    }
    if !changelog.lines().any(|line| line.starts_with(&format!("## [{version}] - "))) {
        return Err(Failure::new(
            &format!("{CHANGELOG} has no section of version {version}"),
            &format!("begin it with `## [{version}] - YEAR-MONTH-DAY`"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_fits_its_version_and_the_changelog() {
        let changelog = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-03\n";
        assert!(fits("v0.2.0", "0.2.0", changelog).is_ok());
        assert!(fits("0.2.0", "0.2.0", changelog).is_err());
        assert!(fits("v0.2.0", "0.2.1", changelog).is_err());
        assert!(fits("v0.3.0", "0.3.0", changelog).is_err());
    }
}

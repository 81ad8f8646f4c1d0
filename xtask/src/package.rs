//! Each published crate as its users get it: from its `.crate` file, in an empty folder, by itself.
//!
//! In the workspace a crate can use a feature that only another crate turns on, read a file that no package contains,
//! or show a page whose links lead nowhere. Users would find that after publication.

use std::path::Path;

use xshell::{Shell, cmd};

use crate::context::{Context, Failure, OrElse as _, Outcome, Result, run_tests};
use crate::context::{is_published, published_packages};
use crate::lint::relative_links;

const HERE: &str = "check that files can be written in the folder for temporary files";

/// The files that every package has. A file must equal the file of the repository that stands beside it, if there is
/// one.
const FILES: [(&str, Option<&str>); 3] =
    [("LICENSE-MIT", Some("LICENSE-MIT")), ("LICENSE-APACHE", Some("LICENSE-APACHE")), ("README.md", None)];

/// The package that the page of every other package recommends to most readers.
const FACADE: &str = "fifolock";

pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let packages = published_packages(cx);
    let files = cx.target.join("package");
    // `cargo package` would build the crates with the workspace's lock file. The step builds them itself, further down,
    // with their tests.
    cmd!(sh, "cargo package --quiet --no-verify --allow-dirty {packages...}")
        .run()
        .or_tell("mend the manifest that cargo names")?;
    // The folder is outside of the workspace, which cargo would find otherwise.
    let folder = sh.create_temp_dir().or_tell(HERE)?;
    let mut patch = "[patch.crates-io]\n".to_owned();
    let mut unpacked = Vec::new();
    for package in cx.packages().iter().filter(|package| is_published(package)) {
        let text = |key: &str| package[key].as_str().expect("cargo metadata gives each package a name and a version");
        let (name, full_name) = (text("name"), format!("{}-{}", text("name"), text("version")));
        let (archive, folder) = (files.join(format!("{full_name}.crate")), folder.path());
        // Each file gets the current time. Cargo tells by the time whether it has built a file before, and an earlier
        // folder may have had the same name.
        cmd!(sh, "tar -xzmf {archive} -C {folder}").run().or_tell("install tar")?;
        let path = folder.join(full_name);
        patch.push_str(&format!("{name} = {{ path = '{}' }}\n", path.display()));
        unpacked.push((name, path));
    }
    sh.write_file(folder.path().join(".cargo/config.toml"), patch).or_tell(HERE)?;
    let faults: Vec<String> = unpacked.iter().flat_map(|(name, path)| faults(sh, &cx.root, name, path)).collect();
    if !faults.is_empty() {
        return Err(Failure::new(
            &format!("what would be published is not complete:{}", faults.concat()),
            "a package has the files below its own folder, and no others",
        ));
    }
    let target = cx.target.join("package-tests");
    told_of_the_feature(sh, folder.path(), &target)?;
    for (name, path) in unpacked {
        let _in_package = sh.push_dir(path);
        for features in [None, Some("--all-features")] {
            println!("package: {name} {}", features.unwrap_or_default());
            // With its tests, and with the examples that these features allow.
            cmd!(sh, "cargo check --quiet --all-targets --target-dir {target}").args(features).run().or_tell(
                "a file outside of the crate's folder, or a feature that only the workspace turns on, is the usual cause",
            )?;
            run_tests(cmd!(sh, "cargo test --quiet --doc --target-dir {target}").args(features))?;
        }
    }
    Ok(Outcome::Passed)
}

/// The compiler tells a user who forgets a feature which one is missing, by the `cfg` of the module.
fn told_of_the_feature(sh: &Shell, folder: &Path, target: &Path) -> Result<()> {
    const EXPECTED: &str = "the item is gated behind the `tokio` feature";
    let user = folder.join("user");
    let manifest = "[package]\nname = \"user\"\nedition = \"2024\"\n[dependencies]\nfifolock = \"0\"\n";
    sh.write_file(user.join("Cargo.toml"), manifest).or_tell(HERE)?;
    sh.write_file(user.join("src/lib.rs"), "pub use fifolock::tokio::Mutex;\n").or_tell(HERE)?;
    let _in_user = sh.push_dir(&user);
    let output = cmd!(sh, "cargo check --quiet --target-dir {target}").ignore_status().output().or_tell(HERE)?;
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !told.contains(EXPECTED) {
        return Err(Failure::new(
            &format!("a program that lacks the feature `tokio` is told something else:\n{told}"),
            "put the module behind a `cfg` of its own feature",
        ));
    }
    Ok(())
}

/// The errors in the files of a package, one a line.
fn faults(sh: &Shell, root: &Path, name: &str, path: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |text: &str| faults.push(format!("\n  {name}: {text}"));
    for (file, equals) in FILES {
        match (sh.read_file(path.join(file)), equals.map(|equals| sh.read_file(root.join(equals)))) {
            (Err(_), _) => fault(&format!("has no {file}")),
            (Ok(text), Some(Ok(expected))) if text != expected => fault(&format!("has another {file}")),
            _ => {}
        }
    }
    let page = sh.read_file(path.join("README.md")).unwrap_or_default();
    for link in relative_links(&page) {
        fault(&format!("its page has a relative link, which no registry can follow: {link}"));
    }
    if !page.starts_with(&format!("# {name}\n")) {
        fault("its page is not its own: the title is another");
    }
    if name != FACADE && !page.contains("Most users want the crate [`fifolock`]") {
        fault("its page doesn't say that most users want `fifolock`");
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_package_lacks_is_named() {
        let sh = Shell::new().unwrap();
        let (root, package) = (sh.create_temp_dir().unwrap(), sh.create_temp_dir().unwrap());
        let write = |folder: &Path, file, text| sh.write_file(folder.join(file), text).unwrap();
        for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
            write(root.path(), file, "the text");
        }
        write(package.path(), "LICENSE-MIT", "another text");
        write(package.path(), "README.md", "# fifolock\n[a](docs/A.md) [b](https://b.org)");
        let faults = faults(&sh, root.path(), "fifolock-core", package.path()).concat();
        for expected in
            ["another LICENSE-MIT", "no LICENSE-APACHE", "follow: docs/A.md", "the title", "most users want"]
        {
            assert!(faults.contains(expected), "{expected}: {faults}");
        }
        assert_eq!(faults.lines().count(), 6, "{faults}");
    }

    #[test]
    fn a_package_that_has_all_has_no_faults() {
        let sh = Shell::new().unwrap();
        let folder = sh.create_temp_dir().unwrap();
        for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
            sh.write_file(folder.path().join(file), "the text").unwrap();
        }
        sh.write_file(folder.path().join("README.md"), "# fifolock\n[b](https://b.org)").unwrap();
        assert!(faults(&sh, folder.path(), "fifolock", folder.path()).is_empty());
    }
}

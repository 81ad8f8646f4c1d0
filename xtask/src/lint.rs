//! Steps that read the code and don't run it.

use std::path::Path;

use xshell::cmd;

use crate::api;
use crate::bench;
use crate::context::{Context, Failure, OrElse as _, Outcome, Result, has_toolchain, published_packages};
use crate::fuzz;
use crate::nostd;
use crate::suites::{EMBASSY_STD, LOOM_FEATURES, LOOM_FLAGS, embassy_std_target_dir, loom_target_dir};

/// The test command of the README, which `.ci/run` runs first.
const TEST_COMMAND: &str = "cargo test --workspace";

/// Checks that README.md names the test command that `.ci/run` runs.
pub(crate) fn readme(cx: &Context, _args: &[String]) -> Result<Outcome> {
    for (file, has_command) in [("README.md", tells_command as fn(&str) -> bool), (".ci/run", runs_command)] {
        let text = cx.sh.read_file(cx.root.join(file)).or_tell("the file belongs in the repository")?;
        if !has_command(&text) {
            return Err(Failure::new(
                &format!("{file} doesn't name the test command, `{TEST_COMMAND}`"),
                "README.md must have it on a line of its own, and .ci/run must run it; \
                 if the command changed, change both and xtask/src/lint.rs",
            ));
        }
    }
    let read = |file: &str| cx.sh.read_file(cx.root.join(file)).or_tell("the file belongs in the repository");
    let (page, compiled) = (read("README.md")?, read(COMPILED)?);
    if let Some(block) = rust_blocks(&page).find(|block| !compiled.contains(block)) {
        return Err(Failure::new(
            &format!("README.md has Rust code that is not in {COMPILED}, whose code is compiled:\n{block}"),
            "the two pages show the same examples",
        ));
    }
    Ok(Outcome::Passed)
}

/// The page whose examples are tests.
const COMPILED: &str = "crates/fifolock/README.md";

/// The blocks of Rust code on a page.
fn rust_blocks(page: &str) -> impl Iterator<Item = &str> {
    page.split("\n```rust\n").skip(1).filter_map(|rest| rest.split("\n```").next())
}

fn tells_command(readme: &str) -> bool {
    readme.lines().any(|line| without_comment(line) == TEST_COMMAND)
}

fn runs_command(script: &str) -> bool {
    script.lines().any(|line| without_comment(line).contains(TEST_COMMAND))
}

/// A line of shell without its comment.
fn without_comment(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with('#') {
        return "";
    }
    line.split(" #").next().unwrap_or_default().trim_end()
}

/// The pages of the repository on the web. On the page of a registry a link must be absolute.
const ON_THE_WEB: [&str; 2] =
    ["https://github.com/fifolock/fifolock/blob/main/", "https://github.com/fifolock/fifolock/tree/main/"];

/// Checks that links between the repository's pages lead to files and headings that exist.
pub(crate) fn links(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let pages = cmd!(sh, "git ls-files --cached --others --exclude-standard -- *.md")
        .read()
        .or_tell("run it in a git checkout")?;
    let mut dead = Vec::new();
    for page in pages.lines().filter(|page| sh.path_exists(page)) {
        let text = sh.read_file(page).or_tell("save the page as UTF-8")?;
        let links = all_links(&text).filter(|link| !leads_somewhere(cx, Path::new(page), link));
        dead.extend(links.map(|link| format!("{page}: {link}")));
    }
    if dead.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(
        &format!("links lead nowhere: {}", dead.join(", ")),
        "correct the path, which is relative to the page, or the name of the heading, or add the file",
    ))
}

/// Whether a link of the page leads to a file of the repository and, if the link names a heading, to a heading of that
/// file. Links to other sites are not followed.
fn leads_somewhere(cx: &Context, page: &Path, link: &str) -> bool {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let file = match ON_THE_WEB.iter().find_map(|prefix| file.strip_prefix(prefix)) {
        Some(file) => file.into(),
        None if file.contains(':') => return true,
        None if file.is_empty() => page.to_path_buf(),
        None => page.parent().unwrap_or(Path::new("")).join(file),
    };
    let is_heading = || cx.sh.read_file(&file).is_ok_and(|text| anchors(&text).any(|anchor| anchor == heading));
    cx.sh.path_exists(&file) && (heading.is_empty() || is_heading())
}

/// The names that GitHub gives to the headings of a page.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    without_code(text).filter_map(|line| {
        let title = line.trim_start_matches('#');
        let title = if title.len() < line.len() { title.strip_prefix(' ')? } else { return None };
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        Some(kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase())
    })
}

/// The relative links of a page of Markdown, without their headings.
pub(crate) fn relative_links(text: &str) -> impl Iterator<Item = &str> {
    let files = all_links(text).filter_map(|link| link.split('#').next());
    files.filter(|link| !link.is_empty() && !link.contains(':'))
}

/// The links of a page of Markdown, except those in code blocks.
fn all_links(text: &str) -> impl Iterator<Item = &str> {
    let links = without_code(text).flat_map(|line| line.split("](").skip(1));
    links.filter_map(|rest| rest.split([')', ' ']).next())
}

fn without_code(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence
    })
}

/// The manifest of each workspace.
const MANIFESTS: [&str; 7] = [
    "Cargo.toml",
    "xtask/nostd-check/Cargo.toml",
    "firmware/Cargo.toml",
    EMBASSY_STD,
    api::MANIFEST,
    bench::MANIFEST,
    fuzz::MANIFEST,
];

pub(crate) fn fmt(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    for manifest in MANIFESTS {
        cmd!(sh, "cargo fmt --manifest-path {manifest} --all --check")
            .run()
            .or_tell(&format!("run `cargo fmt --manifest-path {manifest} --all`"))?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn clippy(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    cmd!(sh, "cargo clippy --workspace --all-targets --all-features -- -D warnings")
        .run()
        .or_tell("fix what clippy reports; an `expect` needs a reason")?;
    // No other build has the models.
    let target = loom_target_dir(cx);
    cmd!(
        sh,
        "cargo clippy -p fifolock-core --features {LOOM_FEATURES} --lib --tests --target-dir {target} -- -D warnings"
    )
    .env("RUSTFLAGS", LOOM_FLAGS)
    .run()
    .or_tell("fix what clippy reports in the loom models")?;
    let (nostd, target) = (nostd::manifest(cx), nostd::target_dir(cx));
    cmd!(sh, "cargo clippy --manifest-path {nostd} --target-dir {target} -- -D warnings")
        .run()
        .or_tell("fix what clippy reports in xtask/nostd-check")?;
    let target = embassy_std_target_dir(cx);
    cmd!(sh, "cargo clippy --manifest-path {EMBASSY_STD} --all-targets --target-dir {target} -- -D warnings")
        .run()
        .or_tell("fix what clippy reports in crates/conformance-embassy-std")?;
    let (public_api, target) = (api::MANIFEST, api::target_dir(cx));
    cmd!(sh, "cargo clippy --manifest-path {public_api} --target-dir {target} -- -D warnings")
        .run()
        .or_tell("fix what clippy reports in xtask/public-api")?;
    let (bench, target) = (bench::MANIFEST, bench::target_dir(cx));
    cmd!(sh, "cargo clippy --manifest-path {bench} --workspace --all-targets --target-dir {target} -- -D warnings")
        .run()
        .or_tell("fix what clippy reports in bench")?;
    Ok(Outcome::Passed)
}

/// Checks spelling, where the checker is installed.
pub(crate) fn spelling(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    if cmd!(sh, "typos --version").quiet().ignore_stdout().run().is_err() {
        return Ok(Outcome::Skipped("typos is not installed: run `pipx install typos`".to_owned()));
    }
    cmd!(sh, "typos").run().or_tell("run `typos --write-changes`, or allow the word in typos.toml if it is one")?;
    Ok(Outcome::Passed)
}

/// Checks the libraries with the oldest compiler that they support. This needs rustup, which can hold two versions.
pub(crate) fn msrv(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let version = cx.package("fifolock-core")?["rust_version"]
        .as_str()
        .expect("fifolock-core declares a rust-version")
        .to_owned();
    if !has_toolchain(cx, &version) {
        // This is no error in CI either: the public workflow installs the toolchain, and clippy's `incompatible_msrv`
        // guards elsewhere.
        return Ok(Outcome::Skipped(format!(
            "Rust {version} is not installed: run `rustup toolchain install {version}`"
        )));
    }
    let target = cx.target.join("msrv");
    let packages = published_packages(cx);
    cmd!(sh, "rustup run {version} cargo check {packages...} --all-features --target-dir {target}")
        .run()
        .or_tell("use what the declared rust-version offers, or raise it in Cargo.toml and CHANGELOG.md")?;
    Ok(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_workspace_is_formatted() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("in the workspace");
        let folders = |of: &Path| -> Vec<_> {
            of.read_dir().unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
        };
        let top = folders(root).into_iter().filter(|folder| !folder.ends_with("target"));
        let manifests = top.flat_map(|folder| [folders(&folder), vec![folder]].concat()).chain([root.to_owned()]);
        let mut workspaces: Vec<_> = manifests
            .map(|folder| folder.join("Cargo.toml"))
            .filter(|manifest| {
                fs::read_to_string(manifest)
                    .is_ok_and(|text| text.contains("\n[workspace") || text.starts_with("[workspace"))
            })
            .map(|manifest| manifest.strip_prefix(root).unwrap().to_str().unwrap().to_owned())
            .collect();
        workspaces.sort();
        let mut listed = MANIFESTS.to_vec();
        listed.sort_unstable();
        assert_eq!(listed, workspaces);
    }

    #[test]
    fn the_test_command_is_found_where_it_counts() {
        assert!(tells_command("Run\n\n    cargo test --workspace\n"));
        assert!(tells_command("cargo test --workspace     # the tests"));
        assert!(!tells_command("cargo test --workspace --release"));
        assert!(!tells_command("Run cargo test --workspace often."));
        assert!(runs_command("limit 9m cargo test --workspace || failed=1"));
        assert!(!runs_command("  # cargo test --workspace\n"));
    }

    #[test]
    fn rust_code_of_a_page_is_found() {
        let page = "A\n```rust\nlet a;\n\nlet b;\n```\n```text\nc\n```\n```rust\nd\n```\n";
        assert_eq!(rust_blocks(page).collect::<Vec<_>>(), ["let a;\n\nlet b;", "d"]);
    }

    #[test]
    fn links_to_files_are_found() {
        let page = "See [a](docs/A.md#part) and ![b](b.svg \"B\"), not [c](https://c.org) or [d](#d).\n\
                    ```\n[e](e.md)\n```\n[f](f.md)";
        let links: Vec<&str> = relative_links(page).collect();
        assert_eq!(links, ["docs/A.md", "b.svg", "f.md"]);
        let links: Vec<&str> = all_links(page).collect();
        assert_eq!(links, ["docs/A.md#part", "b.svg", "https://c.org", "#d", "f.md"]);
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let cx = Context::new().expect("in the workspace");
        let leads = |link: &str| leads_somewhere(&cx, Path::new("docs/MIGRATION.md"), link);
        for link in ["../README.md", "#from-tokio", "MIGRATION.md#from-tokio", "https://elsewhere.org/README.md#no"] {
            assert!(leads(link), "{link}");
        }
        for link in ["README.md", "#from-nowhere", "../README.md#from-tokio"] {
            assert!(!leads(link), "{link}");
        }
        for prefix in ON_THE_WEB {
            assert!(leads(&format!("{prefix}docs/MIGRATION.md#from-tokio")));
            assert!(!leads(&format!("{prefix}MIGRATION.md")));
        }
        let page = "# A\n## R: the *rescue*, `b_c`\n```\n# no\n```\n#no";
        assert_eq!(anchors(page).collect::<Vec<_>>(), ["a", "r-the-rescue-b_c"]);
    }
}

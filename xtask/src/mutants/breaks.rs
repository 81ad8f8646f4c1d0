//! The faults of `breaks.toml`, each with the test that must fail.

use core::fmt::Write as _;
use core::time::Duration;
use std::collections::BTreeSet;

use serde::Deserialize;

use super::tree::{Suite, Tree, Verdict};
use super::{is_chosen, none_chosen};
use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

const FILE: &str = "xtask/breaks.toml";

/// The time limit of the named test. A hang counts as a failure.
const LIMIT: Duration = Duration::from_secs(120);

/// The contents of `breaks.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    #[serde(rename = "break")]
    breaks: Vec<Break>,
    #[serde(default, rename = "ordering")]
    orderings: Vec<Explained>,
    #[serde(default, rename = "logic")]
    logic: Vec<Explained>,
}

/// A fault, and the test that must fail.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Break {
    name: String,
    /// The kinds of fault that it shows.
    #[serde(default)]
    kinds: Vec<String>,
    /// The rules that it breaks.
    #[serde(default)]
    rules: Vec<String>,
    file: String,
    /// The snippet to replace, which occurs once in the file.
    old: String,
    new: String,
    suite: String,
    /// A part of the test's name.
    test: String,
    /// The error of the compiler, for a fault that must not compile.
    error: Option<String>,
}

/// The rules that have a fault, and docs/BREAKS.md, with one row for each fault.
pub(crate) fn listed(cx: &Context) -> Result<(BTreeSet<String>, String)> {
    let record = Record::read(cx)?;
    let mut page = "# Deliberate breaks\n\nThe faults that `cargo xtask mutants breaks` plants, one at a time, and the test that \
                    falls for each. A break is of kinds of fault ([FAULTS.md](FAULTS.md)) and of rules \
                    ([CONTRACT.md](CONTRACT.md)). Why there are breaks: \
                    [VERIFICATION.md](VERIFICATION.md#deliberate-breaks).\n\n<!-- `cargo xtask verification --bless` writes this \
                    page from xtask/breaks.toml. -->\n\n| broken on purpose | of | falls |\n|---|---|---|\n"
        .to_owned();
    for fault in &record.breaks {
        let name = fault.name.replace('_', " ");
        let of: Vec<&str> = fault.kinds.iter().chain(&fault.rules).map(String::as_str).collect();
        let falls = match &fault.error {
            Some(error) => format!("the compiler: {error}"),
            None => format!("`{}` ({})", fault.test, fault.suite),
        };
        let _ = writeln!(page, "| {name} | {} | {falls} |", of.join(" "));
    }
    Ok((record.breaks.into_iter().flat_map(|fault| fault.rules).collect(), page))
}

/// A fault for which no test fails, and the reason why that is right.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Explained {
    /// The file of the fault.
    #[serde(default)]
    file: String,
    /// For an ordering: the weaker ordering.
    #[serde(default)]
    to: String,
    /// For an ordering its line, for a mutant its name.
    text: String,
    pub(super) reason: String,
}

impl Record {
    pub(super) fn read(cx: &Context) -> Result<Self> {
        let text = cx.sh.read_file(cx.root.join(FILE)).or_tell("the file belongs in the repository")?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).or_tell(&format!("fix {FILE}"))
    }

    pub(super) fn explains_ordering(&self, file: &str, text: &str, to: &str) -> Option<&Explained> {
        self.orderings.iter().find(|known| file.ends_with(&known.file) && known.text == text && known.to == to)
    }

    /// The reason why this mutant of cargo-mutants may survive.
    pub(super) fn explains_mutant(&self, name: &str) -> Option<&Explained> {
        self.logic.iter().find(|known| name.ends_with(&known.text) && name.contains(&known.file))
    }

    /// The explained mutants of cargo-mutants.
    pub(super) fn explained_mutants(&self) -> impl Iterator<Item = &Explained> {
        self.logic.iter()
    }
}

impl Break {
    fn suite(&self) -> Result<Suite> {
        Suite::parse(&self.suite).ok_or_else(|| {
            Failure::new(
                &format!("{}: there is no suite `{}`", self.name, self.suite),
                "take `core`, `loom`, `shuttle`, `conformance/PROGRAM` or `model/PROGRAM`",
            )
        })
    }

    /// The text with the fault planted.
    fn plant(&self, text: &str) -> Result<String> {
        let found = text.matches(&self.old).count();
        if found != 1 || self.old == self.new {
            return Err(Failure::new(
                &format!("{}: its snippet stands {found} times in {}", self.name, self.file),
                &format!(
                    "the code has moved on: correct `old` and `new` in {FILE}, so that the fault is the same again"
                ),
            ));
        }
        Ok(text.replacen(&self.old, &self.new, 1))
    }
}

pub(super) fn run(cx: &Context, only: Option<&str>) -> Result<Outcome> {
    let record = Record::read(cx)?;
    let chosen: Vec<&Break> = record.breaks.iter().filter(|fault| is_chosen(&fault.name, only)).collect();
    if chosen.is_empty() {
        return Err(none_chosen(only));
    }
    plant(cx, chosen)
}

/// Runs the faults whose test is one of the core's own, since that test program builds in seconds.
pub(super) fn quick(cx: &Context) -> Result<Outcome> {
    plant(
        cx,
        Record::read(cx)?.breaks.iter().filter(|fault| fault.suite().is_ok_and(|suite| suite == Suite::Core)).collect(),
    )
}

fn plant(cx: &Context, mut chosen: Vec<&Break>) -> Result<Outcome> {
    let tree = Tree::new(cx, "breaks")?;
    // All mistakes in the file are reported before the first build.
    let mut suites = BTreeSet::new();
    let mut wrong = Vec::new();
    for fault in &chosen {
        suites.insert(fault.suite()?);
        if let Err(failure) = fault.plant(&tree.read(&fault.file)?) {
            wrong.push(failure.to_string());
        }
    }
    if !wrong.is_empty() {
        return Err(Failure::new(&wrong.join("\n"), "a break that can't be planted proves nothing"));
    }
    for suite in &suites {
        let tests = chosen.iter().filter(|fault| fault.suite().is_ok_and(|other| other == *suite));
        let tests = tests.filter(|fault| fault.error.is_none());
        wrong.extend(passing(&tree, suite, tests.map(|fault| fault.test.as_str()).collect())?);
    }
    chosen.sort_by_key(|fault| fault.suite().ok());
    for fault in &chosen {
        let verdict = verdict(&tree, fault)?;
        println!(
            "{:<8} {} ({}: {})",
            if verdict.is_none() { "falls" } else { "WRONG" },
            fault.name,
            fault.suite,
            fault.test
        );
        wrong.extend(verdict.map(|why| format!("{}: {why}", fault.name)));
    }
    println!("{}", summary(&chosen));
    if wrong.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(&wrong.join("\n"), &format!("make the test bite, or name one that does in {FILE}")))
}

/// The errors of the tests without any fault planted.
fn passing(tree: &Tree<'_>, suite: &Suite, tests: BTreeSet<&str>) -> Result<Vec<String>> {
    let program = tree.build(suite)?.map_err(|error| {
        Failure::new(&format!("{suite:?} doesn't build, with nothing broken:\n{error}"), "mend the build first")
    })?;
    let mut wrong = Vec::new();
    for test in tests {
        match program.run(test, false, LIMIT * 2)? {
            Verdict::Passes => {}
            verdict => wrong.push(format!("{suite:?}: `{test}` with nothing broken: {verdict:?}")),
        }
    }
    Ok(wrong)
}

/// `None` if the test fails, as it must.
fn verdict(tree: &Tree<'_>, fault: &Break) -> Result<Option<String>> {
    let text = fault.plant(&tree.read(&fault.file)?)?;
    tree.with(&fault.file, &text, || {
        let program = match tree.build(&fault.suite()?)? {
            Ok(program) => program,
            Err(said) if fault.error.as_ref().is_some_and(|error| said.contains(error)) => return Ok(None),
            Err(said) => return Ok(Some(format!("doesn't build, and not for the reason named:\n{said}"))),
        };
        if let Some(error) = &fault.error {
            return Ok(Some(format!("it builds, without {error}")));
        }
        Ok(match program.run(&fault.test, false, LIMIT)? {
            Verdict::Falls | Verdict::Hangs => None,
            verdict => Some(format!("`{}` of {}: {verdict:?}", fault.test, fault.suite)),
        })
    })
}

fn summary(faults: &[&Break]) -> String {
    let all = |part: fn(&Break) -> &Vec<String>| -> Vec<&str> {
        faults.iter().flat_map(|fault| part(fault)).map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect()
    };
    format!(
        "breaks: {}, of the kinds {}, of the rules {}",
        faults.len(),
        all(|fault| &fault.kinds).join(" "),
        all(|fault| &fault.rules).join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn record() -> Record {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("breaks.toml");
        Record::parse(&fs::read_to_string(path).expect("the file is in the repository")).expect("it can be read")
    }

    /// This test is cheap, so it is part of each test run: a change that moves a snippet shows at once.
    #[test]
    fn every_break_can_be_planted() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut names = BTreeSet::new();
        for fault in &record().breaks {
            assert!(names.insert(fault.name.clone()), "{}: twice", fault.name);
            assert!(!fault.kinds.is_empty() || !fault.rules.is_empty(), "{}: of what kind?", fault.name);
            fault.suite().expect("a known suite");
            let text = fs::read_to_string(root.join(&fault.file)).expect("the file is there");
            if let Err(failure) = fault.plant(&text) {
                panic!("{failure}");
            }
        }
    }

    #[test]
    fn each_of_the_25_kinds_has_a_break() {
        let record = record();
        let found: BTreeSet<&str> = record.breaks.iter().flat_map(|fault| &fault.kinds).map(String::as_str).collect();
        let all: Vec<String> = (1..=25).map(|kind| format!("F{kind:02}")).collect();
        let missing: Vec<&String> = all.iter().filter(|kind| !found.contains(kind.as_str())).collect();
        assert!(missing.is_empty(), "no break of {missing:?}");
        assert!(found.iter().all(|kind| all.iter().any(|known| known == kind)), "an unknown kind in {found:?}");
    }

    #[test]
    fn a_snippet_that_moved_is_told() {
        let fault = Break {
            name: "gone".into(),
            kinds: vec![],
            rules: vec![],
            file: "a.rs".into(),
            old: "x += 1".into(),
            new: "x += 2".into(),
            suite: "core".into(),
            test: "x".into(),
            error: None,
        };
        assert_eq!(fault.plant("x += 1;").expect("there"), "x += 2;");
        for text in ["x -= 1;", "x += 1; x += 1;"] {
            let failure = fault.plant(text).unwrap_err().to_string();
            assert!(failure.contains("the code has moved on"), "{failure}");
        }
    }
}

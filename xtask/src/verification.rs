//! Which tests hold which rule. docs/CONTRACT.md states the rules and docs/FAULTS.md the kinds of fault, each with the
//! tests that hold it. This command checks that
//!
//! - each rule has a reason, tests of its prefix, and a planted fault; each kind and each scenario has a row;
//! - everything that a rule or a row names exists, and no test of a rule, a kind or a scenario is left out;
//! - each rule, kind and scenario that a comment, a page, a break or a test cites exists;
//! - docs/BREAKS.md and docs/INTERLEAVINGS.md agree with `breaks.toml` and `interleavings.toml`: `--bless` writes both
//!   pages.
//!
//! The sources tell the tests by the names of functions. To ask the test programs would take a build of each, with
//! every `cfg`. The price: a function with the name of a test counts as a test. Clippy refuses such a function if
//! nothing calls it.

mod contract;
mod interleavings;

use core::fmt::Write as _;
use std::collections::{BTreeMap, BTreeSet};

use xshell::cmd;

use self::contract::{FAULT_LETTERS, LETTERS, is_id};
use self::interleavings::Record;
use crate::COMMANDS;
use crate::context::{Context, Failure, OrElse as _, Outcome, Result};
use crate::mutants::breaks;

const CONTRACT: &str = "docs/CONTRACT.md";
const FAULTS: &str = "docs/FAULTS.md";
const INTERLEAVINGS: &str = "docs/INTERLEAVINGS.md";
const BREAKS: &str = "docs/BREAKS.md";

/// The tables of [`FAULTS`]: the section, the letter, and the number of rows.
const TABLES: &[(&str, &str, u32)] = &[("Kinds of fault", "F", 25), ("Scenarios", "H", 13)];

/// The sources of tests: Rust files, and the cases that must not compile, each of which counts as a test.
const SOURCES: &[&str] = &["crates/*.rs", "fuzz/*.rs"];
const CASES: &str = "/tests/compile_fail/";
const CORE: &str = "crates/fifolock-core/src/";

pub(crate) fn run(cx: &Context, args: &[String]) -> Result<Outcome> {
    let bless = match args {
        [] => false,
        [flag] if flag == "--bless" => true,
        _ => return Err(Failure::new("the command takes `--bless`, or nothing", "run `cargo xtask verification`")),
    };
    let read = |file: &str| cx.sh.read_file(cx.root.join(file)).or_tell("the file belongs in the repository");
    let (mut tests, mut models) = (BTreeSet::new(), BTreeSet::new());
    for file in files(cx, SOURCES)? {
        match file.split_once(CASES) {
            Some((_, case)) => _ = tests.insert(case.trim_end_matches(".rs").to_owned()),
            None => {
                let source = read(&file)?;
                tests.extend(tests_in(&source));
                if file.starts_with(CORE) {
                    models.extend(interleavings::models(&source));
                }
            }
        }
    }

    let mut slips = Vec::new();
    let rules = contract::rules(&read(CONTRACT)?, &mut slips);
    slips.extend(
        rules
            .iter()
            .filter(|rule| !tests.iter().any(|test| rule_of(test).as_ref() == Some(&rule.id)))
            .map(|rule| format!("{}: no test has the prefix of the rule", rule.id)),
    );
    let mut rows: BTreeMap<_, _> = rules.into_iter().map(|rule| (rule.id, rule.tests)).collect();
    let (broken, table) = breaks::listed(cx)?;
    slips.extend(unbroken(&rows, &broken));
    let faults = read(FAULTS)?;
    for &(section, letter, count) in TABLES {
        rows.extend(check_section(&faults, section, &numbered(letter, count), &mut slips));
    }
    for (id, tokens) in &rows {
        slips.extend(
            tokens
                .iter()
                .filter(|token| !exists(cx, &tests, token))
                .map(|token| format!("{id}: `{token}` is neither a test, nor a `cargo xtask` command, nor a file")),
        );
    }
    slips.extend(left_out(&tests, &rows));
    for file in files(cx, &["*.rs", "*.md"])? {
        let text = read(&file)?;
        let cited =
            if file.ends_with(".md") { contract::cited_in_page(&text) } else { contract::cited_in_comments(&text) };
        let unknown = cited.into_iter().filter(|(_, id)| !rows.contains_key(id));
        slips.extend(unknown.map(|(line, id)| format!("{file}:{line}: there is no {id}")));
    }
    let pairs = Record::parse(&read(interleavings::FILE)?)?;
    slips.extend(pairs.slips(&models));
    for (file, page) in [(BREAKS, table), (INTERLEAVINGS, pairs.page())] {
        if bless {
            cx.sh.write_file(cx.root.join(file), page).or_tell("check that the page can be written")?;
        } else if read(file)? != page {
            slips.push(format!("{file} is not what `cargo xtask verification --bless` writes"));
        }
    }
    if slips.is_empty() {
        println!("verification: {} rules, kinds and scenarios, {} tests", rows.len(), tests.len());
        return Ok(Outcome::Passed);
    }
    let mut list = String::from("the pages and the tests disagree:");
    slips.iter().for_each(|slip| _ = write!(list, "\n  {slip}"));
    Err(Failure::new(&list, "correct the page; if a test went away, name the one that holds the rule now, or write it"))
}

/// The files of the repository that match, new ones included.
fn files(cx: &Context, patterns: &[&str]) -> Result<Vec<String>> {
    let sh = &cx.sh;
    let files = cmd!(sh, "git ls-files --cached --others --exclude-standard --").args(patterns).read();
    let files = files.or_tell("run the command in a git checkout")?;
    Ok(files.lines().filter(|file| sh.path_exists(file)).map(str::to_owned).collect())
}

/// Rules without a planted fault, and planted faults of unknown rules.
fn unbroken(rules: &BTreeMap<String, Vec<String>>, broken: &BTreeSet<String>) -> Vec<String> {
    let missing = rules.keys().filter(|rule| !broken.contains(*rule));
    let unknown = broken.iter().filter(|rule| !rules.contains_key(*rule));
    let missing = missing.map(|rule| format!("{rule}: no break of xtask/breaks.toml is of this rule"));
    missing.chain(unknown.map(|rule| format!("xtask/breaks.toml: there is no rule {rule}"))).collect()
}

/// `F01`, `F02`, …
fn numbered(letter: &str, count: u32) -> Vec<String> {
    (1..=count).map(|number| format!("{letter}{number:02}")).collect()
}

/// The names in each row of a section's table. Slips: rows that are missing, unknown, doubled or empty.
fn check_section(
    page: &str,
    section: &str,
    expected: &[String],
    slips: &mut Vec<String>,
) -> BTreeMap<String, Vec<String>> {
    let mut rows = BTreeMap::new();
    for (id, tokens) in table(page, section) {
        if !expected.contains(&id) {
            slips.push(format!("\"{section}\": there is no {id}"));
        }
        if tokens.is_empty() {
            slips.push(format!("{id}: the last column names nothing in `backquotes`"));
        }
        if rows.insert(id.clone(), tokens).is_some() {
            slips.push(format!("{id}: two rows"));
        }
    }
    slips.extend(
        expected.iter().filter(|id| !rows.contains_key(*id)).map(|id| format!("\"{section}\": no row for {id}")),
    );
    rows
}

/// The rows of the tables in a section: the first word of the first cell, and the names in backquotes in the last cell.
fn table(page: &str, section: &str) -> Vec<(String, Vec<String>)> {
    let lines = page.lines().skip_while(|line| line.strip_prefix("## ") != Some(section)).skip(1);
    let rows = lines.take_while(|line| !line.starts_with("## ")).filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
        let id = cells[0].split(' ').next()?;
        let is_id = id.len() > 1 && id[1..].bytes().all(|byte| byte.is_ascii_digit());
        is_id
            .then(|| (id.to_owned(), cells[cells.len() - 1].split('`').skip(1).step_by(2).map(str::to_owned).collect()))
    });
    rows.collect()
}

/// Whether the named test, command or file exists.
fn exists(cx: &Context, tests: &BTreeSet<String>, token: &str) -> bool {
    if let Some(step) = token.strip_prefix("cargo xtask ") {
        let name = step.split(' ').next().unwrap_or_default();
        return COMMANDS.iter().any(|command| command.name == name);
    }
    if token.contains('/') {
        return cx.root.join(token).exists();
    }
    tests.iter().any(|test| covers(token, test))
}

/// Whether a name in a row matches this test. A `*` at the end matches any rest.
fn covers(token: &str, test: &str) -> bool {
    [test, without_tool(test)].iter().any(|test| match token.strip_suffix('*') {
        Some(start) => test.starts_with(start),
        None => *test == token,
    })
}

/// The name without the tool, which stands before the rule in the name of a loom model.
fn without_tool(test: &str) -> &str {
    test.strip_prefix("loom_").unwrap_or(test)
}

/// Tests of a rule that the row of the rule doesn't name.
fn left_out(tests: &BTreeSet<String>, rows: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let is_named =
        |id: &str, test: &str| rows.get(id).is_some_and(|tokens| tokens.iter().any(|token| covers(token, test)));
    tests
        .iter()
        .filter_map(|test| Some((test, rule_of(test)?)))
        .filter(|(test, id)| !is_named(id, test))
        .map(|(test, id)| format!("{id}: the row doesn't name the test `{test}`"))
        .collect()
}

/// The rule or row that a test's name belongs to: `m4_…` to M4, `f13_…` to F13, `h01_…` to H01.
fn rule_of(test: &str) -> Option<String> {
    let (head, _) = without_tool(test).split_once('_')?;
    let id = head.to_ascii_uppercase();
    let is_of = |letters| head.starts_with(|first: char| first.is_ascii_lowercase()) && is_id(&id, letters);
    (is_of(LETTERS) || is_of(FAULT_LETTERS)).then_some(id)
}

/// The names of the tests in a source: functions under an attribute that ends in `test`, and functions that macros make
/// into tests. The latter have the shape of a rule's name, or take a platform and no arguments.
fn tests_in(source: &str) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        if let Some(attribute) = line.strip_prefix("#[") {
            let name = attribute.split(['(', ']']).next().unwrap_or_default();
            is_test |= name.rsplit("::").next() == Some("test");
            continue;
        }
        let code = line.split("//").next().unwrap_or_default();
        let words = code.split(|byte: char| !byte.is_ascii_alphanumeric() && byte != '_');
        tests.extend(words.filter(|word| rule_of(word).is_some()).map(str::to_owned));
        if let Some((_, function)) = code.split_once("fn ") {
            if is_test || function.contains("<P: ") && function.contains(">()") {
                let end = function.find(['(', '<']).unwrap_or(function.len());
                tests.insert(function[..end].to_owned());
            }
            is_test = false;
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Page\n\n## Rules\n\n| rule | in short | tests |\n|---|---|---|\n| M1 free | first `poll` | `m1_*` |\n\
                        | M2 | order | `m2_*`, `cargo xtask loom` |\n\n## Next\n\n| M3 | not here | `m3_*` |\n";

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn rows_of_one_section_are_read() {
        let rows = table(PAGE, "Rules");
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0], ("M1".to_owned(), vec!["m1_*".to_owned()]));
        assert_eq!(rows[1].1, ["m2_*", "cargo xtask loom"]);
    }

    #[test]
    fn missing_unknown_doubled_and_empty_rows_are_slips() {
        let check = |page: &str| {
            let mut slips = Vec::new();
            check_section(page, "Rules", &["M1".to_owned(), "M2".to_owned()], &mut slips);
            slips
        };
        assert!(check(PAGE).is_empty());
        assert!(check(&PAGE.replace("| M2 |", "| M7 |")).iter().any(|slip| slip.contains("no row for M2")));
        assert!(check(&PAGE.replace("| M2 |", "| M7 |")).iter().any(|slip| slip.contains("there is no M7")));
        assert!(check(&PAGE.replace("| M2 |", "| M1 |")).iter().any(|slip| slip.contains("M1: two rows")));
        assert!(check(&PAGE.replace("`m1_*`", "none")).iter().any(|slip| slip.contains("M1: the last column")));
    }

    #[test]
    fn a_test_that_its_row_does_not_name_is_found() {
        let rows = table(PAGE, "Rules").into_iter().collect();
        let tests = set(&["m1_free", "loom_m2_order", "state", "t_is_no_rule"]);
        assert!(left_out(&tests, &rows).is_empty());
        let slips = left_out(&set(&["m1_free", "m3_new", "loom_m11_new"]), &rows);
        assert_eq!(slips.len(), 2, "{slips:?}");
    }

    #[test]
    fn a_rule_without_a_break_and_a_break_without_a_rule_are_slips() {
        let rules = BTreeMap::from([("M1".to_owned(), vec![]), ("M2".to_owned(), vec![])]);
        assert!(unbroken(&rules, &set(&["M1", "M2"])).is_empty());
        let slips = unbroken(&rules, &set(&["M1", "M3"]));
        assert_eq!(
            slips,
            ["M2: no break of xtask/breaks.toml is of this rule", "xtask/breaks.toml: there is no rule M3"]
        );
    }

    #[test]
    fn names_are_of_their_rules() {
        let of = |test| rule_of(test);
        assert_eq!(of("m4_no_barging").as_deref(), Some("M4"));
        assert_eq!(of("loom_k1_waker").as_deref(), Some("K1"));
        assert_eq!(of("f13_panics").as_deref(), Some("F13"));
        assert_eq!(of("h01_chosen").as_deref(), Some("H01"));
        for other in ["m_", "u_it_needs_room", "x1_a", "m4", "memory_x", "first_poll"] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn tests_are_found_in_sources() {
        let source = "#[test]\n#[should_panic = \"(x)\"]\nfn plain() {}\nfn helper() {}\nfn agrees<P: Platform>() {}\n#[tokio::test(start_paused = true)]\n\
                      async fn timed() {}\n// m9_in_a_comment\nrules! { m1_a, m2_b }\ntable!(h13_std: Std);\n#[cfg(test)]\nmod x {\n fn no() {} }";
        assert_eq!(tests_in(source), set(&["plain", "agrees", "timed", "m1_a", "m2_b", "h13_std"]));
    }
}

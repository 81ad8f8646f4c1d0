//! Two tables of docs/VERIFICATION.md say which tests hold which rule. This checks that they say so of every rule, that
//! what they name exists, and that no test of a rule is left out. A third one lists the deliberate breaks: each rule must
//! have one, and the list must be that of `breaks.toml`, from which `--bless` writes it.
//!
//! A test is known by the name of its function, as it stands in the sources: to ask the test programs would take a build
//! of each, with every `cfg`. The price: a function with the name of a test counts as one. But one that nothing runs is
//! dead code, which clippy refuses.

use core::fmt::Write as _;
use std::collections::{BTreeMap, BTreeSet};

use xshell::cmd;

use crate::COMMANDS;
use crate::context::{Context, Failure, OrElse as _, Outcome, Result};
use crate::mutants::breaks;

const PAGE: &str = "docs/VERIFICATION.md";
const RULES_PAGE: &str = "docs/RULES.md";

/// How many there are of each letter. Those of RULES.md are counted there.
const KINDS: &[(&str, u32)] = &[("F", 25), ("H", 13)];
const RULES: &[(&str, u32)] = &[("M", 11), ("W", 9), ("T", 5), ("K", 10)];
const RULES_ELSEWHERE: &[&str] = &["R", "P", "U"];

/// Where tests stand: Rust sources, and the cases of what must not compile, each of which counts as a test.
const SOURCES: &[&str] = &["crates/*.rs", "conformance-embassy-std/*.rs", "fuzz/*.rs"];
const CASES: &str = "/tests/compile_fail/";

/// What stands around the list of breaks.
const MARKS: [&str; 2] = [
    "<!-- What follows is written by `cargo xtask verification --bless`. -->\n\n",
    "\n<!-- Here ends what `cargo xtask verification --bless` writes. -->",
];

pub(crate) fn run(cx: &Context, args: &[String]) -> Result<Outcome> {
    let bless = match args {
        [] => false,
        [flag] if flag == "--bless" => true,
        _ => return Err(Failure::new("it takes `--bless`, or nothing", "run `cargo xtask verification`")),
    };
    let read = |file: &str| cx.sh.read_file(cx.root.join(file)).or_tell("the file belongs in the repository");
    let (page, rules_page) = (read(PAGE)?, read(RULES_PAGE)?);
    let tests = tests(cx)?;
    let kinds = numbered(KINDS, 2);
    let mut rules = numbered(RULES, 1);
    rules.extend(rules_of_page(&rules_page));

    let mut slips = Vec::new();
    let (unbroken, breaks) = breaks::listed(cx, &rules)?;
    slips.extend(unbroken.iter().map(|rule| format!("{rule}: no break of xtask/breaks.toml is of this rule")));
    match marked(&page) {
        None => slips.push("the marks around the list of breaks are gone".to_owned()),
        Some((before, old, after)) if old != breaks => {
            if bless {
                let page = [before, MARKS[0], &breaks, MARKS[1], after].concat();
                cx.sh.write_file(cx.root.join(PAGE), page).or_tell("check that the page can be written")?;
            } else {
                slips.push("the list of breaks is not that of xtask/breaks.toml: `--bless` writes it".to_owned());
            }
        }
        Some(_) => {}
    }
    let mut rows = BTreeMap::new();
    for (section, expected) in [("Kinds of fault and their tests", kinds), ("Rules and their tests", rules)] {
        rows.extend(check_section(&page, section, &expected, &mut slips));
    }
    for (id, tokens) in &rows {
        slips.extend(
            tokens
                .iter()
                .filter(|token| !exists(cx, &tests, token))
                .map(|token| format!("{id}: `{token}` is no test, no `cargo xtask` command and no file")),
        );
    }
    slips.extend(left_out(&tests, &rows));
    if slips.is_empty() {
        println!("verification: {} rows, {} tests", rows.len(), tests.len());
        return Ok(Outcome::Passed);
    }
    let mut list = format!("{PAGE} and the tests disagree:");
    slips.iter().for_each(|slip| _ = write!(list, "\n  {slip}"));
    Err(Failure::new(&list, "correct the row; if a test went away, name the one that holds the rule now, or write it"))
}

/// What stands before, between and after the marks.
fn marked(page: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = page.split_once(MARKS[0])?;
    let (between, after) = rest.split_once(MARKS[1])?;
    Some((before, between, after))
}

/// `F01`, `F02`, …
fn numbered(of: &[(&str, u32)], digits: usize) -> Vec<String> {
    of.iter().flat_map(|&(letter, count)| (1..=count).map(move |n| format!("{letter}{n:0digits$}"))).collect()
}

/// The rules that the page states: `- **R1** …`.
fn rules_of_page(text: &str) -> Vec<String> {
    let ids = text.lines().filter_map(|line| line.strip_prefix("- **")?.split_once("**").map(|(id, _)| id.to_owned()));
    ids.filter(|id| RULES_ELSEWHERE.iter().any(|letter| id.starts_with(letter))).collect()
}

/// What each row of a section's table names; slips: rows that are missing, unknown, doubled or empty.
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

/// The rows of the tables in a section: the first cell up to a blank, and what is in backquotes in the last.
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

/// Whether what a row names is there.
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

/// Whether a row's name stands for this test. A `*` at the end stands for any end.
fn covers(token: &str, test: &str) -> bool {
    [test, without_tool(test)].iter().any(|test| match token.strip_suffix('*') {
        Some(start) => test.starts_with(start),
        None => *test == token,
    })
}

/// Models for loom have the rule's name after the tool's.
fn without_tool(test: &str) -> &str {
    test.strip_prefix("loom_").unwrap_or(test)
}

/// Tests of a rule that the rule's row doesn't name.
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

/// The row that a test's name asks for: `m4_…` is of M4, `f13_…` of F13, `h01_…` of H01.
fn rule_of(test: &str) -> Option<String> {
    let (head, _) = without_tool(test).split_once('_')?;
    let letter = head.chars().next().filter(char::is_ascii_lowercase)?;
    let number = &head[1..];
    let is_known = KINDS.iter().chain(RULES).any(|(known, _)| known.eq_ignore_ascii_case(&head[..1]))
        || RULES_ELSEWHERE.iter().any(|known| known.eq_ignore_ascii_case(&head[..1]));
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_known && is_number).then(|| format!("{}{number}", letter.to_ascii_uppercase()))
}

fn tests(cx: &Context) -> Result<BTreeSet<String>> {
    let sh = &cx.sh;
    let files = cmd!(sh, "git ls-files --cached --others --exclude-standard --")
        .args(SOURCES)
        .read()
        .or_tell("run it in a git checkout")?;
    let mut tests = BTreeSet::new();
    for file in files.lines().filter(|file| sh.path_exists(file)) {
        match file.split_once(CASES) {
            Some((_, case)) => _ = tests.insert(case.trim_end_matches(".rs").to_owned()),
            None => tests.extend(tests_in(&sh.read_file(file).or_tell("save the file as UTF-8")?)),
        }
    }
    Ok(tests)
}

/// The names of the tests in a source: functions under an attribute that ends in `test`, and what macros make into tests:
/// whatever has the shape of a rule's name, and functions of a platform and nothing else.
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
            check_section(page, "Rules", &numbered(&[("M", 2)], 1), &mut slips);
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
    fn the_list_of_breaks_stands_between_marks() {
        let page = ["# Page\n\n", MARKS[0], "| a |\n", MARKS[1], "\n\nNext.\n"].concat();
        assert_eq!(marked(&page), Some(("# Page\n\n", "| a |\n", "\n\nNext.\n")));
        assert_eq!(marked(&page.replace(MARKS[1], "")), None);
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

    #[test]
    fn rules_of_the_rules_page_are_counted() {
        assert_eq!(rules_of_page("- **R1** text\n- **U2** text\n- **bold** text\n**R3**"), ["R1", "U2"]);
    }
}

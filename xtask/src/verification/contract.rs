//! The rules of docs/CONTRACT.md, and the places that cite a rule.

use std::collections::BTreeSet;

/// The letters of the rules.
pub(super) const LETTERS: &str = "MWTKRPU";

/// The letters of the kinds of fault and of the scenarios, which have two digits.
pub(super) const FAULT_LETTERS: &str = "FH";

/// A rule of the page: `- **M1** text`, then indented lines, with `*Why:*` and `*Tests:*` among them.
#[derive(Debug, PartialEq)]
pub(super) struct Rule {
    pub(super) id: String,
    /// The prefixes of tests, the commands and the files that hold the rule.
    pub(super) tests: Vec<String>,
}

/// The rules of the page. Slips: a rule without a reason, without the prefix of its tests, or out of order.
pub(super) fn rules(page: &str, slips: &mut Vec<String>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((id, text)) = line.strip_prefix("- **").and_then(|rest| rest.split_once("** ")) else { continue };
        if !is_id(id, LETTERS) {
            continue;
        }
        let mut body = text.to_owned();
        while let Some(more) = lines.next_if(|line| line.is_empty() || line.starts_with("  ")) {
            body.push(' ');
            body.push_str(more.trim());
        }
        let (text, named) = body.split_once("*Tests:*").unwrap_or((&body, ""));
        if !text.contains("*Why:* ") {
            slips.push(format!("{id}: no `*Why:*` says what the rule is for"));
        }
        let tests: Vec<String> = named.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let prefix = format!("{}_*", id.to_lowercase());
        if tests.first() != Some(&prefix) {
            slips.push(format!("{id}: the tests of the rule don't begin with `{prefix}`"));
        }
        if !follows(rules.last().map(|rule| &*rule.id), id) {
            slips.push(format!("{id}: the rule stands out of order"));
        }
        rules.push(Rule { id: id.to_owned(), tests });
    }
    rules
}

/// Whether a rule may follow another: with the next number, or as the first of its letter.
fn follows(last: Option<&str>, id: &str) -> bool {
    let number = |id: &str| id[1..].parse::<u32>().unwrap_or(u32::MAX);
    match last {
        Some(last) if last[..1] == id[..1] => number(last) + 1 == number(id),
        _ => number(id) <= 1,
    }
}

/// Whether a word is one of the letters with a number.
pub(super) fn is_id(word: &str, letters: &str) -> bool {
    let number = word.strip_prefix(|first: char| letters.contains(first)).unwrap_or_default();
    (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// The rules, kinds and scenarios that the comments of a Rust source cite, with the numbers of the lines.
pub(super) fn cited_in_comments(source: &str) -> Vec<(usize, String)> {
    let lines = source.lines().enumerate().filter_map(|(at, line)| Some((at, line.split_once("//")?.1)));
    lines.flat_map(|(at, comment)| cited(comment).into_iter().map(move |id| (at + 1, id))).collect()
}

/// The same for a page, except its code.
pub(super) fn cited_in_page(page: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let mut found = Vec::new();
    for (at, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            found.extend(cited(line).into_iter().map(|id| (at + 1, id)));
        }
    }
    found
}

/// The ids that a line of prose cites. A name in `backquotes` belongs to the code, and `Cortex-M3` is one word.
fn cited(line: &str) -> BTreeSet<String> {
    let prose = line.split('`').step_by(2);
    let words = prose.flat_map(|part| part.split(|c: char| !c.is_ascii_alphanumeric() && !"_-+/.".contains(c)));
    let words = words.map(|word| word.trim_matches(['.', '-', '/']));
    words.filter(|word| is_id(word, LETTERS) || is_id(word, FAULT_LETTERS)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Page\n\n- **M1** Text\n  that goes on.\n  *Why:* It must.\n  *Tests:* `m1_*`, `cargo xtask loom`.\n\
                        - **bold** no rule\n- **R0** Text.\n\n  More.\n\n  *Why:* So.\n  *Tests:* `r0_*`.\n";

    fn slips(page: &str) -> Vec<String> {
        let mut slips = Vec::new();
        rules(page, &mut slips);
        slips
    }

    #[test]
    fn rules_are_read_with_their_tests() {
        let mut slips = Vec::new();
        let rules = rules(PAGE, &mut slips);
        assert!(slips.is_empty(), "{slips:?}");
        assert_eq!(rules.iter().map(|rule| &*rule.id).collect::<Vec<_>>(), ["M1", "R0"]);
        assert_eq!(rules[0].tests, ["m1_*", "cargo xtask loom"]);
    }

    #[test]
    fn a_rule_without_a_reason_or_a_prefix_or_out_of_order_is_a_slip() {
        assert!(slips(&PAGE.replacen("*Why:*", "", 1))[0].contains("M1: no `*Why:*`"));
        assert!(slips(&PAGE.replace("`m1_*`, ", ""))[0].contains("M1: the tests"));
        assert!(slips(&PAGE.replace("`r0_*`", "none"))[0].contains("R0: the tests"));
        assert!(slips(&PAGE.replace("M1", "M2").replace("m1_", "m2_"))[0].contains("M2: the rule stands out of order"));
        assert_eq!(slips(&[PAGE, PAGE].concat()).len(), 0, "R0 and M1 begin anew");
        assert!(slips(&PAGE.replace("R0", "M1").replace("r0_", "m1_"))[0].contains("out of order"));
    }

    #[test]
    fn citations_are_found_in_prose_alone() {
        let ids =
            |found: Vec<(usize, String)>| found.into_iter().map(|(at, id)| format!("{at}:{id}")).collect::<Vec<_>>();
        let source = "// SAFETY: K2, and M4's.\nlet M5 = R1; /* no */\n/// A Cortex-M3, `W1`, F13.";
        assert_eq!(ids(cited_in_comments(source)), ["1:K2", "1:M4", "3:F13"]);
        let page = "By R12 (U99).\n\n```text\nM3\n```\nThe Cortex-M0+, an M0+.";
        assert_eq!(ids(cited_in_page(page)), ["1:R12", "1:U99"]);
    }
}

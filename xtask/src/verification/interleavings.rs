//! The pairs of operations that loom explores. `interleavings.toml` names the models of each pair, or the reason why it
//! needs none, and docs/INTERLEAVINGS.md is written from that file.

use core::fmt::Write as _;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::context::{OrElse as _, Result};

pub(super) const FILE: &str = "xtask/interleavings.toml";

/// The prefix of a model's name.
const PREFIX: &str = "loom_";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    reasons: BTreeMap<String, String>,
    /// The models of no pair, and what they test.
    others: BTreeMap<String, String>,
    mutex: Lock,
    rwlock: Lock,
}

/// The pairs of one lock.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lock {
    /// The short name and the description of each operation.
    operations: Vec<(String, String)>,
    pairs: BTreeMap<String, Pair>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Pair {
    Reason(String),
    Models(Vec<String>),
}

impl Record {
    pub(super) fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).or_tell(&format!("fix {FILE}"))
    }

    /// The errors of the record, compared with the existing models.
    pub(super) fn slips(&self, there: &BTreeSet<String>) -> Vec<String> {
        let mut slips = Vec::new();
        let mut named: BTreeSet<&str> = self.others.keys().map(String::as_str).collect();
        for lock in [&self.mutex, &self.rwlock] {
            let asked: BTreeSet<String> = lock.all().map(|(one, other)| format!("{one} {other}")).collect();
            let unknown = lock.pairs.keys().filter(|pair| !asked.contains(*pair));
            slips.extend(unknown.map(|pair| format!("`{pair}` is no pair of two operations in their order")));
            for pair in &asked {
                match lock.pairs.get(pair) {
                    None => slips.push(format!("`{pair}` has neither a model nor a reason")),
                    Some(Pair::Models(models)) if models.is_empty() => slips.push(format!("`{pair}` names no model")),
                    Some(Pair::Models(models)) => named.extend(models.iter().map(String::as_str)),
                    Some(Pair::Reason(reason)) if !self.reasons.contains_key(reason) => {
                        slips.push(format!("`{pair}`: there is no reason `{reason}`"));
                    }
                    Some(Pair::Reason(_)) => {}
                }
            }
        }
        let missing = there.iter().filter(|model| !named.contains(model.as_str()));
        slips.extend(missing.map(|model| format!("the model `{model}` stands with no pair")));
        let gone = named.iter().filter(|model| !there.contains(**model));
        slips.extend(gone.map(|model| format!("there is no model `{model}`")));
        slips.iter().map(|slip| format!("{FILE}: {slip}")).collect()
    }

    /// The page.
    pub(super) fn page(&self) -> String {
        let mut page = "# Interleavings\n\nThe models that loom runs, by pairs of operations. The question of a model, and what loom \
                        can't see: [VERIFICATION.md](VERIFICATION.md#interleavings).\n\n<!-- `cargo xtask verification \
                        --bless` writes this page from xtask/interleavings.toml. -->\n\nA cell names the models of a pair \
                        by their numbers below, or the reason why the pair has none:\n\n"
            .to_owned();
        self.reasons.iter().for_each(|(name, text)| _ = writeln!(page, "- **{name}**: {text}."));
        let mut numbers = BTreeMap::new();
        for (title, lock) in [("The mutex", &self.mutex), ("The read-write lock", &self.rwlock)] {
            let _ = writeln!(page, "\n## {title}\n");
            lock.write(&mut page, &mut numbers);
        }
        page.push_str("\n## Models of no pair\n\n");
        self.others.iter().for_each(|(model, text)| _ = writeln!(page, "- `{model}`: {text}."));
        page
    }
}

impl Lock {
    /// The pairs, from the diagonal on.
    fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let operations = self.operations.iter().enumerate();
        operations.flat_map(|(at, (one, _))| self.operations[at..].iter().map(move |(other, _)| (&**one, &**other)))
    }

    /// Writes the operations, the matrix, and the models that this lock is the first to name.
    fn write<'a>(&'a self, page: &mut String, numbers: &mut BTreeMap<&'a str, usize>) {
        page.push_str("| | operation |\n|---|---|\n");
        self.operations.iter().for_each(|(name, text)| _ = writeln!(page, "| {name} | {text} |"));
        let names: Vec<&str> = self.operations.iter().map(|(name, _)| &**name).collect();
        let _ = writeln!(page, "\n| | {} |\n|---|{}", names.join(" | "), "--:|".repeat(names.len()));
        let mut models = String::new();
        for (at, one) in names.iter().enumerate() {
            let _ = write!(page, "| **{one}** |{}", "  |".repeat(at));
            for other in &names[at..] {
                let cell = match self.pairs.get(&format!("{one} {other}")) {
                    None => String::new(),
                    Some(Pair::Reason(reason)) => reason.clone(),
                    Some(Pair::Models(named)) => {
                        let number = |model: &'a String| {
                            let next = numbers.len() + 1;
                            let number = *numbers.entry(model).or_insert(next);
                            if number == next {
                                let _ = writeln!(models, "{number}. `{model}`");
                            }
                            number.to_string()
                        };
                        named.iter().map(number).collect::<Vec<_>>().join(" ")
                    }
                };
                let _ = write!(page, " {cell} |");
            }
            page.push('\n');
        }
        let _ = write!(page, "\n{models}");
    }
}

/// The models of a source: `fn loom_…`, also in the lists that a macro makes into tests.
pub(super) fn models(source: &str) -> impl Iterator<Item = String> {
    let words = source.split("fn ").skip(1).filter(|rest| rest.starts_with(PREFIX));
    words.filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "[reasons]\na = \"never\"\n[others]\nloom_x = \"else\"\n[mutex]\noperations = [[\"F\", \"first\"], \
                          [\"P\", \"again\"]]\n[mutex.pairs]\n\"F F\" = [\"loom_a\"]\n\"F P\" = [\"loom_b\", \"loom_a\"]\n\
                          \"P P\" = \"a\"\n[rwlock]\noperations = []\n[rwlock.pairs]\n";

    fn slips(record: &str, there: &[&str]) -> String {
        let there = there.iter().map(|&model| model.to_owned()).collect();
        Record::parse(record).expect("the record can be parsed").slips(&there).join("\n")
    }

    #[test]
    fn each_pair_has_a_model_or_a_reason() {
        let there = ["loom_a", "loom_b", "loom_x"];
        assert_eq!(slips(RECORD, &there), "");
        assert!(slips(&RECORD.replace("\"P P\" = \"a\"\n", ""), &there).contains("`P P` has neither"));
        assert!(slips(&RECORD.replace("\"P P\" = \"a\"", "\"P P\" = \"b\""), &there).contains("no reason `b`"));
        assert!(slips(&RECORD.replace("\"P P\" = \"a\"", "\"P P\" = []"), &there).contains("names no model"));
        assert!(slips(&RECORD.replace("\"F P\"", "\"P F\""), &there).contains("`P F` is no pair"));
    }

    #[test]
    fn the_models_are_those_that_there_are() {
        assert!(slips(RECORD, &["loom_a", "loom_b"]).contains("no model `loom_x`"));
        assert!(slips(RECORD, &["loom_a", "loom_b", "loom_c", "loom_x"]).contains("`loom_c` stands with no pair"));
        assert_eq!(
            models("fn loom_a() {}\n fn helper() {}\n m! { fn loom_b_c(); }").collect::<Vec<_>>(),
            ["loom_a", "loom_b_c"]
        );
    }

    #[test]
    fn the_page_numbers_the_models() {
        let page = Record::parse(RECORD).expect("the record can be parsed").page();
        assert!(page.contains("| **F** | 1 | 2 1 |\n| **P** |  | a |\n\n1. `loom_a`\n2. `loom_b`\n"), "{page}");
        assert!(page.contains("- **a**: never.\n") && page.ends_with("- `loom_x`: else.\n"), "{page}");
    }
}

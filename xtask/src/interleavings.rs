//! The tables of models in docs/VERIFICATION.md: each pair of operations has a model or a reason, and each model stands there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const PAGE: &str = "docs/VERIFICATION.md";
const SOURCES: &str = "crates/fifolock-core/src";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

fn section() -> String {
    let page = fs::read_to_string(root().join(PAGE)).expect("the page is in the repository");
    let (_, rest) = page.split_once("\n## Interleavings\n").expect("the page has the section");
    rest.split("\n## ").next().unwrap_or_default().to_owned()
}

/// The words that begin with `loom_`.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("loom_")).map(str::to_owned).collect()
}

/// The models below a folder: `fn loom_…`, also in the lists that a macro makes tests of.
fn models(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            found.extend(models(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).expect("it can be read");
            for (at, _) in source.match_indices("fn loom_") {
                let name = source[at + 3..].split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
                found.extend(name.map(str::to_owned));
            }
        }
    }
    found
}

/// The models by their numbers in the lists.
fn numbered(section: &str) -> BTreeMap<usize, String> {
    section
        .lines()
        .filter_map(|line| {
            let (number, name) = line.split_once(". `")?;
            Some((number.parse().ok()?, name.trim_end_matches('`').to_owned()))
        })
        .collect()
}

/// What the cells of the matrices name, from the diagonal on, with the pair that each is for.
fn cells(section: &str) -> Vec<(String, String)> {
    let mut columns: Vec<String> = Vec::new();
    let mut cells = Vec::new();
    for line in section.lines() {
        let row: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        match row.as_slice() {
            ["", operations @ ..] if operations.len() > 1 => {
                columns = operations.iter().map(|&operation| operation.to_owned()).collect();
            }
            [head, row @ ..] if head.starts_with("**") => {
                let head = head.trim_matches('*');
                let at = columns.iter().position(|column| column == head).expect("each row is a column too");
                assert_eq!(row.len(), columns.len(), "the row {head}");
                assert!(row[..at].iter().all(|cell| cell.is_empty()), "the row {head} is full below the diagonal");
                cells.extend((at..row.len()).map(|i| (format!("{head} × {}", columns[i]), row[i].to_owned())));
            }
            _ => {}
        }
    }
    cells
}

#[test]
fn the_section_names_all_models_there_are_and_no_others() {
    let (named, there) = (names(&section()), models(&root().join(SOURCES)));
    let missing: Vec<_> = there.difference(&named).collect();
    let gone: Vec<_> = named.difference(&there).collect();
    assert!(missing.is_empty(), "put these into \"Interleavings\" of {PAGE}: {missing:?}");
    assert!(gone.is_empty(), "{PAGE} names models that are not there: {gone:?}");
}

#[test]
fn each_pair_of_operations_has_a_model_or_a_reason() {
    let section = section();
    let numbered = numbered(&section);
    let cells = cells(&section);
    let mut used = BTreeSet::new();
    for (pair, cell) in &cells {
        assert!(!cell.is_empty(), "{pair} has neither a model nor a reason");
        for word in cell.split(' ') {
            match word.parse::<usize>() {
                Ok(number) => {
                    assert!(numbered.contains_key(&number), "{pair}: there is no model {number}");
                    used.insert(number);
                }
                Err(_) => assert!(section.contains(&format!("\n- **{word}**: ")), "{pair}: no reason {word}"),
            }
        }
    }
    let unused: Vec<_> = numbered.iter().filter(|(number, _)| !used.contains(number)).collect();
    assert!(unused.is_empty(), "models of no pair: {unused:?}");
    // The diagonals and what is above them, for two locks.
    assert_eq!(cells.len(), [10, 20].map(|operations| operations * (operations + 1) / 2).iter().sum::<usize>());
}

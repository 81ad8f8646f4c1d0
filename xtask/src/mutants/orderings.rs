//! Atomic orderings, each weakened on its own.

use core::time::Duration;
use std::fs;
use std::path::Path;

use super::breaks::{Explained, Record};
use super::tree::{Suite, Tree, Verdict};
use super::{is_chosen, none_chosen};
use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

const SOURCES: &str = "crates/fifolock-core/src";

/// The time limits of a model, in rounds, so that the short models run first. A model that is not done goes into the
/// next round. A model that is not done in the last round hangs because of the fault.
const ROUNDS: [Duration; 3] = [Duration::from_secs(2), Duration::from_secs(30), Duration::from_secs(900)];

/// An ordering in the source.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    /// The offset from the start of the file.
    at: usize,
    line: usize,
    /// The whole line, which identifies the ordering.
    text: String,
    ordering: &'static str,
}

/// The weaker orderings of each. An ordering that is not here can't be weakened.
const WEAKER: [(&str, &[&str]); 4] = [
    ("Acquire", &["Relaxed"]),
    ("Release", &["Relaxed"]),
    ("AcqRel", &["Relaxed", "Acquire", "Release"]),
    ("SeqCst", &["Relaxed"]),
];

pub(super) fn run(cx: &Context, only: Option<&str>) -> Result<Outcome> {
    let record = Record::read(cx)?;
    let tree = Tree::new(cx, "orderings")?;
    let mut rows = Vec::new();
    for file in sources(tree.root(), Path::new(SOURCES))? {
        let source = tree.read(&file)?;
        for place in places(&source) {
            let (_, weaker) =
                WEAKER.iter().find(|(name, _)| *name == place.ordering).expect("the place was found by this list");
            for to in *weaker {
                let name = format!("{file}:{}: {} to {to}: {}", place.line, place.ordering, place.text);
                if !is_chosen(&name, only) {
                    continue;
                }
                let mut text = source.clone();
                text.replace_range(place.at..place.at + place.ordering.len(), to);
                let killed_by = tree.with(&file, &text, || killer(&tree))?;
                let explained = record.explains_ordering(&file, &place.text, to);
                eprintln!("{name}: {}", killed_by.as_deref().unwrap_or("SURVIVED"));
                rows.push((name, killed_by, explained));
            }
        }
    }
    if rows.is_empty() {
        return Err(none_chosen(only));
    }
    report(&rows)
}

fn report(rows: &[(String, Option<String>, Option<&Explained>)]) -> Result<Outcome> {
    let mut wrong = Vec::new();
    for (name, killed_by, explained) in rows {
        match (killed_by, explained) {
            (Some(model), None) => println!("killed    {name}\n          by {model}"),
            (None, Some(explained)) => println!("explained {name}\n          {}", explained.reason),
            (None, None) => wrong.push(format!("no model falls: {name}")),
            (Some(model), Some(_)) => wrong.push(format!("explained, but {model} falls: {name}")),
        }
    }
    println!("orderings: {} weakened, {} killed", rows.len(), rows.iter().filter(|row| row.1.is_some()).count());
    if wrong.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(&wrong.join("\n"), "write a model that falls, or correct `[[ordering]]` in xtask/breaks.toml"))
}

/// The model that fails.
fn killer(tree: &Tree<'_>) -> Result<Option<String>> {
    let program = tree.build(&Suite::Loom)?.map_err(|error| {
        Failure::new(&format!("with a weaker ordering the core doesn't build:\n{error}"), "mend WEAKER in xtask")
    })?;
    let mut models = program.tests("loom_")?;
    for limit in ROUNDS {
        let mut later = Vec::new();
        for model in models {
            match program.run(&model, true, limit)? {
                Verdict::Falls | Verdict::NoTest => return Ok(Some(model)),
                Verdict::Hangs => later.push(model),
                Verdict::Passes => {}
            }
        }
        models = later;
    }
    Ok(models.into_iter().next().map(|model| format!("{model} (hangs)")))
}

/// The files below a folder, without tests.
fn sources(root: &Path, below: &Path) -> Result<Vec<String>> {
    let remedy = "check the name of the core's folder in xtask";
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join(below)).or_tell(remedy)? {
        let entry = entry.or_tell(remedy)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let path = below.join(&*name);
        if name.contains("test") {
            continue;
        }
        if entry.file_type().or_tell(remedy)?.is_dir() {
            files.extend(sources(root, &path)?);
        } else if name.ends_with(".rs") {
            files.push(path.to_string_lossy().replace('\\', "/"));
        }
    }
    files.sort();
    Ok(files)
}

/// The orderings that can be weakened, without those in tests and comments.
fn places(source: &str) -> Vec<Place> {
    let mut places = Vec::new();
    let mut start = 0;
    for (index, line) in source.split_inclusive('\n').enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        if code.trim_start().starts_with("mod tests") {
            break;
        }
        for (offset, marker) in code.match_indices("Ordering::") {
            let at = offset + marker.len();
            let name = code[at..].split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            if let Some((ordering, _)) = WEAKER.iter().find(|(known, _)| *known == name) {
                places.push(Place { at: start + at, line: index + 1, text: line.trim().to_owned(), ordering });
            }
        }
        start += line.len();
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orderings_are_found_in_code_alone() {
        let source = "\
// Ordering: Acquire, Ordering::Acquire
use core::sync::atomic::Ordering;
let word = self.0.swap(x, Ordering::AcqRel); // Ordering::Release
self.0.compare_exchange(a, b, Ordering::Release, Ordering::Relaxed)
mod tests {
    x.load(Ordering::Acquire)
";
        let found = places(source);
        let orderings: Vec<_> = found.iter().map(|place| (place.line, place.ordering)).collect();
        assert_eq!(orderings, [(3, "AcqRel"), (4, "Release")]);
        assert!(found.iter().all(|place| source[place.at..].starts_with(place.ordering)));
    }
}

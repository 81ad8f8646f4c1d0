//! Phrases that a reader has to read twice. Comments, texts and pages must do without them.

use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

/// The phrases, in small letters, each with what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("whoever", "name the actor: the waiter, the task, the caller"),
    ("whom", "name the actor: the waiter, the task, the caller"),
    ("is to be", "a duty takes `must`, a plan a verb of its own"),
    ("are to be", "a duty takes `must`, a plan a verb of its own"),
    ("for ever", "say `without end`, or name the end"),
    ("of its own accord", "name the actor"),
];

/// Paths that are left out: this file, which has the phrases, and folders that are not mended yet.
const LEFT_OUT: &[&str] = &[
    "xtask/src/prose.rs", //
    "crates/fifolock-core/src/",
    "crates/indexd/",
];

/// Checks the tracked sources and pages, and those that git doesn't know yet.
pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let files = cmd!(sh, "git ls-files --cached --others --exclude-standard -- *.rs *.md").read();
    let files = files.or_tell("run the command in a git checkout")?;
    let mut found = Vec::new();
    let mut checked = 0;
    for file in files.lines().filter(|file| !LEFT_OUT.iter().any(|path| file.starts_with(path))) {
        // A file that was removed is listed until the removal is committed.
        let Ok(text) = sh.read_file(cx.root.join(file)) else { continue };
        let paragraphs = if file.ends_with(".rs") { source(&text) } else { page(&text) };
        found.extend(paragraphs.iter().flat_map(hits).map(|hit| format!("\n  {file}:{hit}")));
        checked += 1;
    }
    if found.is_empty() {
        println!("prose: {checked} files");
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(
        &format!("these sentences have to be read twice:{}", found.concat()),
        "write the sentence anew, with the actor first and as a noun",
    ))
}

/// The words of a paragraph, each with the number of its line.
type Paragraph<'a> = Vec<(usize, &'a str)>;

/// The paragraphs of a page, without its blocks of code.
fn page(text: &str) -> Vec<Paragraph<'_>> {
    let mut in_code = false;
    paragraphs(text, |line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        if in_code || is_fence || line.trim().is_empty() { (false, "") } else { (true, line) }
    })
}

/// The comments of a source as paragraphs, and each of its other lines as a paragraph, since a line may have a text.
fn source(text: &str) -> Vec<Paragraph<'_>> {
    paragraphs(text, |line| match line.trim_start().strip_prefix("//") {
        Some(comment) => (true, comment.trim_start_matches(['/', '!'])),
        None => (false, line),
    })
}

/// Splits a text into paragraphs. `read` tells of a line whether its words may go on in the next line, and what has the words.
fn paragraphs<'a>(text: &'a str, mut read: impl FnMut(&'a str) -> (bool, &'a str)) -> Vec<Paragraph<'a>> {
    let mut all = vec![Vec::new()];
    let mut goes_on = false;
    for (n, line) in text.lines().enumerate() {
        let (is_prose, words) = read(line);
        if !(is_prose && goes_on) || words.trim().is_empty() {
            all.push(Vec::new());
        }
        goes_on = is_prose;
        let last = all.last_mut().expect("there is one paragraph at least");
        last.extend(words.split_whitespace().map(|word| (n + 1, word)));
    }
    all
}

/// The phrases in a paragraph: line, phrase, sentence, remedy.
fn hits(paragraph: &Paragraph<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for at in 0..paragraph.len() {
        for (phrase, remedy) in PHRASES {
            if has(&paragraph[at..], phrase) {
                let (line, _) = paragraph[at];
                found.push(format!("{line}: \"{phrase}\" ({remedy}): {}", sentence(paragraph, at)));
            }
        }
    }
    found
}

/// Whether these words begin with the phrase. Between the words of a phrase there is no punctuation.
fn has(words: &[(usize, &str)], phrase: &str) -> bool {
    let is_mark = |c: char| !c.is_alphanumeric() && c != '_';
    let count = phrase.split(' ').count();
    let Some(words) = words.get(..count) else { return false };
    words.iter().zip(phrase.split(' ')).enumerate().all(|(n, ((_, word), expected))| {
        let word = if n == 0 { word.trim_start_matches(is_mark) } else { word };
        let word = if n + 1 == count { word.trim_end_matches(is_mark) } else { word };
        word.to_lowercase() == expected
    })
}

/// The sentence around a word.
fn sentence(paragraph: &Paragraph<'_>, at: usize) -> String {
    let ends = |(_, word): &(usize, &str)| word.ends_with(['.', '?', '!', ':']);
    let begin = paragraph[..at].iter().rposition(ends).map_or(0, |end| end + 1);
    let end = paragraph[at..].iter().position(ends).map_or(paragraph.len(), |end| at + end + 1);
    paragraph[begin..end].iter().map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(paragraphs: &[Paragraph<'_>]) -> Vec<String> {
        paragraphs.iter().flat_map(hits).collect()
    }

    #[test]
    fn a_phrase_is_found_with_its_sentence() {
        let text = "/// Whole. The lock is to\n/// be freed, (whoever\n/// holds it). More.\nfn f() {}\n";
        let hits = found(&source(text));
        assert_eq!(hits.len(), 2, "{hits:?}");
        assert!(hits[0].starts_with("1: \"is to be\""), "{hits:?}");
        assert!(hits[0].ends_with(": The lock is to be freed, (whoever holds it)."), "{hits:?}");
        assert!(hits[1].starts_with("2: \"whoever\""), "{hits:?}");
    }

    #[test]
    fn a_text_in_the_code_counts_and_a_name_does_not() {
        assert_eq!(found(&source("    assert!(ok, \"a loop for ever\");\n")).len(), 1);
        assert!(found(&source("fn u4_lets_in_whom_it_kept_out() {}\n")).is_empty());
    }

    #[test]
    fn words_of_two_sentences_or_paragraphs_are_no_phrase() {
        for text in ["/// It is. To be sure.\n", "/// It is\n///\n/// to be.\n", "/// It is\nfn f() {}\n/// to be.\n"] {
            assert!(found(&source(text)).is_empty(), "{text}");
        }
    }

    #[test]
    fn code_on_a_page_is_left_out() {
        assert!(found(&page("Text.\n\n```text\nfor ever\n```\n")).is_empty());
        assert_eq!(found(&page("Text.\n\n```text\n```\n\nIt runs for\never.\n")).len(), 1);
    }
}

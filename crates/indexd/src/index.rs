//! The word index itself: plain data, without a lock.

use core::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::words::Counts;

/// Which files hold which words, and how often.
#[derive(Clone, Debug, Default)]
pub struct Index {
    files: Vec<PathBuf>,
    /// Where in `terms` a word is.
    places: HashMap<Arc<str>, usize>,
    terms: Vec<Term>,
    occurrences: u64,
}

/// A word of the index.
#[derive(Clone, Debug)]
pub struct Term {
    word: Arc<str>,
    occurrences: u64,
    postings: Vec<Posting>,
}

/// One file's share of a word. Two `u32`: an index holds millions of these.
#[derive(Clone, Copy, Debug)]
struct Posting {
    file: u32,
    count: u32,
}

impl Index {
    /// Adds a file and its words. The same file must not be added twice.
    ///
    /// # Panics
    ///
    /// After `u32::MAX` files.
    pub fn add(&mut self, file: PathBuf, counts: Counts) {
        let number = u32::try_from(self.files.len()).expect("more files than an index can hold");
        self.files.push(file);
        self.occurrences += counts.total();
        for (word, count) in counts.into_words() {
            let term = self.term_mut(word);
            term.occurrences += u64::from(count);
            term.postings.push(Posting { file: number, count });
        }
    }

    fn term_mut(&mut self, word: String) -> &mut Term {
        let place = match self.places.get(word.as_str()) {
            Some(&place) => place,
            None => {
                let word: Arc<str> = word.into();
                self.places.insert(Arc::clone(&word), self.terms.len());
                self.terms.push(Term { word, occurrences: 0, postings: Vec::new() });
                self.terms.len() - 1
            }
        };
        &mut self.terms[place]
    }

    /// Number of files in the index.
    #[must_use]
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// Number of words in all files, repeated ones included.
    #[must_use]
    pub fn occurrences(&self) -> u64 {
        self.occurrences
    }

    /// The words, each once, in the order in which they were first met.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// What is known of `word`, which must be lower-cased as [`words`](crate::words::words) does.
    #[must_use]
    pub fn lookup(&self, word: &str) -> Option<&Term> {
        self.places.get(word).map(|&place| &self.terms[place])
    }

    /// The files that hold `term`, a term of this index, with the number of its occurrences in each.
    ///
    /// # Panics
    ///
    /// May panic if `term` is of another index.
    pub fn files_with<'a>(&'a self, term: &'a Term) -> impl Iterator<Item = (&'a Path, u32)> {
        term.postings.iter().map(|posting| (self.files[posting.file as usize].as_path(), posting.count))
    }

    /// The `n` words that occur most often, most frequent first, equals in alphabetical order.
    #[must_use]
    pub fn top(&self, n: usize) -> Vec<&Term> {
        // One pass with the best so far in a heap: a query does this while it holds the lock.
        let mut best = BinaryHeap::with_capacity(n.min(self.terms.len()));
        for term in self.terms.iter().map(Ranked) {
            if best.len() < n {
                best.push(term);
            } else if let Some(mut worst) = best.peek_mut()
                && term < *worst
            {
                *worst = term;
            }
        }
        best.into_sorted_vec().into_iter().map(|Ranked(term)| term).collect()
    }
}

/// Terms in the order of their rank: the most frequent is the least.
struct Ranked<'a>(&'a Term);

impl Ord for Ranked<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_occurrences = other.0.occurrences.cmp(&self.0.occurrences);
        by_occurrences.then_with(|| self.0.word.cmp(&other.0.word))
    }
}

impl PartialOrd for Ranked<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked<'_> {}

impl Term {
    /// The word, lower-cased.
    #[must_use]
    pub fn word(&self) -> &str {
        &self.word
    }

    /// How often it occurs in all files.
    #[must_use]
    pub fn occurrences(&self) -> u64 {
        self.occurrences
    }

    /// How many files hold it.
    #[must_use]
    pub fn files(&self) -> usize {
        self.postings.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Index {
        let mut index = Index::default();
        index.add("one".into(), Counts::of("b a b c"));
        index.add("two".into(), Counts::of("c b d"));
        index
    }

    #[test]
    fn words_are_summed_over_files() {
        let index = index();
        assert_eq!((index.files(), index.occurrences(), index.terms().len()), (2, 7, 4));
        let b = index.lookup("b").expect("b was added");
        assert_eq!((b.occurrences(), b.files()), (3, 2));
        let files: Vec<_> = index.files_with(b).collect();
        assert_eq!(files, [(Path::new("one"), 2), (Path::new("two"), 1)]);
        assert!(index.lookup("e").is_none());
    }

    #[test]
    fn top_terms_are_ranked_by_occurrences_then_by_word() {
        let index = index();
        let top = |n| index.top(n).iter().map(|term| term.word()).collect::<String>();
        assert_eq!(top(0), "");
        assert_eq!(top(2), "bc");
        assert_eq!(top(3), "bca");
        assert_eq!(top(9), "bcad");
    }
}

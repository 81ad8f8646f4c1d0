//! Trees to index, and the plain way to count them.
#![allow(dead_code, reason = "each test program uses its part")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use indexd::{Config, Index, words};
use tempfile::TempDir;

/// Occurrences and number of files of each word.
pub(crate) type Plain = BTreeMap<String, (u64, usize)>;

/// A temporary folder with a directory to index, and room for an output file beside it.
pub(crate) struct Tree {
    folder: TempDir,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // Canonical, as indexd's paths are.
        let tree = Self { folder };
        fs::create_dir(tree.directory()).expect("a new directory");
        tree
    }

    /// A tree with `files` text files in nested folders.
    pub(crate) fn with_files(files: usize) -> Self {
        let tree = Self::new();
        for number in 0..files {
            let name = format!("{}/{}/{number}.txt", number % 7, number % 3);
            tree.file(&name, text(number));
        }
        tree
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.root().join("in")
    }

    pub(crate) fn output(&self) -> PathBuf {
        self.root().join("out.tsv")
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the folder is there")
    }

    /// Adds a file.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.directory().join(name);
        fs::create_dir_all(path.parent().expect("a name has a folder")).expect("a folder");
        fs::write(path, content).expect("a new file");
    }

    pub(crate) fn config(&self) -> Config {
        let mut config = Config::new(self.directory());
        config.output = Some(self.output());
        config
    }

    /// The paths in the output file, sorted.
    pub(crate) fn written(&self) -> Vec<PathBuf> {
        let output = fs::read_to_string(self.output()).expect("the output is a text");
        let mut paths: Vec<PathBuf> = output
            .lines()
            .map(|line| {
                let fields: Vec<&str> = line.split('\t').collect();
                assert_eq!(fields.len(), 4, "{line}");
                PathBuf::from(fields[0])
            })
            .collect();
        paths.sort();
        paths
    }
}

/// A text that shares words with others, has some of its own, and some beyond ASCII.
fn text(number: usize) -> String {
    let mut text = format!("File {number} of the Tree, größe-{} naïve\n", number % 11);
    for line in 0..number % 23 {
        text += &format!("the word w{} and w{} twice: w{}\n", line, number % 5, line * number % 97);
    }
    text
}

/// Counts all words below `directory` in one thread, file by file. Also returns the text files, sorted.
pub(crate) fn count_plainly(directory: &Path) -> (Plain, Vec<PathBuf>) {
    let (mut plain, mut files) = (Plain::new(), Vec::new());
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file()
                && let Ok(text) = words::decode(&fs::read(entry.path()).expect("a file"))
            {
                count_text(&mut plain, text);
                files.push(entry.path());
            }
        }
    }
    files.sort();
    (plain, files)
}

fn count_text(plain: &mut Plain, text: &str) {
    let mut words: Vec<String> = words::words(text).map(|word| word.into_owned()).collect();
    words.sort();
    for same in words.chunk_by(|a, b| a == b) {
        let (occurrences, files) = plain.entry(same[0].clone()).or_default();
        *occurrences += same.len() as u64;
        *files += 1;
    }
}

/// All that an index holds, in the shape of a plain count.
pub(crate) fn dump(index: &Index) -> Plain {
    let mut plain = Plain::new();
    for term in index.terms() {
        let in_files: u64 = index.files_with(term).map(|(_, count)| u64::from(count)).sum();
        assert_eq!(in_files, term.occurrences(), "{}", term.word());
        let before = plain.insert(term.word().to_owned(), (term.occurrences(), term.files()));
        assert!(before.is_none(), "{} is in the index twice", term.word());
    }
    plain
}

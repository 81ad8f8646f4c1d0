//! What a text is, and what a word of it is.
//!
//! The two rules live here alone: the index and the counts it is checked against must mean the same.
//!
//! - **Text** is a file without a NUL in its first [`SNIFFED_BYTES`] that is valid UTF-8 throughout.
//! - **A word** is a longest run of characters that are alphanumeric in Unicode's sense
//!   ([`char::is_alphanumeric`]), lower-cased as [`str::to_lowercase`] does. Everything else separates
//!   words, combining accents too: `don't` is `don` and `t`, `max_readers` is `max` and `readers`.

use core::fmt;
use std::borrow::Cow;
use std::collections::HashMap;

/// How many bytes at the start of a file are searched for a NUL, the mark of a binary file.
pub const SNIFFED_BYTES: usize = 8 * 1024;

/// Why some bytes are not a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotText {
    /// A NUL is among the first [`SNIFFED_BYTES`].
    Binary,
    /// The bytes are no UTF-8 from the given offset on.
    NotUtf8 {
        /// Offset of the first wrong byte.
        at: usize,
    },
}

impl fmt::Display for NotText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary => f.write_str("holds a NUL byte"),
            Self::NotUtf8 { at } => write!(f, "invalid UTF-8 at byte {at}"),
        }
    }
}

impl core::error::Error for NotText {}

/// The text that `bytes` hold.
///
/// # Errors
///
/// [`NotText`] if they hold none.
pub fn decode(bytes: &[u8]) -> Result<&str, NotText> {
    let start = &bytes[..bytes.len().min(SNIFFED_BYTES)];
    if start.contains(&0) {
        return Err(NotText::Binary);
    }
    str::from_utf8(bytes).map_err(|error| NotText::NotUtf8 { at: error.valid_up_to() })
}

/// The words of `text`, in order, lower-cased.
pub fn words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(lowercase)
}

/// Most words are lower-case ASCII already: those are borrowed.
fn lowercase(word: &str) -> Cow<'_, str> {
    let lower = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if word.as_bytes().iter().all(lower) { Cow::Borrowed(word) } else { Cow::Owned(word.to_lowercase()) }
}

/// How often each word occurs in one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    by_word: HashMap<String, u32>,
    total: u64,
}

impl Counts {
    /// Counts the words of `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut counts = Self::default();
        for word in words(text) {
            counts.total += 1;
            // Not the entry API: it would need an owned word for each occurrence.
            if let Some(count) = counts.by_word.get_mut(&*word) {
                *count = count.saturating_add(1);
            } else {
                counts.by_word.insert(word.into_owned(), 1);
            }
        }
        counts
    }

    /// Number of words, repeated ones included.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Number of different words.
    #[must_use]
    pub fn distinct(&self) -> usize {
        self.by_word.len()
    }

    /// Each word once, with its number of occurrences, in no order.
    pub fn into_words(self) -> impl Iterator<Item = (String, u32)> {
        self.by_word.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        words(text).map(Cow::into_owned).collect()
    }

    #[test]
    fn words_are_lower_cased_runs_of_alphanumerics() {
        assert_eq!(all("Don't max_readers, 42x!"), ["don", "t", "max", "readers", "42x"]);
        assert_eq!(all("ÄPFEL Ⅷ 東京 ΟΔΟΣ"), ["äpfel", "ⅷ", "東京", "οδος"]);
        assert_eq!(all("cafe\u{301}s"), ["cafe", "s"]);
        assert_eq!(all(" -- \u{feff}\n"), [] as [&str; 0]);
    }

    #[test]
    fn counts_add_up() {
        let counts = Counts::of("a B b, A a");
        assert_eq!((counts.total(), counts.distinct()), (5, 2));
        let mut words: Vec<_> = counts.into_words().collect();
        words.sort();
        assert_eq!(words, [("a".to_owned(), 3), ("b".to_owned(), 2)]);
    }

    #[test]
    fn a_nul_is_looked_for_at_the_start_only() {
        let mut bytes = vec![b'x'; SNIFFED_BYTES + 1];
        bytes[SNIFFED_BYTES] = 0;
        assert!(decode(&bytes).is_ok());
        bytes[SNIFFED_BYTES - 1] = 0;
        assert_eq!(decode(&bytes), Err(NotText::Binary));
    }

    #[test]
    fn utf8_is_checked_throughout() {
        let mut bytes = vec![b'x'; 2 * SNIFFED_BYTES];
        bytes.push(0xff);
        assert_eq!(decode(&bytes), Err(NotText::NotUtf8 { at: 2 * SNIFFED_BYTES }));
        assert_eq!(decode(b""), Ok(""));
    }
}

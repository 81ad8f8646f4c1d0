//! Paths as text that fits into one field of one line.

use core::fmt::{self, Write};
use std::path::Path;

/// Shows a path with control characters and backslashes escaped.
///
/// A file's name may hold a tab, a line break or a terminal's control sequence; none may get into a table
/// or onto a terminal. What is not UTF-8 is replaced.
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub &'a Path);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.to_string_lossy().chars() {
            if c.is_control() || c == '\\' {
                write!(f, "{}", c.escape_default())?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_a_line() {
        let name = Path::new("ä b\t\n\\\u{1b}[2J");
        assert_eq!(Escaped(name).to_string(), "ä b\\t\\n\\\\\\u{1b}[2J");
    }
}

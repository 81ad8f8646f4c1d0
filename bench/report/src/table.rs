//! Markdown tables.

/// A table whose first column is text and whose other columns are numbers.
pub(crate) struct Table {
    text: String,
}

impl Table {
    pub(crate) fn new<'a>(columns: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut head, mut rule) = (String::from("|"), String::from("|"));
        for (index, column) in columns.into_iter().enumerate() {
            head.push_str(&format!(" {column} |"));
            rule.push_str(if index == 0 { "---|" } else { "--:|" });
        }
        Self { text: format!("{head}\n{rule}\n") }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Option<String>>) {
        self.text.push('|');
        for cell in cells {
            self.text.push_str(&format!(" {} |", cell.unwrap_or_else(|| "–".to_owned())));
        }
        self.text.push('\n');
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// A number with three significant digits.
pub(crate) fn short(value: f64) -> String {
    match value {
        _ if value >= 99.95 => thousands(value.round() as u64),
        _ if value >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A number with commas.
pub(crate) fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([short(0.166), short(12.34), short(260_206.4)], ["0.17", "12.3", "260,206"]);
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(7), "7");
    }

    #[test]
    fn a_missing_cell_is_a_dash() {
        let mut table = Table::new(["", "a"]);
        table.row([Some("x".to_owned()), None]);
        assert_eq!(table.into_text(), "|  | a |\n|---|--:|\n| x | – |\n");
    }
}

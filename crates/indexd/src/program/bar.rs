//! The progress bar.

use core::time::Duration;
use std::io::{self, IsTerminal};
use std::sync::Arc;

use indexd::Progress;
use indicatif::{ProgressBar, ProgressStyle};

const LISTING: &str = "{spinner} listing files, {elapsed}";
const INDEXING: &str = "[{wide_bar}] {pos}/{len} files, {per_sec}, {eta} left";

/// A bar on the terminal, or nothing if standard error is none.
pub(crate) fn progress() -> Arc<dyn Progress> {
    if !io::stderr().is_terminal() {
        return Arc::new(());
    }
    let bar = ProgressBar::new_spinner().with_style(style(LISTING));
    bar.enable_steady_tick(Duration::from_millis(100));
    Arc::new(Bar { bar })
}

struct Bar {
    bar: ProgressBar,
}

impl Progress for Bar {
    fn found(&self, files: usize) {
        self.bar.set_style(style(INDEXING).progress_chars("=> "));
        self.bar.set_length(files as u64);
        self.bar.reset();
    }

    fn done(&self) {
        self.bar.inc(1);
    }

    fn finished(&self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are constant")
}

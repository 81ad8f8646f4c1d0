//! The report as a person reads it.

use core::fmt;

use fifolock::tokio::{MutexState, RwLockState};

use super::{Held, Report};
use crate::measure::Entries;
use crate::skip::Tally;
use crate::text::Escaped;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_files(f)?;
        writeln!(f)?;
        self.fmt_locks(f)?;
        writeln!(f)?;
        self.fmt_queries(f)?;
        self.fmt_top(f)
    }
}

impl Report {
    fn fmt_files(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = &self.done;
        writeln!(f, "directory  {}", Escaped(&self.directory))?;
        writeln!(f, "output     {}", Escaped(&self.output))?;
        writeln!(
            f,
            "indexed    {} of {} files ({:.1} MiB) in {:.2} s",
            done.indexed,
            self.found,
            done.bytes as f64 / f64::from(1 << 20),
            self.elapsed.as_secs_f64(),
        )?;
        writeln!(f, "words      {}, {} different ones", done.words, self.distinct)?;
        for (skip, tally) in done.skipped.iter() {
            writeln!(f, "skipped    {skip}: {}", tally.count)?;
            fmt_first(f, tally)?;
        }
        if done.unwritten.count > 0 {
            writeln!(f, "unwritten  lines of the output: {}", done.unwritten.count)?;
            fmt_first(f, &done.unwritten)?;
        }
        Ok(())
    }

    fn fmt_locks(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = &self.index.entries;
        writeln!(
            f,
            "{:<15} {:>8} {:>9} {:>9} {:>12} {:>13}   at the end",
            "lock", "entries", "most held", "in order", "overlapping", "out of order",
        )?;
        fmt_entries(f, "backend", &self.backend.entries)?;
        fmt_mutex_state(f, self.backend.state)?;
        fmt_entries(f, "output", &self.journal.entries)?;
        fmt_mutex_state(f, self.journal.state)?;
        fmt_entries(f, "index, writers", &shared.writers)?;
        fmt_rwlock_state(f, self.index.state)?;
        let Held { entries, .. } = &self.index;
        writeln!(
            f,
            "{:<15} {:>8} {:>9} {:>9} {:>12} {:>13}",
            "index, readers", entries.reads, entries.most_readers_at_once, "-", "-", "-",
        )?;
        writeln!(f, "A reader and a writer inside at once: {} times.", entries.mixed)?;
        writeln!(f, "In order: entered after others that had all arrived earlier. Overlapping: arrived while")?;
        writeln!(f, "one of those was arriving, on another thread, so that neither was first.")
    }

    fn fmt_queries(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queries = &self.queries;
        writeln!(
            f,
            "queries    {} asked, {} answered, {} timed out after {:?}",
            queries.asked, queries.answered, queries.timed_out, self.query_timeout,
        )
    }

    fn fmt_top(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.top.is_empty() {
            return Ok(());
        }
        writeln!(f)?;
        writeln!(f, "{:>4}  {:>10} {:>8}  word", "top", "times", "files")?;
        for (place, term) in (1..).zip(&self.top) {
            writeln!(f, "{place:>4}  {:>10} {:>8}  {}", term.occurrences, term.files, term.word)?;
        }
        Ok(())
    }
}

fn fmt_first(f: &mut fmt::Formatter<'_>, tally: &Tally) -> fmt::Result {
    for first in &tally.first {
        writeln!(f, "             {first}")?;
    }
    let more = tally.count - tally.first.len() as u64;
    if more > 0 {
        writeln!(f, "             and {more} more")?;
    }
    Ok(())
}

fn fmt_entries(f: &mut fmt::Formatter<'_>, name: &str, entries: &Entries) -> fmt::Result {
    let order = &entries.order;
    write!(
        f,
        "{name:<15} {:>8} {:>9} {:>9} {:>12} {:>13}",
        entries.entries, entries.most_at_once, order.in_order, order.overlapping, order.out_of_order,
    )
}

fn fmt_mutex_state(f: &mut fmt::Formatter<'_>, state: MutexState) -> fmt::Result {
    let held = if state.locked { "held" } else { "free" };
    writeln!(f, "   {held}, {} waiting", state.queued)
}

fn fmt_rwlock_state(f: &mut fmt::Formatter<'_>, state: RwLockState) -> fmt::Result {
    let waiting = state.waiting_readers + state.waiting_writers;
    match (state.writer, state.readers) {
        (true, _) => write!(f, "   held by a writer")?,
        (false, 0) => write!(f, "   free")?,
        (false, readers) => write!(f, "   held by {readers} readers")?,
    }
    writeln!(f, ", {waiting} waiting")
}

//! The output file, to which every task appends.

use core::fmt;
use std::fs;
use std::io;
use std::path::Path;

use fifolock::tokio::{Mutex, MutexState};
use tokio::fs::File;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::measure::{Arrival, Entries, Probe};
use crate::text::Escaped;

/// One line of the output: an indexed file.
///
/// Its fields are separated by tabs: path (control characters and backslashes escaped), bytes, words,
/// different words.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The file.
    pub path: &'a Path,
    /// Its size in bytes.
    pub bytes: usize,
    /// Number of its words, repeated ones included.
    pub words: u64,
    /// Number of its different words.
    pub distinct: usize,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, bytes, words, distinct } = self;
        write!(f, "{}\t{bytes}\t{words}\t{distinct}", Escaped(path))
    }
}

/// The output file. One task at a time appends to it.
#[derive(Debug)]
pub struct Journal {
    file: Mutex<Lines>,
    probe: Probe,
}

struct Lines {
    sink: Box<dyn AsyncWrite + Send + Sync + Unpin>,
    /// Whether the last line may have been written in part.
    torn: bool,
}

impl Journal {
    /// A journal in a file, which is created, or emptied if it exists. Blocks for a moment.
    ///
    /// # Errors
    ///
    /// The system's, if that can't be done.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self::new(File::from_std(fs::File::create(path)?)))
    }

    /// A journal in a new file: one that exists is not touched. Blocks for a moment.
    ///
    /// # Errors
    ///
    /// The system's, if that can't be done.
    pub fn create_new(path: &Path) -> io::Result<Self> {
        Ok(Self::new(File::from_std(fs::File::create_new(path)?)))
    }

    /// A journal that is written to `sink`.
    pub fn new<W>(sink: W) -> Self
    where
        W: AsyncWrite + Send + Sync + Unpin + 'static,
    {
        Self { file: Mutex::new(Lines { sink: Box::new(sink), torn: false }), probe: Probe::default() }
    }

    /// Appends one line. It has left the process when this returns.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the line may be missing or cut short; the next one starts on a line of its own.
    ///
    /// # Errors
    ///
    /// The system's, if the line could not be written. Later lines are tried again.
    pub async fn append(&self, line: &Line<'_>) -> io::Result<()> {
        let text = format!("{line}\n");
        let arrival = Arrival::default();
        let mut lines = self.probe.arrive(&arrival, self.file.lock()).await;
        let _inside = self.probe.enter(&arrival);
        lines.append(&text).await
    }

    /// Whether a task appends, and how many wait.
    #[must_use]
    pub fn state(&self) -> MutexState {
        self.file.state()
    }

    /// What was measured about the tasks that appended so far.
    #[must_use]
    pub fn entries(&self) -> Entries {
        self.probe.entries()
    }
}

impl Lines {
    async fn append(&mut self, line: &str) -> io::Result<()> {
        if self.torn {
            self.sink.write_all(b"\n").await?;
        }
        self.torn = true;
        self.sink.write_all(line.as_bytes()).await?;
        // Flushed, so that an error is this line's and not a later one's.
        self.sink.flush().await?;
        self.torn = false;
        Ok(())
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("torn", &self.torn).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use core::pin::Pin;
    use core::task::{Context, Poll};
    use std::sync::{Arc, Mutex as StdMutex};

    use super::*;

    /// A disk with little room: when it is full, it takes nothing more until it is cleared.
    #[derive(Clone, Default)]
    struct Disk {
        content: Arc<StdMutex<Vec<u8>>>,
        room: Arc<StdMutex<usize>>,
    }

    impl AsyncWrite for Disk {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            let mut room = self.room.lock().expect("no test panics here");
            let taken = bytes.len().min(*room);
            if taken == 0 {
                return Poll::Ready(Err(io::ErrorKind::StorageFull.into()));
            }
            *room -= taken;
            self.content.lock().expect("no test panics here").extend(&bytes[..taken]);
            Poll::Ready(Ok(taken))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    fn line(path: &str) -> Line<'_> {
        Line { path: Path::new(path), bytes: 7, words: 2, distinct: 1 }
    }

    #[tokio::test]
    async fn a_full_disk_costs_its_lines_and_no_others() {
        let disk = Disk::default();
        let journal = Journal::new(disk.clone());
        let give = |room| *disk.room.lock().expect("no test panics here") = room;

        give(12);
        journal.append(&line("a")).await.expect("there is room");
        assert_eq!(journal.append(&line("b")).await.expect_err("full").kind(), io::ErrorKind::StorageFull);
        assert_eq!(journal.append(&line("c")).await.expect_err("full").kind(), io::ErrorKind::StorageFull);
        give(100);
        journal.append(&line("d")).await.expect("there is room");
        journal.append(&line("e")).await.expect("there is room");

        let content = disk.content.lock().expect("no test panics here").clone();
        let content = String::from_utf8(content).expect("lines are UTF-8");
        assert_eq!(content, "a\t7\t2\t1\nb\t7\t\nd\t7\t2\t1\ne\t7\t2\t1\n");
        let entries = journal.entries();
        assert_eq!((entries.entries, entries.most_at_once, entries.order.in_order), (5, 1, 5));
        assert!(!journal.state().locked);
    }

    #[tokio::test]
    async fn create_new_spares_what_exists() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out");
        fs::write(&path, "old").expect("a new file");
        assert!(Journal::create_new(&path).is_err());
        assert_eq!(fs::read_to_string(&path).expect("still there"), "old");

        let journal = Journal::create(&path).expect("a writable file");
        journal.append(&line("x\ty")).await.expect("there is room");
        assert_eq!(fs::read_to_string(&path).expect("a text"), "x\\ty\t7\t2\t1\n");
    }
}

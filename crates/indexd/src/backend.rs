//! Reading files, one call at a time.

use core::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use fifolock::tokio::{Mutex, MutexState};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::join::joined;
use crate::measure::{Arrival, Entries, Probe};

/// The largest file that is read, in bytes.
///
/// The words of a text are counted after the backend was left, so as many texts as there are tasks may be in
/// memory at once.
pub const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Why a file could not be had.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The system's error.
    Io(io::Error),
    /// The file has more than [`MAX_FILE_BYTES`].
    TooLarge,
    /// What is there is no regular file.
    Special,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::TooLarge => write!(f, "more than {} MiB", MAX_FILE_BYTES >> 20),
            Self::Special => f.write_str("not a regular file"),
        }
    }
}

impl core::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::TooLarge | Self::Special => None,
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Where files come from. It takes one call at a time; callers queue for it.
#[derive(Debug)]
pub struct Backend {
    calls: Mutex<Calls>,
    probe: Probe,
}

/// What one call needs for itself.
struct Calls {
    source: Arc<Source>,
    /// The call that runs, if its caller still waits for it or has left it behind.
    running: Option<JoinHandle<Content>>,
}

type Source = dyn Fn(&Path) -> Content + Send + Sync;
type Content = Result<Vec<u8>, ReadError>;

impl Default for Backend {
    fn default() -> Self {
        Self::new(read_file)
    }
}

impl Backend {
    /// A backend that has each call answered by `source`, on a thread where it may block.
    pub fn new<S>(source: S) -> Self
    where
        S: Fn(&Path) -> Result<Vec<u8>, ReadError> + Send + Sync + 'static,
    {
        Self { calls: Mutex::new(Calls { source: Arc::new(source), running: None }), probe: Probe::default() }
    }

    /// The bytes of a file.
    ///
    /// # Cancel safety
    ///
    /// A caller that is dropped while its call runs can't stop it, but the next call begins only when that
    /// one has ended.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the file can't be had.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, and if the source panics.
    pub async fn read(&self, path: &Path) -> Result<Vec<u8>, ReadError> {
        let arrival = Arrival::default();
        let call = self.calls.run_exclusive(async |calls: &mut Calls| {
            let _inside = self.probe.enter(&arrival);
            calls.read(path).await
        });
        self.probe.arrive(&arrival, call).await
    }

    /// Whether a call runs, and how many callers wait.
    #[must_use]
    pub fn state(&self) -> MutexState {
        self.calls.state()
    }

    /// What was measured about the calls so far.
    #[must_use]
    pub fn entries(&self) -> Entries {
        self.probe.entries()
    }
}

impl Calls {
    async fn read(&mut self, path: &Path) -> Content {
        if let Some(left_behind) = &mut self.running {
            // Nobody is there any more to be told how it went.
            let _ = left_behind.await;
        }
        let (source, path) = (Arc::clone(&self.source), path.to_owned());
        let running = self.running.insert(spawn_blocking(move || source(&path)));
        let content = running.await;
        self.running = None;
        joined(content)
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls").field("running", &self.running).finish_non_exhaustive()
    }
}

/// Reads a regular file. Blocks.
///
/// # Errors
///
/// [`ReadError`] if it can't be read, is larger than [`MAX_FILE_BYTES`], or is no regular file.
pub fn read_file(path: &Path) -> Result<Vec<u8>, ReadError> {
    // Looked at before it is opened: opening a pipe would wait for its other end.
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(ReadError::Special);
    }
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge);
    }
    // The file may have grown since.
    read_to_limit(file, size, MAX_FILE_BYTES)
}

/// Reads about `size` bytes, `limit` at most.
fn read_to_limit(source: impl Read, size: u64, limit: u64) -> Content {
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // One more than allowed, to see that it is too much.
    source.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(ReadError::TooLarge) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use core::pin::pin;
    use core::sync::atomic::{AtomicUsize, Ordering};
    use core::task::{Context, Waker};
    use core::time::Duration;
    use std::sync::Mutex as StdMutex;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Instant;

    use super::*;

    #[tokio::test]
    async fn a_call_left_behind_ends_before_the_next_begins() {
        let begun = Arc::new(AtomicUsize::new(0));
        let (go, wait) = mpsc::channel::<()>();
        let wait = StdMutex::new(wait);
        let begin = Arc::clone(&begun);
        let backend = Backend::new(move |_| {
            begin.fetch_add(1, Ordering::SeqCst);
            wait.lock().expect("no test thread panics").recv().expect("the test sends");
            Ok(Vec::new())
        });
        let mut context = Context::from_waker(Waker::noop());

        let mut dropped = Box::pin(backend.read(Path::new("first")));
        assert!(dropped.as_mut().poll(&mut context).is_pending());
        drop(dropped);
        assert!(!backend.state().locked);

        let mut second = pin!(backend.read(Path::new("second")));
        assert!(second.as_mut().poll(&mut context).is_pending());
        // A backend that got this wrong has begun the second call by the end of the grace time.
        let grace = Instant::now() + Duration::from_millis(50);
        while begun.load(Ordering::SeqCst) < 2 && Instant::now() < grace {
            thread::yield_now();
        }
        assert_eq!(begun.load(Ordering::SeqCst), 1);

        go.send(()).expect("the source listens");
        go.send(()).expect("the source listens");
        second.await.expect("the source gives no error");
        assert_eq!(begun.load(Ordering::SeqCst), 2);
        assert_eq!(backend.entries().entries, 2);
    }

    #[test]
    fn only_regular_files_of_bearable_size_are_read() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(matches!(read_file(folder.path()), Err(ReadError::Special)));
        assert!(matches!(read_file(&folder.path().join("none")), Err(ReadError::Io(_))));

        let path = folder.path().join("sparse");
        let file = File::create(&path).expect("a new file");
        file.set_len(MAX_FILE_BYTES + 1).expect("a sparse file");
        assert!(matches!(read_file(&path), Err(ReadError::TooLarge)));
        file.set_len(3).expect("a shorter file");
        assert_eq!(read_file(&path).expect("a small file"), [0; 3]);
    }

    #[test]
    fn a_file_that_grows_without_end_is_read_to_the_limit() {
        assert!(matches!(read_to_limit(io::repeat(1), 3, 8), Err(ReadError::TooLarge)));
        assert_eq!(read_to_limit(io::repeat(1).take(8), 3, 8).expect("within the limit"), [1; 8]);
    }
}

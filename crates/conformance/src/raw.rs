//! The raw locks: K9, and the part of K4 that limits the length and the number of sections.

use crate::rules;
use crate::tools::{Hooks, Task, Watched, assert_outside, hook, sections};
use core::cell::{Cell, RefCell};
use fifolock_core::platform::Platform;
use fifolock_core::raw::{LocalLock, RawLock, Word};
use fifolock_core::{Mutex, RwLock};
use std::rc::Rc;

/// A raw lock that tests may use on any one thread.
pub trait Raw: RawLock + 'static {}

impl<R: RawLock + 'static> Raw for R {}

rules! { ($) raw_rules in raw where Raw:
    k4_an_operation_takes_as_many_sections_whatever_the_queue,
    k4_a_batch_is_marked_in_chunks_and_woken_between_sections,
    k4_nothing_recurses_over_waiters,
    k9_a_section_runs_its_closure_once_and_returns_its_value,
    k9_the_word_stays_as_a_section_left_it,
    k9_no_shortcut_succeeds_inside_a_section,
    k9_a_shortcut_replaces_the_word_that_it_names,
}

/// The number of sections that `f` enters.
fn sections_of(f: impl FnOnce()) -> usize {
    let before = sections();
    f();
    sections() - before
}

/// The sections of: queueing, polling again, leaving from the middle, a release, a claim, a refusal, a snapshot.
fn mutex_sections<R: Raw>(waiters: usize) -> [usize; 7] {
    let mutex = Mutex::<_, Watched<R>>::new(());
    let mut guard = Some(mutex.try_lock().expect("free"));
    let mut tasks: Vec<_> = (0..waiters).map(|_| Task::queued(mutex.lock())).collect();
    let mut last = Task::new(mutex.lock());
    let queue = sections_of(|| last.pending());
    let again = sections_of(|| last.pending());
    let mut middle = tasks.remove(waiters / 2);
    let leave = sections_of(|| middle.cancel());
    let release = sections_of(|| drop(guard.take()));
    let claim = sections_of(|| guard = Some(tasks.first_mut().unwrap_or(&mut last).ready()));
    let refusal = sections_of(|| assert!(mutex.try_lock().is_err()));
    let look = sections_of(|| assert!(mutex.state().locked));
    [queue, again, leave, release, claim, refusal, look]
}

/// The sections of: a reader and a writer that queue, each of them leaving from the middle, the release that grants a
/// writer, its claim, and a downgrade while readers and writers wait.
fn rwlock_sections<R: Raw>(waiters: usize) -> [usize; 7] {
    let lock = RwLock::<_, Watched<R>>::new(());
    let mut guard = Some(lock.try_write().expect("free"));
    let mut readers: Vec<_> = (0..waiters).map(|_| Task::queued(lock.read())).collect();
    let mut writers: Vec<_> = (0..waiters).map(|_| Task::queued(lock.write())).collect();
    let mut reader = Task::new(lock.read());
    let queue_reader = sections_of(|| reader.pending());
    let mut writer = Task::new(lock.write());
    let queue_writer = sections_of(|| writer.pending());
    let leave_reader = sections_of(|| readers[waiters / 2].cancel());
    let mut middle = writers.remove(waiters / 2);
    let leave_writer = sections_of(|| middle.cancel());
    let release = sections_of(|| drop(guard.take()));
    let claim = sections_of(|| guard = Some(writers.first_mut().unwrap_or(&mut writer).ready()));
    // Another writer waits, for the operations after the last writer was served.
    let _waits = Task::queued(lock.write());
    let writer = guard.take().expect("claimed");
    let mut reader = None;
    let downgrade = sections_of(|| reader = Some(writer.downgrade()));
    drop(reader);
    [queue_reader, queue_writer, leave_reader, leave_writer, release, claim, downgrade]
}

/// Without a fast path, a read-write lock makes the fast attempt in a short section of its own.
fn attempts<R: Raw>() -> usize {
    usize::from(!R::HAS_FAST_PATH && !cfg!(feature = "diagnostics"))
}

/// Far more waiters than a chunk has.
const MANY: usize = if cfg!(miri) { 70 } else { 1000 };

fn k4_an_operation_takes_as_many_sections_whatever_the_queue<R: Raw>() {
    let few = mutex_sections::<R>(1);
    assert!(few.iter().all(|&n| n <= 2), "{few:?}");
    let [_, again, leave, release, ..] = few;
    // An atomic word tells that nothing is new, without a section. With diagnostics every step is a section.
    let looks = !R::HAS_FAST_PATH || cfg!(feature = "diagnostics");
    assert_eq!((again, leave, release), (usize::from(looks), 1, 1));
    for waiters in [2, 33, MANY] {
        assert_eq!(mutex_sections::<R>(waiters), few);
    }
    let few = rwlock_sections::<R>(1);
    assert!(few.iter().all(|&n| n <= 2 + attempts::<R>()), "{few:?}");
    for waiters in [2, 33, MANY] {
        assert_eq!(rwlock_sections::<R>(waiters), few);
    }
}

/// The chunk that the documentation of the lock states.
const CHUNK: usize = 32;

fn k4_a_batch_is_marked_in_chunks_and_woken_between_sections<R: Raw>() {
    for readers in [1_usize, 31, 32, 33, 64, 65, 100] {
        let lock = RwLock::<_, Watched<R>>::new(());
        let writer = lock.try_write().expect("free");
        // The number of sections that were entered before each waker was called.
        let log = Rc::new(RefCell::new(Vec::new()));
        let mut tasks: Vec<_> = (0..readers)
            .map(|_| {
                let log = Rc::clone(&log);
                let on_wake = hook(move || {
                    assert_outside();
                    log.borrow_mut().push(sections());
                });
                Task::with_hooks(lock.read(), Hooks { on_wake, ..Hooks::default() })
            })
            .collect();
        tasks.iter_mut().for_each(Task::pending);
        let chunks = readers.div_ceil(CHUNK);
        assert_eq!(sections_of(|| drop(writer)), attempts::<R>() + chunks);
        let log = log.take();
        assert_eq!(log.len(), readers);
        let sizes: Vec<_> = log.chunk_by(|a, b| a == b).map(<[usize]>::len).collect();
        assert_eq!(sizes.len(), chunks);
        assert!(sizes.iter().all(|&size| size <= CHUNK), "{sizes:?}");
    }
}

/// The thread's stack has no room for a frame per waiter.
fn k4_nothing_recurses_over_waiters<R: Raw>() {
    const STACK: usize = 128 << 10;
    const WAITERS: usize = if cfg!(miri) { 100 } else { 10_000 };
    let body = || {
        let lock = RwLock::<_, Watched<R>>::new(());
        let writer = lock.try_write().expect("free");
        let mut readers: Vec<_> = (0..WAITERS).map(|_| Task::queued(lock.read())).collect();
        drop(writer);
        assert!(readers.iter().all(|reader| reader.wakes() == 1));
        let mut writers: Vec<_> = (0..WAITERS).map(|_| Task::queued(lock.write())).collect();
        // A poll may have woken its own task once, to scan on for grants of that task.
        let before: Vec<_> = writers.iter().map(Task::wakes).collect();
        assert!(before.iter().all(|wakes| *wakes <= 1));
        readers.iter_mut().for_each(Task::cancel);
        for (writer, before) in writers.iter_mut().zip(before) {
            assert_eq!(writer.wakes(), before + 1);
            writer.cancel();
        }
        assert!(lock.try_write().is_ok());

        let mutex = Mutex::<_, Watched<R>>::new(());
        let guard = mutex.try_lock().expect("free");
        let mut tasks: Vec<_> = (0..WAITERS).map(|_| Task::queued(mutex.lock())).collect();
        drop(guard);
        for task in &mut tasks {
            assert_eq!(task.wakes(), 1);
            task.cancel();
        }
        assert!(mutex.try_lock().is_ok());
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(body).expect("a thread");
    thread.join().expect("no overflow, no panic");
}

fn k9_a_section_runs_its_closure_once_and_returns_its_value<R: Raw>() {
    let raw = R::INIT;
    let runs = Cell::new(0);
    for n in 1..=3 {
        // The closure owns `text`, so it can run at most once; the assertion shows that it ran.
        let text = String::from("moved in");
        let returned = raw.with(|_| {
            runs.set(runs.get() + 1);
            (text, n)
        });
        assert_eq!((returned, runs.get()), ((String::from("moved in"), n), n));
    }
}

std::thread_local! {
    static SPIED: Cell<Word> = const { Cell::new(Word::INIT) };
}

/// A raw lock that records the word that a lock stores. Only locks can make words other than a new lock's.
struct Spy(LocalLock);

// SAFETY: everything is `LocalLock`'s; a `Cell` of a thread without a destructor can't panic.
unsafe impl RawLock for Spy {
    const INIT: Self = Self(LocalLock::INIT);

    fn with<T>(&self, f: impl FnOnce(&mut Word) -> T) -> T {
        self.0.with(|word| {
            let result = f(word);
            SPIED.set(*word);
            result
        })
    }
}

enum Spied {}

impl Platform for Spied {
    type Raw = Spy;
}

/// The words of a held mutex, and of a read-write lock with one reader.
fn two_words() -> [Word; 2] {
    let guard = Mutex::<_, Spied>::new(());
    let guard = guard.try_lock().expect("free");
    let held = SPIED.get();
    drop(guard);
    let lock = RwLock::<_, Spied>::new(());
    let guard = lock.try_read().expect("free");
    let read = SPIED.get();
    drop(guard);
    assert!(held != read && held != Word::INIT && read != Word::INIT);
    [held, read]
}

fn k9_the_word_stays_as_a_section_left_it<R: Raw>() {
    let [held, read] = two_words();
    let raw = R::INIT;
    let mut expected = Word::INIT;
    for next in [held, read, held, Word::INIT, Word::INIT, read] {
        let before = raw.with(|word| core::mem::replace(word, next));
        assert_eq!(before, expected);
        expected = next;
        assert_eq!(raw.with(|word| *word), expected, "a section that only reads the word keeps it");
        assert!(raw.peek().is_none_or(|word| word == expected));
    }
}

fn k9_no_shortcut_succeeds_inside_a_section<R: Raw>() {
    let [held, read] = two_words();
    let raw = R::INIT;
    raw.with(|word| {
        for inside in [Word::INIT, held] {
            *word = inside;
            assert_eq!(raw.peek(), None);
            for from in [Word::INIT, held] {
                assert!(!raw.try_acquire(from, read));
                assert!(!raw.try_release(from, read));
            }
        }
    });
    assert_eq!(raw.with(|word| *word), held, "the word is that of the section and not that of a fast path");
}

/// A flavour with an atomic word exchanges the word that the caller expects. Any other flavour never does, and none
/// does half.
fn k9_a_shortcut_replaces_the_word_that_it_names<R: Raw>() {
    let [held, read] = two_words();
    let raw = R::INIT;
    let atomic = raw.peek().is_some();
    let now = || raw.with(|word| *word);
    for (from, to) in [(Word::INIT, held), (held, read), (read, Word::INIT)] {
        for shortcut in [R::try_acquire, R::try_release] {
            raw.with(|word| *word = from);
            assert!(!shortcut(&raw, to, from), "it names another word");
            assert_eq!(now(), from);
            assert_eq!(shortcut(&raw, from, to), atomic);
            assert_eq!(now(), if atomic { to } else { from });
            assert_eq!(raw.peek(), atomic.then(now));
        }
    }
}

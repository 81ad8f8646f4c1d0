//! The transitions one by one, and all their sequences against a naive model.

extern crate std;

use super::*;
use std::collections::HashSet;
use std::format;
use std::vec;
use std::vec::Vec;

/// Some waiter's address, which nobody follows.
const WAITER: *mut Waiter = ptr::without_provenance_mut(0x1000);

/// A state that cannot be written down otherwise: `RwState` has no constructor but `decode`.
fn new(max_readers: u32) -> RwState {
    RwState::decode(Word::INIT, Counts::NEW, max_readers)
}

fn shared(readers: u32, max_readers: u32) -> RwState {
    RwState { readers, ..new(max_readers) }
}

fn held(max_readers: u32) -> RwState {
    RwState { writer: true, ..new(max_readers) }
}

/// Readers, writer, waiting readers, waiting writers, reserved.
fn summary(state: &RwState) -> (u32, bool, u32, u32, u32) {
    let Counts { waiting_readers, waiting_writers, reserved, .. } = state.counts;
    (state.readers, state.writer, waiting_readers, waiting_writers, reserved)
}

/// R1 to R4, and what the counts say of each other.
#[track_caller]
fn check(state: &RwState) {
    let counts = state.counts;
    assert!(!state.writer || state.readers == 0, "R1 (exclusive): {state:?}");
    assert!(state.granted.is_null() || state.writer, "granted without being the owner: {state:?}");
    assert!(state.readers <= state.max_readers, "R2 (room): {state:?}");
    let mut settled = *state;
    assert_eq!(settled.settle(), Action::Nothing, "R3 (settled): {state:?}");
    assert_eq!(settled, *state, "R3 (settled)");
    assert!(counts.reserved <= counts.window, "R4 (batch): {state:?}");
    // Once all shares are given out there is no batch, whatever the window says.
    let batch = if counts.reserved > 0 { counts.window } else { 0 };
    assert!(batch <= counts.reserved + counts.waiting_readers, "the batch is part of the queue: {state:?}");
    assert!(counts.reserved <= state.readers, "reserved shares are readers: {state:?}");
    let word = state.encode();
    assert_eq!(word.bits() & Word::BUSY_BIT, 0, "the busy bit is the raw lock's");
    assert_eq!(RwState::decode(word, counts, state.max_readers), *state, "encoded and decoded");
    let queued = counts.waiting_readers + counts.waiting_writers + counts.reserved > 0;
    assert_eq!(word.has_queued(), queued, "shortcuts are open exactly if nobody is queued");
    assert_eq!(word == Word::INIT, summary(state) == (0, false, 0, 0, 0), "free is the word of a new lock");
}

/// Queues so many readers and writers, who may not enter.
fn queue(state: &mut RwState, readers: u32, writers: u32) {
    for _ in 0..readers {
        assert!(!state.try_read());
        state.enqueue_reader().unwrap();
    }
    for _ in 0..writers {
        assert!(!state.try_write());
        state.enqueue_writer().unwrap();
    }
}

/// Marks the whole batch; returns its size.
fn mark_all(state: &mut RwState) -> u32 {
    let mut marked = 0;
    while state.take_share() {
        marked += 1;
    }
    marked
}

#[test]
fn w1_try_read() {
    // readers, writer, waiting writers, max, enters
    let table = [
        (0, false, 0, 3, true),
        (2, false, 0, 3, true),
        (3, false, 0, 3, false),
        (0, true, 0, 3, false),
        (0, true, 1, 3, false),
        (1, false, 1, 3, false),
        (0, false, 0, 1, true),
        (1, false, 0, 1, false),
    ];
    for row in table {
        let (readers, writer, waiting_writers, max, enters) = row;
        let mut state = RwState { writer, ..shared(readers, max) };
        state.counts.waiting_writers = waiting_writers;
        let before = state;
        assert_eq!(state.try_read(), enters, "{row:?}");
        assert_eq!(state, RwState { readers: readers + u32::from(enters), ..before }, "{row:?}");
        check(&state);
    }
}

#[test]
fn w2_try_write() {
    for (mut state, enters) in [(new(3), true), (shared(1, 3), false), (shared(3, 3), false), (held(3), false)] {
        let before = state;
        assert_eq!(state.try_write(), enters, "{before:?}");
        assert_eq!(state, RwState { writer: enters || before.writer, ..before });
        check(&state);
    }
}

#[test]
fn w3_last_reader_admits_the_writer() {
    let mut state = shared(2, 3);
    queue(&mut state, 0, 2);
    assert_eq!(state.release_reader(), Action::Nothing);
    assert_eq!(summary(&state), (1, false, 0, 2, 0));
    check(&state);
    assert_eq!(state.release_reader(), Action::GrantWriter);
    assert_eq!(summary(&state), (0, true, 0, 1, 0));
}

#[test]
fn w4_release_of_a_writer() {
    // waiting readers, waiting writers, max, action, after
    let table = [
        (0, 0, 3, Action::Nothing, (0, false, 0, 0, 0)),
        (0, 2, 3, Action::GrantWriter, (0, true, 0, 1, 0)),
        (2, 1, 3, Action::GrantWriter, (0, true, 2, 0, 0)),
        (2, 0, 3, Action::GrantReaders, (2, false, 0, 0, 2)),
        (5, 0, 3, Action::GrantReaders, (3, false, 2, 0, 3)),
    ];
    for (readers, writers, max, action, after) in table {
        // Claimed or not, an owner releases alike.
        for granted in [ptr::null_mut(), WAITER] {
            let mut state = held(max);
            queue(&mut state, readers, writers);
            state.granted = granted;
            assert_eq!(state.release_writer(), action);
            assert_eq!((summary(&state), state.granted), (after, ptr::null_mut()));
            check(&state);
        }
    }
}

#[test]
fn w5_writer_leaves() {
    // state, waiting readers and writers, action, after
    let table = [
        (shared(1, 9), (2, 1), Action::GrantReaders, (3, false, 0, 0, 2)),
        (shared(1, 2), (2, 1), Action::GrantReaders, (2, false, 1, 0, 1)),
        (shared(1, 9), (2, 2), Action::Nothing, (1, false, 2, 1, 0)),
        (shared(1, 9), (0, 1), Action::Nothing, (1, false, 0, 0, 0)),
        (held(9), (2, 1), Action::Nothing, (0, true, 2, 0, 0)),
    ];
    for (mut state, (readers, writers), action, after) in table {
        queue(&mut state, 0, writers);
        queue(&mut state, readers, 0);
        assert_eq!(state.leave_writer(), action);
        assert_eq!(summary(&state), after);
        check(&state);
    }
}

#[test]
fn w6_downgrade() {
    let table = [
        (0, 0, 9, Action::Nothing, (1, false, 0, 0, 0)),
        (3, 0, 9, Action::GrantReaders, (4, false, 0, 0, 3)),
        (3, 0, 2, Action::GrantReaders, (2, false, 2, 0, 1)),
        (3, 0, 1, Action::Nothing, (1, false, 3, 0, 0)),
        (3, 1, 9, Action::Nothing, (1, false, 3, 1, 0)),
    ];
    for (readers, writers, max, action, after) in table {
        let mut state = held(max);
        queue(&mut state, readers, writers);
        assert_eq!(state.downgrade(), action);
        assert_eq!(summary(&state), after);
        check(&state);
    }
}

#[test]
fn w4_marks_as_many_as_were_reserved() {
    for (waiting, max) in [(1, 9), (5, 9), (9, 9), (12, 9), (100, 9)] {
        let mut state = held(max);
        queue(&mut state, waiting, 0);
        assert_eq!(state.release_writer(), Action::GrantReaders);
        assert_eq!(mark_all(&mut state), waiting.min(max));
        assert_eq!(summary(&state), (waiting.min(max), false, waiting.saturating_sub(max), 0, 0));
        check(&state);
        assert!(!state.take_share());
    }
}

#[test]
fn w4_leaving_before_the_mark() {
    // A share for each: it is given back.
    let mut state = held(9);
    queue(&mut state, 3, 0);
    let ticket = 0;
    assert_eq!(state.release_writer(), Action::GrantReaders);
    queue(&mut state, 0, 1);
    assert_eq!(state.leave_reader(ticket), Action::Nothing);
    assert_eq!(summary(&state), (2, false, 0, 1, 2));
    // One that came behind the writer only leaves.
    let late = state.enqueue_reader().unwrap();
    assert_ne!(late, ticket);
    assert_eq!(state.leave_reader(late), Action::Nothing);
    assert_eq!(summary(&state), (2, false, 0, 1, 2));
    // The last one to leave admits the writer.
    assert_eq!(state.leave_reader(ticket), Action::Nothing);
    assert_eq!(state.leave_reader(ticket), Action::GrantWriter);
    assert_eq!(summary(&state), (0, true, 0, 0, 0));

    // Less room than members: another one gets the share.
    let mut state = held(2);
    queue(&mut state, 3, 0);
    assert_eq!(state.release_writer(), Action::GrantReaders);
    queue(&mut state, 0, 1);
    assert_eq!(state.leave_reader(ticket), Action::Nothing);
    assert_eq!(summary(&state), (2, false, 0, 1, 2));
    assert_eq!(state.leave_reader(ticket), Action::Nothing);
    assert_eq!(summary(&state), (1, false, 0, 1, 1));
    assert_eq!(mark_all(&mut state), 1);
    check(&state);
}

#[test]
fn w4_leftovers_of_a_marked_batch_are_of_no_batch() {
    let mut state = held(2);
    queue(&mut state, 4, 0);
    assert_eq!(state.release_writer(), Action::GrantReaders);
    assert_eq!(mark_all(&mut state), 2);
    // It has the batch's ticket still, and no share waits for it.
    assert_eq!(state.leave_reader(0), Action::Nothing);
    assert_eq!(summary(&state), (2, false, 1, 0, 0));
    check(&state);
    assert_eq!(state.release_reader(), Action::GrantReaders);
    assert_eq!(summary(&state), (2, false, 0, 0, 1));
    check(&state);
}

#[test]
fn w7_no_count_passes_the_documented_maximum() {
    let max = crate::RwLock::<(), crate::platform::Local>::MAX_READERS;
    let mut state = shared(max - 1, max);
    assert!(state.try_read());
    check(&state);
    assert_eq!(state.readers, max);
    assert!(!state.try_read() && !state.try_write());
    assert_eq!(state.readers, max);
    state.enqueue_reader().unwrap();
    check(&state);
    assert_eq!(state.release_reader(), Action::GrantReaders);
    assert_eq!(summary(&state), (max, false, 0, 0, 1));
    check(&state);

    // A batch of all the waiters that can be counted.
    let mut state = held(max);
    state.counts.waiting_readers = u32::MAX;
    assert_eq!(state.release_writer(), Action::GrantReaders);
    assert_eq!(summary(&state), (max, false, u32::MAX - max, 0, max));
    check_words(&state);
}

/// As [`check`], for counts whose sums don't fit.
fn check_words(state: &RwState) {
    let word = state.encode();
    assert_eq!(RwState::decode(word, state.counts, state.max_readers), *state);
    assert!(word.has_queued());
}

#[test]
fn w8_a_full_queue_refuses_and_stays_as_it_was() {
    // As many as can be counted wait, or wait and have shares reserved.
    for reserved in [0, 1, 1000] {
        let mut state = shared(reserved, 1000);
        state.counts.waiting_writers = 1;
        state.counts.waiting_readers = u32::MAX - reserved;
        (state.counts.reserved, state.counts.window) = (reserved, reserved);
        let before = state;
        assert_eq!(state.enqueue_reader(), Err(QueueFull));
        assert_eq!(state, before);
        // One less, and there is a place.
        state.counts.waiting_readers -= 1;
        assert_eq!(state.enqueue_reader(), Ok(0));
        assert_eq!(state, before);
    }
    let mut state = shared(1, 1);
    state.counts.waiting_writers = u32::MAX;
    let before = state;
    assert_eq!(state.enqueue_writer(), Err(QueueFull));
    assert_eq!(state, before);
    state.counts.waiting_writers -= 1;
    assert_eq!(state.enqueue_writer(), Ok(()));
    assert_eq!(state, before);
}

#[test]
fn words_of_all_shapes_come_back() {
    let max = crate::RwLock::<(), crate::platform::Local>::MAX_READERS;
    let mut words = HashSet::new();
    let queues = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1)];
    for (waiting_readers, waiting_writers, reserved) in queues {
        let counts = Counts { waiting_readers, waiting_writers, reserved, window: reserved, ticket: 7 };
        let queued = waiting_readers + waiting_writers + reserved > 0;
        for readers in [0, 1, 2, max / 2, max - 1, max] {
            let state = RwState { counts, ..shared(readers, max) };
            let word = state.encode();
            assert_eq!(RwState::decode(word, counts, max), state);
            assert_eq!((word.readers(), word.is_held(), word.has_queued()), (readers, false, queued));
            words.insert(word.bits());
        }
        for granted in [ptr::null_mut(), WAITER, ptr::without_provenance_mut(usize::MAX & !7)] {
            let state = RwState { counts, granted, ..held(max) };
            let word = state.encode();
            assert_eq!(RwState::decode(word, counts, max), state);
            assert_eq!((word.granted(), word.is_held(), word.has_queued()), (granted, true, queued));
            // A claim on the word is the claim of the state.
            if !granted.is_null() {
                let mut claimed = state;
                claimed.claim_writer();
                assert_eq!(word.claimed(), claimed.encode());
            }
            words.insert(word.bits());
        }
    }
    assert_eq!(words.len(), 2 * (6 + 3), "each has its own word, but for who is queued");
}

/// A reader in the queue, as the model knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// It waits.
    Waiting,
    /// It waits, and was in the queue when the last batch was admitted, some of which is still unmarked.
    InBatch,
}

/// The naive model: lists instead of counts, the rules as the contract has them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Model {
    max: usize,
    /// Held by a writer: whether it has claimed.
    writer: Option<bool>,
    /// Readers that have been marked, claimed or not.
    inside: usize,
    /// Shares promised to the batch.
    promised: usize,
    readers: Vec<Place>,
    writers: usize,
}

impl Model {
    fn shares(&self) -> usize {
        self.inside + self.promised
    }

    fn may_read(&self) -> bool {
        self.writer.is_none() && self.writers == 0 && self.shares() < self.max
    }

    fn may_write(&self) -> bool {
        self.writer.is_none() && self.shares() == 0
    }

    /// Writers first; else as many readers as there is room for.
    fn admit(&mut self) -> Action {
        if self.writers > 0 {
            if !self.may_write() {
                return Action::Nothing;
            }
            self.writers -= 1;
            self.writer = Some(false);
            return Action::GrantWriter;
        }
        let mut admitted = false;
        while self.may_read() && self.promised < self.readers.len() {
            self.promised += 1;
            admitted = true;
        }
        if !admitted {
            return Action::Nothing;
        }
        self.readers.fill(Place::InBatch);
        Action::GrantReaders
    }

    fn close_batch(&mut self) {
        if self.promised == 0 {
            self.readers.fill(Place::Waiting);
        }
    }

    fn mark(&mut self) {
        assert_eq!(self.readers.remove(0), Place::InBatch, "the batch is at the head");
        self.promised -= 1;
        self.inside += 1;
        self.close_batch();
    }

    fn reader_leaves(&mut self, n: usize) -> Action {
        self.readers.remove(n);
        let members = self.readers.iter().filter(|place| **place == Place::InBatch).count();
        // More shares than members: one is given back.
        self.promised = self.promised.min(members);
        self.close_batch();
        self.admit()
    }
}

/// The machine and the model, after the same transitions. `tickets` are those of the readers in the queue.
#[derive(Clone, Debug)]
struct Pair {
    state: RwState,
    tickets: Vec<u32>,
    model: Model,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Read,
    Write,
    ReleaseReader,
    ReleaseWriter,
    Claim,
    Downgrade,
    WriterLeaves,
    ReaderLeaves(usize),
    Mark,
}

impl Pair {
    fn new(max_readers: u32, ticket: u32) -> Self {
        let mut state = new(max_readers);
        state.counts.ticket = ticket;
        let max = max_readers as usize;
        let model = Model { max, writer: None, inside: 0, promised: 0, readers: Vec::new(), writers: 0 };
        Self { state, tickets: Vec::new(), model }
    }

    /// All that may happen next, with at most so many waiters of a kind.
    fn steps(&self, waiters: usize) -> Vec<Step> {
        let model = &self.model;
        let mut steps: Vec<_> = (0..model.readers.len()).map(Step::ReaderLeaves).collect();
        let steps_if = [
            (Step::Read, model.readers.len() < waiters || model.may_read()),
            (Step::Write, model.writers < waiters || model.may_write()),
            (Step::ReleaseReader, model.inside > 0),
            (Step::ReleaseWriter, model.writer.is_some()),
            (Step::Claim, model.writer == Some(false)),
            (Step::Downgrade, model.writer == Some(true)),
            (Step::WriterLeaves, model.writers > 0),
            (Step::Mark, model.promised > 0),
        ];
        steps.extend(steps_if.iter().filter(|(_, may)| *may).map(|(step, _)| *step));
        steps
    }

    /// Takes the step on both sides, and compares.
    fn take(&mut self, step: Step) {
        let before = self.clone();
        let (state, model) = (&mut self.state, &mut self.model);
        let (action, expected) = match step {
            Step::Read if model.may_read() => {
                assert!(state.try_read(), "{before:?}");
                model.inside += 1;
                (Action::Nothing, Action::Nothing)
            }
            Step::Read => {
                assert!(!state.try_read(), "{before:?}");
                self.tickets.push(state.enqueue_reader().unwrap());
                model.readers.push(Place::Waiting);
                (Action::Nothing, Action::Nothing)
            }
            Step::Write if model.may_write() => {
                assert!(state.try_write(), "{before:?}");
                model.writer = Some(true);
                (Action::Nothing, Action::Nothing)
            }
            Step::Write => {
                assert!(!state.try_write(), "{before:?}");
                state.enqueue_writer().unwrap();
                model.writers += 1;
                (Action::Nothing, Action::Nothing)
            }
            Step::ReleaseReader => {
                model.inside -= 1;
                (state.release_reader(), model.admit())
            }
            Step::ReleaseWriter => {
                model.writer = None;
                (state.release_writer(), model.admit())
            }
            Step::Claim => {
                state.claim_writer();
                model.writer = Some(true);
                (Action::Nothing, Action::Nothing)
            }
            Step::Downgrade => {
                (model.writer, model.inside) = (None, 1);
                (state.downgrade(), model.admit())
            }
            Step::WriterLeaves => {
                model.writers -= 1;
                (state.leave_writer(), model.admit())
            }
            Step::ReaderLeaves(n) => (state.leave_reader(self.tickets.remove(n)), model.reader_leaves(n)),
            Step::Mark => {
                assert!(state.take_share(), "{before:?}");
                self.tickets.remove(0);
                model.mark();
                (Action::Nothing, Action::Nothing)
            }
        };
        assert_eq!(action, expected, "{step:?} of {before:?}");
        if action == Action::GrantWriter {
            self.state.granted = WAITER;
        }
        self.compare(&format!("{step:?} of {before:?}"));
    }

    #[track_caller]
    fn compare(&self, context: &str) {
        let model = &self.model;
        let waiting = model.readers.len() - model.promised;
        let sizes = [model.shares(), waiting, model.writers, model.promised].map(|n| u32::try_from(n).unwrap());
        let [readers, waiting_readers, waiting_writers, reserved] = sizes;
        let expected = (readers, model.writer.is_some(), waiting_readers, waiting_writers, reserved);
        assert_eq!(summary(&self.state), expected, "{context}");
        assert_eq!(self.state.granted.is_null(), model.writer != Some(false), "{context}");
        check(&self.state);
    }

    /// What the future depends on: of the tickets, only whether they are the current one.
    fn key(&self) -> (Model, Vec<bool>, u32) {
        let Counts { window, ticket, reserved, .. } = self.state.counts;
        let window = if reserved > 0 { window } else { 0 };
        (self.model.clone(), self.tickets.iter().map(|own| *own == ticket).collect(), window)
    }
}

/// All states that can be reached by any sequence of steps; returns how many.
fn explore(first: Pair, waiters: usize) -> usize {
    let mut seen = HashSet::new();
    let mut open = vec![first];
    while let Some(pair) = open.pop() {
        if !seen.insert(pair.key()) {
            continue;
        }
        for step in pair.steps(waiters) {
            let mut next = pair.clone();
            next.take(step);
            open.push(next);
        }
    }
    seen.len()
}

#[test]
fn every_sequence_of_transitions_agrees_with_the_model() {
    // The last limit leaves room for all.
    for (max, waiters) in [(1, 3), (2, 4), (3, 4), (4, 3), (9, 3)] {
        let states = explore(Pair::new(max, 0), if cfg!(miri) { 2 } else { waiters });
        assert!(states > 50, "the search has seen only {states} states");
    }
}

#[test]
fn every_sequence_agrees_while_the_ticket_wraps() {
    for ticket in [u32::MAX, u32::MAX - 1, u32::MAX - 2] {
        explore(Pair::new(2, ticket), if cfg!(miri) { 2 } else { 3 });
    }
}

#[test]
fn every_short_sequence_agrees_without_merging_states() {
    // Nothing is assumed of what the future depends on.
    fn walk(pair: &Pair, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut sequences = 0;
        for step in pair.steps(3) {
            let mut next = pair.clone();
            next.take(step);
            sequences += walk(&next, depth - 1);
        }
        sequences
    }
    for max in [1, 2, 9] {
        let (depth, least) = if cfg!(miri) { (4, 10) } else { (7, 1000) };
        assert!(walk(&Pair::new(max, u32::MAX), depth) > least);
    }
}

#[test]
fn ticket_wraps_between_a_batch_and_the_next() {
    let mut state = held(9);
    state.counts.ticket = u32::MAX;
    queue(&mut state, 2, 0);
    let of_the_batch = u32::MAX;
    assert_eq!(state.release_writer(), Action::GrantReaders);
    queue(&mut state, 0, 1);
    let behind = state.enqueue_reader().unwrap();
    assert_eq!(behind, 0);
    assert_eq!(state.leave_reader(behind), Action::Nothing);
    assert_eq!(summary(&state), (2, false, 0, 1, 2));
    assert_eq!(state.leave_reader(of_the_batch), Action::Nothing);
    assert_eq!(summary(&state), (1, false, 0, 1, 1));
    check(&state);
}

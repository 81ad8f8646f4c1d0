//! The transitions of the state.
//!
//! | file | |
//! |---|---|
//! | this one | the harness; words; where counts and batch numbers end |
//! | [`model`] | all sequences of transitions, against a naive model that holds W1 to W7, P1 to P6 and U1 to U5 |
//! | [`rescue`] | which theft helps, and what it counts |

extern crate std;

use super::*;
use std::collections::HashSet;
use std::vec::Vec;

mod model;
mod rescue;

use Mode::{Read, Upgradable, Upgrade, Write};
use RwLockPolicy::{PhaseFair, TaskFair, WriterPreferring};

/// Some waiter's address, which nobody follows.
const WAITER: *mut Waiter = ptr::without_provenance_mut(0x1000);

const POLICIES: [RwLockPolicy; 3] = [WriterPreferring, TaskFair, PhaseFair];

/// A waiter of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Queued {
    mode: Mode,
    batch_id: u32,
    /// Its grant was stolen, and it has not been polled since.
    robbed: bool,
}

/// A state with its queues, moved as the lock's sections move it.
#[derive(Clone, Debug)]
struct Machine {
    state: RwState,
    queue: Vec<Queued>,
    /// The batch numbers of the readers that queue apart.
    readers: Vec<u32>,
    /// How many one section may grant.
    chunk: usize,
    /// Somebody has found more than one section may grant, and is on the way to the next one.
    on_the_way: bool,
}

impl Machine {
    fn new(policy: RwLockPolicy, max_readers: u32) -> Self {
        let state = RwState::decode(Word::INIT, Counts::NEW, Config::new(max_readers, policy));
        Self { state, queue: Vec::new(), readers: Vec::new(), chunk: 1, on_the_way: false }
    }

    /// One whose sections grant all at once.
    fn in_one_section(mut self) -> Self {
        self.chunk = usize::MAX;
        self
    }

    fn first(&self) -> Option<Mode> {
        self.queue.first().map(|first| first.mode)
    }

    fn is_first_robbed(&self) -> bool {
        self.queue.first().is_some_and(|first| first.robbed)
    }

    /// What the queue waits for, from the head on.
    fn kinds(&self) -> Vec<Mode> {
        self.queue.iter().map(|queued| queued.mode).collect()
    }

    /// The end of a section: what has no place in the word or in the counts is forgotten.
    fn end(&mut self) {
        self.state = RwState::decode(self.state.encode(), self.state.counts, self.state.config);
    }

    /// A section of somebody who only tries.
    fn try_enter(&mut self, mode: Mode) -> bool {
        let entered = self.state.try_acquire(mode);
        self.end();
        entered
    }

    /// Enters or queues.
    fn arrive(&mut self, mode: Mode) -> bool {
        let entered = self.try_enter(mode);
        if !entered {
            let batch_id = self.state.enqueue(mode).unwrap();
            self.push(Queued { mode, batch_id, robbed: false });
            self.end();
        }
        entered
    }

    fn push(&mut self, queued: Queued) {
        match queued.mode {
            Read if self.state.queues_readers_apart() => self.readers.push(queued.batch_id),
            Upgrade => self.queue.insert(0, queued),
            _ => self.queue.push(queued),
        }
    }

    /// The `n`th in its queue is out of it. Returns its batch number.
    fn remove(&mut self, mode: Mode, n: usize) -> u32 {
        if mode == Read && self.state.queues_readers_apart() {
            return self.readers.remove(n);
        }
        let queued = self.queue.remove(n);
        assert_eq!(queued.mode, mode);
        queued.batch_id
    }

    /// A section in which somebody gives something up. Returns whom it has granted.
    fn section(&mut self, transition: impl FnOnce(&mut RwState)) -> Vec<Mode> {
        transition(&mut self.state);
        let before_admit = self.state;
        let mut state = self.state;
        let one = state.admit_one(self.first(), || self.is_first_robbed());
        let granted = self.admit();
        if let Some(one) = one {
            let admitted = match one {
                Admit::Nobody => Vec::new(),
                Admit::Reader => Vec::from([Read]),
                Admit::First(mode) => Vec::from([mode]),
            };
            assert_eq!(granted, admitted, "`admit_one` is `admit` until nobody is left");
            if state.writer {
                state.granted = WAITER;
            }
            let state = RwState::decode(state.encode(), state.counts, state.config);
            assert_eq!(self.state, state, "`admit_one` counts as `admit` does");
        } else {
            assert_eq!(state, before_admit, "nothing has changed");
        }
        granted
    }

    /// Whoever is on the way admits the rest of a batch; others only add to it.
    fn admit(&mut self) -> Vec<Mode> {
        if self.state.counts.reserved > 0 && !self.state.widen_batch() {
            self.end();
            return Vec::new();
        }
        let (granted, more) = self.admit_chunk();
        self.on_the_way |= more;
        granted
    }

    /// Who was on the way has come to the next section.
    fn go_on(&mut self) -> Vec<Mode> {
        assert!(self.on_the_way);
        let (granted, more) = if self.state.queues_readers_apart() { self.admit_chunk() } else { self.admit_run() };
        self.on_the_way = more;
        granted
    }

    /// A task-fair run of readers goes on, past an upgrade that has come since.
    fn admit_run(&mut self) -> (Vec<Mode>, bool) {
        let aside = (self.state.go_on() && self.first() == Some(Upgrade)).then(|| self.queue.remove(0));
        let (mut granted, mut more) = self.admit_up_to(self.chunk);
        if let Some(upgrade) = aside {
            self.queue.insert(0, upgrade);
            if !more {
                let rest;
                (rest, more) = self.admit_up_to(self.chunk - granted.len());
                granted.extend(rest);
            }
        }
        self.end();
        (granted, more)
    }

    fn go_on_to_the_end(&mut self) -> Vec<Mode> {
        let mut granted = Vec::new();
        while self.on_the_way {
            granted.extend(self.go_on());
            check(self);
        }
        granted
    }

    fn admit_chunk(&mut self) -> (Vec<Mode>, bool) {
        let admitted = self.admit_up_to(self.chunk);
        self.end();
        admitted
    }

    fn admit_up_to(&mut self, chunk: usize) -> (Vec<Mode>, bool) {
        let mut granted = Vec::new();
        while granted.len() < chunk {
            match self.state.admit(self.first(), || self.queue.first().is_some_and(|first| first.robbed)) {
                Admit::Nobody => return (granted, false),
                Admit::First(mode) => {
                    let first = self.queue.remove(0);
                    assert_eq!(first.mode, mode);
                    granted.push(mode);
                    if !mode.is_shared() {
                        self.state.granted = WAITER;
                        return (granted, false);
                    }
                }
                Admit::Reader => {
                    let room = chunk - granted.len();
                    let more = self.state.take_shares(u32::try_from(room - 1).unwrap_or(u32::MAX));
                    let marked = 1 + more as usize;
                    self.readers.drain(..marked);
                    granted.extend([Read].repeat(marked));
                }
            }
        }
        let mut next = self.state;
        let more = next.admit(self.first(), || self.is_first_robbed());
        if let Admit::First(mode) = more
            && mode.is_shared()
            && !self.state.queues_readers_apart()
        {
            self.state.hold_open();
        }
        (granted, more != Admit::Nobody)
    }

    fn release(&mut self, mode: Mode) -> Vec<Mode> {
        self.section(|state| state.release(mode))
    }

    fn downgrade(&mut self, to: Mode) -> Vec<Mode> {
        self.section(|state| state.downgrade(to))
    }

    fn downgrade_upgradable(&mut self) -> Vec<Mode> {
        self.section(RwState::downgrade_upgradable)
    }

    fn claim(&mut self) {
        self.state.claim_writer();
        self.end();
    }

    /// The `n`th of its queue leaves it ungranted.
    fn leave(&mut self, mode: Mode, n: usize) -> Vec<Mode> {
        let batch_id = self.remove(mode, n);
        self.section(|state| state.remove_waiter(mode, batch_id))
    }

    /// The `n`th of the queue, which was robbed, is polled.
    fn prove_alive(&mut self, n: usize) {
        assert!(core::mem::take(&mut self.queue[n].robbed));
    }

    /// The `n`th of its queue steals a grant. Returns whom the section has granted besides.
    fn steal(&mut self, thief: Mode, n: usize, victim: Mode) -> (Theft, Vec<Mode>) {
        let apart = thief == Read && self.state.queues_readers_apart();
        let batch_id = if apart { self.readers[n] } else { self.queue[n].batch_id };
        let before = self.state;
        let theft = self.state.theft(thief, victim);
        assert_eq!(self.state, before, "only a look");
        let mut granted = Vec::new();
        match theft {
            Theft::Nothing => {}
            Theft::Trade => {
                // A claim in the same step.
                if !victim.is_shared() {
                    self.state.claim_writer();
                }
                self.end();
                if !apart {
                    self.queue[n].robbed = true;
                }
            }
            Theft::TakeOver => {
                let queued = Queued { mode: victim, batch_id: self.state.rob(victim), robbed: true };
                self.state.take_over(thief, batch_id, victim);
                self.remove(thief, n);
                self.push(queued);
                if victim.is_shared() {
                    granted = self.admit();
                } else {
                    let more;
                    (granted, more) = self.admit_chunk();
                    self.on_the_way |= more;
                }
            }
            Theft::GiveBack => {
                let queued = Queued { mode: victim, batch_id: self.state.rob(victim), robbed: true };
                self.push(queued);
                granted = self.admit();
            }
        }
        (theft, granted)
    }

    fn summary(&self) -> (u32, bool, u32, u32, u32) {
        summary(&self.state)
    }
}

/// The default policy, with so many readers inside.
fn shared(readers: u32, max_readers: u32) -> Machine {
    with_readers(WriterPreferring, readers, max_readers)
}

fn with_readers(policy: RwLockPolicy, readers: u32, max_readers: u32) -> Machine {
    let mut machine = Machine::new(policy, max_readers);
    (0..readers).for_each(|_| assert!(machine.arrive(Read)));
    machine
}

/// The default policy, with a writer inside.
fn held(max_readers: u32) -> Machine {
    held_under(WriterPreferring, max_readers)
}

fn held_under(policy: RwLockPolicy, max_readers: u32) -> Machine {
    let mut machine = Machine::new(policy, max_readers);
    assert!(machine.arrive(Write));
    machine
}

/// Queues all of these, none of whom may enter.
#[track_caller]
fn queue(machine: &mut Machine, kinds: impl IntoIterator<Item = Mode>) {
    for mode in kinds {
        assert!(!machine.arrive(mode), "{mode:?} has entered {machine:?}");
        check(machine);
    }
}

/// So many readers and writers.
#[track_caller]
fn queue_many(machine: &mut Machine, readers: usize, writers: usize) {
    queue(machine, [Read].repeat(readers).into_iter().chain([Write].repeat(writers)));
}

/// Readers, writer, waiting readers, waiting writers, reserved.
fn summary(state: &RwState) -> (u32, bool, u32, u32, u32) {
    let Counts { waiting_readers, waiting_writers, reserved, .. } = state.counts;
    (state.readers, state.writer, waiting_readers, waiting_writers, reserved)
}

/// R1 to R5, and what state and queues say of each other.
#[track_caller]
fn check(machine: &Machine) {
    let Machine { state, queue, readers, on_the_way, .. } = machine;
    let counts = state.counts;
    assert!(!state.writer || state.readers == 0, "R1 (exclusive): {machine:?}");
    assert!(state.granted.is_null() || state.writer, "granted without being the owner: {machine:?}");
    assert!(state.readers <= state.config.max_readers(), "R2 (room): {machine:?}");
    let mut next = *state;
    if next.admit(machine.first(), || machine.is_first_robbed()) == Admit::Nobody {
        assert_eq!(next, *state, "nobody is admitted, and nothing changes");
    } else {
        assert!(on_the_way, "R3 (settled): {machine:?}");
    }
    assert!(counts.reserved <= counts.window, "R4 (batch): {machine:?}");
    assert!(counts.reserved <= state.readers, "reserved shares are readers: {machine:?}");
    let apart = state.queues_readers_apart();
    let held_open = if apart { 0 } else { counts.reserved };
    if !apart {
        // A run of readers that goes on in another section.
        assert!(counts.reserved <= 1 && counts.window == counts.reserved, "R4 (batch): {machine:?}");
        assert!(held_open == 0 || *on_the_way, "nobody would close it: {machine:?}");
    }
    let (window, behind) = readers.split_at((counts.window - held_open) as usize);
    assert!(window.iter().all(|batch_id| *batch_id != counts.batch_id), "R4 (batch): {machine:?}");
    assert!(behind.iter().all(|batch_id| *batch_id == counts.batch_id), "R4 (batch): {machine:?}");
    assert!(!state.upgradable || state.readers > 0, "R5 (one upgradable): {machine:?}");

    let waiting = |kinds: &[Mode]| queue.iter().filter(|queued| kinds.contains(&queued.mode)).count() as u32;
    let queued_readers = readers.len() as u32 + waiting(&[Read]);
    assert_eq!(counts.waiting_readers + counts.reserved - held_open, queued_readers, "{machine:?}");
    assert_eq!(state.readers(), state.readers - held_open, "{machine:?}");
    assert_eq!(counts.waiting_upgradable, waiting(&[Upgradable]), "{machine:?}");
    assert_eq!(counts.waiting_writers, waiting(&[Write, Upgrade]), "{machine:?}");
    if let Some(upgrade) = queue.iter().position(|queued| queued.mode == Upgrade) {
        assert!(upgrade == 0 && waiting(&[Upgrade]) == 1, "one upgrade, at the head: {machine:?}");
        assert!(state.upgradable && !state.writer, "it has its share still: {machine:?}");
    }

    let word = state.encode();
    assert_eq!(word.bits() & Word::BUSY_BIT, 0, "the busy bit is the raw lock's");
    assert_eq!(RwState::decode(word, counts, state.config), *state, "encoded and decoded");
    let queued = !queue.is_empty() || !readers.is_empty() || held_open > 0;
    assert_eq!(word.has_queued(), queued, "shortcuts are open exactly if nobody is queued");
    let free = (state.readers, state.writer, queued) == (0, false, false);
    assert_eq!(word == Word::INIT, free, "free is the word of a new lock");
}

#[test]
fn w7_no_count_passes_the_documented_maximum() {
    let max = MAX_READERS;
    for policy in POLICIES {
        for last in [Read, Upgradable] {
            let mut machine = Machine::new(policy, max);
            machine.state.readers = max - 1;
            assert!(machine.arrive(last));
            check(&machine);
            assert_eq!(machine.state.readers, max);
            for mode in [Read, Upgradable, Write] {
                assert!(!machine.try_enter(mode));
            }
            assert_eq!(machine.state.readers, max);
            queue(&mut machine, [Read]);
            assert_eq!(machine.release(last), [Read]);
            assert_eq!(machine.summary(), (max, false, 0, 0, 0));
            check(&machine);
        }
    }

    // A batch of all the waiters that can be counted.
    let mut machine = held(max);
    machine.state.counts.waiting_readers = u32::MAX;
    machine.state.release(Write);
    assert_eq!(machine.state.admit(None, || false), Admit::Reader);
    assert_eq!(machine.summary(), (max, false, u32::MAX - max, 0, max - 1));
    machine.end();
    assert!(machine.state.encode().has_queued());
}

#[test]
fn w8_a_full_queue_refuses_and_stays_as_it_was() {
    // As many as can be counted wait, or wait and have shares reserved.
    for reserved in [0, 1, 1000] {
        let mut state = shared(reserved, 1000).state;
        state.counts.waiting_writers = 1;
        state.counts.waiting_readers = u32::MAX - reserved;
        (state.counts.reserved, state.counts.window) = (reserved, reserved);
        let before = state;
        assert_eq!(state.enqueue(Read), Err(QueueFull));
        assert_eq!(state, before);
        // One less, and there is a place.
        state.counts.waiting_readers -= 1;
        assert_eq!(state.enqueue(Read), Ok(0));
        assert_eq!(state, before);
    }
    for mode in [Write, Upgradable, Upgrade] {
        let mut state = shared(1, 1).state;
        *state.waiting(mode) = u32::MAX;
        let before = state;
        assert_eq!(state.enqueue(mode), Err(QueueFull));
        assert_eq!(state, before);
        *state.waiting(mode) -= 1;
        assert_eq!(state.enqueue(mode), Ok(0));
        assert_eq!(state, before);
    }
}

#[test]
fn terms_keep_both_of_their_parts() {
    for policy in POLICIES {
        for max in [1, 2, MAX_READERS - 1, MAX_READERS] {
            let config = Config::new(max, policy);
            assert_eq!((config.max_readers(), config.policy()), (max, policy));
        }
    }
}

#[test]
fn words_of_all_shapes_come_back() {
    let max = MAX_READERS;
    let config = Config::new(max, WriterPreferring);
    let mut words = HashSet::new();
    let queues = [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (1, 1, 1, 0), (0, 0, 0, 1)];
    for (waiting_readers, waiting_writers, waiting_upgradable, reserved) in queues {
        let window = reserved;
        let counts = Counts {
            waiting_readers,
            waiting_upgradable,
            waiting_writers,
            reserved,
            window,
            batch_id: 7,
            grants: Grants::NONE,
        };
        let queued = waiting_readers + waiting_upgradable + waiting_writers + reserved > 0;
        for readers in [0, 1, 2, max / 2, max - 1, max] {
            for upgradable in [false, readers > 0] {
                let state = RwState { counts, readers, upgradable, ..shared(0, max).state };
                let word = state.encode();
                assert_eq!(RwState::decode(word, counts, config), state);
                assert_eq!((word.readers(), word.has_upgradable()), (readers, upgradable));
                assert_eq!((word.is_held(), word.has_queued()), (false, queued));
                words.insert(word.bits());
            }
        }
        for granted in [ptr::null_mut(), WAITER, ptr::without_provenance_mut(usize::MAX & !7)] {
            let state = RwState { counts, granted, ..held(max).state };
            let word = state.encode();
            assert_eq!(RwState::decode(word, counts, config), state);
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
    assert_eq!(words.len(), 2 * (6 + 5 + 3), "each has its own word, but for who is queued");
}

#[test]
fn ticket_wraps_between_a_batch_and_the_next() {
    let mut machine = held(9);
    machine.state.counts.batch_id = u32::MAX;
    queue_many(&mut machine, 3, 0);
    assert_eq!(machine.readers, [u32::MAX; 3]);
    assert_eq!(machine.release(Write), [Read]);
    queue(&mut machine, [Write, Read]);
    assert_eq!(machine.readers, [u32::MAX, u32::MAX, 0]);
    assert_eq!(machine.leave(Read, 2), []);
    assert_eq!(machine.summary(), (3, false, 0, 1, 2));
    assert_eq!(machine.leave(Read, 0), []);
    assert_eq!(machine.summary(), (2, false, 0, 1, 1));
    check(&machine);
}

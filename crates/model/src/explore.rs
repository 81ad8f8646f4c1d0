//! Systematic sequences: all sequences up to a length, and every letter in every state of the reference.

use crate::alphabet::Op;
use crate::driver::Driver;
use crate::real::{Real, Setup};
use crate::reference::{Stage, World};
use core::fmt;
use fifolock_conformance::tools::clock::TestTimer;
use std::collections::HashSet;

/// The parameters of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The lock.
    pub setup: Setup,
    /// The number of places for futures and guards.
    pub places: usize,
    /// One letter of each kind. The exploration fills in `who`.
    pub letters: &'a [Op],
    /// The largest number of futures that were never polled.
    pub unpolled_max: usize,
    /// The largest number of forgotten futures and guards.
    pub forgotten_max: usize,
}

/// The result at one depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The length of the sequences.
    pub depth: usize,
    /// The number of sequences that were run.
    pub sequences: usize,
    /// The number of end states of the reference that no shorter sequence has reached.
    pub states: usize,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { depth, sequences, states } = self;
        write!(f, "depth {depth:>2}: {sequences:>9} sequences, {states:>8} new states")
    }
}

impl Plan<'_> {
    fn next<R: crate::reference::Reference>(&self, world: &World<R>) -> Vec<Op> {
        let unpolled = world.people.iter().filter(|person| person.stage == Stage::Unpolled).count();
        let kinds = self.letters.iter().filter(|letter| match letter {
            Op::Create(..) | Op::Upgrade(_) => unpolled < self.unpolled_max,
            Op::Forget(_) => world.forgotten() < self.forgotten_max,
            _ => true,
        });
        kinds.flat_map(|kind| world.letters(*kind)).collect()
    }

    /// Runs a sequence on a new lock and then drops everything; returns the state before that end.
    fn run<L: Real>(&self, path: &[Op]) -> World<L::Reference> {
        let mut world = None;
        L::Platform::with(|| {
            let mut driver = Driver::<L>::new(self.setup, self.places);
            for op in path {
                assert!(driver.apply(*op), "the sequence has letters that apply");
            }
            world = Some(driver.world().clone());
            driver.finish();
        });
        world.expect("just set")
    }

    fn start<L: Real>(&self) -> World<L::Reference> {
        World::new(L::new(self.setup).1, self.places)
    }

    /// Runs every sequence of up to `depth` letters.
    #[must_use]
    pub fn every_sequence<L: Real>(&self, depth: usize) -> Vec<Row> {
        let start = self.start::<L>();
        let mut seen = HashSet::from([start.canonical()]);
        // Each level extends the sequences of the level before by one letter, so all of one depth run before any of the
        // next.
        let mut level = vec![Vec::new()];
        let mut rows = Vec::new();
        for depth in 1..=depth {
            let mut row = Row { depth, ..Row::default() };
            let mut longer = Vec::new();
            for path in level {
                let mut world = start.clone();
                for op in &path {
                    let at = world.choose(*op).expect("the letter applies");
                    let _ = world.apply(*op, at);
                }
                for op in self.next(&world) {
                    let mut path: Vec<Op> = path.clone();
                    path.push(op);
                    row.sequences += 1;
                    row.states += usize::from(seen.insert(self.run::<L>(&path).canonical()));
                    longer.push(path);
                }
            }
            rows.push(row);
            level = longer;
        }
        rows
    }

    /// Runs every letter in every state that up to `depth` letters reach. Two states differ if the reference or the
    /// last `memory` letters differ. Each state is reached by the first sequence that was found.
    /// the last `memory` letters, and each is reached by the first sequence that was found.
    #[must_use]
    pub fn every_state<L: Real>(&self, depth: usize, memory: usize) -> Vec<Row> {
        let start = self.start::<L>();
        let mut seen = HashSet::from([(start.canonical(), Vec::new())]);
        let mut level = vec![(start, Vec::new())];
        let mut rows = Vec::new();
        for depth in 1..=depth {
            let mut row = Row { depth, ..Row::default() };
            let mut further = Vec::new();
            for (world, path) in level {
                for op in self.next(&world) {
                    let mut path: Vec<Op> = path.clone();
                    path.push(op);
                    row.sequences += 1;
                    let world = self.run::<L>(&path);
                    let last = path[path.len().saturating_sub(memory)..].to_vec();
                    if seen.insert((world.canonical(), last)) {
                        row.states += 1;
                        further.push((world, path));
                    }
                }
            }
            rows.push(row);
            level = further;
            if level.is_empty() {
                break;
            }
        }
        rows
    }
}

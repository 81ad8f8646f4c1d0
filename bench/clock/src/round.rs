//! Rounds. In each round every case has one turn, and the cases of one row follow each other, so that a slow moment of
//! the machine affects all of them.

use core::time::Duration;

use results::Timing;

/// The measured code: runs that many operations, or a few more, and returns the time and the number. `None` if the lock
/// can't run them.
type Run = Box<dyn Fn(u64) -> Option<(Duration, u64)>>;

/// One lock in one row.
pub struct Case {
    row: String,
    runtime: &'static str,
    lock: &'static str,
    run: Run,
}

impl Case {
    /// `run` runs as many operations as it is told, or a few more, and returns how long they took and how many they
    /// were.
    pub fn new(
        row: impl Into<String>,
        runtime: &'static str,
        lock: &'static str,
        run: impl Fn(u64) -> Option<(Duration, u64)> + 'static,
    ) -> Self {
        Self { row: row.into(), runtime, lock, run: Box::new(run) }
    }

    /// The runtime and the name of the row.
    pub fn title(&self) -> String {
        format!("{}, {}", self.runtime, self.row)
    }
}

/// The length of a case's turn, and the number of rounds.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The length of a turn.
    pub turn: Duration,
    /// The number of rounds.
    pub rounds: usize,
}

impl Plan {
    /// The plan for figures, or a short one that only shows that everything runs.
    pub fn new(is_quick: bool) -> Self {
        if is_quick {
            Self { turn: Duration::from_millis(1), rounds: 2 }
        } else {
            Self { turn: Duration::from_millis(10), rounds: 31 }
        }
    }
}

/// Times all cases. The first turns only measure how many operations fill a turn.
pub fn time(cases: &[Case], plan: Plan) -> Vec<Timing> {
    let mut counts: Vec<u64> = cases.iter().map(|case| calibrate(case, plan.turn)).collect();
    let mut timings: Vec<Timing> = cases
        .iter()
        .map(|case| Timing {
            row: case.row.clone(),
            runtime: case.runtime.to_owned(),
            lock: case.lock.to_owned(),
            rounds_ns: Vec::new(),
        })
        .collect();
    let mut rows = rows(cases, &counts);
    for round in 0..plan.rounds {
        eprintln!("round {} of {}", round + 1, plan.rounds);
        for row in &mut rows {
            for &index in &*row {
                let Some(ns) = ns_per_operation(&cases[index], counts[index]) else { continue };
                timings[index].rounds_ns.push(ns);
                // Some locks are sometimes a thousand times slower. Then one operation fills the turn.
                let fitting = fitting(plan.turn, ns);
                if fitting < counts[index] / 4 {
                    counts[index] = fitting;
                }
            }
            // Each round begins with another case, so that none is always the first.
            row.rotate_left(1);
        }
    }
    // Only complete rows are kept, since the figures of one round belong together.
    timings.retain(|timing| timing.rounds_ns.len() == plan.rounds);
    timings
}

/// The cases of each row that can be timed.
fn rows(cases: &[Case], counts: &[u64]) -> Vec<Vec<usize>> {
    let mut rows: Vec<(String, Vec<usize>)> = Vec::new();
    for (index, case) in cases.iter().enumerate().filter(|(index, _)| counts[*index] > 0) {
        match rows.iter_mut().find(|(title, _)| *title == case.title()) {
            Some((_, row)) => row.push(index),
            None => rows.push((case.title(), vec![index])),
        }
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

fn ns_per_operation(case: &Case, count: u64) -> Option<f64> {
    let (time, done) = (case.run)(count)?;
    Some(time.as_nanos() as f64 / done as f64)
}

/// The number of operations that fill a turn; 0 if the lock can't run them.
fn calibrate(case: &Case, turn: Duration) -> u64 {
    let mut count = 64;
    loop {
        let Some(ns) = ns_per_operation(case, count) else { return 0 };
        let fitting = fitting(turn, ns);
        if count * 2 >= fitting {
            return fitting;
        }
        count = (count * 8).min(fitting);
    }
}

/// The number of operations of this length that fill a turn.
fn fitting(turn: Duration, ns: f64) -> u64 {
    ((turn.as_nanos() as f64 / ns.max(0.1)) as u64).max(1)
}

//! Rounds: in each, every case has one turn, so that a slow minute of the machine is everybody's.

use core::time::Duration;

use results::Timing;

/// What is timed: the time that so many operations take, or a few more; or `None` where the lock can't do it.
type Run = Box<dyn Fn(u64) -> Option<(Duration, u64)>>;

/// One lock in one row.
pub struct Case {
    row: String,
    runtime: &'static str,
    lock: &'static str,
    run: Run,
}

impl Case {
    /// `run` does as many operations as it is told, or a few more, and says how long it took and how many it did.
    pub fn new(
        row: impl Into<String>,
        runtime: &'static str,
        lock: &'static str,
        run: impl Fn(u64) -> Option<(Duration, u64)> + 'static,
    ) -> Self {
        Self { row: row.into(), runtime, lock, run: Box::new(run) }
    }
}

/// How long a case's turn is to take, and how many rounds there are.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// A case's turn.
    pub turn: Duration,
    /// Rounds.
    pub rounds: usize,
}

impl Plan {
    /// The plan for figures, or for a look whether all runs.
    pub fn new(is_quick: bool) -> Self {
        if is_quick {
            Self { turn: Duration::from_millis(1), rounds: 2 }
        } else {
            Self { turn: Duration::from_millis(20), rounds: 15 }
        }
    }
}

/// Times all cases. The first turns only find out how many operations fill one.
pub fn time(cases: &[Case], plan: Plan) -> Vec<Timing> {
    let counts: Vec<u64> = cases.iter().map(|case| calibrate(case, plan.turn)).collect();
    let mut timings: Vec<Timing> = cases
        .iter()
        .map(|case| Timing {
            row: case.row.clone(),
            runtime: case.runtime.to_owned(),
            lock: case.lock.to_owned(),
            rounds_ns: Vec::new(),
        })
        .collect();
    for round in 0..plan.rounds {
        eprintln!("round {} of {}", round + 1, plan.rounds);
        // From another one each time: nobody always comes after the same.
        for index in (0..cases.len()).map(|index| (index + round * 7) % cases.len()) {
            if let Some(ns) = (counts[index] > 0).then(|| ns_per_operation(&cases[index], counts[index])).flatten() {
                timings[index].rounds_ns.push(ns);
            }
        }
    }
    timings.retain(|timing| !timing.rounds_ns.is_empty());
    timings
}

fn ns_per_operation(case: &Case, count: u64) -> Option<f64> {
    let (time, done) = (case.run)(count)?;
    Some(time.as_nanos() as f64 / done as f64)
}

/// How many operations fill a turn; 0 if the lock can't do it.
fn calibrate(case: &Case, turn: Duration) -> u64 {
    let mut count = 64;
    loop {
        let Some(ns) = ns_per_operation(case, count) else { return 0 };
        let fitting = (turn.as_nanos() as f64 / ns.max(0.1)) as u64;
        if count * 2 >= fitting {
            return fitting.max(1);
        }
        count = (count * 8).min(fitting);
    }
}

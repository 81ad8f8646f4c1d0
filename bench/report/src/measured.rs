//! The measurements, as far as they exist.

use std::path::Path;

use results::{BuildCost, Cost, Fairness, Goodput, Instructions, Memory, Timing};
use serde::de::DeserializeOwned;

use crate::rows::Row;

/// The measured parts. Each may be missing; then the report says so.
pub(crate) struct Measured {
    pub(crate) instructions: Option<Instructions>,
    pub(crate) timings: Option<Vec<Timing>>,
    pub(crate) fairness: Option<Vec<Fairness>>,
    pub(crate) goodput: Option<Vec<Goodput>>,
    pub(crate) memory: Option<Vec<Memory>>,
    pub(crate) build: Option<Vec<BuildCost>>,
}

impl Measured {
    pub(crate) fn read(folder: &Path) -> Self {
        fn part<T: DeserializeOwned>(folder: &Path, name: &str) -> Option<T> {
            results::read(&folder.join(name)).ok()
        }
        Self {
            instructions: part(folder, "instructions.json"),
            timings: part(folder, "clock.json"),
            fairness: part(folder, "fairness.json"),
            goodput: part(folder, "overload.json"),
            memory: part(folder, "memory.json"),
            build: part(folder, "build-cost.json"),
        }
    }
}

/// The cost of a row in a program, if all parts of the row were counted.
pub(crate) fn cost(instructions: &Instructions, program: &str, row: &Row) -> Option<Cost> {
    let costs = instructions.programs.get(program)?;
    let mut sum = Cost { instructions: 0.0, atomics: 0.0 };
    for part in row.of {
        let cost = costs.get(*part)?;
        sum.instructions += cost.instructions / row.per;
        sum.atomics += cost.atomics / row.per;
    }
    Some(sum)
}

/// The middle value.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The time of each round, as a multiple of another lock's time in the same round.
pub(crate) fn ratios(rounds: &[f64], others: &[f64]) -> Vec<f64> {
    rounds.iter().zip(others).map(|(ns, other)| ns / other).collect()
}

/// Half the distance between the quartiles, as a share of the median.
pub(crate) fn spread(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    (at(0.75) - at(0.25)) / 2.0 / median(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wild_round_changes_little() {
        let rounds = [10.0, 11.0, 10.0, 9.0, 500.0];
        assert!((median(&rounds) - 10.0).abs() < 1e-9);
        assert!(spread(&rounds) < 0.11);
        assert!(spread(&[3.0]).abs() < 1e-9);
    }

    #[test]
    fn a_machine_that_changes_its_speed_changes_no_ratio() {
        let (ours, theirs) = ([5.0, 9.0, 5.0], [10.0, 18.0, 10.0]);
        assert_eq!(ratios(&ours, &theirs), [0.5; 3]);
        assert!(spread(&ours) > 0.1 && spread(&ratios(&ours, &theirs)).abs() < 1e-9);
    }
}

//! The gate: compares fifolock's instruction counts with the recorded ones. The gate compares no times.

use core::fmt::Write as _;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use results::{Cost, Costs};
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, OrTell as _, Result};

/// The file of the recorded counts, from the root of the repository.
pub(crate) const RECORD: &str = "bench/instructions.toml";

/// The largest allowed difference of a row, as a share of the recorded count.
const TOLERANCE: f64 = 0.02;

const RERECORD: &str = "cargo xtask bench --gate --record";

/// The record, with its compiler, since another compiler makes other code.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The output of `rustc --version`, without the commit.
    pub(crate) rustc: String,
    pub(crate) target: String,
    /// Raw lock, row, instructions and atomics.
    #[serde(flatten)]
    pub(crate) costs: BTreeMap<String, BTreeMap<String, [f64; 2]>>,
}

/// The outcome of the gate.
pub(crate) enum Verdict {
    Passed(String),
    Skipped(String),
}

impl Record {
    pub(crate) fn new(rustc: String, target: String, counted: &BTreeMap<String, Costs>) -> Self {
        let round = |value: f64| (value * 10.0).round() / 10.0;
        let costs = counted
            .iter()
            .map(|(program, costs)| {
                let rows = costs.iter().map(|(row, cost)| {
                    let Cost { instructions, atomics } = *cost;
                    (row.clone(), [round(instructions), round(atomics)])
                });
                (program.clone(), rows.filter(|(row, _)| !row.starts_with("waker_")).collect())
            })
            .collect();
        Self { rustc, target, costs }
    }

    pub(crate) fn read(root: &Path) -> Result<Self> {
        let text = fs::read_to_string(root.join(RECORD)).or_tell(&format!("nothing is recorded yet: `{RERECORD}`"))?;
        toml::from_str(&text).or_tell(&format!("{RECORD} is written by `{RERECORD}`, not by hand"))
    }

    pub(crate) fn write(&self, root: &Path) -> Result<()> {
        fs::write(root.join(RECORD), self.to_text()).or_tell("the file must be writable")
    }

    fn to_text(&self) -> String {
        let mut text = format!(
            "# Instructions, and atomic read-modify-writes among them, of one operation. Written by\n\
             # `{RERECORD}`; checked to 2 % by `cargo xtask bench --gate`, with the same minor\n\
             # version of the compiler.\nrustc = {:?}\ntarget = {:?}\n",
            self.rustc, self.target
        );
        for (program, rows) in &self.costs {
            let _ = writeln!(text, "\n[{program}]");
            for (row, [instructions, atomics]) in rows {
                let _ = writeln!(text, "{row:?} = [{instructions:?}, {atomics:?}]");
            }
        }
        text
    }

    /// Compares the counts of now with the record.
    pub(crate) fn check(&self, now: &Self) -> Result<Verdict> {
        if minor(&self.rustc) != minor(&now.rustc) || self.target != now.target {
            return Ok(Verdict::Skipped(format!(
                "recorded with {} for {}, but this is {} for {}: compilers count differently.\n  \
                 What to do: nothing for a change of yours; when the project moves to this compiler, `{RERECORD}` \
                 on a commit that changes nothing else",
                self.rustc, self.target, now.rustc, now.target
            )));
        }
        let differences = self.differences(now);
        let rows: usize = now.costs.values().map(BTreeMap::len).sum();
        if differences.is_empty() {
            return Ok(Verdict::Passed(format!("{rows} rows within {} %", TOLERANCE * 100.0)));
        }
        let mut what = format!("{} of {rows} rows are not what was recorded:\n", differences.len());
        for difference in differences {
            let _ = writeln!(what, "  {difference}");
        }
        Err(Failure::new(
            what.trim_end(),
            &format!(
                "if the code got slower without a reason, mend it; callgrind's files are in target/bench/callgrind. If it \
                 got faster, or the reason is good, record anew with `{RERECORD}` and commit {RECORD} with the change"
            ),
        ))
    }

    fn differences(&self, now: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for (program, rows) in &self.costs {
            for (row, recorded) in rows {
                let Some(counted) = now.costs.get(program).and_then(|rows| rows.get(row)) else {
                    found.push(format!("{program} {row}: recorded {}, but not counted", recorded[0]));
                    continue;
                };
                for (index, unit) in ["instructions", "atomics"].into_iter().enumerate() {
                    let (before, after) = (recorded[index], counted[index]);
                    // Counts are recorded to a tenth, so a difference of a tenth is none.
                    if (after - before).abs() > (before * TOLERANCE).max(0.11) {
                        let percent = (after - before) / before * 100.0;
                        found.push(format!("{program} {row}: recorded {before} {unit}, now {after} ({percent:+.1} %)"));
                    }
                }
            }
        }
        for (program, rows) in &now.costs {
            let recorded = self.costs.get(program);
            for row in rows.keys().filter(|row| recorded.is_none_or(|rows| !rows.contains_key(*row))) {
                found.push(format!("{program} {row}: counted, but not recorded"));
            }
            found.extend(looks(rows).into_iter().map(|fault| format!("{program} {fault}")));
        }
        found
    }
}

/// Checks the cost of a waiter's polls beside unclaimed grants. The first poll visits each grant once, so its cost is
/// linear. A later poll visits none, so its cost is the same beside any number.
fn looks(rows: &BTreeMap<String, [f64; 2]>) -> Vec<String> {
    let of = |row: &str| rows.get(row).map(|cost| cost[0]);
    let mut found = Vec::new();
    if let (Some(few), Some(some), Some(many)) =
        (of("rwlock/look_10"), of("rwlock/look_1000"), of("rwlock/look_100000"))
    {
        let (each, each_of_many) = ((some - few) / 990.0, (many - some) / 99_000.0);
        if each_of_many > each * LINEAR {
            found.push(format!(
                "rwlock/look: {each:.1} instructions for each of 1,000 grants, {each_of_many:.1} of 100,000"
            ));
        }
    }
    if let (Some(few), Some(many)) = (of("rwlock/look_again_10"), of("rwlock/look_again_100000"))
        && many > few * (1.0 + TOLERANCE)
    {
        found.push(format!("rwlock/look_again: {few} instructions beside 10 grants, {many} beside 100,000"));
    }
    found
}

/// How much more one of many grants may cost than one of few.
const LINEAR: f64 = 1.1;

/// `rustc 1.95` of `rustc 1.95.0`.
fn minor(rustc: &str) -> &str {
    rustc.rsplit_once('.').map_or(rustc, |(minor, _)| minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(rustc: &str, instructions: f64, atomics: f64) -> Record {
        let cost = Cost { instructions, atomics };
        let costs = Costs::from([("mutex/lock".to_owned(), cost), ("waker_wake".to_owned(), cost)]);
        Record::new(rustc.into(), "x".into(), &BTreeMap::from([("std".to_owned(), costs)]))
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = record("rustc 1.95.0", 20.04, 2.0);
        assert_eq!(toml::from_str::<Record>(&record.to_text()).unwrap(), record);
        assert_eq!(record.costs["std"].len(), 1, "what a waker costs is not ours");
    }

    #[test]
    fn two_per_cent_pass_and_more_is_named() {
        let recorded = record("rustc 1.95.0", 100.0, 2.0);
        assert!(matches!(recorded.check(&record("rustc 1.95.1", 102.0, 2.0)), Ok(Verdict::Passed(_))));
        let text = recorded.check(&record("rustc 1.95.0", 103.0, 3.0)).err().unwrap().to_string();
        assert!(text.contains("std mutex/lock: recorded 100 instructions, now 103 (+3.0 %)"), "{text}");
        assert!(text.contains("recorded 2 atomics, now 3") && text.contains("--record"), "{text}");
        assert!(recorded.check(&record("rustc 1.95.0", 90.0, 2.0)).is_err(), "a faster row must be recorded too");
    }

    #[test]
    fn looks_that_grow_are_named() {
        let rows = |costs: [f64; 5]| -> BTreeMap<String, [f64; 2]> {
            let names = ["look_10", "look_1000", "look_100000", "look_again_10", "look_again_100000"];
            names.iter().zip(costs).map(|(name, cost)| (format!("rwlock/{name}"), [cost, 2.0])).collect()
        };
        assert_eq!(looks(&rows([200.0, 10_100.0, 1_000_100.0, 90.0, 90.0])), Vec::<String>::new());
        let text = looks(&rows([200.0, 10_100.0, 10_000_100.0, 90.0, 900.0])).join("; ");
        assert!(text.contains("10.0 instructions for each of 1,000 grants, 100.9"), "{text}");
        assert!(text.contains("90 instructions beside 10 grants, 900 beside 100,000"), "{text}");
        assert_eq!(looks(&BTreeMap::new()), Vec::<String>::new());
    }

    #[test]
    fn another_compiler_is_not_judged() {
        let recorded = record("rustc 1.95.0", 100.0, 2.0);
        assert!(matches!(recorded.check(&record("rustc 1.96.0", 200.0, 2.0)), Ok(Verdict::Skipped(_))));
    }

    #[test]
    fn rows_that_come_or_go_are_named() {
        let (full, empty) =
            (record("rustc 1.95.0", 9.0, 2.0), Record { costs: BTreeMap::new(), ..record("rustc 1.95.0", 9.0, 2.0) });
        assert!(full.check(&empty).is_err());
        assert!(empty.check(&full).is_err());
    }
}

//! What is measured, as the programs that measure write it and the report reads it: one JSON file per part.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What one operation costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Instructions.
    pub instructions: f64,
    /// Atomic read-modify-writes among them.
    pub atomics: f64,
}

/// The costs of one lock's rows, by name.
pub type Costs = BTreeMap<String, Cost>;

/// The instruction counts of all locks.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Instructions {
    /// Valgrind's version.
    pub valgrind: String,
    /// By program: `std`, `tokio` and so on.
    pub programs: BTreeMap<String, Costs>,
}

/// One figure of wall-clock time.
#[derive(Debug, Serialize, Deserialize)]
pub struct Timing {
    /// What was done.
    pub row: String,
    /// Where.
    pub runtime: String,
    /// With which lock.
    pub lock: String,
    /// Nanoseconds per operation, one for each round.
    pub rounds_ns: Vec<f64>,
}

/// How one lock served tasks that all want it all the time.
#[derive(Debug, Serialize, Deserialize)]
pub struct Fairness {
    /// Where.
    pub runtime: String,
    /// With which lock.
    pub lock: String,
    /// Turns per second.
    pub turns_per_s: f64,
    /// The turns of the greediest task.
    pub most: u64,
    /// The turns of the poorest task.
    pub least: u64,
    /// Jain's index: 1 if all had the same, 1/n if one had all.
    pub jain: f64,
    /// Half of the waits were shorter.
    pub wait_p50_us: f64,
    /// 99 % of the waits were shorter.
    pub wait_p99_us: f64,
    /// The longest wait.
    pub wait_max_us: f64,
}

/// What became of callers with deadlines, twice as many as can be served.
#[derive(Debug, Serialize, Deserialize)]
pub struct Goodput {
    /// With which lock.
    pub lock: String,
    /// Who called.
    pub calls: u64,
    /// Whose wait ended in work done.
    pub served: u64,
    /// How much of the time the lock was at work, while calls came.
    pub busy: f64,
    /// From the last call until nobody waited.
    pub drain_ms: f64,
}

/// What a lock takes of memory, in bytes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Memory {
    /// Which lock.
    pub lock: String,
    /// A mutex over nothing.
    pub mutex: Option<usize>,
    /// Its lock future.
    pub mutex_future: Option<usize>,
    /// Its lock future with a timeout on tokio.
    pub mutex_timeout: Option<usize>,
    /// A read-write lock over nothing.
    pub rwlock: Option<usize>,
    /// Its read future.
    pub read_future: Option<usize>,
    /// Its write future.
    pub write_future: Option<usize>,
    /// Allocated per waiter of the mutex.
    pub heap_per_waiter: f64,
    /// Allocations per waiter of the mutex.
    pub allocations_per_waiter: f64,
}

/// What a lock takes to build.
#[derive(Debug, Serialize, Deserialize)]
pub struct BuildCost {
    /// Which crate.
    pub lock: String,
    /// Its version.
    pub version: String,
    /// Crates in its tree, itself included.
    pub crates: usize,
    /// A release build from clean, in seconds.
    pub seconds: f64,
}

/// Writes one part.
///
/// # Errors
///
/// If the file can't be written.
pub fn write(path: &Path, part: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(part)?;
    fs::write(path, text + "\n")
}

/// Reads one part.
///
/// # Errors
///
/// If the file can't be read, or is of another version.
pub fn read<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

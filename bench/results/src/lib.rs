//! The measurements, as the programs write them and the report reads them: one JSON file for each part.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The cost of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The number of instructions.
    pub instructions: f64,
    /// The number of atomic read-modify-writes among them.
    pub atomics: f64,
}

/// The costs of a lock's rows, by name.
pub type Costs = BTreeMap<String, Cost>;

/// The instruction counts of all locks.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Instructions {
    /// Valgrind's version.
    pub valgrind: String,
    /// The costs by program: `std`, `tokio` and so on.
    pub programs: BTreeMap<String, Costs>,
}

/// A measurement of wall-clock time.
#[derive(Debug, Serialize, Deserialize)]
pub struct Timing {
    /// The name of the row.
    pub row: String,
    /// The runtime.
    pub runtime: String,
    /// The lock.
    pub lock: String,
    /// The nanoseconds per operation, one number for each round.
    pub rounds_ns: Vec<f64>,
}

/// How a lock served tasks that want it all the time.
#[derive(Debug, Serialize, Deserialize)]
pub struct Fairness {
    /// The runtime.
    pub runtime: String,
    /// The lock.
    pub lock: String,
    /// The number of turns per second.
    pub turns_per_s: f64,
    /// The turns of the task that had most.
    pub most: u64,
    /// The turns of the task that had least.
    pub least: u64,
    /// Jain's index: 1 if all had the same, 1/n if one had all.
    pub jain: f64,
    /// The median of the waits.
    pub wait_p50_us: f64,
    /// The 99th percentile of the waits.
    pub wait_p99_us: f64,
    /// The longest wait.
    pub wait_max_us: f64,
}

/// How a lock served callers with deadlines, twice as many as it can serve.
#[derive(Debug, Serialize, Deserialize)]
pub struct Goodput {
    /// The lock.
    pub lock: String,
    /// The number of calls.
    pub calls: u64,
    /// The number of calls that had the lock and did their work.
    pub served: u64,
    /// The share of the time in which the lock was held, while calls came.
    pub busy: f64,
    /// The time from the last call until no call waited.
    pub drain_ms: f64,
}

/// The memory of a lock, in bytes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Memory {
    /// The lock.
    pub lock: String,
    /// A mutex without data.
    pub mutex: Option<usize>,
    /// The lock future.
    pub mutex_future: Option<usize>,
    /// The lock future with a timeout, on tokio.
    pub mutex_timeout: Option<usize>,
    /// A read-write lock without data.
    pub rwlock: Option<usize>,
    /// The read future.
    pub read_future: Option<usize>,
    /// The write future.
    pub write_future: Option<usize>,
    /// The allocated bytes for each waiter of the mutex.
    pub heap_per_waiter: f64,
    /// The allocations for each waiter of the mutex.
    pub allocations_per_waiter: f64,
}

/// The cost of building a lock.
#[derive(Debug, Serialize, Deserialize)]
pub struct BuildCost {
    /// The crate.
    pub lock: String,
    /// Its version.
    pub version: String,
    /// The number of crates in its tree, itself included.
    pub crates: usize,
    /// The time of a release build from clean, in seconds.
    pub seconds: f64,
}

/// Writes a part.
///
/// # Errors
///
/// If the file can't be written.
pub fn write(path: &Path, part: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(part)?;
    fs::write(path, text + "\n")
}

/// Reads a part.
///
/// # Errors
///
/// If the file can't be read, or is of another version.
pub fn read<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

//! Models of what threads can do to a read-write lock. The rules of the contract are tested in the conformance crate.

#[cfg(fifolock_loom)]
mod batches;
#[cfg(fifolock_loom)]
mod loom;
#[cfg(fifolock_loom)]
mod pairs;
#[cfg(fifolock_loom)]
mod rescue;
#[cfg(fifolock_loom)]
mod scan;
#[cfg(fifolock_loom)]
mod upgrade;

//! Measuring what the locks do, without relying on them.
//!
//! A probe stands at the door of a critical section. It counts who is inside, with atomics of its own,
//! and it compares the order in which tasks enter with the order in which they arrived.
//!
//! *Arrival* is the first poll of the lock future. A first poll takes time, so it is bracketed by two ticks
//! of a clock that only counts. Of two arrivals one is the earlier only if its bracket closed before the
//! other's opened. Brackets that overlap, as on two threads, have no order and are counted apart.

mod arrival;
mod gauge;
mod order;
mod probe;

pub(crate) use arrival::Arrival;
pub use order::Order;
pub use probe::{Entries, SharedEntries};
pub(crate) use probe::{Probe, SharedProbe};

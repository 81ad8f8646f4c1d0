//! The rules of time on embassy-time's clock for hosts, which is a real one.

type Platform = fifolock::embassy::Embassy<embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex>;

fifolock_conformance::time_rules!(Platform);
fifolock_conformance::until_rules!(Platform);
fifolock_conformance::rescue_timed_rules!(Platform);
fifolock_conformance::upgradable_timed_rules!(Platform);

//! The rules of time on the real clock that embassy-time has for hosts.

type Platform = fifolock::embassy::Embassy<embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex>;

fifolock_conformance::time_rules!(Platform);
fifolock_conformance::until_rules!(Platform);

mod locks {
    use super::Platform;
    fifolock_conformance::mutex_rules!(Platform);
    fifolock_conformance::rwlock_rules!(Platform);
    fifolock_conformance::foreign_rules!(Platform);
}

//! What a lock says of its owners and its waiters.

use super::{CALL_SITES, Holders, LISTED, OwnerSite};
use crate::call_site::CallSite;
use crate::error::LockKind;
use crate::queue::{GrantedSet, Member, Mode, WaitQueue};
use crate::raw::InSection;
use crate::state::mutex::MutexState;
use crate::state::rwlock::RwState;
use core::fmt;
use core::panic::Location;
use heapless::Vec;

/// Call sites of readers that have claimed their shares, readers that have not, and the upgradable one.
const HOLDERS: usize = CALL_SITES + LISTED + 1;
/// Those who are served one by one, and readers.
const WAITERS: usize = 2 * LISTED;

/// Who holds a lock and who waits for it, as it was at one moment: what `diagnose` returns.
///
/// It prints as text of several lines, without a newline at its end.
#[derive(Clone, Debug)]
#[must_use = "a report is made to be looked at"]
#[non_exhaustive]
pub struct LockReport {
    lock: &'static str,
    holders: Vec<Holder, HOLDERS>,
    /// Listed or not.
    held: usize,
    waiters: Vec<Waiting, WAITERS>,
    /// How many wait for what, listed or not; who is served first stands first.
    queued: [(LockKind, usize); 4],
}

/// Where a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The call that took the lock.
    pub location: &'static Location<'static>,
    /// What is held: a mutex, or a read-write lock to read or to write.
    pub kind: LockKind,
    /// Whether it is *granted and not claimed*: the lock was handed to a future that has not been polled since.
    ///
    /// For a moment this is so after each hand-off. If it stays so the future is kept somewhere but not polled, and
    /// keeps all others out until it is polled or dropped.
    pub unclaimed: bool,
    /// How many guards of this call hold it: more than one only of readers.
    pub count: usize,
}

/// Where somebody waits for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// The call that waits.
    pub location: &'static Location<'static>,
    /// What it waits for: a mutex, or a read-write lock to read or to write.
    pub kind: LockKind,
}

impl LockReport {
    /// Who holds the lock: those that were granted it and have not been polled since included.
    ///
    /// Readers are listed by call site, at most [`CALL_SITES`], and then those who have not claimed their shares, at
    /// most [`LISTED`]. How many there are besides is [`holders_not_listed`](Self::holders_not_listed).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// let mutex = Mutex::new(0);
    /// let held = mutex.try_lock()?;
    /// let report = mutex.diagnose();
    /// assert_eq!(report.holders()[0].location.file(), file!());
    /// # drop(held);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn holders(&self) -> &[Holder] {
        &self.holders
    }

    /// How many hold the lock and are not listed.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// let mutex = Mutex::new(0);
    /// let held = mutex.try_lock()?;
    /// let report = mutex.diagnose();
    /// assert_eq!(report.holders_not_listed(), 0);
    /// # drop(held);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn holders_not_listed(&self) -> usize {
        let listed: usize = self.holders.iter().map(|holder| holder.count).sum();
        self.held.saturating_sub(listed)
    }

    /// Who waits, in the order in which they are served: of a read-write lock those who are served one by one, then the
    /// readers that are served together (under the task-fair policy all in one order), of each at most [`LISTED`]. How many there are besides is [`waiters_not_listed`](Self::waiters_not_listed).
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// let mutex = Mutex::new(0);
    /// let held = mutex.try_lock()?;
    /// let report = mutex.diagnose();
    /// for waiting in report.waiters() {
    ///     println!("{}", waiting.location);
    /// }
    /// # drop(held);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn waiters(&self) -> &[Waiting] {
        &self.waiters
    }

    /// How many wait and are not listed.
    ///
    /// # Examples
    ///
    /// ```
    /// # fifolock_core::__facade!();
    /// use fifolock::local::Mutex;
    ///
    /// let mutex = Mutex::new(0);
    /// let held = mutex.try_lock()?;
    /// let report = mutex.diagnose();
    /// assert_eq!(report.waiters_not_listed(), 0);
    /// # drop(held);
    /// # Ok::<(), fifolock::local::TryLockError>(())
    /// ```
    pub fn waiters_not_listed(&self) -> usize {
        let all: usize = self.queued.iter().map(|(_, queued)| queued).sum();
        all.saturating_sub(self.waiters.len())
    }

    /// Looks at a mutex, inside a section.
    pub(crate) fn of_mutex(
        state: &MutexState<'_>,
        granted: Option<Member<'_>>,
        holder: &OwnerSite,
        queue: &WaitQueue,
        section: InSection<'_>,
    ) -> Self {
        let mut report = Self {
            lock: "mutex",
            holders: Vec::new(),
            held: usize::from(state.is_held()),
            waiters: Vec::new(),
            queued: [(LockKind::Mutex, state.queued() as usize), NOBODY, NOBODY, NOBODY],
        };
        report.hold_alone(LockKind::Mutex, granted, holder);
        report.wait(queue.places(section).map(|(_, call_site)| (LockKind::Mutex, call_site)));
        report
    }

    /// Looks at a read-write lock, inside a section.
    pub(crate) fn of_rwlock(
        state: RwState,
        granted: Option<Member<'_>>,
        holders: &Holders,
        [queue, readers]: [&WaitQueue; 2],
        granted_readers: &GrantedSet,
        section: InSection<'_>,
    ) -> Self {
        let counts = state.counts;
        let upgrades = usize::from(queue.first_mode(section) == Some(Mode::Upgrade));
        let mut report = Self {
            lock: "read-write lock",
            holders: Vec::new(),
            held: if state.writer { 1 } else { state.readers() as usize },
            waiters: Vec::new(),
            queued: [
                (LockKind::Upgrade, upgrades),
                (LockKind::Write, counts.waiting_writers as usize - upgrades),
                (LockKind::UpgradableRead, counts.waiting_upgradable as usize),
                (LockKind::Read, counts.waiting_readers as usize),
            ],
        };
        report.hold_alone(LockKind::Write, granted, &holders.writer);
        if let Some(call_site) = holders.upgradable.call_site() {
            report.hold(LockKind::UpgradableRead, call_site, false, 1);
        }
        for (site, shares) in holders.readers.sites() {
            report.hold(LockKind::Read, site, false, shares as usize);
        }
        // The first waiting readers have their shares already, as many as are reserved.
        let reserved = counts.reserved as usize;
        for (kind, call_site) in
            granted_readers.places(section).chain(readers.places(section).take(reserved)).take(LISTED)
        {
            report.hold(lock_kind(kind), call_site, true, 1);
        }
        report.wait(queue.places(section).map(|(kind, call_site)| (lock_kind(kind), call_site)));
        // To skip more than a bounded number would make the section as long as the queue.
        if reserved <= LISTED {
            report.wait(readers.places(section).skip(reserved).map(|(_, call_site)| (LockKind::Read, call_site)));
        }
        report
    }

    fn hold_alone(&mut self, kind: LockKind, granted: Option<Member<'_>>, claimed: &OwnerSite) {
        if let Some(granted) = granted {
            self.hold(kind, granted.call_site(), true, 1);
        } else if let Some(call_site) = claimed.call_site() {
            self.hold(kind, call_site, false, 1);
        }
    }

    fn hold(&mut self, kind: LockKind, call_site: CallSite, unclaimed: bool, count: usize) {
        let pushed = self.holders.push(Holder { location: call_site.location(), kind, unclaimed, count });
        debug_assert!(pushed.is_ok(), "more holders than the bounds allow");
    }

    fn wait(&mut self, waiters: impl Iterator<Item = (LockKind, CallSite)>) {
        let listed = waiters.take(LISTED).map(|(kind, call_site)| Waiting { location: call_site.location(), kind });
        self.waiters.extend(listed);
    }

    fn fmt_queue(&self, f: &mut fmt::Formatter<'_>, kind: LockKind, queued: usize) -> fmt::Result {
        let mut left = queued;
        write!(f, "\n  waiting{}, the next first:", purpose(kind))?;
        for waiting in self.waiters.iter().filter(|waiting| waiting.kind == kind) {
            write!(f, "\n    {waiting}")?;
            left = left.saturating_sub(1);
        }
        if left > 0 { write!(f, "\n    and {left} more") } else { Ok(()) }
    }
}

/// Nobody waits.
const NOBODY: (LockKind, usize) = (LockKind::Mutex, 0);

fn lock_kind(kind: Mode) -> LockKind {
    match kind {
        Mode::Read => LockKind::Read,
        Mode::Upgradable => LockKind::UpgradableRead,
        Mode::Write => LockKind::Write,
        Mode::Upgrade => LockKind::Upgrade,
    }
}

fn purpose(kind: LockKind) -> &'static str {
    match kind {
        LockKind::Mutex => "",
        LockKind::Read => " to read",
        LockKind::UpgradableRead => " to read upgradably",
        LockKind::Write => " to write",
        LockKind::Upgrade => " to upgrade",
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (location, how) = (self.location, purpose(self.kind));
        if self.unclaimed {
            return write!(
                f,
                "granted{how} to {location}, which has not been polled since: it keeps others out until it is polled or dropped"
            );
        }
        write!(f, "held{how} by {location}")?;
        if self.count > 1 { write!(f, " ({} times)", self.count) } else { Ok(()) }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.location.fmt(f)
    }
}

impl fmt::Display for LockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.lock)?;
        if self.held == 0 {
            f.write_str(" free")?;
        }
        for holder in &self.holders {
            write!(f, "\n  {holder}")?;
        }
        match self.holders_not_listed() {
            0 => {}
            more => write!(f, "\n  held elsewhere ({more} times)")?,
        }
        for (kind, queued) in self.queued {
            if queued > 0 {
                self.fmt_queue(f, kind, queued)?;
            }
        }
        Ok(())
    }
}

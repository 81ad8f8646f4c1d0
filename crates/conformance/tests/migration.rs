//! The lines of `docs/MIGRATION.md`, which this file compiles so that the page stays right.

/// From async-lock.
#[allow(dead_code, reason = "compiled, not called")]
mod from_async_lock {
    use fifolock::smol::{
        Mutex, MutexGuard, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard,
        OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
    };
    use std::sync::Arc;

    fn a1(m: &Mutex<i32>) -> Option<MutexGuard<'_, i32>> {
        m.try_lock().ok()
    }
    fn a2(m: &Mutex<i32>) {
        if let Ok(g) = m.try_lock() {
            drop(g)
        }
    }
    fn a3(m: &Mutex<i32>) {
        *m.blocking_lock() += 1;
    }
    async fn a4(m: &Arc<Mutex<i32>>) -> OwnedMutexGuard<i32> {
        m.clone().lock_owned().await
    }
    fn a5(m: &Arc<Mutex<i32>>) -> Option<OwnedMutexGuard<i32>> {
        m.clone().try_lock_owned().ok()
    }
    fn a6(m: &Arc<Mutex<i32>>) -> OwnedMutexGuard<i32> {
        m.clone().blocking_lock_owned()
    }
    fn a7<'a>(g: &MutexGuard<'a, i32>) -> &'a Mutex<i32> {
        MutexGuard::mutex(g)
    }
    fn a8(g: &OwnedMutexGuard<i32>) -> &Arc<Mutex<i32>> {
        OwnedMutexGuard::mutex(g)
    }
    fn b1(r: &RwLock<i32>) -> Option<RwLockReadGuard<'_, i32>> {
        r.try_read().ok()
    }
    fn b2(r: &RwLock<i32>) -> i32 {
        *r.blocking_read()
    }
    fn b2w(r: &RwLock<i32>) {
        *r.blocking_write() = 1;
    }
    fn b2u(r: &RwLock<i32>) -> i32 {
        *r.blocking_upgradable_read()
    }
    async fn b3(r: &Arc<RwLock<i32>>) -> OwnedRwLockReadGuard<i32> {
        r.clone().read_owned().await
    }
    fn b3t(r: &Arc<RwLock<i32>>) -> Option<OwnedRwLockReadGuard<i32>> {
        r.clone().try_read_owned().ok()
    }
    fn b3b(r: &Arc<RwLock<i32>>) -> OwnedRwLockReadGuard<i32> {
        r.clone().blocking_read_owned()
    }
    async fn b4(r: &Arc<RwLock<i32>>) -> OwnedRwLockWriteGuard<i32> {
        r.clone().write_owned().await
    }
    async fn b4u(r: &Arc<RwLock<i32>>) -> OwnedRwLockUpgradableReadGuard<i32> {
        r.clone().upgradable_read_owned().await
    }
    async fn b5(g: RwLockUpgradableReadGuard<'_, i32>) {
        *RwLockUpgradableReadGuard::upgrade(g).await = 1;
    }
    fn b6(r: &RwLock<i32>) -> Option<RwLockUpgradableReadGuard<'_, i32>> {
        r.try_upgradable_read().ok()
    }
    fn b7(g: RwLockWriteGuard<'_, i32>) -> RwLockReadGuard<'_, i32> {
        RwLockWriteGuard::downgrade(g)
    }
    fn b8(g: RwLockWriteGuard<'_, i32>) -> RwLockUpgradableReadGuard<'_, i32> {
        RwLockWriteGuard::downgrade_to_upgradable(g)
    }
    fn b9(g: RwLockUpgradableReadGuard<'_, i32>) -> RwLockReadGuard<'_, i32> {
        RwLockUpgradableReadGuard::downgrade(g)
    }
    fn b10(
        g: RwLockUpgradableReadGuard<'_, i32>,
    ) -> Result<RwLockWriteGuard<'_, i32>, RwLockUpgradableReadGuard<'_, i32>> {
        RwLockUpgradableReadGuard::try_upgrade(g)
    }
    fn b11(g: RwLockUpgradableReadGuard<'_, i32>) -> RwLockWriteGuard<'_, i32> {
        RwLockUpgradableReadGuard::blocking_upgrade(g)
    }
}

/// From tokio.
#[allow(dead_code, reason = "compiled, not called")]
mod from_tokio {
    use core::time::Duration;
    use fifolock::TimeoutError;
    use fifolock::tokio::{
        Mutex, MutexGuard, OwnedMutexGuard, OwnedRwLockReadGuard, RwLock, RwLockPolicy, RwLockReadGuard,
    };
    use std::sync::Arc;

    async fn c1(m: &Mutex<i32>) -> MutexGuard<'_, i32> {
        m.lock().await
    }
    async fn c2(m: &Arc<Mutex<i32>>) -> OwnedMutexGuard<i32> {
        m.clone().lock_owned().await
    }
    async fn c3(m: &Mutex<i32>, d: Duration) -> Result<MutexGuard<'_, i32>, TimeoutError> {
        m.lock_timeout(d).await
    }
    async fn c4(r: &RwLock<i32>, t: tokio::time::Instant) -> Result<RwLockReadGuard<'_, i32>, TimeoutError> {
        r.read_deadline(t).await
    }
    async fn c5(m: &Mutex<i32>, shutdown: impl Future<Output = u8>) -> Result<MutexGuard<'_, i32>, u8> {
        m.lock_until(shutdown).await
    }
    fn c6() -> RwLock<i32> {
        RwLock::with_policy(1, RwLockPolicy::TaskFair)
    }
    fn c7() -> RwLock<i32> {
        RwLock::with_max_readers(1, 8)
    }
    fn c8(g: OwnedRwLockReadGuard<Vec<i32>>) -> OwnedRwLockReadGuard<Vec<i32>, i32> {
        OwnedRwLockReadGuard::map(g, |v| &v[0])
    }
    fn c9(m: &Mutex<i32>) -> MutexGuard<'_, i32> {
        m.blocking_lock()
    }
}

/// From embassy-sync.
#[allow(dead_code, reason = "compiled, not called")]
mod from_embassy_sync {
    use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex as M;
    use embassy_time::Duration;
    use fifolock::TimeoutError;
    use fifolock::embassy::{MappedMutexGuard, Mutex, MutexGuard, RwLock, RwLockWriteGuard};

    fn d1() -> &'static Mutex<M, i32> {
        static BUS: Mutex<M, i32> = Mutex::new(1);
        &BUS
    }
    async fn d2(m: &Mutex<M, i32>) -> MutexGuard<'_, M, i32> {
        m.lock().await
    }
    fn d3(m: &Mutex<M, i32>) -> bool {
        m.try_lock().is_ok()
    }
    async fn d4(m: &Mutex<M, i32>, d: Duration) -> Result<MutexGuard<'_, M, i32>, TimeoutError> {
        m.lock_timeout(d).await
    }
    async fn d4b(m: &Mutex<M, i32>, t: embassy_time::Instant) -> Result<MutexGuard<'_, M, i32>, TimeoutError> {
        m.lock_deadline(t).await
    }
    fn d5(g: MutexGuard<'_, M, (i32, u8)>) -> MappedMutexGuard<'_, M, i32> {
        MutexGuard::map(g, |v| &mut v.0)
    }
    async fn d6(r: &RwLock<M, i32>) -> RwLockWriteGuard<'_, M, i32> {
        r.write().await
    }
}

/// From futures.
#[allow(dead_code, reason = "compiled, not called")]
mod from_futures {
    use fifolock::{MappedMutexGuard, Mutex, MutexGuard, OwnedMutexGuard};
    use std::sync::Arc;

    async fn e1(m: &Mutex<i32>) -> MutexGuard<'_, i32> {
        m.lock().await
    }
    fn e2(m: &Mutex<i32>) -> Option<MutexGuard<'_, i32>> {
        m.try_lock().ok()
    }
    async fn e3(m: &Arc<Mutex<i32>>) -> OwnedMutexGuard<i32> {
        m.clone().lock_owned().await
    }
    fn e4(m: &Arc<Mutex<i32>>) -> Option<OwnedMutexGuard<i32>> {
        m.clone().try_lock_owned().ok()
    }
    fn e5(g: MutexGuard<'_, (i32, u8)>) -> MappedMutexGuard<'_, i32> {
        MutexGuard::map(g, |v| &mut v.0)
    }
}

/// From parking_lot.
#[allow(dead_code, reason = "compiled, not called")]
mod from_parking_lot {
    use core::time::Duration;
    use fifolock::{
        Mutex, MutexGuard, OwnedMutexGuard, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
    };
    use std::sync::Arc;

    fn f1(m: &Mutex<i32>) -> MutexGuard<'_, i32> {
        m.blocking_lock()
    }
    fn f2(m: &Mutex<i32>) -> Option<MutexGuard<'_, i32>> {
        m.try_lock().ok()
    }
    fn f3(m: &Mutex<i32>, d: Duration) -> Option<MutexGuard<'_, i32>> {
        m.blocking_lock_timeout(d).ok()
    }
    fn f4(m: &Arc<Mutex<i32>>) -> OwnedMutexGuard<i32> {
        m.clone().blocking_lock_owned()
    }
    fn f5(g: MutexGuard<'_, i32>) {
        drop(g);
    }
    fn g1(r: &RwLock<i32>) -> RwLockReadGuard<'_, i32> {
        r.blocking_read()
    }
    fn g2(r: &RwLock<i32>) -> RwLockWriteGuard<'_, i32> {
        r.blocking_write()
    }
    fn g3(r: &RwLock<i32>, d: Duration) -> Option<RwLockWriteGuard<'_, i32>> {
        r.blocking_write_timeout(d).ok()
    }
    fn g4(r: &RwLock<i32>) -> RwLockUpgradableReadGuard<'_, i32> {
        r.blocking_upgradable_read()
    }
    fn g5(g: RwLockUpgradableReadGuard<'_, i32>) -> RwLockWriteGuard<'_, i32> {
        RwLockUpgradableReadGuard::blocking_upgrade(g)
    }
    fn g6(
        g: RwLockUpgradableReadGuard<'_, i32>,
        d: Duration,
    ) -> Result<RwLockWriteGuard<'_, i32>, RwLockUpgradableReadGuard<'_, i32>> {
        RwLockUpgradableReadGuard::blocking_upgrade_timeout(g, d).map_err(|failed| failed.guard)
    }
    fn g7(r: &RwLock<i32>) -> bool {
        r.is_write_locked()
    }
    fn g8(g: RwLockReadGuard<'_, Vec<i32>>) -> RwLockReadGuard<'_, i32> {
        RwLockReadGuard::map(g, |v| &v[0])
    }
}

/// The page's lines of code for these locks: the second cell of each row.
fn lines(page: &str) -> Vec<String> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        assert_eq!(cells.len(), 3, "{row}");
        Some(cells[1].strip_prefix('`')?.strip_suffix('`')?.replace("\\|", "|"))
    })
    .collect()
}

/// Code without the characters that rustfmt may add or remove.
fn bare(code: &str) -> String {
    code.chars().filter(|c| !c.is_whitespace() && !matches!(c, ',' | ';')).collect()
}

#[test]
fn every_line_of_the_page_is_compiled() {
    let here = include_str!("migration.rs");
    let end = here.find("/// The page's lines of code for these locks").expect("this file");
    let (compiled, ours) = (bare(&here[..end]), lines(include_str!("../../../docs/MIGRATION.md")));
    for line in &ours {
        assert!(
            compiled.contains(&format!("{{{}}}", bare(line))) || line.starts_with("static"),
            "not compiled: {line}"
        );
        assert!(compiled.contains(&bare(line)), "not compiled: {line}");
    }
    // Every function here has its row in the page.
    assert_eq!(ours.len(), compiled.matches("fn").count(), "rows of the page, and functions here");
}

//! A configuration behind a read-write lock. Many tasks read it, and one changes it now and then.

#![no_std]
#![no_main]

use embassy_executor::Spawner;
use embassy_time::{Duration, Instant, Timer};
use fifolock::embassy::RwLock;
use programs::{Counter, Raw, passed, until};
use semihosting::println;

struct Config {
    version: u32,
    /// Twice the version. A reader that sees another value has seen half of a change.
    interval: u32,
}

static CONFIG: RwLock<Raw, Config> = RwLock::new(Config { version: 0, interval: 0 });

const READERS: usize = 4;
/// The readers overlap, so the lock is never free.
const READ: Duration = Duration::from_millis(4);

static READS: Counter = Counter::new();
static WRITTEN: Counter = Counter::new();
static STOPPED: Counter = Counter::new();

#[embassy_executor::task(pool_size = 4)]
async fn reader() {
    let mut version = 0;
    while WRITTEN.get() < 3 {
        let config = CONFIG.read().await;
        assert!(config.version >= version, "back from {version} to {}", config.version);
        version = config.version;
        Timer::after(READ).await;
        assert_eq!(
            (config.version, config.interval),
            (version, 2 * version),
            "the configuration changed under a read guard"
        );
        drop(config);
        READS.add(1);
    }
    STOPPED.add(1);
}

/// The readers leave no gap. The writer enters after the readers that came before it.
async fn the_writer_is_not_starved(spawner: Spawner) {
    for started in 0..READERS {
        spawner.spawn(reader().expect("one of four"));
        until("the reader reads", || CONFIG.state().readers == started + 1).await;
    }
    for _ in 0..3 {
        Timer::after_millis(10).await;
        assert!(CONFIG.try_write().is_err(), "the lock is read all the time");
        let start = Instant::now();
        let mut config = CONFIG.write_timeout(Duration::from_secs(1)).await.expect("the readers starve the writer");
        let waited = start.elapsed();
        println!("writer: waited {} ms; {} reads so far", waited.as_millis(), READS.get());
        assert!(waited <= READ + Duration::from_millis(1), "longer than the readers before it took");
        config.version += 1;
        Timer::after_millis(2).await;
        config.interval = 2 * config.version;
        drop(config);
        WRITTEN.add(1);
    }
    until("the readers have stopped", || STOPPED.get() == READERS as u32).await;
    assert!(READS.get() >= 3 * READERS as u32, "the readers were not starved either: {}", READS.get());
}

static GAVE_UP: Counter = Counter::new();
static ENTERED: Counter = Counter::new();

#[embassy_executor::task]
async fn impatient_writer() {
    let start = Instant::now();
    let error = CONFIG.write_timeout(Duration::from_millis(5)).await.err().expect("the lock is read");
    assert!(error.is_elapsed(), "{error}");
    assert_eq!(CONFIG.state().readers, 3, "the readers behind it were let in before its poll returned");
    let waited = start.elapsed().as_millis();
    assert!((5..=7).contains(&waited), "waited for {waited} ms instead of 5");
    println!("writer: {error}");
    GAVE_UP.add(1);
}

#[embassy_executor::task(pool_size = 3)]
async fn reader_behind() {
    let _config = CONFIG.read().await;
    ENTERED.add(1);
    Timer::after_millis(3).await;
}

/// Readers behind a writer wait for it. When the writer gives up, they join the reader that the writer waited for.
async fn a_writer_that_gives_up_frees_the_readers(spawner: Spawner) {
    let held = CONFIG.read().await;
    spawner.spawn(impatient_writer().expect("there is one"));
    until("the writer waits", || CONFIG.state().waiting_writers == 1).await;
    for waiting in 1..=2 {
        spawner.spawn(reader_behind().expect("one of three"));
        until("the reader waits", || CONFIG.state().waiting_readers == waiting).await;
    }
    assert_eq!(GAVE_UP.get(), 0);
    until("the readers are in", || ENTERED.get() == 2).await;
    assert_eq!(GAVE_UP.get(), 1);
    drop(held);
    until("the readers have left", || CONFIG.state().readers == 0).await;
}

/// Readers that wait for a writer enter together.
async fn readers_enter_together(spawner: Spawner) {
    let before = ENTERED.get();
    let held = CONFIG.write().await;
    for waiting in 1..=3 {
        spawner.spawn(reader_behind().expect("one of three"));
        until("the reader waits", || CONFIG.state().waiting_readers == waiting).await;
    }
    assert_eq!(ENTERED.get(), before);
    drop(held);
    let state = CONFIG.state();
    assert_eq!((state.readers, state.waiting_readers), (3, 0), "all are in before the release returns");
    until("the readers have left", || CONFIG.state().readers == 0).await;
    assert_eq!(ENTERED.get(), before + 3);
    println!("readers: 3 entered together");
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    board::start();
    the_writer_is_not_starved(spawner).await;
    a_writer_that_gives_up_frees_the_readers(spawner).await;
    readers_enter_together(spawner).await;
    passed()
}

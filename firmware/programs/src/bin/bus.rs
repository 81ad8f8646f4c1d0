//! Three tasks share a bus behind a mutex. They are served in the order in which they came, with one wake each, and a
//! task that gives up leaves the queue. The same program then runs on embassy-sync's mutex, which keeps one waker, so
//! that its waiters displace each other.

#![no_std]
#![no_main]

use embassy_executor::Spawner;
use embassy_time::{Duration, Instant, Timer};
use programs::{Bus, Counter, Order, Raw, Tally, passed, until};
use semihosting::println;

const CLIENTS: [char; 3] = ['a', 'b', 'c'];
const TRANSFERS: usize = 4;
const TRANSFER: Duration = Duration::from_millis(5);

static OURS: fifolock::embassy::Mutex<Raw, Order> = fifolock::embassy::Mutex::new(Order::new());
static OUR_TALLY: Tally = Tally::new();
static EMBASSYS: embassy_sync::mutex::Mutex<Raw, Order> = embassy_sync::mutex::Mutex::new(Order::new());
static EMBASSYS_TALLY: Tally = Tally::new();
static DONE: Counter = Counter::new();

/// Transfers repeatedly, without a pause in which another task could come first.
async fn client(bus: &'static impl Bus, tally: &Tally, id: char) {
    for _ in 0..TRANSFERS {
        let mut order = tally.watch(bus.lock()).await;
        order.push(id);
        Timer::after(TRANSFER).await;
    }
    DONE.add(1);
}

#[embassy_executor::task(pool_size = 3)]
async fn our_client(id: char) {
    client(&OURS, &OUR_TALLY, id).await;
}

#[embassy_executor::task(pool_size = 3)]
async fn embassys_client(id: char) {
    client(&EMBASSYS, &EMBASSYS_TALLY, id).await;
}

static IMPATIENT: Counter = Counter::new();

#[embassy_executor::task]
async fn impatient() {
    let start = Instant::now();
    let error = OURS.lock_timeout(Duration::from_millis(3)).await.err().expect("the bus is busy for longer");
    assert!(error.is_elapsed(), "{error}");
    let waited = start.elapsed().as_millis();
    assert!((3..=5).contains(&waited), "waited for {waited} ms instead of 3");
    println!("impatient: {error}");
    IMPATIENT.add(1);
}

fn report(name: &str, order: &Order, tally: &Tally) {
    let (contended, wakes) = (tally.contended.get(), tally.wakes.get());
    println!("{name}: order {order}, {contended} contended acquisitions, {wakes} wakes");
}

async fn in_order(spawner: Spawner) {
    for (waiting, id) in CLIENTS.into_iter().enumerate() {
        spawner.spawn(our_client(id).expect("one of three"));
        until("the client holds or waits", || OUR_TALLY.started.get() == waiting as u32 + 1).await;
    }
    until("all transfers are done", || DONE.get() == 3).await;

    let order = OURS.try_lock().expect("all tasks are done");
    report("fifolock", &order, &OUR_TALLY);
    assert_eq!(order.as_str(), "abcabcabcabc", "first come, first served");
    let waits = (CLIENTS.len() * TRANSFERS - 1) as u32;
    assert_eq!(OUR_TALLY.contended.get(), waits, "all but the very first have to wait");
    assert_eq!(OUR_TALLY.wakes.get(), waits, "one wake for each that had to wait");
}

async fn one_gives_up(spawner: Spawner) {
    let mut order = OURS.lock().await;
    order.clear();
    let before = DONE.get();
    spawner.spawn(our_client('a').expect("the earlier ones are done"));
    until("a waits", || OURS.queued() == 1).await;
    spawner.spawn(impatient().expect("there is one"));
    until("the impatient task waits", || OURS.queued() == 2).await;
    spawner.spawn(our_client('b').expect("the earlier ones are done"));
    until("b waits", || OURS.queued() == 3).await;
    until("the impatient task has given up", || IMPATIENT.get() == 1).await;
    assert_eq!(OURS.queued(), 2, "the impatient task has left the queue");
    drop(order);
    assert!(OURS.try_lock().is_err(), "handed over, not freed");

    until("both are done", || DONE.get() == before + 2).await;
    let order = OURS.try_lock().expect("all tasks are done");
    assert_eq!(order.as_str(), "abababab", "the tasks behind it have moved up");
}

async fn on_embassy_sync(spawner: Spawner) {
    let before = DONE.get();
    for (waiting, id) in CLIENTS.into_iter().enumerate() {
        spawner.spawn(embassys_client(id).expect("one of three"));
        until("the client holds or waits", || EMBASSYS_TALLY.started.get() > waiting as u32).await;
    }
    until("all transfers are done", || DONE.get() == before + 3).await;
    let order = EMBASSYS.try_lock().expect("all tasks are done");
    report("embassy-sync", &order, &EMBASSYS_TALLY);
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    board::start();
    in_order(spawner).await;
    one_gives_up(spawner).await;
    on_embassy_sync(spawner).await;
    passed()
}

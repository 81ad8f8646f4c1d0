//! Two executors at different priorities share a mutex, and all of their tasks get on. With a mutex that keeps one
//! waker, two waiters above the owner's priority displace and so wake each other without end, and the owner never runs
//! again. The program shows that on embassy-sync's mutex, with waiters that give up in the end.

#![no_std]
#![no_main]

use core::future::poll_fn;
use core::pin::pin;
use core::task::Poll;

#[cfg(target_arch = "riscv32")]
use board::executors::{self, InterruptExecutor};
use board::interrupt::{self, Spare};
#[cfg(target_arch = "arm")]
use embassy_executor::InterruptExecutor;
use embassy_executor::{SendSpawner, Spawner};
use embassy_sync::signal::Signal;
use embassy_time::Timer;
use programs::{Bus, Counter, Order, Raw, Tally, passed, until};
use semihosting::println;

static HIGH: InterruptExecutor = InterruptExecutor::new();

static OURS: fifolock::embassy::Mutex<Raw, Order> = fifolock::embassy::Mutex::new(Order::new());
static EMBASSYS: embassy_sync::mutex::Mutex<Raw, Order> = embassy_sync::mutex::Mutex::new(Order::new());

/// The number of polls after which a waiter gives up.
const POLLS_MAX: u32 = 10_000;
/// The steps that the owner in thread mode makes before it releases.
const STEPS: u32 = 100;
const ROUNDS: usize = 20;

/// The owner in thread mode, and the waiters above its priority.
struct Duel {
    go: [Signal<Raw, ()>; 2],
    steps: Counter,
    polls: Counter,
    /// The steps that the owner made until the waiters were done.
    steps_seen: Counter,
    acquired: Counter,
    done: Counter,
}

impl Duel {
    const fn new() -> Self {
        Self {
            go: [const { Signal::new() }; 2],
            steps: Counter::new(),
            polls: Counter::new(),
            steps_seen: Counter::new(),
            acquired: Counter::new(),
            done: Counter::new(),
        }
    }

    /// Holds the mutex, lets both waiters come, and works on.
    async fn own(&self, bus: &'static impl Bus) {
        let owned = bus.lock().await;
        for go in &self.go {
            go.signal(());
        }
        for _ in 0..STEPS {
            self.steps.add(1);
        }
        drop(owned);
    }

    /// Waits for the mutex, at a priority above the owner's.
    async fn wait(&self, index: usize, bus: &'static impl Bus) {
        self.go[index].wait().await;
        let mut lock = pin!(bus.lock());
        let mut polls = 0;
        let acquired = poll_fn(|cx| {
            self.polls.add(1);
            polls += 1;
            match lock.as_mut().poll(cx) {
                Poll::Pending if polls == POLLS_MAX => Poll::Ready(false),
                poll => poll.map(|_| true),
            }
        })
        .await;
        self.acquired.add(acquired.into());
        if self.done.get() == 0 {
            self.steps_seen.add(self.steps.get());
        }
        self.done.add(1);
    }

    fn report(&self, name: &str) {
        println!(
            "{name}: {} of 2 waiters acquired; {} polls of theirs, {} of {STEPS} steps of the owner's, until the first was done",
            self.acquired.get(),
            self.polls.get(),
            self.steps_seen.get(),
        );
    }
}

static OUR_DUEL: Duel = Duel::new();
static EMBASSYS_DUEL: Duel = Duel::new();

#[embassy_executor::task(pool_size = 2)]
async fn our_waiter(index: usize) {
    OUR_DUEL.wait(index, &OURS).await;
}

#[embassy_executor::task(pool_size = 2)]
async fn embassys_waiter(index: usize) {
    EMBASSYS_DUEL.wait(index, &EMBASSYS).await;
}

static TALLY: Tally = Tally::new();
static DONE: Counter = Counter::new();

/// Takes its turns. The task asks for the next turn at once, so with a mutex that goes by priority it would come first.
async fn turns(id: char) {
    for _ in 0..ROUNDS {
        let mut order = TALLY.watch(OURS.lock()).await;
        order.push(id);
        Timer::after_millis(1).await;
    }
    DONE.add(1);
}

#[embassy_executor::task]
async fn low(id: char) {
    turns(id).await;
}

#[embassy_executor::task(pool_size = 2)]
async fn high(id: char) {
    turns(id).await;
}

async fn turns_at_two_priorities(low_spawner: Spawner, high_spawner: SendSpawner) {
    low_spawner.spawn(low('l').expect("there is one"));
    until("the low task holds", || TALLY.started.get() == 1).await;
    for (waiting, id) in ['h', 'H'].into_iter().enumerate() {
        high_spawner.spawn(high(id).expect("one of two"));
        until("the high task waits", || OURS.queued() == waiting + 1).await;
    }
    until("all turns are taken", || DONE.get() == 3).await;

    let order = OURS.try_lock().expect("all tasks are done");
    for id in ['l', 'h', 'H'] {
        let turns = order.as_str().chars().filter(|&had| had == id).count();
        println!("fifolock: {id} had {turns} turns");
        assert_eq!(turns, ROUNDS);
    }
    assert!(
        order.as_str().as_bytes().chunks(3).all(|turn| turn == b"lhH"),
        "the turns go by the order of arrival: {}",
        *order
    );
    assert_eq!(TALLY.wakes.get(), TALLY.contended.get(), "one wake for each that had to wait");
}

#[cfg(target_arch = "riscv32")]
#[riscv_rt::entry]
fn entry() -> ! {
    executors::run(|spawner| spawner.spawn(main(spawner).expect("there is one")))
}

#[cfg_attr(target_arch = "arm", embassy_executor::main)]
#[cfg_attr(target_arch = "riscv32", embassy_executor::task)]
async fn main(spawner: Spawner) {
    board::start();
    // SAFETY: this is the handler of the interrupt, which `start` unmasks.
    interrupt::set_handler(|| unsafe { HIGH.on_interrupt() });
    let high_spawner = HIGH.start(Spare);

    turns_at_two_priorities(spawner, high_spawner).await;

    for index in 0..2 {
        high_spawner.spawn(our_waiter(index).expect("one of two"));
    }
    OUR_DUEL.own(&OURS).await;
    OUR_DUEL.report("fifolock");
    assert_eq!(OUR_DUEL.acquired.get(), 2);
    assert_eq!(OUR_DUEL.steps_seen.get(), STEPS, "the owner finished its work with both waiting");
    assert_eq!(OUR_DUEL.polls.get(), 4, "each waiter is polled when it comes and when it is granted");

    for index in 0..2 {
        high_spawner.spawn(embassys_waiter(index).expect("one of two"));
    }
    EMBASSYS_DUEL.own(&EMBASSYS).await;
    EMBASSYS_DUEL.report("embassy-sync");
    passed()
}

//! An interrupt handler takes the mutex without waiting, and hands it to a queue of tasks.

#![no_std]
#![no_main]

use core::cell::{Cell, RefCell};
use core::future::poll_fn;
use core::task::Poll;

use board::interrupt;
use critical_section::with;
use embassy_executor::Spawner;
use embassy_time::Timer;
use fifolock::embassy::{Mutex, MutexGuard};
use programs::{Counter, Order, Raw, Tally, passed, until};
use semihosting::println;

static SHARED: Mutex<Raw, Order> = Mutex::new(Order::new());
static TALLY: Tally = Tally::new();

#[derive(Clone, Copy)]
enum Command {
    Take,
    Release,
}

static COMMAND: critical_section::Mutex<Cell<Command>> = critical_section::Mutex::new(Cell::new(Command::Take));
static TAKEN: critical_section::Mutex<RefCell<Option<MutexGuard<'static, Raw, Order>>>> =
    critical_section::Mutex::new(RefCell::new(None));
static REFUSED: Counter = Counter::new();

/// The interrupt handler.
fn on_interrupt() {
    match with(|cs| COMMAND.borrow(cs).get()) {
        Command::Take => match SHARED.try_lock() {
            Ok(mut order) => {
                order.push('I');
                with(|cs| TAKEN.replace(cs, Some(order)));
            }
            Err(_) => REFUSED.add(1),
        },
        Command::Release => drop(with(|cs| TAKEN.take(cs))),
    }
}

fn interrupt(command: Command) {
    with(|cs| COMMAND.borrow(cs).set(command));
    interrupt::raise();
}

static DONE: Counter = Counter::new();

#[embassy_executor::task(pool_size = 3)]
async fn task(id: char) {
    TALLY.watch(SHARED.lock()).await.push(id);
    DONE.add(1);
}

async fn releases_into_a_queue(spawner: Spawner) {
    interrupt(Command::Take);
    assert!(SHARED.is_locked(), "the handler has taken it");
    for (waiting, id) in ['a', 'b', 'c'].into_iter().enumerate() {
        spawner.spawn(task(id).expect("one of three"));
        until("the task waits", || SHARED.queued() == waiting + 1).await;
    }
    interrupt(Command::Take);
    assert_eq!(REFUSED.get(), 1, "the handler holds the mutex, so a second attempt fails");

    interrupt(Command::Release);
    assert_eq!(SHARED.queued(), 2, "the first is granted before the handler returns");
    interrupt(Command::Take);
    assert_eq!(REFUSED.get(), 2, "no interrupt gets past the waiters");

    until("the tasks are done", || DONE.get() == 3).await;
    interrupt(Command::Take);
    assert_eq!(REFUSED.get(), 2, "no task waits any more");
    interrupt(Command::Release);
    let order = SHARED.try_lock().expect("all tasks are done");
    assert_eq!(order.as_str(), "IabcI");
    assert_eq!(TALLY.wakes.get(), 3, "one wake for each");
    println!("order {}, {} attempts of the handler refused, {} wakes", *order, REFUSED.get(), TALLY.wakes.get());
}

static SUM: Mutex<Raw, u32> = Mutex::new(0);
static FROM_INTERRUPT: Counter = Counter::new();
static MISSED: Counter = Counter::new();

/// The timer's handler, at any point of the tasks.
fn on_timer() {
    match SUM.try_lock() {
        Ok(mut sum) => {
            *sum += 1;
            FROM_INTERRUPT.add(1);
        }
        Err(_) => MISSED.add(1),
    }
}

/// Takes many turns, so that the interrupt comes while a task takes, waits for, or releases the mutex, or does none of
/// these.
#[embassy_executor::task(pool_size = 2)]
async fn adder(turns: u32) {
    for _ in 0..turns {
        let mut sum = SUM.lock().await;
        yield_now().await;
        *sum += 1;
        drop(sum);
        // The pause is so long that the mutex is sometimes free, and so short that the two tasks still meet.
        for _ in 0..3 {
            yield_now().await;
        }
    }
    DONE.add(1);
}

/// Lets the other tasks run.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if core::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

async fn cuts_in_anywhere(spawner: Spawner) {
    const TURNS: u32 = 1_000;
    let before = DONE.get();
    board::on_timer(on_timer);
    for _ in 0..2 {
        spawner.spawn(adder(TURNS).expect("one of two"));
    }
    while DONE.get() < before + 2 {
        Timer::after_millis(1).await;
    }
    board::on_timer(|| {});
    let (taken, missed) = (FROM_INTERRUPT.get(), MISSED.get());
    println!("{} turns of tasks, {taken} of the timer's handler, which was refused {missed} times", 2 * TURNS);
    assert!(taken > 0, "the handler had turns");
    assert_eq!(*SUM.try_lock().expect("all tasks are done"), 2 * TURNS + taken, "no turn was lost");
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    board::start();
    interrupt::set_handler(on_interrupt);
    interrupt::enable();
    releases_into_a_queue(spawner).await;
    cuts_in_anywhere(spawner).await;
    passed()
}

//! The shared parts of the programs: a lock as they see it, and tools that watch it.

#![no_std]

use core::cell::Cell;
use core::fmt;
use core::future::poll_fn;
use core::ops::DerefMut;
use core::pin::pin;

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_time::Timer;
use semihosting::println;

/// The raw mutex. Tasks at all priorities, and interrupt handlers, may share its data.
pub type Raw = CriticalSectionRawMutex;

/// A mutex, fifolock's or embassy-sync's, over the order in which tasks acquired it.
pub trait Bus: Sync + 'static {
    fn lock(&'static self) -> impl Future<Output = impl DerefMut<Target = Order>>;
}

impl Bus for fifolock::embassy::Mutex<Raw, Order> {
    fn lock(&'static self) -> impl Future<Output = impl DerefMut<Target = Order>> {
        self.lock()
    }
}

impl Bus for embassy_sync::mutex::Mutex<Raw, Order> {
    fn lock(&'static self) -> impl Future<Output = impl DerefMut<Target = Order>> {
        self.lock()
    }
}

/// The tasks that had the bus, one letter each.
#[derive(PartialEq, Eq)]
pub struct Order {
    ids: [u8; Self::MAX],
    len: usize,
}

impl Order {
    const MAX: usize = 128;

    pub const fn new() -> Self {
        Self { ids: [0; Self::MAX], len: 0 }
    }

    /// # Panics
    ///
    /// After 128 tasks.
    pub fn push(&mut self, id: char) {
        self.ids[self.len] = id as u8;
        self.len += 1;
    }

    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.ids[..self.len]).expect("ids are letters")
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }
}

impl Default for Order {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A number that any task or interrupt handler may add to. Some of the chips can't add to an atomic, so it is none.
pub struct Counter(critical_section::Mutex<Cell<u32>>);

impl Counter {
    pub const fn new() -> Self {
        Self(critical_section::Mutex::new(Cell::new(0)))
    }

    pub fn add(&self, n: u32) {
        critical_section::with(|cs| self.0.borrow(cs).set(self.0.borrow(cs).get() + n));
    }

    pub fn get(&self) -> u32 {
        critical_section::with(|cs| self.0.borrow(cs).get())
    }
}

impl Default for Counter {
    fn default() -> Self {
        Self::new()
    }
}

/// The counts of lock futures.
#[derive(Default)]
pub struct Tally {
    /// The number of futures that were polled.
    pub started: Counter,
    /// The number of futures that had to wait and are done.
    pub contended: Counter,
    /// The number of polls of those futures after the first one. A task awaits nothing else meanwhile, so each poll
    /// follows a wake.
    pub wakes: Counter,
}

impl Tally {
    pub const fn new() -> Self {
        Self { started: Counter::new(), contended: Counter::new(), wakes: Counter::new() }
    }

    /// Runs a lock future, and counts its polls.
    pub async fn watch<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let mut polls = 0;
        let output = poll_fn(|cx| {
            let poll = future.as_mut().poll(cx);
            if polls == 0 {
                self.started.add(1);
            } else {
                self.wakes.add(1);
            }
            polls += 1;
            poll
        })
        .await;
        if polls > 1 {
            self.contended.add(1);
        }
        output
    }
}

/// Waits until `is_so` returns true. The executor polls ready tasks in no set order, so a program whose order matters
/// waits for each step before it starts the next.
pub async fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if is_so() {
            return;
        }
        Timer::after_millis(1).await;
    }
    panic!("a second has passed, but this has not happened: {what}");
}

/// Ends the program after all assertions have held.
pub fn passed() -> ! {
    #[cfg(target_arch = "arm")]
    {
        let (used, room) = board::stack::high_water_mark();
        println!("stack: {used} of {room} bytes");
    }
    println!("passed on {}", board::NAME);
    board::exit(0)
}

/// The linker needs an allocator as soon as any code could use one. No code does.
#[cfg(feature = "all-of-fifolock")]
mod no_heap {
    use core::alloc::{GlobalAlloc, Layout};

    struct NoHeap;

    #[global_allocator]
    static HEAP: NoHeap = NoHeap;

    // SAFETY: the allocator returns no memory, which an allocator may do at any time.
    unsafe impl GlobalAlloc for NoHeap {
        unsafe fn alloc(&self, _: Layout) -> *mut u8 {
            core::ptr::null_mut()
        }

        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {
            unreachable!("nothing was allocated");
        }
    }
}

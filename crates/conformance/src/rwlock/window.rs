//! Events between the chunks of a batch (W4 and related rules): wakers poll and drop other members.

use super::{Counts, Data, FREE, counts, new_limited};
use crate::tools::{Hooks, Platform, Random, Slot, Task, counting_waker, hook};
use core::cell::{Cell, RefCell};
use core::task::Poll;
use fifolock_core::RwLock;
use fifolock_core::rwlock::{OwnedRwLockReadGuard, ReadOwned, WriteOwned};
use std::rc::Rc;
use std::sync::Arc;

type Reader<P> = Task<ReadOwned<Data, P>>;
type Writer<P> = Task<WriteOwned<Data, P>>;
type Guard<P> = OwnedRwLockReadGuard<Data, Data, P>;

/// A batch of several chunks, so the last members are not marked yet when the first is woken.
const SIZE: usize = 200;
const LAST: usize = SIZE - 1;

/// Readers that wait for one batch. The waker of a member acts between the chunks of the batch.
struct Window<P: Platform> {
    lock: Arc<RwLock<Data, P>>,
    members: Vec<Slot<Reader<P>>>,
    woken: Cell<bool>,
}

impl<P: Platform> Window<P> {
    /// Queues `size` readers on a lock that is held. `on_wake` runs with the number of each reader that is woken.
    fn queue(lock: Arc<RwLock<Data, P>>, size: usize, on_wake: impl Fn(&Self, usize) + 'static) -> Rc<Self> {
        let members = (0..size).map(|_| Slot::new()).collect();
        let window = Rc::new(Self { lock, members, woken: Cell::new(false) });
        let on_wake = Rc::new(on_wake);
        for n in 0..size {
            let call = {
                let (window, on_wake) = (Rc::clone(&window), Rc::clone(&on_wake));
                hook(move || {
                    window.woken.set(true);
                    // The test must show its first failure: a second panic would abort.
                    if !std::thread::panicking() {
                        on_wake(&window, n);
                    }
                })
            };
            let mut reader = Task::with_hooks(window.reader(), Hooks { on_wake: call, ..Hooks::default() });
            reader.pending();
            window.members[n].put(reader);
        }
        window
    }

    /// As `queue`, behind a writer that is then dropped. `on_first_wake` runs when the first reader is woken.
    fn admit(max_readers: u32, size: usize, on_first_wake: impl Fn(&Self) + 'static) -> Rc<Self> {
        let lock = new_limited(max_readers);
        let writing = Arc::clone(&lock).try_write_owned().expect("free");
        let window = Self::queue(lock, size, move |window, n| {
            if n == 0 {
                on_first_wake(window);
            }
        });
        drop(writing);
        assert!(window.woken.get());
        window
    }

    fn reader(&self) -> ReadOwned<Data, P> {
        Arc::clone(&self.lock).read_owned()
    }

    fn queued_reader(&self) -> Reader<P> {
        Task::queued(self.reader())
    }

    fn queued_writer(&self) -> Writer<P> {
        Task::queued(Arc::clone(&self.lock).write_owned())
    }

    fn counts(&self) -> Counts {
        counts(&self.lock)
    }

    fn with<R>(&self, n: usize, f: impl FnOnce(&mut Reader<P>) -> R) -> R {
        let mut reader = self.members[n].take().expect("a member is in use");
        let result = f(&mut reader);
        self.members[n].put(reader);
        result
    }

    fn poll(&self, n: usize) -> Poll<Guard<P>> {
        self.with(n, Task::poll)
    }

    fn cancel(&self, n: usize) {
        // `with` has put the member back before the drop of its future wakes other members.
        drop(self.with(n, Task::take));
    }

    fn wakes(&self, n: usize) -> usize {
        self.with(n, |reader| reader.wakes())
    }

    /// The number of wakes of each member.
    fn all_wakes(&self) -> Vec<usize> {
        (0..self.members.len()).map(|n| self.wakes(n)).collect()
    }

    /// Polls these members, which must be ready, and releases their shares.
    #[track_caller]
    fn pass(&self, members: impl IntoIterator<Item = usize>) {
        for n in members {
            assert!(self.poll(n).is_ready(), "member {n} was not granted");
        }
    }

    /// Asserts that the batch is still being marked: member `n` is pending.
    #[track_caller]
    fn assert_unmarked(&self, n: usize) {
        assert!(self.poll(n).is_pending(), "member {n} was marked too early for this rule to mean anything");
    }
}

const ROOM: u32 = 1000;

pub(super) fn w4_shares_are_reserved_before_the_first_wake<P: Platform>() {
    let writer = Slot::new();
    let window = Window::<P>::admit(ROOM, SIZE, {
        let writer = writer.clone();
        move |window| {
            assert_eq!(window.counts(), (SIZE, false, 0, 0));
            window.assert_unmarked(LAST);
            assert!(window.lock.try_write().is_err());
            writer.put(window.queued_writer());
            assert_eq!(window.counts(), (SIZE, false, 0, 1));
            assert!(window.lock.try_read().is_err(), "a writer waits");
        }
    });
    assert_eq!(window.counts(), (SIZE, false, 0, 1));
    assert_eq!(window.all_wakes(), [1; SIZE]);
    let mut writer = writer.take().expect("queued by the first wake");
    window.pass(0..LAST);
    writer.pending();
    window.pass([LAST]);
    assert_eq!(writer.wakes(), 1);
    drop(writer.ready());
    assert_eq!(window.counts(), FREE);
}

pub(super) fn w4_member_polled_before_its_mark_is_pending_and_then_woken<P: Platform>() {
    let (waker, other) = counting_waker();
    let window = Window::<P>::admit(ROOM, SIZE, move |window| {
        assert!(window.poll(LAST).is_pending(), "the member is not marked yet");
        assert!(window.with(LAST - 1, |reader| reader.poll_with(&waker)).is_pending(), "the member is not marked yet");
        assert_eq!(window.counts(), (SIZE, false, 0, 0));
        assert_eq!((window.wakes(LAST), window.wakes(LAST - 1)), (0, 0));
    });
    // One member is woken by the waker of its task, the other by its newest waker.
    assert_eq!(window.wakes(LAST), 1);
    assert_eq!((window.wakes(LAST - 1), other.wakes()), (0, 1));
    assert_eq!(window.all_wakes()[..LAST - 1], [1; LAST - 1]);
    window.pass(0..SIZE);
    assert_eq!(window.counts(), FREE);
}

pub(super) fn w4_member_dropped_before_its_mark_gives_its_share_back<P: Platform>() {
    let window = Window::<P>::admit(ROOM, SIZE, |window| {
        window.assert_unmarked(LAST - 50);
        for (gone, n) in [LAST, LAST - 7, LAST - 50].into_iter().enumerate() {
            window.cancel(n);
            assert_eq!(window.counts(), (LAST - gone, false, 0, 0), "at once");
        }
    });
    assert_eq!(window.counts(), (SIZE - 3, false, 0, 0));
    for n in 0..SIZE {
        let gone = [LAST, LAST - 7, LAST - 50].contains(&n);
        assert_eq!(window.wakes(n), usize::from(!gone));
        if gone {
            assert_eq!(window.with(n, |reader| reader.wakers_kept()), 0);
        } else {
            window.pass([n]);
        }
    }
    assert_eq!(window.counts(), FREE);
}

pub(super) fn w4_member_marked_and_dropped_before_its_wake_gives_its_share_back<P: Platform>() {
    let window = Window::<P>::admit(ROOM, SIZE, |window| {
        window.cancel(1);
        assert_eq!(window.counts(), (SIZE - 1, false, 0, 0));
        // The member that is being woken is dropped too.
        window.cancel(0);
        assert_eq!(window.counts(), (SIZE - 2, false, 0, 0));
    });
    assert_eq!(window.counts(), (SIZE - 2, false, 0, 0));
    assert_eq!(window.all_wakes()[2..], [1; SIZE - 2]);
    window.pass(2..SIZE);
    assert_eq!(window.counts(), FREE);
}

pub(super) fn w4_reader_that_comes_during_marking_enters_if_no_writer_waits<P: Platform>() {
    let window = Window::<P>::admit(ROOM, SIZE, |window| {
        window.assert_unmarked(LAST);
        let reading = Task::new(window.reader()).ready();
        assert_eq!(window.counts(), (SIZE + 1, false, 0, 0));
        drop(reading);
        assert_eq!(window.counts(), (SIZE, false, 0, 0));
        let reading = window.lock.try_read().expect("no writer waits");
        assert_eq!(window.counts(), (SIZE + 1, false, 0, 0));
        drop(reading);
    });
    assert_eq!(window.all_wakes(), [1; SIZE]);
    window.pass(0..SIZE);
    assert_eq!(window.counts(), FREE);
}

pub(super) fn w4_reader_that_comes_behind_a_writer_during_marking_does_not_join<P: Platform>() {
    let (writer, late) = (Slot::new(), Slot::new());
    let window = Window::<P>::admit(ROOM, SIZE, {
        let (writer, late) = (writer.clone(), late.clone());
        move |window| {
            window.assert_unmarked(LAST);
            writer.put(window.queued_writer());
            late.put(window.queued_reader());
            assert_eq!(window.counts(), (SIZE, false, 1, 1));
            // The place of a member that leaves the batch does not go to a newcomer.
            window.cancel(LAST);
            assert_eq!(window.counts(), (LAST, false, 1, 1));
        }
    });
    let (mut writer, mut late) = (writer.take().expect("queued"), late.take().expect("queued"));
    assert_eq!(window.counts(), (LAST, false, 1, 1));
    assert_eq!((writer.wakes(), late.wakes()), (0, 0));
    window.pass(0..LAST);
    assert_eq!(window.counts(), (0, true, 1, 0));
    assert_eq!((writer.wakes(), late.wakes()), (1, 0));
    drop(writer.ready());
    assert_eq!(late.wakes(), 1);
    drop(late.ready());
    assert_eq!(window.counts(), FREE);
}

pub(super) fn w4_reader_behind_the_ticket_that_leaves_gives_no_share_back<P: Platform>() {
    let writer = Slot::new();
    let window = Window::<P>::admit(ROOM, SIZE, {
        let writer = writer.clone();
        move |window| {
            window.assert_unmarked(LAST);
            writer.put(window.queued_writer());
            let (leaves, stays) = (window.queued_reader(), window.queued_reader());
            assert_eq!(window.counts(), (SIZE, false, 2, 1));
            drop(leaves);
            assert_eq!(window.counts(), (SIZE, false, 1, 1));
            drop(stays);
            assert_eq!(window.counts(), (SIZE, false, 0, 1));
        }
    });
    let mut writer = writer.take().expect("queued");
    assert_eq!(window.all_wakes(), [1; SIZE]);
    window.pass(0..LAST);
    assert_eq!((window.counts(), writer.wakes()), ((1, false, 0, 1), 0));
    window.pass([LAST]);
    assert_eq!(writer.wakes(), 1);
    drop(writer.ready());
    assert_eq!(window.counts(), FREE);
}

pub(super) fn w4_writer_that_leaves_during_marking_admits_the_readers_behind_the_ticket<P: Platform>() {
    let behind = Rc::new(RefCell::new(Vec::new()));
    let window = Window::<P>::admit(ROOM, SIZE, {
        let behind = Rc::clone(&behind);
        move |window| {
            window.assert_unmarked(LAST);
            let writer = window.queued_writer();
            behind.borrow_mut().extend((0..10).map(|_| window.queued_reader()));
            assert_eq!(window.counts(), (SIZE, false, 10, 1));
            drop(writer);
            assert_eq!(window.counts(), (SIZE + 10, false, 0, 0));
            // The readers belong to the batch now, and leave as members do.
            behind.borrow_mut().pop();
            assert_eq!(window.counts(), (SIZE + 9, false, 0, 0));
        }
    });
    assert_eq!(window.all_wakes(), [1; SIZE]);
    assert_eq!(window.counts(), (SIZE + 9, false, 0, 0));
    for mut reader in behind.take() {
        assert_eq!(reader.wakes(), 1);
        drop(reader.ready());
    }
    window.pass(0..SIZE);
    assert_eq!(window.counts(), FREE);
}

pub(super) fn w4_members_all_dropped_during_marking_admit_the_writer<P: Platform>() {
    for backwards in [false, true] {
        let writer = Slot::new();
        let window = Window::<P>::admit(ROOM, SIZE, {
            let writer = writer.clone();
            move |window| {
                window.assert_unmarked(LAST);
                let waits = window.queued_writer();
                for gone in 0..SIZE {
                    assert_eq!((window.counts(), waits.wakes()), ((SIZE - gone, false, 0, 1), 0));
                    window.cancel(if backwards { LAST - gone } else { gone });
                }
                assert_eq!(
                    (window.counts(), waits.wakes()),
                    ((0, true, 0, 0), 1),
                    "the writer is granted before the drop returns"
                );
                writer.put(waits);
            }
        });
        assert_eq!(window.counts(), (0, true, 0, 0));
        assert_eq!(window.wakes(LAST), 0, "it was never marked");
        drop(writer.take().expect("queued").ready());
        assert_eq!(window.counts(), FREE);
    }
}

pub(super) fn w4_member_that_leaves_during_marking_admits_the_writer_last<P: Platform>() {
    let writer = Slot::new();
    let window = Window::<P>::admit(ROOM, SIZE, {
        let writer = writer.clone();
        move |window| {
            let waits = window.queued_writer();
            // All members but the last leave: the marked ones as readers, the others as waiters.
            for n in 0..LAST {
                if window.poll(n).is_pending() {
                    window.cancel(n);
                }
            }
            assert_eq!((window.counts(), waits.wakes()), ((1, false, 0, 1), 0));
            window.assert_unmarked(LAST);
            writer.put(waits);
        }
    });
    let mut writer = writer.take().expect("queued");
    assert_eq!((window.wakes(LAST), writer.wakes()), (1, 0));
    window.pass([LAST]);
    assert_eq!(writer.wakes(), 1);
    drop(writer.ready());
    assert_eq!(window.counts(), FREE);
}

/// Random steps between the chunks of a batch. The test computes the expected state by counting.
struct Storm<P: Platform> {
    random: Random,
    /// The members that have neither been dropped nor released their share.
    inside: Vec<bool>,
    writer: Option<Writer<P>>,
    /// Readers that queued behind the writer.
    behind: Vec<Reader<P>>,
}

impl<P: Platform> Storm<P> {
    fn step(&mut self, window: &Window<P>) {
        let n = self.random.below(SIZE);
        match self.random.below(10) {
            0..=4 if self.inside[n] => {
                window.cancel(n);
                self.inside[n] = false;
            }
            5 | 6 if self.inside[n] => self.inside[n] = window.poll(n).is_pending(),
            7 if self.writer.is_none() && self.inside.contains(&true) => self.writer = Some(window.queued_writer()),
            8 if self.writer.is_some() => self.behind.push(window.queued_reader()),
            9 => drop(self.behind.pop()),
            _ => {}
        }
        assert_eq!(window.counts(), self.counts());
    }

    fn counts(&self) -> Counts {
        let inside = self.inside.iter().filter(|inside| **inside).count();
        let granted = self.writer.is_some() && inside == 0;
        (inside, granted, self.behind.len(), usize::from(self.writer.is_some() && !granted))
    }
}

pub(super) fn w4_random_drops_during_marking<P: Platform>() {
    let seeds = if cfg!(miri) { 2 } else { 30 };
    for seed in 0..seeds {
        println!("seed {seed}");
        let storm = Storm { random: Random::new(seed), inside: vec![true; SIZE], writer: None, behind: Vec::new() };
        let storm = Rc::new(RefCell::new(storm));
        let lock = new_limited::<P>(ROOM);
        let writing = Arc::clone(&lock).try_write_owned().expect("free");
        let window = Window::queue(lock, SIZE, {
            let storm = Rc::clone(&storm);
            move |window, _| (0..3).for_each(|_| storm.borrow_mut().step(window))
        });
        drop(writing);
        let mut storm = storm.borrow_mut();
        for n in 0..SIZE {
            if storm.inside[n] {
                assert_eq!(window.wakes(n), 1);
                window.pass([n]);
                storm.inside[n] = false;
            }
            assert_eq!(window.counts(), storm.counts());
        }
        if let Some(mut writer) = storm.writer.take() {
            assert_eq!(writer.wakes(), 1);
            drop(writer.ready());
        }
        for mut reader in storm.behind.drain(..) {
            assert_eq!(reader.wakes(), 1);
            drop(reader.ready());
        }
        assert_eq!(window.counts(), FREE);
    }
}

pub(super) fn w7_member_dropped_before_its_mark_leaves_its_share_to_the_next<P: Platform>() {
    for writer_waits in [false, true] {
        let writer = Slot::new();
        let window = Window::<P>::admit(100, 150, {
            let writer = writer.clone();
            move |window| {
                assert_eq!(window.counts(), (100, false, 50, 0));
                if writer_waits {
                    writer.put(window.queued_writer());
                }
                window.assert_unmarked(90);
                window.cancel(90);
                // The share was reserved for the batch, and the 101st reader is a member.
                assert_eq!(window.counts(), (100, false, 49, usize::from(writer_waits)));
            }
        });
        for n in 0..150 {
            assert_eq!(window.wakes(n), usize::from(n <= 100 && n != 90), "member {n}");
        }
        window.pass((0..=100).filter(|n| *n != 90));
        if let Some(mut writer) = writer.take() {
            assert_eq!(window.counts(), (0, true, 49, 0));
            drop(writer.ready());
        }
        window.pass(101..150);
        assert_eq!(window.counts(), FREE);
    }
}

pub(super) fn w7_share_given_back_during_marking_goes_to_a_waiting_reader<P: Platform>() {
    for writer_waits in [false, true] {
        let writer = Slot::new();
        let window = Window::<P>::admit(100, 150, {
            let writer = writer.clone();
            move |window| {
                if writer_waits {
                    writer.put(window.queued_writer());
                }
                window.assert_unmarked(90);
                // A reader inside leaves.
                window.pass([0]);
                let expected = if writer_waits { (99, false, 50, 1) } else { (100, false, 49, 0) };
                assert_eq!(window.counts(), expected);
            }
        });
        let entered = if writer_waits { 100 } else { 101 };
        for n in 0..150 {
            assert_eq!(window.wakes(n), usize::from(n < entered), "member {n}");
        }
        window.pass(1..entered);
        if let Some(mut writer) = writer.take() {
            assert_eq!(window.counts(), (0, true, 50, 0));
            drop(writer.ready());
        }
        window.pass(entered..150);
        assert_eq!(window.counts(), FREE);
    }
}

pub(super) fn w7_reader_that_comes_during_marking_waits_for_room<P: Platform>() {
    let late = Slot::new();
    let window = Window::<P>::admit(100, 100, {
        let late = late.clone();
        move |window| {
            window.assert_unmarked(99);
            assert!(window.lock.try_read().is_err());
            let reader = window.queued_reader();
            assert_eq!(window.counts(), (100, false, 1, 0));
            window.cancel(98);
            assert_eq!(window.counts(), (100, false, 0, 0), "there is room, and no writer waits");
            late.put(reader);
        }
    });
    let mut late = late.take().expect("queued");
    assert_eq!((window.wakes(97), window.wakes(98), window.wakes(99), late.wakes()), (1, 0, 1, 1));
    drop(late.ready());
    window.pass((0..100).filter(|n| *n != 98));
    assert_eq!(window.counts(), FREE);
}

pub(super) fn w5_during_a_drop_a_new_writer_waits_for_the_batch<P: Platform>() {
    let lock = new_limited::<P>(ROOM);
    let inside = Arc::clone(&lock).try_read_owned().expect("free");
    let leaves = Task::queued(Arc::clone(&lock).write_owned());
    let next = Slot::new();
    let window = Window::queue(lock, SIZE, {
        let next = next.clone();
        move |window, n| {
            if n == 0 {
                assert_eq!(window.counts(), (1 + SIZE, false, 0, 0));
                window.assert_unmarked(LAST);
                next.put(window.queued_writer());
                assert_eq!(window.counts(), (1 + SIZE, false, 0, 1));
            }
        }
    });
    drop(leaves);
    let mut next = next.take().expect("queued");
    assert_eq!(window.all_wakes(), [1; SIZE], "each member is woken before the drop returns");
    drop(inside);
    window.pass(0..LAST);
    assert_eq!(next.wakes(), 0);
    window.pass([LAST]);
    assert_eq!(next.wakes(), 1);
    drop(next.ready());
    assert_eq!(window.counts(), FREE);
}

pub(super) fn w6_downgrade_is_a_reader_before_it_wakes<P: Platform>() {
    let lock = new_limited::<P>(ROOM);
    let writing = Arc::clone(&lock).try_write_owned().expect("free");
    let window = Window::queue(lock, SIZE, |window, n| {
        assert_eq!(window.counts(), (1 + SIZE, false, 0, 0));
        assert!(window.lock.try_write().is_err());
        assert!(window.lock.try_read().is_ok());
        if n == 0 {
            window.assert_unmarked(LAST);
        }
    });
    let reading = writing.downgrade();
    assert_eq!(window.all_wakes(), [1; SIZE]);
    window.pass(0..SIZE);
    assert_eq!(window.counts(), (1, false, 0, 0));
    drop(reading);
    assert_eq!(window.counts(), FREE);
}

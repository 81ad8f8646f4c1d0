//! Many unclaimed readers (R8): one poll scans them all, in bounded sections.

use super::fixture::{Actor, Hidden, Op, SUSPICIONS, Subject, each_policy};
use crate::tools::{Hooks, Platform, Task, hook};
use core::cell::{Cell, RefCell};
use fifolock_core::RwLock;
use std::rc::Rc;
use std::sync::Arc;

/// The most readers that one section grants.
const CHUNK: usize = 32;

/// Granted readers that their tasks don't poll: some belong to the tasks in `of`, the others to one further task.
struct Batch<'a> {
    others: Vec<Actor>,
    readers: Vec<Hidden<'a>>,
}

impl<'a> Batch<'a> {
    fn grant<P: Platform>(subject: &'a Subject<P>, size: usize, of: &dyn Fn(usize) -> Option<&'a Actor>) -> Self {
        let held = subject.hold(Op::Write);
        let batch = Self::queue(subject, size, of);
        drop(held);
        batch
    }

    fn queue<P: Platform>(subject: &'a Subject<P>, size: usize, of: &dyn Fn(usize) -> Option<&'a Actor>) -> Self {
        let others = Actor::many(size);
        let queue = |n: usize| of(n).unwrap_or(&others[n]).queue(subject.op(Op::Read));
        let readers = (0..size).map(queue).collect();
        Self { others, readers }
    }

    /// Claims and releases all readers but the named ones.
    fn pass(&mut self, but: &[usize]) {
        for n in (0..self.readers.len()).filter(|n| !but.contains(n)) {
            drop(self.others[n].served(&mut self.readers[n]));
        }
    }
}

pub(super) fn r8_one_among_many_is_found<P: Platform>() {
    each_policy::<P>(|subject, _| {
        for &size in if cfg!(miri) { &[40][..] } else { &[33, 100, 200] } {
            let step = if cfg!(miri) { 31 } else { 7 };
            for own in (0..size).step_by(step).chain([31, 32, size - 1]) {
                for op in [Op::Write, Op::Read, Op::Upgradable] {
                    found(subject, size, own, op);
                }
            }
        }
    });
}

fn found<P: Platform>(subject: &Subject<P>, size: usize, own: usize, op: Op) {
    let (task, writer) = (&Actor::new(), Actor::new());
    let mut batch = Batch::grant(subject, size, &|n| (n == own).then_some(task));
    assert_eq!(task.woken(), 1);
    let mut writing = (op != Op::Write).then(|| {
        let mut writing = subject.op(Op::Write);
        assert!(writer.drive(&mut writing).1.is_none());
        writing
    });
    let mut thief = subject.op(op);
    let (polls, guard) = task.drive(&mut thief);
    let bound = SUSPICIONS + 3;
    assert!(polls <= bound, "{size} readers, {own} is its own: {polls} polls");
    // A write still waits. An operation that takes a share over owns it.
    assert_eq!(guard.is_some(), op != Op::Write, "{size} readers, {own} is its own, robbed by {op:?}");
    let expected = if op == Op::Write { size - 1 } else { size };
    assert_eq!(subject.rwlock.state().readers, expected, "{size} readers, {own} is its own, robbed by {op:?}");
    batch.pass(&[own]);
    drop(guard);
    if let Some(writing) = &mut writing {
        drop(writer.served(writing));
    }
    if op == Op::Write {
        drop(task.served(&mut thief));
    }
    drop(task.served(&mut batch.readers[own]));
    drop((batch, thief, writing));
    subject.assert_over();
}

pub(super) fn r8_two_tasks_with_two_parked_shares_each_find_them<P: Platform>() {
    each_policy::<P>(|subject, _| {
        let tasks = &Actor::many(2);
        let _batch = Batch::grant(subject, 4, &|n| Some(&tasks[n % 2]));
        let mut writers = [subject.op(Op::Write), subject.op(Op::Write)];
        let mut served = 0;
        for round in 0.. {
            assert!(round < 100, "the scans never end: {:?}", subject.rwlock.state());
            let mut woken = false;
            for (task, writer) in tasks.iter().zip(&mut writers) {
                if task.woken() > 0 {
                    woken = true;
                    if let core::task::Poll::Ready(guard) = task.poll(writer) {
                        drop(guard);
                        served += 1;
                        *writer = subject.op(Op::Write);
                    }
                }
            }
            if served == 2 {
                break;
            }
            assert!(woken, "it hangs: {:?}", subject.rwlock.state());
        }
    });
}

pub(super) fn r8_readers_that_have_claimed_cost_no_look<P: Platform>() {
    each_policy::<P>(|subject, _| {
        let claimed = if cfg!(miri) { 70 } else { 1000 };
        let _guards: Vec<_> = (0..claimed).map(|_| subject.hold(Op::Read)).collect();
        let mut writing = subject.op(Op::Write);
        let writer = Actor::new();
        writer.pending(&mut writing);
        let _batch = Batch::queue(subject, 33, &|_| None);
        drop(writing);
        assert_eq!(subject.inside(), claimed + 33);
        let task = Actor::new();
        let mut waits = subject.op(Op::Write);
        let (polls, _) = task.drive(&mut waits);
        assert!(polls == 1, "33 are unclaimed: {polls} polls");
    });
}

/// A reader whose share is reserved will be granted by the same release, so it leaves the grants of its task alone.
pub(super) fn r1_a_reader_of_a_later_chunk_robs_nobody<P: Platform>() {
    #[allow(clippy::arc_with_non_send_sync, reason = "some platforms' locks stay on one thread")]
    let lock = &Arc::new(RwLock::<u32, P>::new(0));
    let read = || Box::pin(Arc::clone(lock).read_owned());
    let held = lock.try_write().expect("free");
    let (task, polls) = (Rc::new(Actor::new()), Rc::new(Cell::new(0)));
    let late = Rc::new(RefCell::new(read()));
    // The waker calls this closure between two sections of the release. The closure polls another future of the task.
    let between = {
        let (task, late, polls) = (Rc::clone(&task), Rc::clone(&late), Rc::clone(&polls));
        move || {
            for _ in 0..SUSPICIONS + 2 {
                task.pending(&mut *late.borrow_mut());
                polls.set(polls.get() + 1);
            }
        }
    };
    let mut first = read();
    task.pending(&mut first);
    let mut woken = Task::with_hooks(read(), Hooks { on_wake: hook(between), ..Hooks::default() });
    woken.pending();
    let others = Actor::many(CHUNK - 2);
    let mut rest: Vec<_> = others.iter().map(|other| other.queue(read())).collect();
    task.pending(&mut *late.borrow_mut());
    drop(held);
    assert_eq!(polls.get(), SUSPICIONS + 2);
    // The two grants have woken the task. No suspicion has.
    assert_eq!(task.woken(), 2);
    drop((task.ready(&mut first), task.ready(&mut *late.borrow_mut())));
    drop(woken.ready());
    for (other, reader) in others.iter().zip(&mut rest) {
        drop(other.ready(reader));
    }
    assert!(lock.try_write().is_ok());
}

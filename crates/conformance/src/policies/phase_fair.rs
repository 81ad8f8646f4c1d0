//! Phase-fair (P4, P5).

use super::{queue, serve, turns};
use crate::rescue::fixture::{Actor, Form, Op, Subject};
use crate::tools::Platform;
use fifolock_core::rwlock::RwLockPolicy::PhaseFair;
use fifolock_core::rwlock::RwLockWriteGuard;

fn both<P: Platform>(most: u32, rule: impl Fn(&Subject<P>)) {
    for form in [Form::Borrowed, Form::Owned] {
        rule(&Subject::new(PhaseFair, most, form));
    }
}

pub(super) fn p4_all_readers_that_wait_enter_after_a_writer<P: Platform>() {
    both::<P>(1000, |subject| {
        assert_eq!(turns(subject, Op::Write, "wrwrr"), "bde a c");
        assert_eq!(turns(subject, Op::Read, "wrwrr"), "a bde c");
        assert_eq!(turns(subject, Op::Write, "www"), "a b c");
        assert_eq!(turns(subject, Op::Read, "wuru"), "a bc d");
        for size in [1, 31, 32, 33, 100] {
            let actors = Actor::many(size);
            let [writer, late] = [(); 2].map(|()| Actor::new());
            let held = subject.hold(Op::Write);
            let mut writing = writer.queue(subject.op(Op::Write));
            let readers: Vec<_> = actors.iter().map(|actor| actor.queue(subject.op(Op::Read))).collect();
            drop(held);
            // All are woken before the release returns.
            assert!(actors.iter().all(|actor| actor.woken() == 1));
            assert_eq!((subject.inside(), subject.waiting()), (size, 1));
            // A reader that comes later waits while the writer waits.
            assert!(!subject.try_op(Op::Read) && !subject.try_op(Op::Upgradable));
            let mut coming = subject.op(Op::Read);
            assert!(late.drive(&mut coming).1.is_none());
            drop(readers);
            let guard = writer.served(&mut writing);
            assert_eq!(late.woken(), 0);
            drop(guard);
            drop(late.served(&mut coming));
            drop((coming, writing));
            subject.assert_over();
        }
    });
}

pub(super) fn p4_readers_beyond_the_room_wait_for_the_next_turn<P: Platform>() {
    both::<P>(2, |subject| {
        let held = subject.hold(Op::Write);
        let actors = Actor::many(7);
        let mut waiting = queue(subject, &actors, "rrrwrrw");
        drop(held);
        assert_eq!((subject.inside(), subject.waiting()), (2, 5));
        // A reader leaves. There is room, but a writer waits.
        let (_, first, mut one) = waiting.remove(0);
        drop(first.served(&mut one));
        assert!(actors[2..].iter().all(|actor| !actor.is_woken()));
        assert_eq!(serve(&mut waiting), "b d ce g f");
    });
}

pub(super) fn p4_a_downgrade_lets_the_readers_in<P: Platform>() {
    both::<P>(1000, |subject| {
        for upgradable in [false, true] {
            let actors = Actor::many(5);
            let held = subject.rwlock.try_write().expect("free");
            let mut waiting = queue(subject, &actors, "rwrwr");
            let shared: (Option<_>, Option<_>) = if upgradable {
                (Some(RwLockWriteGuard::downgrade_to_upgradable(held)), None)
            } else {
                (None, Some(held.downgrade()))
            };
            assert_eq!((subject.inside(), subject.waiting()), (4, 2));
            assert!(!subject.try_op(Op::Read), "a writer waits");
            for n in [4, 2, 0] {
                let (_, actor, mut reader) = waiting.remove(n);
                drop(actor.served(&mut reader));
            }
            assert_eq!(subject.inside(), 1);
            drop(shared);
            assert_eq!(serve(&mut waiting), "b d");
            subject.assert_over();
        }
    });
}

pub(super) fn p4_a_granted_writer_that_is_dropped_lets_the_readers_in<P: Platform>() {
    both::<P>(1000, |subject| {
        let actors = Actor::many(4);
        let held = subject.hold(Op::Read);
        let mut waiting = queue(subject, &actors, "wwrr");
        drop(held);
        assert_eq!(actors[0].woken(), 1);
        drop(waiting.remove(0));
        assert_eq!((subject.inside(), subject.waiting()), (2, 1));
        assert_eq!(serve(&mut waiting), "cd b");
    });
}

pub(super) fn p4_the_last_reader_lets_the_next_writer_in<P: Platform>() {
    both::<P>(1000, |subject| {
        let actors = Actor::many(4);
        let held = [subject.hold(Op::Read), subject.hold(Op::Upgradable), subject.hold(Op::Read)];
        let mut waiting = queue(subject, &actors, "wrrw");
        for (n, guard) in held.into_iter().enumerate() {
            assert!(actors.iter().all(|actor| !actor.is_woken()), "{n} have left");
            drop(guard);
        }
        assert_eq!(serve(&mut waiting), "a bc d");
    });
}

/// A storm of writers: some are always queued. A reader that comes at any moment waits for one of them, either the one
/// inside or the next.
pub(super) fn p5_a_reader_waits_for_one_writer<P: Platform>() {
    both::<P>(1000, |subject| {
        let writers = Actor::many(3);
        let reader = Actor::new();
        let mut inside = Some(subject.hold(Op::Write));
        let mut storm: Vec<_> = (0..3).map(|n| Some(writers[n].queue(subject.op(Op::Write)))).collect();
        let mut reading = None;
        let (mut waited, mut most, mut reads) = (0, 0, 0);
        let mut held = Vec::new();
        for turn in 0..300 {
            if reading.is_none() {
                reading = Some(reader.queue(subject.op(Op::Read)));
                waited = 0;
            }
            // Either the writer inside leaves, or the reader.
            if inside.take().is_some() {
                waited += 1;
            }
            held.clear();
            if reader.woken() > 0 {
                held.push(reader.ready(reading.as_mut().expect("queued")));
                most = most.max(waited);
                reads += 1;
                reading = None;
                // In half of the turns the reader comes back during the phase of the readers.
                if turn % 2 == 0 {
                    let mut again = subject.op(Op::Read);
                    assert!(reader.drive(&mut again).1.is_none(), "a writer waits");
                    reading = Some(again);
                    waited = 0;
                }
            }
            for n in 0..3 {
                if writers[n].woken() > 0 {
                    assert!(held.is_empty(), "exclusion");
                    let mut turn = storm[n].take().expect("queued");
                    inside = Some(writers[n].ready(&mut turn));
                    // The writer queues again at once.
                    storm[n] = Some(writers[n].queue(subject.op(Op::Write)));
                }
            }
        }
        assert_eq!(most, 1, "the bound");
        assert!(reads >= 100, "{reads} reads in 300 turns");
    });
}

/// A storm of readers that overlap without end. A writer waits for the readers that were inside when the writer came.
pub(super) fn p5_a_writer_waits_for_the_readers_inside<P: Platform>() {
    both::<P>(1000, |subject| {
        let writer = Actor::new();
        let readers = Actor::many(3);
        for _ in 0..20 {
            let mut held: Vec<_> = (0..3).map(|_| subject.hold(Op::Read)).collect();
            let mut writing = writer.queue(subject.op(Op::Write));
            let mut storm: Vec<_> = readers.iter().map(|reader| reader.queue(subject.op(Op::Read))).collect();
            while let Some(guard) = held.pop() {
                assert_eq!(writer.woken(), 0);
                drop(guard);
            }
            drop(writer.served(&mut writing));
            for (reader, reading) in readers.iter().zip(&mut storm) {
                held.push(reader.served(reading));
            }
            drop((storm, held));
        }
    });
}

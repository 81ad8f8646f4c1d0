//! The scenarios H02, H04 (c), H05 and H06 (a).

use super::fixture;
use super::fixture::{Fixture, Waiting, assert_armed, assert_elapsed, ms};
use super::{CONTENDED, every_write};
use crate::tools::Task;
use crate::tools::clock::TestTimer;
use core::time::Duration;

pub(super) fn h02_a_queued_writer_times_out_under_a_reader<P: TestTimer>() {
    every_write::<P>(|f, lock| {
        let r1 = lock.try_read().expect("free");
        let mut w = f.wait(ms(10));
        let mut r2 = Task::queued(lock.read());
        P::advance(ms(10));
        assert_elapsed(&mut w);
        assert_eq!(r2.wakes(), 1);
        let r2 = r2.ready();
        assert!(lock.try_write().is_err());
        drop(r1);
        assert!(lock.try_write().is_err());
        drop(r2);
        assert!(lock.try_write().is_ok());
    });
}

pub(super) fn h04_c_no_barging_by_a_late_deadline<P: TestTimer>() {
    Fixture::<P>::every_deadline(|f| {
        let held = f.hold();
        let mut b = Task::queued(f.plain());
        drop(held);
        assert_elapsed(&mut Task::new(f.with_deadline(P::past_instant())));
        assert_eq!(b.wakes(), 1);
        drop(b.ready());
    });
}

pub(super) fn h05_1_granted_then_late<P: TestTimer>() {
    Fixture::<P>::every_exclusive(|f| {
        let held = f.hold();
        let (mut b, mut c) = (f.wait(ms(10)), Task::queued(f.plain()));
        drop(held);
        P::advance(ms(10));
        guard_then_next(f, &mut b, &mut c);
    });
}

pub(super) fn h05_2_late_then_granted<P: TestTimer>() {
    Fixture::<P>::every_exclusive(|f| {
        let held = f.hold();
        let (mut b, mut c) = (f.wait(ms(10)), Task::queued(f.plain()));
        P::advance(ms(10));
        drop(held);
        guard_then_next(f, &mut b, &mut c);
    });
}

#[track_caller]
fn guard_then_next<P: TestTimer>(f: &Fixture<P>, b: &mut Waiting<'_>, c: &mut Task<fixture::Hidden<'static>>) {
    let guard = b.ready().expect("it was chosen");
    assert_armed::<P>(0);
    assert_eq!(c.wakes(), 0);
    c.pending();
    drop(guard);
    assert_eq!(c.wakes(), 1);
    drop(c.ready());
    f.assert_free();
}

pub(super) fn h05_3_late_and_polled_then_granted<P: TestTimer>() {
    Fixture::<P>::every_exclusive(|f| {
        let held = f.hold();
        let (mut b, mut c) = (f.wait(ms(10)), Task::queued(f.plain()));
        P::advance(ms(10));
        assert_elapsed(&mut b);
        assert_armed::<P>(0);
        assert_eq!(f.state(), CONTENDED);
        drop(held);
        assert_eq!(c.wakes(), 1);
        drop(c.ready());
    });
}

pub(super) fn h06_a_zero_on_a_free_lock<P: TestTimer>() {
    Fixture::<P>::every_timeout(|f| {
        assert!(Task::new(f.with_timeout(Duration::ZERO)).ready().expect_err("refused").is_invalid());
    });
}

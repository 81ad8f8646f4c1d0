//! Upgradable reads with a limit under the task-fair policy (U4). The rest is with the rules of time, which have upgradable
//! reads among the operations.

use crate::rules;
use crate::time::fixture::{Fixture, assert_armed, assert_elapsed, ms};
use crate::tools::Task;
use crate::tools::clock::ManualTimer;
use crate::tools::subject::{Case, Op, POLICIES, Subject};
use core::cell::Cell;
use core::future::poll_fn;
use core::task::Poll;
use fifolock_core::RwLock;
use fifolock_core::rwlock::RwLockPolicy::TaskFair;

rules! { ($) upgradable_timed_rules in upgradable::timed where ManualTimer:
    u4_a_timed_one_that_gives_up_lets_in_whom_it_kept_out,
    u4_until_another_future_is_ready,
}

fn u4_a_timed_one_that_gives_up_lets_in_whom_it_kept_out<P: ManualTimer>() {
    for (form, limit) in Fixture::<P>::WAYS {
        let _case = Case((form, limit));
        P::with(|| {
            let f = Fixture::of(Subject::<P>::new(TaskFair, 9, form), Op::Upgradable, limit);
            let first = f.subject().hold(Op::Upgradable);
            let mut second = f.wait(ms(10));
            let mut reader = Task::queued(f.rwlock.read());
            P::advance(ms(10));
            assert_elapsed(&mut second);
            assert_eq!(reader.wakes(), 1, "before the poll returned");
            drop((reader.ready(), first));
            assert_armed::<P>(0);
            f.assert_free();
        });
    }
}

fn u4_until_another_future_is_ready<P: ManualTimer>() {
    P::with(|| {
        for policy in POLICIES {
            let lock = RwLock::<u32, P>::with_policy(0, policy);
            // Free: the other future is not polled.
            let never = poll_fn(|_| -> Poll<()> { panic!("polled") });
            drop(Task::new(lock.upgradable_read_until(never)).ready().expect("free"));
            let over = Cell::new(false);
            let ends = || poll_fn(|_| if over.get() { Poll::Ready(5) } else { Poll::Pending });
            let first = lock.try_upgradable_read().expect("free");
            let mut second = Task::queued(lock.upgradable_read_until(ends()));
            let mut third = Task::queued(lock.upgradable_read_until(ends()));
            drop(first);
            drop(second.ready().expect("granted"));
            over.set(true);
            // A grant that is there when the poll begins wins.
            let guard = third.ready().expect("granted");
            let mut fourth = Task::new(lock.upgradable_read_until(ends()));
            assert_eq!(fourth.ready().err(), Some(5));
            assert_eq!(lock.state().waiting_upgradable, 0);
            drop(guard);
            assert!(lock.try_write().is_ok());
        }
    });
}

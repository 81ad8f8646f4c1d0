//! Every interleaving of small programs; the data is a loom cell, so that a missing ordering shows.

use crate::platform::Std;
use crate::test_tools::{Data, Woken, model, poll};
use core::future::poll_fn;
use core::mem::replace;
use core::pin::pin;
use core::task::Poll;
use loom::future::block_on;
use loom::sync::Arc;
use loom::thread;
use std::boxed::Box;

type RwLock = crate::RwLock<Data, Std>;

/// Pending at the first poll, ready at the second.
async fn pending_once() {
    let mut polled = false;
    poll_fn(|_| if replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

fn lock() -> Arc<RwLock> {
    Arc::new(RwLock::new(Data::new()))
}

/// W3, K7: whichever of two readers is the last, the writer is granted, once, and sees that both have read.
#[test]
fn loom_w3_two_readers_leaving_against_a_queued_writer() {
    model(|| {
        let lock = lock();
        let woken = [Woken::new(), Woken::new()];
        let shared = Arc::clone(&lock);
        let mut reader = Box::pin(async move {
            let guard = shared.read().await;
            pending_once().await;
            guard.read()
        });
        assert!(poll(reader.as_mut(), &woken[0]).is_pending(), "inside, with its guard");
        let inside = lock.try_read().unwrap();
        let mut writer = pin!(lock.write());
        assert!(poll(writer.as_mut(), &woken[1]).is_pending());
        let other = thread::spawn(move || poll(reader.as_mut(), &Woken::new()).is_ready());
        assert_eq!(inside.read(), 0);
        drop(inside);
        assert!(other.join().unwrap());
        assert_eq!(woken[1].count(), 1);
        let Poll::Ready(guard) = poll(writer.as_mut(), &woken[1]) else { panic!("the grant was lost") };
        guard.add(1);
    });
}

/// W3: a reader that enters and leaves, against a writer's first poll.
#[test]
fn loom_w3_reader_against_a_writers_first_poll() {
    model(|| {
        let lock = lock();
        let writer = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || block_on(lock.write()).add(1))
        };
        assert!(block_on(lock.read()).read() <= 1);
        writer.join().unwrap();
        assert_eq!(lock.try_write().unwrap().read(), 1);
    });
}

/// W4, K7: a writer that leaves, against a reader's first poll, while another reader waits.
#[test]
fn loom_w4_writer_leaving_against_a_readers_first_poll() {
    model(|| {
        let lock = lock();
        let guard = lock.try_write().unwrap();
        let woken = Woken::new();
        let mut waiting = pin!(lock.read());
        assert!(poll(waiting.as_mut(), &woken).is_pending());
        let reader = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || block_on(lock.read()).read())
        };
        guard.add(1);
        drop(guard);
        assert_eq!(woken.count(), 1);
        assert_eq!(reader.join().unwrap(), 1);
        let Poll::Ready(guard) = poll(waiting.as_mut(), &woken) else { panic!("the grant was lost") };
        assert_eq!(guard.read(), 1);
        drop(guard);
        assert_eq!(lock.state().readers, 0);
    });
}

/// W8: a member of a batch that goes, granted or not, gives its share back; the last one admits the writer.
#[test]
fn loom_w8_batch_against_cancel_of_a_member() {
    model(|| {
        let lock = lock();
        let guard = lock.try_write().unwrap();
        let woken = [Woken::new(), Woken::new()];
        let shared = Arc::clone(&lock);
        let mut member = Box::pin(async move { shared.read().await.read() });
        assert!(poll(member.as_mut(), &woken[0]).is_pending());
        let canceller = thread::spawn(move || drop(member));
        drop(guard);
        let mut writer = pin!(lock.write());
        let first = poll(writer.as_mut(), &woken[1]);
        canceller.join().unwrap();
        match first {
            Poll::Ready(guard) => guard.add(1),
            Poll::Pending => {
                assert_eq!(woken[1].count(), 1, "the last share admits the writer");
                assert!(poll(writer.as_mut(), &woken[1]).is_ready());
            }
        }
        assert_eq!(lock.state().readers, 0);
    });
}

/// W5: a waiting writer that goes, against the first poll of a reader that it may keep out.
#[test]
fn loom_w5_writers_cancel_against_a_readers_first_poll() {
    model(|| {
        let lock = lock();
        let inside = lock.try_read().unwrap();
        let woken = Woken::new();
        let shared = Arc::clone(&lock);
        let mut writer = Box::pin(async move { shared.write().await.add(1) });
        assert!(poll(writer.as_mut(), &woken).is_pending());
        let reader = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || block_on(lock.read()).read())
        };
        drop(writer);
        // The first reader is still inside: nobody else will let the second one in.
        assert_eq!(reader.join().unwrap(), 0);
        drop(inside);
        assert_eq!(woken.count(), 0);
        assert_eq!(lock.state().readers, 0);
    });
}

/// W6, K7: a downgrade against a reader's first poll: it enters beside the downgraded one, and sees what was written.
#[test]
fn loom_w6_downgrade_against_a_readers_first_poll() {
    model(|| {
        let lock = lock();
        let guard = lock.try_write().unwrap();
        let reader = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || block_on(lock.read()).read())
        };
        guard.add(1);
        let inside = guard.downgrade();
        // Not released before the other one has been in.
        assert_eq!(reader.join().unwrap(), 1);
        assert_eq!(inside.read(), 1);
    });
}

/// W6: a downgrade against a writer's first poll: the writer waits for the downgraded reader.
#[test]
fn loom_w6_downgrade_against_a_writers_first_poll() {
    model(|| {
        let lock = lock();
        let guard = lock.try_write().unwrap();
        let writer = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || block_on(lock.write()).add(1))
        };
        guard.add(1);
        let inside = guard.downgrade();
        assert_eq!(inside.read(), 1, "a writer entered beside a reader");
        drop(inside);
        writer.join().unwrap();
        assert_eq!(lock.try_read().unwrap().read(), 2);
    });
}

/// W7: at the limit, a reader that leaves against one that comes.
#[test]
fn loom_w7_leaving_against_a_first_poll_at_the_limit() {
    model(|| {
        let lock = Arc::new(RwLock::with_max_readers(Data::new(), 1));
        let inside = lock.try_read().unwrap();
        let other = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || block_on(lock.read()).read())
        };
        drop(inside);
        other.join().unwrap();
        assert_eq!(lock.state().readers, 0);
    });
}

//! A batch of wakers: each is woken, and none is left.

extern crate std;

use super::*;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::panic::catch_unwind;
use std::sync::Arc;
use std::task::Wake;

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker's own panic");
    }
}

/// So many that count, and one that panics at this place.
fn batch(count: &Arc<Count>, wakers: usize, panics: Option<usize>) -> Wakers {
    let mut batch = Wakers::default();
    for i in 0..wakers {
        batch.push(if panics == Some(i) { Arc::new(Panics).into() } else { Arc::clone(count).into() });
    }
    batch
}

#[test]
#[cfg(debug_assertions)]
#[should_panic = "granted waiters are never woken"]
fn w4_a_batch_that_nobody_wakes_is_noticed() {
    let mut wakers = Wakers::default();
    wakers.push(Waker::noop().clone());
}

#[test]
#[cfg(debug_assertions)]
#[should_panic = "granted waiters are never woken"]
fn w4_a_batch_that_nobody_goes_on_with_is_noticed() {
    let mut wakers = Wakers::default();
    wakers.more = true;
}

#[test]
fn w4_all_are_woken_and_nothing_is_left() {
    for n in [0, 1, 2, WAKE_BATCH] {
        let count = Arc::new(Count::default());
        let mut wakers = batch(&count, n, None);
        wakers.wake_all(|_| unreachable!("there is no more"));
        assert_eq!((count.0.load(Ordering::Relaxed), Arc::strong_count(&count)), (n, 1));
    }
}

/// Also where one in the middle panics, in the first chunk or in a later one; the rest is woken while it unwinds, and the
/// empty batch is dropped then.
#[test]
fn k3_all_are_woken_although_one_panics() {
    for chunks in 1..4 {
        for panics_in in 0..chunks {
            for at in 0..3 {
                let count = Arc::new(Count::default());
                let panicked = catch_unwind(AssertUnwindSafe(|| {
                    let mut chunk = 0;
                    let mut next = |wakers: &mut Wakers| {
                        let mut new = batch(&count, 3, (chunk == panics_in).then_some(at));
                        core::mem::swap(&mut new.chunk, &mut wakers.chunk);
                        chunk += 1;
                        wakers.more = chunk < chunks;
                    };
                    let mut wakers = Wakers::default();
                    next(&mut wakers);
                    wakers.wake_all(next);
                }));
                assert!(panicked.is_err());
                assert_eq!((count.0.load(Ordering::Relaxed), Arc::strong_count(&count)), (3 * chunks - 1, 1));
            }
        }
    }
}

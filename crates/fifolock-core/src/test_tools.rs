//! What the loom models share.

extern crate std;

pub(crate) mod pairs;

use alloc::sync::Arc;
use alloc::task::Wake;
use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll};
use loom::cell::UnsafeCell;
use loom::model::Builder;

/// Two threads: three preemptions.
pub(crate) fn model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(f);
}

/// Three threads have many more interleavings: two preemptions, and one less than two threads have where those have more.
pub(crate) fn model_of_three(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(builder.preemption_bound.map_or(2, |bound| bound.saturating_sub(1).max(2)));
    builder.check(f);
}

/// What is behind the lock: loom reports an access that is not ordered after the last one.
#[derive(Debug)]
pub(crate) struct Data(UnsafeCell<u32>);

// SAFETY: the lock under test is what makes it so; loom checks each access.
unsafe impl Sync for Data {}

impl Data {
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    pub(crate) fn add(&self, n: u32) {
        // SAFETY: as for `Sync`.
        self.0.with_mut(|data| unsafe { *data += n });
    }

    pub(crate) fn read(&self) -> u32 {
        // SAFETY: as for `Sync`.
        self.0.with(|data| unsafe { *data })
    }
}

/// Counts wakes. Not a loom type: it orders nothing in the model.
#[derive(Clone, Debug)]
pub(crate) struct Woken(Arc<Counter>);

#[derive(Debug, Default)]
struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Woken {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.0.load(Ordering::Relaxed)
    }
}

/// One poll.
pub(crate) fn poll<F: Future + ?Sized>(future: Pin<&mut F>, woken: &Woken) -> Poll<F::Output> {
    let waker = Arc::clone(&woken.0).into();
    future.poll(&mut Context::from_waker(&waker))
}

/// Polls until it is ready; the future must not wait for anybody else.
#[track_caller]
pub(crate) fn finish<F: Future + ?Sized>(mut future: Pin<&mut F>, woken: &Woken) -> F::Output {
    for _ in 0..3 {
        if let Poll::Ready(output) = poll(future.as_mut(), woken) {
            return output;
        }
    }
    panic!("nobody else is there, and it waits");
}

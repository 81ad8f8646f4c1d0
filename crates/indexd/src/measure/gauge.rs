//! How many are inside at once.

use core::sync::atomic::{AtomicUsize, Ordering};

/// Counts who is inside now, and the most that ever were.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    inside: AtomicUsize,
    most: AtomicUsize,
}

/// One who is inside, until dropped.
#[derive(Debug)]
#[must_use = "dropped at once, it leaves at once"]
pub(crate) struct Inside<'a> {
    gauge: &'a Gauge,
}

impl Gauge {
    pub(crate) fn enter(&self) -> Inside<'_> {
        // Ordering: SeqCst, pairs with the one in `inside()` of another gauge. A reader and a writer each
        // enter their own gauge and then look at the other's: one of the two must see the other.
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        // Ordering: Relaxed, read when all tasks have been joined.
        self.most.fetch_max(inside, Ordering::Relaxed);
        Inside { gauge: self }
    }

    pub(crate) fn inside(&self) -> usize {
        self.inside.load(Ordering::SeqCst)
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.gauge.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_at_once_is_kept() {
        let gauge = Gauge::default();
        let one = gauge.enter();
        let two = gauge.enter();
        drop(one);
        let three = gauge.enter();
        assert_eq!((gauge.inside(), gauge.most()), (2, 2));
        drop((two, three));
        assert_eq!((gauge.inside(), gauge.most()), (0, 2));
    }
}

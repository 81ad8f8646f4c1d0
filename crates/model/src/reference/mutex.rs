//! The mutex: a flag and a list (M1 to M6).

use super::{Counts, Kind, Reference};
use std::collections::VecDeque;

/// The mutex by its rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mutex {
    locked: bool,
    waiting: VecDeque<usize>,
}

impl Reference for Mutex {
    const IS_MUTEX: bool = true;

    fn enter(&mut self, _: Kind) -> bool {
        !core::mem::replace(&mut self.locked, true)
    }

    fn wait(&mut self, who: usize, _: Kind) {
        self.waiting.push_back(who);
    }

    fn leave(&mut self, who: usize) -> Vec<usize> {
        self.waiting.retain(|other| *other != who);
        Vec::new()
    }

    fn release(&mut self, _: Kind) -> Vec<usize> {
        // The mutex is handed over: while waiters are queued it stays locked.
        let next = self.waiting.pop_front();
        self.locked = next.is_some();
        Vec::from_iter(next)
    }

    fn downgrade(&mut self, _: Kind, _: Kind) -> Vec<usize> {
        unreachable!("a mutex has no downgrade")
    }

    fn line(&self) -> Vec<usize> {
        self.waiting.iter().copied().collect()
    }

    fn rename(&mut self, new: impl Fn(usize) -> usize) {
        self.waiting.iter_mut().for_each(|who| *who = new(*who));
    }

    fn counts(&self) -> Counts {
        Counts { writer: self.locked, waiting_writers: self.waiting.len(), ..Counts::default() }
    }
}

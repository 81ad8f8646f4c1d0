//! Counts the rows of one peer.

fn main() {
    peers::count_all::<peers::AsyncLockMutex, peers::AsyncLockRwLock>();
}

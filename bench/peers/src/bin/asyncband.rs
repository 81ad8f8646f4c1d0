//! Counts the rows of one peer.

fn main() {
    peers::count_all::<peers::AsyncbandMutex, peers::AsyncbandRwLock>();
}

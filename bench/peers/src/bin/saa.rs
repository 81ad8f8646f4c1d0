//! Counts the rows of one peer.

fn main() {
    peers::count_all::<peers::SaaMutex, peers::SaaRwLock>();
}

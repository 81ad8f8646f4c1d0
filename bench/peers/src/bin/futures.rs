//! Counts the rows of one peer.

fn main() {
    peers::count_mutex::<peers::FuturesMutex>();
}

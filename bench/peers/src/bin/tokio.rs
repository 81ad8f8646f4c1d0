//! Counts the rows of one peer.

fn main() {
    scenarios::on_own_stack(peers::count_all::<peers::TokioMutex, peers::TokioRwLock>);
}

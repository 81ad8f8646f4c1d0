//! Counts fifolock's rows over one raw lock.

fn main() {
    ours::count_all::<ours::CriticalSection>();
}

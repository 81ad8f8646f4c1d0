//! Counts fifolock's rows over one raw lock.

fn main() {
    scenarios::on_own_stack(ours::count_all::<ours::Spin>);
}

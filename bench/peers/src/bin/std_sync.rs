//! Counts the rows of one peer.

fn main() {
    scenarios::on_own_stack(peers::std_rows);
}

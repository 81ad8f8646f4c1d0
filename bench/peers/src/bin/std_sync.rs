//! Counts the rows of one peer.

fn main() {
    peers::std_rows();
}

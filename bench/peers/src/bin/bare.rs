//! Counts the rows of one peer.

fn main() {
    peers::bare_rows();
}

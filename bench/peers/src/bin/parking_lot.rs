//! Counts the rows of one peer.

fn main() {
    peers::parking_lot_rows();
}

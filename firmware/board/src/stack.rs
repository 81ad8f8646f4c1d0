//! The largest extent of the stack.

/// The largest part of the stack that was ever in use, and the room that there is, in bytes.
///
/// The start-up code painted the stack before `main`. A word without the paint has been used.
pub fn high_water_mark() -> (usize, usize) {
    let (bottom, top, paint) = crate::arch::stack();
    let mut word = bottom;
    // SAFETY: the words between the two are RAM that only the stack uses. The read is volatile, since the stack changes
    // them.
    while word < top && unsafe { word.read_volatile() } == paint {
        word = word.wrapping_add(1);
    }
    (top.addr() - word.addr(), top.addr() - bottom.addr())
}

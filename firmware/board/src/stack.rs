//! How much stack was ever used.

/// The most stack ever in use, and the room there is, in bytes.
///
/// The stack was painted before `main`; what no longer holds the paint has been used.
pub fn high_water_mark() -> (usize, usize) {
    let (bottom, top, paint) = crate::arch::stack();
    let mut word = bottom;
    // SAFETY: the words between the two are RAM that nothing but the stack uses. Volatile, since it changes them.
    while word < top && unsafe { word.read_volatile() } == paint {
        word = word.wrapping_add(1);
    }
    (top.addr() - word.addr(), top.addr() - bottom.addr())
}

//! Tells callgrind what to count.
//!
//! Callgrind starts with counting off (`--collect-atstart=no`). A row runs its operation many times, and turns counting
//! on for the operation alone, by two *client requests* around it. A client request is an instruction sequence that
//! does nothing on a processor. So the code before and after the operation is not counted, and no second run has to be
//! subtracted. The cost of the requests themselves is the row [`EMPTY`], which the harness subtracts from every other
//! row.

use std::ffi::CString;

/// The row of an operation that does nothing: the cost of counting.
pub const EMPTY: &str = "empty";

/// The number of runs of a row, of which the report shows the mean. An operation may cost more now and then, for
/// instance when a list grows. One in this many first polls asks tokio for its budget, so each row contains its share
/// of that.
/// first polls of which one asks tokio for its budget: so each row has its part of that.
pub const RUNS: u32 = 128;

/// The number of runs before that, which are not counted.
const WARM_UP: u32 = 4;

/// Callgrind's requests begin with `'C' << 24 | 'T' << 16`.
const CALLGRIND: usize = 0x4354_0000;
const ZERO_STATS: usize = CALLGRIND + 1;
const TOGGLE_COLLECT: usize = CALLGRIND + 2;
const DUMP_STATS_AT: usize = CALLGRIND + 3;

/// Counts the instructions of `operation`.
#[inline(always)]
pub fn counted<R>(operation: impl FnOnce() -> R) -> R {
    static TOGGLE: [usize; 6] = [TOGGLE_COLLECT, 0, 0, 0, 0, 0];
    request(&TOGGLE);
    let result = operation();
    request(&TOGGLE);
    result
}

/// Counts a row. `each` must call [`counted`] once.
pub fn row(name: &str, mut each: impl FnMut()) {
    for _ in 0..WARM_UP {
        each();
    }
    request(&[ZERO_STATS, 0, 0, 0, 0, 0]);
    for _ in 0..RUNS {
        each();
    }
    let name = CString::new(name).expect("names of rows have no zero byte");
    request(&[DUMP_STATS_AT, name.as_ptr().addr(), 0, 0, 0, 0]);
}

/// Counts the row that does nothing.
pub fn empty() {
    row(EMPTY, || counted(|| ()));
}

/// Valgrind's sequence for x86-64: rotations that cancel each other, and an exchange of a register with itself.
///
/// Callgrind counts a basic block when the next block begins. So it counts the whole block that turns counting on, and
/// nothing of the block that turns counting off. The jump makes the sequence a block of its own, so that no part of the
/// operation is in either.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn request(arguments: &[usize; 6]) {
    // SAFETY: the sequence changes nothing but the flags and, under valgrind, rdx, which is declared. Valgrind reads the
    // six arguments, and the string that one may point to.
    unsafe {
        core::arch::asm!(
            "jmp 2f", "2:", "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(), inout("rdx") 0_usize => _, options(nostack),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_: &[usize; 6]) {
    panic!("instructions are counted on x86-64 only");
}

//! Telling callgrind what to count.
//!
//! Callgrind starts with counting off (`--collect-atstart=no`). A row runs its operation many times, and turns counting
//! on for the operation alone, by the two *client requests* around it: an instruction sequence that does nothing on a
//! processor. So whatever an operation needs before and after is free, and needs no second run to be subtracted. What
//! the requests themselves cost is the row [`EMPTY`], which the harness subtracts from every other.

use std::ffi::CString;

/// The row of an operation that does nothing: the cost of counting.
pub const EMPTY: &str = "empty";

/// How often a row is run for its mean. An operation may cost more now and then, such as when a list grows. As many as the
/// first polls of which one asks tokio for its budget: so each row has its part of that.
pub const RUNS: u32 = 128;

/// How often before that, uncounted.
const WARM_UP: u32 = 4;

/// Callgrind's requests begin with `'C' << 24 | 'T' << 16`.
const CALLGRIND: usize = 0x4354_0000;
const ZERO_STATS: usize = CALLGRIND + 1;
const TOGGLE_COLLECT: usize = CALLGRIND + 2;
const DUMP_STATS_AT: usize = CALLGRIND + 3;

/// Counts what `operation` does.
#[inline(always)]
pub fn counted<R>(operation: impl FnOnce() -> R) -> R {
    static TOGGLE: [usize; 6] = [TOGGLE_COLLECT, 0, 0, 0, 0, 0];
    request(&TOGGLE);
    let result = operation();
    request(&TOGGLE);
    result
}

/// Counts a row: `each` is to call [`counted`] once.
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
/// Callgrind counts a basic block when the next one begins: of the block that turns counting on all, of the one that
/// turns it off nothing. The jump makes the sequence a block of its own, so that the operation's part is neither.
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

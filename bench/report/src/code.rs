//! Finds out which instructions are atomic read-modify-writes, by the bytes at their addresses.

use std::collections::HashMap;
use std::fs;

use object::{Object as _, ObjectSegment as _};

use crate::failure::{OrTell as _, Result};

/// The segments of the programs and libraries that ran.
#[derive(Default)]
pub(crate) struct Code {
    files: HashMap<String, Vec<(u64, Vec<u8>)>>,
}

impl Code {
    /// Whether the instruction at this address of a file is an atomic read-modify-write.
    pub(crate) fn is_atomic(&mut self, file: &str, address: u64) -> Result<bool> {
        if !self.files.contains_key(file) {
            self.files.insert(file.to_owned(), segments(file)?);
        }
        let bytes = self.files[file].iter().find_map(|(start, bytes)| {
            let offset = usize::try_from(address.checked_sub(*start)?).ok()?;
            bytes.get(offset..)
        });
        Ok(bytes.is_some_and(is_atomic))
    }
}

fn segments(file: &str) -> Result<Vec<(u64, Vec<u8>)>> {
    // Code of valgrind or of the kernel has no file.
    let Ok(bytes) = fs::read(file) else { return Ok(Vec::new()) };
    let parsed =
        object::File::parse(&*bytes).or_tell("this file ran under callgrind; check that it is an object file")?;
    Ok(parsed.segments().filter_map(|segment| Some((segment.address(), segment.data().ok()?.to_vec()))).collect())
}

/// x86-64: an instruction with the prefix `lock`, or an `xchg` with memory, which needs none.
fn is_atomic(bytes: &[u8]) -> bool {
    const LOCK: u8 = 0xf0;
    let is_prefix =
        |byte: &u8| matches!(*byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | LOCK | 0xf2 | 0xf3);
    let prefixes = bytes.iter().take_while(|byte| is_prefix(byte)).count();
    if bytes[..prefixes].contains(&LOCK) {
        return true;
    }
    // The two high bits of the byte after the opcode are set if both operands are registers.
    matches!(bytes[prefixes..], [0x86 | 0x87, ref operands, ..] if *operands >> 6 != 0b11)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_instructions_and_exchanges_with_memory_are_atomic() {
        // lock cmpxchg %rcx,0x10(%rdi)
        assert!(is_atomic(&[0xf0, 0x48, 0x0f, 0xb1, 0x4f, 0x10]));
        // lock xadd %ax,(%rdi)
        assert!(is_atomic(&[0x66, 0xf0, 0x0f, 0xc1, 0x07]));
        // xchg %rcx,(%rbx)
        assert!(is_atomic(&[0x48, 0x87, 0x0b]));
        // xchg %rbx,%rbx
        assert!(!is_atomic(&[0x48, 0x87, 0xdb]));
        // mov %rdi,0x8(%rsp)
        assert!(!is_atomic(&[0x48, 0x89, 0x7c, 0x24, 0x08]));
        assert!(!is_atomic(&[]));
    }
}

//! Output without formatting, for the images whose size is measured.

/// Prints `name: number`, in hexadecimal. Decimals would need a division, which some of the chips can't do.
pub fn number(name: &str, number: usize) {
    let mut digits = *b"0x00000000\n";
    for (index, digit) in digits[2..10].iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[number >> (4 * (7 - index)) & 0xf];
    }
    for part in [name.as_bytes(), b": ", &digits] {
        write(part);
    }
}

fn write(text: &[u8]) {
    // A host that takes no output still sees the exit status.
    let _ = semihosting::io::stdout().map(|mut out| semihosting::io::Write::write_all(&mut out, text));
}

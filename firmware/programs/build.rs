//! The runtime's linker script. Here and not in flags, so that a `RUSTFLAGS` of the caller's doesn't replace it.

fn main() {
    println!("cargo:rustc-link-arg-bins=-Tlink.x");
    println!("cargo:rustc-link-arg-bins=--nmagic");
}

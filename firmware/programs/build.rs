//! Passes the linker script of the runtime. A build script does it, since a `RUSTFLAGS` of the caller would replace
//! flags in the configuration.

fn main() {
    println!("cargo:rustc-link-arg-bins=-Tlink.x");
    println!("cargo:rustc-link-arg-bins=--nmagic");
}

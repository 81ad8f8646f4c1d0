//! Chooses the board that QEMU emulates for the target, and puts the board's memory layout where the linker script
//! finds it.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let target = env::var("TARGET").expect("cargo sets it");
    let board = match target.as_str() {
        "thumbv6m-none-eabi" => "microbit",
        "thumbv7m-none-eabi" => "mps2-an385",
        "thumbv7em-none-eabihf" => "mps2-an386",
        "riscv32imc-unknown-none-elf" => "virt",
        _ => panic!("there is no board for {target}: build with `--target` and one of firmware/README.md's targets"),
    };
    let layout = format!("memory/{board}.x");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::copy(&layout, out.join("memory.x")).expect("the layout can be copied");
    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rustc-env=BOARD={board}");
    println!("cargo:rerun-if-changed={layout}");
}

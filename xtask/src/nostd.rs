//! The crates work without `std`, without an allocator, and on a chip without compare-and-swap. The proofs, from cheap
//! to real:
//!
//! 1. The core builds without features.
//! 2. A `no_std` static library with a panic handler of its own uses both locks. If a dependency used `std`, there
//!    would be two handlers, which rustc refuses (E0152). The command also checks that rustc does refuse a build with
//!    `std`.
//! 3. Everything builds for `thumbv6m-none-eabi`, for which `std` doesn't exist.

use std::path::PathBuf;

use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

const TARGET: &str = "thumbv6m-none-eabi";

/// Names a folder with a `bin/cargo` that builds for [`TARGET`].
const TOOLCHAIN_VAR: &str = "FIFOLOCK_EMBEDDED_TOOLCHAIN";

/// The features that firmware turns on, from least to most. On a chip without compare-and-swap `alloc` and `spin` offer
/// less, but still build.
const FEATURES: &[&str] = &["", "critical-section", "alloc,critical-section,spin"];

pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    host_core(cx)?;
    host_static_library(cx)?;
    bare_metal(cx)
}

pub(crate) fn manifest(cx: &Context) -> PathBuf {
    cx.root.join("xtask/nostd-check/Cargo.toml")
}

pub(crate) fn target_dir(cx: &Context) -> PathBuf {
    cx.target.join("nostd")
}

fn host_core(cx: &Context) -> Result<()> {
    let sh = &cx.sh;
    let target_dir = target_dir(cx);
    for features in FEATURES {
        cmd!(sh, "cargo build -p fifolock-core --no-default-features --features={features} --target-dir {target_dir}")
            .run()
            .or_tell("the core must build without `std`")?;
    }
    Ok(())
}

fn host_static_library(cx: &Context) -> Result<()> {
    let sh = &cx.sh;
    let (manifest, target_dir) = (manifest(cx), target_dir(cx));
    cmd!(sh, "cargo build --manifest-path {manifest} --target-dir {target_dir}")
        .run()
        .or_tell("E0152 means that a dependency uses `std`: `cargo tree -e features` shows which")?;

    let leaking =
        cmd!(sh, "cargo build --manifest-path {manifest} --target-dir {target_dir} --features leak-std --color never");
    eprintln!("$ {leaking} (must fail)");
    let output = leaking.ignore_status().output().or_tell("check that cargo is on PATH")?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !stderr.contains("error[E0152]") {
        return Err(Failure::new(
            &format!("a build that uses `std` was not refused with E0152:\n{stderr}"),
            "the proof has lost its bite: see that xtask/nostd-check has its own panic handler",
        ));
    }
    println!("nostd: refused with E0152, as it should be");
    Ok(())
}

fn bare_metal(cx: &Context) -> Result<Outcome> {
    let sh = &cx.sh;
    let Some(cargo) = embedded_cargo(cx)? else {
        return cx.skip_unless_ci(
            &format!("no toolchain for {TARGET}"),
            &format!(
                "run `rustup target add {TARGET}`, or let {TOOLCHAIN_VAR} name a folder whose bin/cargo builds for it"
            ),
        );
    };
    let target_dir = target_dir(cx);
    for package in ["fifolock-core", "fifolock"] {
        for features in FEATURES {
            cmd!(sh, "{cargo} build -p {package} --no-default-features --features={features}")
                .args(["--target", TARGET])
                .arg("--target-dir")
                .arg(&target_dir)
                .run()
                .or_tell("use no atomic read-modify-write, and guard what needs one with `target_has_atomic`")?;
        }
    }
    let manifest = manifest(cx);
    cmd!(sh, "{cargo} build --manifest-path {manifest} --target {TARGET} --target-dir {target_dir}")
        .run()
        .or_tell("see xtask/nostd-check")?;
    Ok(Outcome::Passed)
}

/// The cargo that builds for [`TARGET`], if there is one.
fn embedded_cargo(cx: &Context) -> Result<Option<PathBuf>> {
    let sh = &cx.sh;
    if let Some(folder) = sh.var_os(TOOLCHAIN_VAR) {
        let cargo = PathBuf::from(folder).join("bin/cargo");
        if !cargo.is_file() {
            return Err(Failure::new(
                &format!("{TOOLCHAIN_VAR} is set, but {} is no file", cargo.display()),
                "name the toolchain's folder, or unset the variable to use rustup's target",
            ));
        }
        return Ok(Some(cargo));
    }
    let installed = cmd!(sh, "rustup target list --installed").quiet().read();
    let has_target = installed.is_ok_and(|list| list.lines().any(|line| line == TARGET));
    Ok(has_target.then(|| "cargo".into()))
}

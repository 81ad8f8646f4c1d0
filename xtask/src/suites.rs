//! Steps that run the project's tests.

use std::env;
use std::path::PathBuf;

use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result, run_tests};

/// A known lock bug passed at 2.
pub(crate) const LOOM_MAX_PREEMPTIONS: &str = "3";

/// Turns the crate's atomics and cells into loom's.
pub(crate) const LOOM_FLAGS: &str = "--cfg fifolock_loom -D warnings";

/// The flavours of raw lock that have models.
pub(crate) const LOOM_FEATURES: &str = "spin,std";

/// The locks on embassy's executor for hosts.
pub(crate) const EMBASSY_STD: &str = "conformance-embassy-std/Cargo.toml";

/// Miri's scheduler and weak memory are random; each seed is another run.
const MIRI_SEEDS: u32 = 4;

pub(crate) fn test(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    cmd!(sh, "cargo test --workspace {args...}")
        .run()
        .or_tell("the failing tests are named above; `cargo test -p CRATE NAME` runs one")?;
    Ok(Outcome::Passed)
}

/// Runs the core's tests and the contract with locks that know who holds them, and the example that shows it. Such locks
/// take no shortcuts, so the other tests do without.
pub(crate) fn diagnostics(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    // In the common target folder: all but the project's own crates is there already.
    let tests = cmd!(
        sh,
        "cargo test -p fifolock-core -p fifolock-conformance --features fifolock-core/diagnostics,fifolock-conformance/diagnostics {args...}"
    );
    let passed = run_tests(tests)?;
    println!("diagnostics: {passed} tests passed");
    let report = cmd!(sh, "cargo run -p fifolock --example who_holds_it --features tokio,diagnostics")
        .read()
        .or_tell("see crates/fifolock/examples/who_holds_it.rs")?;
    let readme = sh.read_file(cx.root.join("README.md")).or_tell("the file belongs in the repository")?;
    if !readme.contains(report.trim_end()) {
        return Err(Failure::new(
            &format!("README.md doesn't show what the example prints:\n{report}"),
            "put this into the section \"Who holds it?\"",
        ));
    }
    Ok(Outcome::Passed)
}

/// Runs the tests of a workspace of its own: one program can't have two time drivers.
pub(crate) fn embassy_std(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let (manifest, target) = (EMBASSY_STD, embassy_std_target_dir(cx));
    let tests = cmd!(sh, "cargo test --manifest-path {manifest} --target-dir {target} {args...}");
    let passed = run_tests(tests)?;
    println!("embassy-std: {passed} tests passed");
    Ok(Outcome::Passed)
}

pub(crate) fn embassy_std_target_dir(cx: &Context) -> PathBuf {
    cx.target.join("embassy-std")
}

/// Runs the models, or those whose name contains one of the arguments.
pub(crate) fn loom(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let target = loom_target_dir(cx);
    let args = without_dashes(args);
    // Filters of libtest widen each other: the default one must give way.
    let filter = if args.iter().any(|arg| !arg.starts_with('-')) { None } else { Some("loom") };
    let preemptions = env::var("LOOM_MAX_PREEMPTIONS").unwrap_or_else(|_| LOOM_MAX_PREEMPTIONS.to_owned());
    let models =
        cmd!(sh, "cargo test -p fifolock-core --features {LOOM_FEATURES} --profile loom --lib --target-dir {target}")
            .arg("--")
            .args(filter)
            .args(args)
            .env("RUSTFLAGS", LOOM_FLAGS)
            .env("LOOM_MAX_PREEMPTIONS", preemptions);
    let passed = run_tests(models)?;
    println!("loom: {passed} models passed");
    Ok(Outcome::Passed)
}

/// The arguments for the test program: `loom -- --nocapture` and `loom --nocapture` are the same.
fn without_dashes(args: &[String]) -> &[String] {
    match args {
        [first, rest @ ..] if first == "--" => rest,
        all => all,
    }
}

pub(crate) fn loom_target_dir(cx: &Context) -> PathBuf {
    cx.target.join("loom")
}

/// Runs the tests of the core and of the contract under Miri, with stacked and
/// with tree borrows.
pub(crate) fn miri(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    cmd!(sh, "cargo +nightly miri --version")
        .run()
        .or_tell("run `rustup toolchain install nightly --component miri`")?;
    let target = cx.target.join("miri");
    let args = without_dashes(args);
    for borrows in ["", "-Zmiri-tree-borrows"] {
        for seed in 0..MIRI_SEEDS {
            let flags = format!("-Zmiri-strict-provenance -Zmiri-seed={seed} {borrows}");
            println!("miri: MIRIFLAGS=\"{}\"", flags.trim_end());
            let tests = cmd!(
                sh,
                "cargo +nightly miri test -p fifolock-core -p fifolock-conformance --target-dir {target} -- {args...}"
            )
            .env("MIRIFLAGS", flags);
            run_tests(tests)?;
        }
    }
    Ok(Outcome::Passed)
}

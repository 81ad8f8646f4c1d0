//! Large programs under random schedules.

use std::path::PathBuf;

use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result, run_tests};

/// The features that turn the core's atomics into shuttle's.
pub(crate) const FEATURES: &str = "fifolock-core/_shuttle";
pub(crate) const FLAGS: &str = "--cfg fifolock_shuttle -D warnings";

/// The schedules of each program and scheduler, which take some ten seconds in all.
const ITERATIONS: u32 = 1500;

/// Runs the programs. The argument is the number of schedules of each.
pub(crate) fn run(cx: &Context, args: &[String]) -> Result<Outcome> {
    let iterations = match args {
        [] => ITERATIONS,
        [number] => number.parse().or_tell("the command takes a number of schedules: `cargo xtask shuttle 10000`")?,
        _ => {
            return Err(Failure::new(
                &format!("the command can't read `{}`", args.join(" ")),
                "run `cargo xtask shuttle [ITERATIONS]`",
            ));
        }
    };
    if iterations == 0 {
        return Err(Failure::new("0 schedules prove nothing", "choose one or more: `cargo xtask shuttle 10000`"));
    }
    let sh = &cx.sh;
    let target = target_dir(cx);
    let programs = cmd!(
        sh,
        "cargo test -p fifolock-conformance --features {FEATURES} --profile loom --test shuttle --target-dir {target}"
    )
    .env("RUSTFLAGS", FLAGS)
    .env("FIFOLOCK_SHUTTLE_ITERATIONS", iterations.to_string());
    let passed = run_tests(programs)?;
    println!("shuttle: {passed} programs passed, {iterations} schedules of each by two schedulers");
    Ok(Outcome::Passed)
}

pub(crate) fn target_dir(cx: &Context) -> PathBuf {
    cx.target.join("shuttle")
}

//! Steps that run the project's tests.

use std::env;
use std::path::PathBuf;

use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result, run_tests};

/// A known lock bug passed at 2.
pub(crate) const LOOM_MAX_PREEMPTIONS: &str = "3";

/// Turns the crate's atomics and cells into loom's.
pub(crate) const LOOM_FLAGS: &str = "--cfg fifolock_loom -D warnings";

/// Loom itself, and the flavours of raw lock that have models.
pub(crate) const LOOM_FEATURES: &str = "_loom,spin,std";

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
    let mut passed = 0;
    // embassy's own timer queue, for its executor's tasks; and the one for any waker, with which the rules of time run.
    let builds = if args.is_empty() { &["", "rules"][..] } else { &["rules"] };
    for features in builds {
        let tests =
            cmd!(sh, "cargo test --manifest-path {manifest} --target-dir {target} --features={features} {args...}");
        passed += run_tests(tests)?;
    }
    println!("embassy-std: {passed} tests passed");
    Ok(Outcome::Passed)
}

pub(crate) fn embassy_std_target_dir(cx: &Context) -> PathBuf {
    cx.target.join("embassy-std")
}

/// Runs the models, or those whose name contains one of the arguments; `--preemptions N` may come first.
pub(crate) fn loom(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let target = loom_target_dir(cx);
    let (preemptions, args) = match args {
        [flag, preemptions, rest @ ..] if flag == "--preemptions" => (Some(preemptions.clone()), rest),
        all => (None, all),
    };
    let args = without_dashes(args);
    // Filters of libtest widen each other: the default one must give way.
    let filter = if args.iter().any(|arg| !arg.starts_with('-')) { None } else { Some("loom") };
    let preemptions = preemptions
        .or_else(|| env::var("LOOM_MAX_PREEMPTIONS").ok())
        .unwrap_or_else(|| LOOM_MAX_PREEMPTIONS.to_owned());
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

/// All sequences of the model, longer than in the ordinary tests.
pub(crate) fn model(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let tests = cmd!(sh, "cargo test --release -p fifolock-model --test exhaustive -- --nocapture");
    run_tests(tests.env("FIFOLOCK_MODEL_LONG", "1"))?;
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

/// Miri's models of who may use a pointer, and what turns each on.
const MIRI_BORROWS: [(&str, &str); 2] = [("stacked", ""), ("tree", "-Zmiri-tree-borrows")];

/// Runs the tests of the core and of the contract under Miri: `miri [stacked|tree [SEED]] [FILTER…]`; without these, with
/// both models and several seeds.
pub(crate) fn miri(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    cmd!(sh, "cargo +nightly miri --version")
        .run()
        .or_tell("run `rustup toolchain install nightly --component miri`")?;
    let target = cx.target.join("miri");
    let (runs, args) = miri_runs(args);
    for (borrows, seed) in runs {
        let flags = format!("-Zmiri-strict-provenance -Zmiri-seed={seed} {borrows}");
        println!("miri: MIRIFLAGS=\"{}\"", flags.trim_end());
        let args = without_dashes(args);
        let tests = cmd!(
            sh,
            "cargo +nightly miri test -p fifolock-core -p fifolock-conformance --tests --target-dir {target} -- {args...}"
        )
        .env("MIRIFLAGS", flags);
        run_tests(tests)?;
    }
    Ok(Outcome::Passed)
}

/// The flags and seeds of the runs that are asked for, and the arguments that are left.
fn miri_runs(args: &[String]) -> (Vec<(&'static str, u32)>, &[String]) {
    let named = args.first().and_then(|name| MIRI_BORROWS.iter().find(|(known, _)| known == name));
    let Some((_, flags)) = named else {
        let runs = MIRI_BORROWS.iter().flat_map(|(_, flags)| (0..MIRI_SEEDS).map(|seed| (*flags, seed)));
        return (runs.collect(), args);
    };
    match args.get(1).and_then(|seed| seed.parse().ok()) {
        Some(seed) => (vec![(flags, seed)], &args[2..]),
        None => ((0..MIRI_SEEDS).map(|seed| (*flags, seed)).collect(), &args[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn miri_runs_what_is_asked_for() {
        let words = |words: &str| words.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(miri_runs(&words("")).0.len(), 2 * MIRI_SEEDS as usize);
        let args = words("tree 3 k5_");
        assert_eq!(miri_runs(&args), (vec![("-Zmiri-tree-borrows", 3)], &args[2..]));
        let args = words("stacked k5_");
        assert_eq!((miri_runs(&args).0.len(), miri_runs(&args).1), (MIRI_SEEDS as usize, &args[1..]));
        let args = words("k5_");
        assert_eq!(miri_runs(&args).1, args);
    }
}

//! Steps that run the tests of the project.

use std::env;
use std::path::PathBuf;

use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result, run_tests};

/// With 2 a known bug of a lock was not found.
pub(crate) const LOOM_MAX_PREEMPTIONS: &str = "3";

/// The flags that turn the core's atomics and cells into loom's.
pub(crate) const LOOM_FLAGS: &str = "--cfg fifolock_loom -D warnings";

/// The features for loom, with the flavours of raw lock that have models.
pub(crate) const LOOM_FEATURES: &str = "_loom,spin,std";

/// The tests on embassy's executor for hosts.
pub(crate) const EMBASSY_STD: &str = "crates/conformance-embassy-std/Cargo.toml";

/// Miri's scheduler and weak memory are random, so each seed is another run.
const MIRI_SEEDS: u32 = 4;

pub(crate) fn test(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    cmd!(sh, "cargo test --workspace {args...}")
        .run()
        .or_tell("the failing tests are named above; `cargo test -p CRATE NAME` runs one")?;
    Ok(Outcome::Passed)
}

/// Runs the tests of the core and of the contract with locks that know their holders. Such locks have no fast path, so
/// the other tests don't use them.
pub(crate) fn diagnostics(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    // The step uses the common target folder, which has everything built except the project's own crates.
    let tests = cmd!(
        sh,
        "cargo test -p fifolock-core -p fifolock-conformance --features fifolock-core/diagnostics,fifolock-conformance/diagnostics {args...}"
    );
    let passed = run_tests(tests)?;
    println!("diagnostics: {passed} tests passed");
    Ok(Outcome::Passed)
}

/// Runs the tests of a separate workspace, since one program can't have two time drivers.
pub(crate) fn embassy_std(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let (manifest, target) = (EMBASSY_STD, embassy_std_target_dir(cx));
    let mut passed = 0;
    // The first build has embassy's own timer queue, for its executor's tasks. The second has the queue for any waker,
    // which the rules of time need.
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

/// Runs the models, or those whose name contains one of the arguments. `--preemptions N` may come first.
pub(crate) fn loom(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let target = loom_target_dir(cx);
    let (preemptions, args) = match args {
        [flag, preemptions, rest @ ..] if flag == "--preemptions" => (Some(preemptions.clone()), rest),
        all => (None, all),
    };
    let args = without_dashes(args);
    // libtest runs each test that matches any filter, so a filter in the arguments must replace the default one.
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

/// Runs longer sequences of the model than the ordinary tests do.
pub(crate) fn model(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let tests = cmd!(sh, "cargo test --release -p fifolock-model --test exhaustive -- --nocapture");
    run_tests(tests.env("FIFOLOCK_MODEL_LONG", "1"))?;
    Ok(Outcome::Passed)
}

/// The arguments for the test program: `loom -- --nocapture` and `loom --nocapture` mean the same.
fn without_dashes(args: &[String]) -> &[String] {
    match args {
        [first, rest @ ..] if first == "--" => rest,
        all => all,
    }
}

pub(crate) fn loom_target_dir(cx: &Context) -> PathBuf {
    cx.target.join("loom")
}

/// Miri's aliasing models, each with its flag.
const MIRI_BORROWS: [(&str, &str); 2] = [("stacked", ""), ("tree", "-Zmiri-tree-borrows")];

/// The tests under Miri, in parts that take about the same time, since Miri uses one processor.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Core,
    /// These test programs of the conformance suite.
    Programs(&'static [&'static str]),
    /// All other test programs of the suite.
    Rest,
}

const MIRI_PARTS: [(&str, Part); 4] = [
    ("core", Part::Core),
    ("rescue", Part::Programs(&["rescue"])),
    ("rwlock", Part::Programs(&["policies", "rwlock", "rwlock_threads", "upgradable"])),
    ("rest", Part::Rest),
];

/// Runs the tests of the core and of the contract under Miri: `miri [stacked|tree [SEED]] [core|rescue|rwlock|rest]
/// [FILTER…]`. Without arguments, runs all parts with both models and several seeds.
pub(crate) fn miri(cx: &Context, args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    cmd!(sh, "cargo +nightly miri --version")
        .run()
        .or_tell("run `rustup toolchain install nightly --component miri`")?;
    let target = cx.target.join("miri");
    let (runs, args) = miri_runs(args);
    let (part, args) = miri_part(args);
    let programs = test_programs(cx)?;
    let what = &miri_tests(part, &programs)?;
    for (borrows, seed) in runs {
        let flags = format!("-Zmiri-strict-provenance -Zmiri-seed={seed} {borrows}");
        println!("miri: MIRIFLAGS=\"{}\"", flags.trim_end());
        let args = without_dashes(args);
        let tests = cmd!(sh, "cargo +nightly miri test {what...} --target-dir {target} -- {args...}");
        run_tests(tests.env("MIRIFLAGS", flags))?;
    }
    Ok(Outcome::Passed)
}

/// The part that the arguments choose, if any, and the other arguments.
fn miri_part(args: &[String]) -> (Option<Part>, &[String]) {
    match args.first().and_then(|name| MIRI_PARTS.iter().find(|(known, _)| known == name)) {
        Some((_, part)) => (Some(*part), &args[1..]),
        None => (None, args),
    }
}

/// The arguments of cargo that choose the tests of a part. `programs` are the test programs of the conformance suite.
fn miri_tests(part: Option<Part>, programs: &[&str]) -> Result<Vec<String>> {
    let packages = |names: &[&str]| names.iter().flat_map(|name| ["-p".to_owned(), (*name).to_owned()]).collect();
    let named: Vec<&str> = match part {
        None => {
            let mut all: Vec<String> = packages(&["fifolock-core", "fifolock-conformance"]);
            all.push("--tests".to_owned());
            return Ok(all);
        }
        Some(Part::Core) => return Ok([packages(&["fifolock-core"]), vec!["--lib".to_owned()]].concat()),
        Some(Part::Programs(named)) => named.to_vec(),
        Some(Part::Rest) => {
            programs.iter().copied().filter(|program| !elsewhere().any(|other| other == *program)).collect()
        }
    };
    if let Some(gone) = elsewhere().find(|name| !programs.contains(name)) {
        return Err(Failure::new(
            &format!("the conformance suite has no test program `{gone}`"),
            "if it was renamed, rename it in MIRI_PARTS too",
        ));
    }
    let chosen = named.into_iter().flat_map(|program| ["--test".to_owned(), program.to_owned()]);
    Ok(packages(&["fifolock-conformance"]).into_iter().chain(chosen).collect())
}

/// The test programs that another part names.
fn elsewhere() -> impl Iterator<Item = &'static str> {
    MIRI_PARTS.iter().flat_map(|(_, part)| if let Part::Programs(named) = part { *named } else { &[] }).copied()
}

/// The test programs of the conformance suite that need no further feature.
fn test_programs(cx: &Context) -> Result<Vec<&str>> {
    let package = cx.package("fifolock-conformance")?;
    let has_defaults = |target: &serde_json::Value| {
        let required = target["required-features"].as_array().into_iter().flatten();
        let default = package["features"]["default"].as_array().expect("the suite has default features");
        required.into_iter().all(|feature| default.contains(feature))
    };
    let targets = package["targets"].as_array().into_iter().flatten();
    let tests = targets.filter(|target| target["kind"][0] == "test" && has_defaults(target));
    Ok(tests.filter_map(|target| target["name"].as_str()).collect())
}

/// The flags and seeds of the runs that the arguments choose, and the other arguments.
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

    #[test]
    fn miris_parts_are_the_whole() {
        let programs = ["allocations", "policies", "rescue", "rwlock", "rwlock_threads", "upgradable"];
        let tests = |part: &str| miri_tests(miri_part(&[part.to_owned()]).0, &programs).map(|args| args.join(" "));
        assert_eq!(tests("core").unwrap(), "-p fifolock-core --lib");
        assert_eq!(tests("rescue").unwrap(), "-p fifolock-conformance --test rescue");
        assert_eq!(tests("rest").unwrap(), "-p fifolock-conformance --test allocations");
        assert_eq!(tests("k5_").unwrap(), "-p fifolock-core -p fifolock-conformance --tests");
        let of_parts = MIRI_PARTS.iter().map(|(name, _)| tests(name).unwrap());
        let named: Vec<String> =
            of_parts.flat_map(|tests| tests.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect();
        assert!(programs.iter().all(|program| named.iter().filter(|name| name == program).count() == 1));
        let gone = miri_tests(Some(Part::Rest), &programs[1..5]).unwrap_err().to_string();
        assert!(gone.contains("`upgradable`"), "{gone}");
    }
}

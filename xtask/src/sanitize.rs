//! The tests under a sanitizer, with a standard library that is built with the sanitizer too. Otherwise ThreadSanitizer
//! doesn't see the order that `std`'s locks and channels make, and reports races that don't exist.

use std::path::{Path, PathBuf};

use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result, has_toolchain, run_tests};
use crate::suites::EMBASSY_STD;

/// Names a folder with a `tc/bin/sancargo`: `sancargo SANITIZER COMMAND ARGS…` is `cargo COMMAND ARGS…` with a sanitizer.
const TOOLCHAIN_VAR: &str = "FIFOLOCK_SANITIZER_TOOLCHAIN";

struct Sanitizer {
    name: &'static str,
    /// The variable of its options, and their value.
    options: (&'static str, &'static str),
    /// The tests that the sanitizer can't run, each with the reason.
    leaves_out: &'static [(&'static str, &'static str)],
}

const COMPILE_FAIL: (&str, &str) = ("k6_m7_what_must_not_compile", "the test runs the compiler and not the locks");

/// The first two are those that `sanitize` runs without arguments.
const SANITIZERS: &[Sanitizer] = &[
    Sanitizer {
        name: "address",
        options: ("ASAN_OPTIONS", "detect_leaks=1:detect_stack_use_after_return=1:strict_init_order=1"),
        leaves_out: &[COMPILE_FAIL],
    },
    Sanitizer { name: "thread", options: ("TSAN_OPTIONS", "halt_on_error=1"), leaves_out: &[COMPILE_FAIL] },
    Sanitizer { name: "memory", options: ("MSAN_OPTIONS", "halt_on_error=1"), leaves_out: &[COMPILE_FAIL] },
];

/// `sanitize [address|thread|memory] [FILTER…]`. Without a name: address, then thread.
pub(crate) fn run(cx: &Context, args: &[String]) -> Result<Outcome> {
    let named = args.first().and_then(|name| SANITIZERS.iter().find(|sanitizer| sanitizer.name == name));
    let Some(sanitizer) = named else {
        return match args {
            [] => all(cx),
            [name, ..] => {
                let names: Vec<_> = SANITIZERS.iter().map(|sanitizer| sanitizer.name).collect();
                Err(Failure::new(
                    &format!("there is no sanitizer `{name}`"),
                    &format!("name one of {}, or none", names.join(", ")),
                ))
            }
        };
    };
    one(cx, sanitizer, &args[1..])
}

/// Runs the core's own tests under AddressSanitizer, as a step of CI. This needs no standard library of its own.
pub(crate) fn quick(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    if !has_toolchain(cx, "nightly") {
        return cx.skip_unless_ci(
            "no toolchain `nightly`: sanitizers are not stable",
            "run `rustup toolchain install nightly --profile minimal`",
        );
    }
    let host = host(cx)?;
    let target = cx.target.join("sanitize-quick");
    let passed = run_tests(
        cmd!(sh, "rustup run nightly cargo test -p fifolock-core --lib --features std,spin --target {host}")
            .arg("--target-dir")
            .arg(target)
            // The transitions follow no pointers, and their tests visit very many states.
            .args(["--", "--skip", "state::"])
            .env("RUSTFLAGS", "-Zsanitizer=address")
            .env(SANITIZERS[0].options.0, SANITIZERS[0].options.1)
            .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
            .env("CARGO_INCREMENTAL", "0"),
    )?;
    println!("sanitize-quick: {passed} tests passed");
    Ok(Outcome::Passed)
}

/// The host target of the nightly.
fn host(cx: &Context) -> Result<String> {
    let sh = &cx.sh;
    let version = cmd!(sh, "rustc +nightly -vV").quiet().read().or_tell("run the command by itself")?;
    Ok(version.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host").to_owned())
}

fn all(cx: &Context) -> Result<Outcome> {
    for sanitizer in &SANITIZERS[..2] {
        if let Outcome::Skipped(why) = one(cx, sanitizer, &[])? {
            return Ok(Outcome::Skipped(why));
        }
    }
    Ok(Outcome::Passed)
}

fn one(cx: &Context, sanitizer: &Sanitizer, filter: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let Some(cargo) = cargo(cx)? else {
        return cx.skip_unless_ci(
            "no compiler that can build `std` with a sanitizer",
            &format!(
                "run `rustup toolchain install nightly --component rust-src`, or let {TOOLCHAIN_VAR} name a folder \
                 with a tc/bin/sancargo"
            ),
        );
    };
    let (name, (variable, options)) = (sanitizer.name, sanitizer.options);
    let core =
        ["-p", "fifolock-core", "-p", "fifolock-conformance", "--features", "fifolock-core/std,fifolock-core/spin"];
    let mut passed = 0;
    for packages in [&core[..], &["--manifest-path", EMBASSY_STD]] {
        let tests = match &cargo {
            Cargo::Script(script) => cmd!(sh, "{script} {name} test"),
            Cargo::Nightly { host } => cmd!(sh, "cargo +nightly test -Zbuild-std --target {host}")
                .env("RUSTFLAGS", format!("-Zsanitizer={name}"))
                .env("CARGO_TARGET_DIR", cx.target.join(format!("sanitize-{name}"))),
        };
        let tests = match &cargo {
            // The script adds a folder with the name of the sanitizer.
            Cargo::Script(_) => tests.env("CARGO_TARGET_DIR", &cx.target),
            Cargo::Nightly { .. } => tests,
        };
        let mut tests = tests
            .args(packages)
            .args(["--tests", "--no-fail-fast", "--"])
            .args(filter)
            .env(variable, options)
            // Line tables are enough for a report, at a tenth of the space.
            .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
            .env("CARGO_INCREMENTAL", "0");
        for (test, why) in sanitizer.leaves_out {
            println!("sanitize {name}: leaves out `{test}`: {why}");
            tests = tests.args(["--skip", test]);
        }
        passed += run_tests(tests)?;
    }
    println!("sanitize {name}: {passed} tests passed");
    Ok(Outcome::Passed)
}

enum Cargo {
    Script(PathBuf),
    Nightly { host: String },
}

/// The cargo that builds `std` with a sanitizer, if there is one.
fn cargo(cx: &Context) -> Result<Option<Cargo>> {
    let sh = &cx.sh;
    if let Some(folder) = sh.var_os(TOOLCHAIN_VAR) {
        let script = PathBuf::from(folder).join("tc/bin/sancargo");
        if !script.is_file() {
            return Err(Failure::new(
                &format!("{TOOLCHAIN_VAR} is set, but {} is no file", script.display()),
                "name the toolchain's folder, or unset the variable to use rustup's nightly",
            ));
        }
        return Ok(Some(Cargo::Script(script)));
    }
    let Ok(sysroot) = cmd!(sh, "rustc +nightly --print sysroot").quiet().ignore_stderr().read() else {
        return Ok(None);
    };
    if !Path::new(&sysroot).join("lib/rustlib/src/rust/library").is_dir() {
        return Ok(None);
    }
    Ok(Some(Cargo::Nightly { host: host(cx)? }))
}

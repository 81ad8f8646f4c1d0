//! The fuzzers, each for a bounded time. They are a workspace of their own, for nightly and a sanitizer.

use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

pub(crate) const MANIFEST: &str = "fuzz/Cargo.toml";

/// The targets. Each has a folder of inputs, `fuzz/corpus/TARGET`.
const TARGETS: [&str; 3] = ["mutex", "rwlock", "shared"];

/// The time of each target.
const SECONDS: u32 = 60;

/// The length of some hundred letters. Shorter sequences find the same faults.
const BYTES_MAX: u32 = 600;

/// A sequence takes milliseconds, so one that takes this long hangs.
const HANG_SECONDS: u32 = 20;

pub(crate) fn run(cx: &Context, args: &[String]) -> Result<Outcome> {
    let seconds = seconds(args)?;
    let sh = &cx.sh;
    cmd!(sh, "cargo +nightly --version").quiet().run().or_tell("run `rustup toolchain install nightly`")?;
    cmd!(sh, "cargo fuzz --version").quiet().run().or_tell("run `cargo install cargo-fuzz`")?;
    for target in TARGETS {
        // New inputs are written here, apart from those of the repository.
        let found = cx.target.join("fuzz-corpus").join(target);
        sh.create_dir(&found).or_tell("remove the file that is in the place of this folder")?;
        let kept = cx.root.join("fuzz/corpus").join(target);
        let limits =
            [format!("-max_total_time={seconds}"), format!("-max_len={BYTES_MAX}"), format!("-timeout={HANG_SECONDS}")];
        println!("fuzz: {target}, {seconds} seconds");
        cmd!(sh, "cargo +nightly fuzz run {target} {found} {kept} -- {limits...} -print_final_stats=1").run().or_tell(
            &format!(
                "the sequence is printed above, and stands in fuzz/artifacts/{target}; \
                 `cargo +nightly fuzz tmin {target} FILE` makes it shorter; \
                 put it into fuzz/corpus/{target}, and `cargo test -p fifolock-model` runs it from then on. \
                 If it wasn't built at all, see the compiler's message"
            ),
        )?;
    }
    Ok(Outcome::Passed)
}

fn seconds(args: &[String]) -> Result<u32> {
    let usage = "run `cargo xtask fuzz [SECONDS]`, the seconds for each target";
    match args {
        [] => Ok(SECONDS),
        [seconds] => match seconds.parse() {
            // libFuzzer takes 0 for no limit.
            Ok(seconds @ 1..) => Ok(seconds),
            _ => Err(Failure::new(&format!("`{seconds}` is not a number of seconds above 0"), usage)),
        },
        _ => Err(Failure::new("the command takes at most one argument", usage)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_bounded() {
        assert_eq!(seconds(&[]).unwrap(), SECONDS);
        assert_eq!(seconds(&["7".into()]).unwrap(), 7);
        for bad in ["0", "-1", "long"] {
            assert!(seconds(&[bad.into()]).unwrap_err().to_string().contains(bad));
        }
        assert!(seconds(&["1".into(), "2".into()]).is_err());
    }
}

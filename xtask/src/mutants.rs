//! Plants faults, one at a time, and shows that a test fails for each.
//!
//! | command | plants | runs |
//! |---|---|---|
//! | `orderings` | a weaker ordering, for each atomic access whose ordering can be weakened | the loom models |
//! | `breaks` | the faults of `breaks.toml`, such as a missing check, wake or hand-off | the test that each names |
//! | `logic` | the mutants that cargo-mutants makes of the core; `-- --iterate` goes on with the survivors | the rules on one platform, then more and more tests, then loom |

pub(crate) mod breaks;
mod logic;
mod orderings;
mod tree;

use crate::context::{Context, Failure, Outcome, Result};

const USAGE: &str = "cargo xtask mutants orderings|breaks|logic [--only PATTERN] [-- ARGS of cargo-mutants]";

pub(crate) fn run(cx: &Context, args: &[String]) -> Result<Outcome> {
    let (ours, theirs) = match args.iter().position(|arg| arg == "--") {
        Some(at) => (&args[..at], &args[at + 1..]),
        None => (args, &[][..]),
    };
    let (what, only) = match ours {
        [what] => (what, None),
        [what, only, pattern] if only == "--only" => (what, Some(pattern.as_str())),
        _ => return Err(Failure::new(&format!("the command can't read `{}`", args.join(" ")), USAGE)),
    };
    match what.as_str() {
        "orderings" => orderings::run(cx, only),
        "breaks" => breaks::run(cx, only),
        "logic" => logic::run(cx, only, theirs),
        _ => Err(Failure::new(&format!("there is no `{what}`"), USAGE)),
    }
}

/// A few of the breaks, as a step of CI.
pub(crate) fn quick(cx: &Context, _args: &[String]) -> Result<Outcome> {
    breaks::quick(cx)
}

/// Whether the pattern chooses this name.
fn is_chosen(name: &str, only: Option<&str>) -> bool {
    only.is_none_or(|pattern| name.contains(pattern))
}

/// A pattern that matches nothing is a mistake and not a success.
fn none_chosen(only: Option<&str>) -> Failure {
    Failure::new(
        &format!("nothing matches `{}`", only.unwrap_or_default()),
        "run the command without `--only` to see all names, and choose a part of one",
    )
}

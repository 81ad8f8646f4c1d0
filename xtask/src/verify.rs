//! The long checks, which take too long for each change and run before a release. `cargo xtask ci` has the others.

use crate::context::{Context, Outcome, Result};
use crate::{COMMANDS, Step, run_steps};

/// The commands with their arguments, in order. A new part is a new line.
const VERIFY: &[(&str, &[&str])] = &[
    ("loom", &["--preemptions", "5"]),
    ("shuttle", &["50000"]),
    ("model", &[]),
    ("sanitize", &["address"]),
    ("sanitize", &["thread"]),
    ("coverage", &[]),
    ("fuzz", &["1200"]),
    ("mutants", &["breaks"]),
    ("mutants", &["orderings"]),
    ("mutants", &["logic"]),
];

pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let steps = VERIFY.iter().filter_map(|(name, args)| {
        let command = COMMANDS.iter().find(|command| command.name == *name)?;
        let title = if args.is_empty() { (*name).to_owned() } else { format!("{name} {}", args.join(" ")) };
        Some(Step { title, run: command.run, args: args.iter().map(|&arg| arg.to_owned()).collect() })
    });
    run_steps(cx, steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_a_command() {
        for (name, args) in VERIFY {
            let command = COMMANDS.iter().find(|command| command.name == *name);
            assert!(command.is_some_and(|command| command.takes_args || args.is_empty()), "{name} {args:?}");
        }
    }
}

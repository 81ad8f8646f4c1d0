//! The images of `firmware/`, built for microcontrollers and run under QEMU.
//!
//! `--sizes` measures instead what the locks take of flash and RAM, and writes it into docs/BENCHMARKS.md.

mod elf;
mod sizes;

use core::fmt::Write as _;
use std::env;
use std::path::{Path, PathBuf};

use xshell::Shell;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

/// Names a folder with a `bin` in which there are a cargo, a rustc and QEMU; the same as for `cargo xtask nostd`.
const TOOLCHAIN_VAR: &str = "FIFOLOCK_EMBEDDED_TOOLCHAIN";

/// How long a program may take, in seconds; each needs less than two.
const RUN_SECONDS: &str = "60";

/// A microcontroller, as QEMU emulates it.
struct Board {
    target: &'static str,
    core: &'static str,
    qemu: &'static str,
    machine: &'static str,
    /// In steps, where programs need features that exclude each other.
    builds: &'static [&'static [&'static str]],
    programs: &'static [&'static str],
}

const ARM: Board = Board {
    target: "",
    core: "",
    qemu: "qemu-system-arm",
    machine: "",
    builds: &[&["--features", "interrupt-executor"]],
    programs: &["bus", "priorities", "isr", "config"],
};

const RISCV_QEMU: &str = "qemu-system-riscv32";

const BOARDS: &[Board] = &[
    Board { target: NO_CAS, core: "Cortex-M0", machine: "microbit", ..ARM },
    Board { target: "thumbv7m-none-eabi", core: "Cortex-M3", machine: "mps2-an385", ..ARM },
    Board { target: "thumbv7em-none-eabihf", core: "Cortex-M4F", machine: "mps2-an386", ..ARM },
    Board {
        target: "riscv32imc-unknown-none-elf",
        core: "RV32IMC",
        qemu: RISCV_QEMU,
        machine: "virt",
        // embassy has no executor for an interrupt there: the board brings both.
        builds: &[&["--bins"], &["--bin", "priorities", "--no-default-features", "--features", "boards-executors"]],
        ..ARM
    },
];

/// The target without compare-and-swap, for which the images must build with all of fifolock's features too.
const NO_CAS: &str = "thumbv6m-none-eabi";

/// One image that was run.
struct Row<'a> {
    board: &'a Board,
    program: String,
    verdict: core::result::Result<String, String>,
}

pub(crate) fn run(cx: &Context, args: &[String]) -> Result<Outcome> {
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => programs(&Firmware::new(cx, &BOARDS.iter().map(|board| board.target).collect::<Vec<_>>())?),
        ["--sizes"] => sizes::run(cx),
        _ => Err(Failure::new(
            &format!("the command takes `--sizes` or nothing, but was given `{}`", args.join(" ")),
            "run `cargo xtask firmware`",
        )),
    }
}

/// Runs every program on every board, also after one has failed.
fn programs(firmware: &Firmware) -> Result<Outcome> {
    let mut rows = Vec::new();
    for board in BOARDS {
        if board.target == NO_CAS {
            // First, since the same image without these features takes its place.
            firmware.build(board, "checked", &["-p", "programs", "--features", "all-of-fifolock", "--bin", "bus"])?;
            rows.push(Row { board, program: "bus, all features".into(), verdict: program(firmware, board, "bus")? });
        }
        for args in board.builds {
            firmware.build(board, "checked", &[&["-p", "programs"], *args].concat())?;
        }
        for name in board.programs {
            rows.push(Row { board, program: (*name).into(), verdict: program(firmware, board, name)? });
        }
    }
    println!("\n{}", table(&rows));
    let failed = rows.iter().filter(|row| row.verdict.is_err()).count();
    if failed == 0 {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(
        &format!("{failed} of {} programs failed", rows.len()),
        "what each printed stands above; firmware/README.md says how to run one alone",
    ))
}

/// Runs one. `Ok(Ok(_))` is what it said of the stack; `Ok(Err(_))` how it failed.
fn program(firmware: &Firmware, board: &Board, name: &str) -> Result<core::result::Result<String, String>> {
    println!("\n{name} on {} ({}):", board.core, board.target);
    let run = firmware.run(board, "checked", name)?;
    for line in run.output.lines() {
        println!("    {line}");
    }
    Ok(verdict(&run))
}

/// A program passes if it says so: an image that never got to its first assertion must not look like a success.
fn verdict(run: &Run) -> core::result::Result<String, String> {
    let meaning = match run.status {
        Some(0) if run.output.lines().any(|line| line.starts_with("passed on ")) => {
            let stack = run.output.lines().find_map(|line| line.strip_prefix("stack: ")).unwrap_or("not measured");
            return Ok(stack.to_owned());
        }
        Some(0) => "it ended, but did not say that it passed",
        Some(1) => "QEMU could not run it, or it failed",
        Some(101) => "it panicked",
        Some(102) => "a fault",
        Some(124) => "it did not end in time",
        Some(127) => "a tool is missing: `timeout` (GNU coreutils) or QEMU",
        Some(134) => "a fault within a fault: the stack overflowed?",
        _ => "QEMU crashed",
    };
    Err(run.status.map_or_else(|| meaning.to_owned(), |status| format!("{meaning} (exit status {status})")))
}

fn table(rows: &[Row<'_>]) -> String {
    let mut text =
        format!("{:<29}{:<12}{:<12}{:<19}{:<7}stack, or why", "target", "core", "machine", "program", "result");
    for Row { board, program, verdict } in rows {
        let (result, detail) = match verdict {
            Ok(stack) => ("pass", stack),
            Err(why) => ("FAIL", why),
        };
        let Board { target, core, machine, .. } = board;
        let _ = write!(text, "\n{target:<29}{core:<12}{machine:<12}{program:<19}{result:<7}{detail}");
    }
    text
}

/// How an image's run ended.
struct Run {
    /// `None` if a signal ended it.
    status: Option<i32>,
    output: String,
}

/// The workspace `firmware/`, and the tools that it needs.
struct Firmware {
    /// Stands in the workspace's folder, whose `.cargo` counts there. The private toolchain comes first in its PATH.
    sh: Shell,
    folder: PathBuf,
    target_dir: PathBuf,
    cargo: PathBuf,
    rustc: PathBuf,
}

impl Firmware {
    /// Finds the tools for the boards of these targets, or says what to install.
    fn new(cx: &Context, targets: &[&str]) -> Result<Self> {
        let bin = match cx.sh.var_os(TOOLCHAIN_VAR).map(|folder| PathBuf::from(folder).join("bin")) {
            Some(bin) if !bin.join("cargo").is_file() => {
                return Err(Failure::new(
                    &format!("{TOOLCHAIN_VAR} is set, but {} has no cargo", bin.display()),
                    "name the toolchain's folder, or unset the variable to use rustup's targets",
                ));
            }
            bin => bin,
        };
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = bin.iter().cloned().chain(env::split_paths(&path));
        let path = env::join_paths(folders).or_tell("name a folder without a colon in its path")?;
        let folder = cx.root.join("firmware");
        let sh = Shell::new().or_tell("run it from a folder that exists")?;
        sh.change_dir(&folder);
        sh.set_var("PATH", path);
        let tool = |name: &str| bin.as_ref().map_or_else(|| PathBuf::from(name), |bin| bin.join(name));
        let firmware =
            Self { sh, folder, target_dir: cx.target.join("firmware"), cargo: tool("cargo"), rustc: tool("rustc") };
        firmware.check_tools(targets)?;
        Ok(firmware)
    }

    fn check_tools(&self, targets: &[&str]) -> Result<()> {
        let (mut missing, mut remedies) = (Vec::new(), Vec::new());
        let without: Vec<&str> = targets.iter().copied().filter(|target| !self.has_target(target)).collect();
        if !without.is_empty() {
            missing.push(format!("the standard library for {}", without.join(", ")));
            remedies.push(format!(
                "run `rustup target add {}`, or let {TOOLCHAIN_VAR} name a folder whose bin has a cargo and a rustc \
                 that build for them",
                without.join(" ")
            ));
        }
        let mut packages = Vec::new();
        for (qemu, package) in [(ARM.qemu, "qemu-system-arm"), (RISCV_QEMU, "qemu-system-misc")] {
            let is_needed = BOARDS.iter().any(|board| board.qemu == qemu && targets.contains(&board.target));
            if is_needed && !self.has_program(qemu) {
                missing.push(qemu.to_owned());
                packages.push(package);
            }
        }
        if !packages.is_empty() {
            remedies.push(format!("install your distribution's QEMU (on Debian: {})", packages.join(", ")));
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(Failure::new(&format!("this is missing: {}", missing.join("; ")), &remedies.join("; ")))
    }

    fn has_target(&self, target: &str) -> bool {
        let libraries = self.sh.cmd(&self.rustc).args(["--print", "target-libdir", "--target", target]);
        libraries.quiet().ignore_stderr().read().is_ok_and(|folder| Path::new(&folder).is_dir())
    }

    fn has_program(&self, name: &str) -> bool {
        self.sh.cmd(name).arg("--version").quiet().ignore_stdout().ignore_stderr().run().is_ok()
    }

    fn build(&self, board: &Board, profile: &str, args: &[&str]) -> Result<()> {
        self.sh
            .cmd(&self.cargo)
            .args(["build", "--profile", profile, "--target", board.target])
            .args(args)
            .arg("--target-dir")
            .arg(&self.target_dir)
            .run()
            .or_tell("fix what the compiler reports; nothing there may need compare-and-swap")
    }

    fn image(&self, board: &Board, profile: &str, name: &str) -> PathBuf {
        [&self.target_dir, Path::new(board.target), Path::new(profile), Path::new(name)].iter().collect()
    }

    fn run(&self, board: &Board, profile: &str, name: &str) -> Result<Run> {
        let output = self
            .sh
            .cmd(self.folder.join("run.sh"))
            .args([board.qemu, board.machine])
            .arg(self.image(board, profile, name))
            .env("QEMU_TIMEOUT", RUN_SECONDS)
            .quiet()
            .ignore_status()
            .output()
            .or_tell("it is a shell script: run it where there is a POSIX shell")?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        // What QEMU complains of, and panics, whose message goes there.
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        Ok(Run { status: output.status.code(), output: text })
    }

    /// The first line that a program says of its version, without how it was built.
    fn version(&self, program: impl AsRef<Path>) -> Result<String> {
        let text = self
            .sh
            .cmd(program)
            .arg("--version")
            .quiet()
            .read()
            .or_tell("check that the program can be run by itself")?;
        let line = text.lines().next().unwrap_or_default();
        Ok(line.split(" (").next().unwrap_or_default().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(status: Option<i32>, output: &str) -> Run {
        Run { status, output: output.into() }
    }

    #[test]
    fn an_image_that_says_nothing_has_not_passed() {
        assert_eq!(verdict(&run(Some(0), "stack: 8 of 64 bytes\npassed on virt\n")), Ok("8 of 64 bytes".into()));
        assert_eq!(verdict(&run(Some(0), "passed on virt\n")), Ok("not measured".into()));
        assert!(verdict(&run(Some(0), "")).unwrap_err().contains("did not say"));
        assert!(verdict(&run(Some(101), "passed on virt\n")).unwrap_err().contains("panicked"));
        assert!(verdict(&run(Some(124), "")).unwrap_err().contains("in time"));
        assert_eq!(verdict(&run(None, "")), Err("QEMU crashed".into()));
    }

    #[test]
    fn the_table_names_what_failed() {
        let rows = [
            Row { board: &BOARDS[0], program: "bus".into(), verdict: Ok("8 of 64 bytes".into()) },
            Row { board: &BOARDS[3], program: "isr".into(), verdict: Err("it panicked".into()) },
        ];
        let text = table(&rows);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("thumbv6m-none-eabi") && lines[1].ends_with("pass   8 of 64 bytes"), "{text}");
        assert!(lines[2].starts_with("riscv32imc") && lines[2].ends_with("FAIL   it panicked"), "{text}");
    }
}

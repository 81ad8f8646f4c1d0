//! The images of `firmware/`, which are built for microcontrollers and run under QEMU.
//!
//! With `--sizes` the command measures the flash and the RAM of the locks instead, and writes them into
//! docs/BENCHMARKS.md.

mod elf;
mod sizes;

use core::fmt::Write as _;
use std::env;
use std::path::{Path, PathBuf};

use xshell::Shell;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

/// Names a folder whose `bin` has a cargo, a rustc and QEMU. `cargo xtask nostd` reads the same variable.
const TOOLCHAIN_VAR: &str = "FIFOLOCK_EMBEDDED_TOOLCHAIN";

/// The time limit of a program, in seconds. Each needs less than two.
const RUN_SECONDS: &str = "60";

/// A microcontroller that QEMU emulates.
struct Board {
    target: &'static str,
    core: &'static str,
    qemu: &'static str,
    machine: &'static str,
    /// The builds, in steps, since some programs need features that exclude each other.
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
        // embassy has no executor for an interrupt on this target, so the board brings two executors.
        builds: &[&["--bins"], &["--bin", "priorities", "--no-default-features", "--features", "boards-executors"]],
        ..ARM
    },
];

/// The target without compare-and-swap. The images must build for it with all features of fifolock.
const NO_CAS: &str = "thumbv6m-none-eabi";

/// An image that was run.
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

/// Runs every program on every board, also after a failure.
fn programs(firmware: &Firmware) -> Result<Outcome> {
    let mut rows = Vec::new();
    for board in BOARDS {
        if board.target == NO_CAS {
            // This build comes first, since the same image without these features then takes its place.
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

/// Runs one program. `Ok(Ok(_))` is its report of the stack, and `Ok(Err(_))` its failure.
fn program(firmware: &Firmware, board: &Board, name: &str) -> Result<core::result::Result<String, String>> {
    println!("\n{name} on {} ({}):", board.core, board.target);
    let run = firmware.run(board, "checked", name)?;
    for line in run.output.lines() {
        println!("    {line}");
    }
    Ok(verdict(&run))
}

/// A program passes only if it prints so: an image that never reached its first assertion must not look like a success.
fn verdict(run: &Run) -> core::result::Result<String, String> {
    let meaning = match run.status {
        Some(0) if run.output.lines().any(|line| line.starts_with("passed on ")) => {
            let stack = run.output.lines().find_map(|line| line.strip_prefix("stack: ")).unwrap_or("not measured");
            return Ok(stack.to_owned());
        }
        Some(0) => "the program ended, but did not say that it passed",
        Some(1) => "QEMU could not run the program, or the program failed",
        Some(101) => "it panicked",
        Some(102) => "a fault",
        Some(124) => "the program did not end in time",
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

/// The end of an image's run.
struct Run {
    /// The exit status; `None` if a signal ended the run.
    status: Option<i32>,
    output: String,
}

/// The workspace `firmware/` and the tools that it needs.
struct Firmware {
    /// A shell in the folder of the workspace, whose `.cargo` applies there. The private toolchain comes first in its
    /// PATH.
    sh: Shell,
    folder: PathBuf,
    target_dir: PathBuf,
    cargo: PathBuf,
    rustc: PathBuf,
}

impl Firmware {
    /// Finds the tools for the boards of these targets. The error says what to install.
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
        let sh = Shell::new().or_tell("run the command from a folder that exists")?;
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
        Err(Failure::new(&format!("these tools are missing: {}", missing.join("; ")), &remedies.join("; ")))
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
            .or_tell("fix what the compiler reports; the code there must not need compare-and-swap")
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
            .or_tell("the runner is a shell script: use a POSIX shell")?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        // QEMU's complaints, and the messages of panics, go to stderr.
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        Ok(Run { status: output.status.code(), output: text })
    }

    /// The first line of a program's version, without the details of its build.
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

//! What the locks take of flash and RAM: the same program without a lock, with ours and with embassy-sync's.

use core::fmt::Write as _;
use std::fs;

use super::{BOARDS, Board, Firmware};
use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

const TARGETS: &[&str] = &["thumbv6m-none-eabi", "thumbv7m-none-eabi"];

/// How much flash the lock may add, as a multiple of what embassy-sync's adds.
const FLASH_RATIO_MAX: f64 = 1.5;

const PAGE: &str = "docs/BENCHMARKS.md";
const BEGIN: &str = "<!-- What follows is written by `cargo xtask firmware --sizes`. -->";
const END: &str = "<!-- Here ends what `cargo xtask firmware --sizes` writes. -->";

/// The program's two forms, each with ours and with embassy-sync's mutex.
const FORMS: [(&str, &str, &str); 2] = [
    ("`lock`, `try_lock`", "fifolock", "embassy_sync"),
    ("the same, with timeouts", "fifolock_timeout", "embassy_sync_timeout"),
];

/// What an image takes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    flash: i64,
    ram: i64,
    /// Of the stack, at most.
    stack: i64,
}

pub(super) fn run(cx: &Context) -> Result<Outcome> {
    let boards = || BOARDS.iter().filter(|board| TARGETS.contains(&board.target));
    let firmware = Firmware::new(cx, TARGETS)?;
    let mut text = introduction(&firmware)?;
    let mut over = Vec::new();
    for board in boards() {
        firmware.build(board, "release", &["-p", "sizes"])?;
        let _ = write!(text, "\n{}", programs(&firmware, board, &mut over)?);
    }
    let board = boards().next().expect("there are two");
    let _ = write!(text, "\n{}", memory(&firmware, board)?);
    println!("\n{text}");

    let page = cx.root.join(PAGE);
    let old = fs::read_to_string(&page).unwrap_or_else(|_| "# Benchmarks\n".to_owned());
    fs::write(&page, replace_part(&old, &text)?).or_tell("the page must be writable")?;
    println!("written into {PAGE}");
    if over.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(
        &format!(
            "the lock adds more than {FLASH_RATIO_MAX} times the flash that embassy-sync's adds: {}",
            over.join("; ")
        ),
        "`nm -S --size-sort -C` on the images in target/firmware shows the functions; see what the change brought in",
    ))
}

fn introduction(firmware: &Firmware) -> Result<String> {
    let lock = firmware.sh.read_file(firmware.folder.join("Cargo.lock")).or_tell("build the images first")?;
    let mut versions = vec![firmware.version(&firmware.rustc)?, firmware.version("qemu-system-arm")?];
    for package in ["embassy-sync", "embassy-time", "embassy-executor"] {
        versions.push(format!("{package} {}", locked_version(&lock, package).unwrap_or("of an unknown version")));
    }
    Ok(format!(
        "Three tasks take turns, another looks in with `try_lock`: one program, without a lock, with fifolock's mutex, and \
         with\nembassy-sync's. What differs is the lock's. Raw mutex: `CriticalSectionRawMutex`; `opt-level = \"s\"`, LTO, \
         no messages.\n\n\
         - Command: `cargo xtask firmware --sizes` (the images: `firmware/sizes`)\n\
         - Versions: {}\n",
        versions.join("; ")
    ))
}

fn programs(firmware: &Firmware, board: &Board, over: &mut Vec<String>) -> Result<String> {
    let mut text = format!(
        "### {} (`{}`)\n\n\
         | program | mutex | flash | RAM | stack | flash added | to embassy-sync's | RAM added |\n\
         |---|---|--:|--:|--:|--:|--:|--:|\n",
        board.core, board.target
    );
    let without = measure(firmware, board, "without")?;
    let Size { flash, ram, stack } = without;
    let _ = writeln!(text, "| – | none | {flash} | {ram} | {stack} | – | – | – |");
    for (form, ours, embassys) in FORMS {
        let (ours, embassys) = (measure(firmware, board, ours)?, measure(firmware, board, embassys)?);
        let ratio = (ours.flash - without.flash) as f64 / (embassys.flash - without.flash) as f64;
        for (mutex, size, ratio) in [("fifolock", ours, ratio), ("embassy-sync", embassys, 1.0)] {
            let Size { flash, ram, stack } = size;
            let (more_flash, more_ram) = (flash - without.flash, ram - without.ram);
            let _ = writeln!(
                text,
                "| {form} | {mutex} | {flash} | {ram} | {stack} | {more_flash} | {ratio:.1} | {more_ram} |"
            );
        }
        if ratio > FLASH_RATIO_MAX {
            over.push(format!("{ratio:.1} times on {}, {form}", board.core));
        }
    }
    Ok(text)
}

/// Runs an image, which must pass, and reads its file.
fn measure(firmware: &Firmware, board: &Board, name: &str) -> Result<Size> {
    let run = firmware.run(board, "release", name)?;
    let numbers = numbers(&run.output);
    let [("stack", stack)] = numbers[..] else { return Err(failed(name, board, &run.output)) };
    if run.status != Some(0) {
        return Err(failed(name, board, &run.output));
    }
    let file = fs::read(firmware.image(board, "release", name)).or_tell("the image was there a moment ago")?;
    let (flash, ram) = elf_sizes(&file)
        .ok_or_else(|| Failure::new(&format!("{name} is no 32-bit ELF file"), "see what the linker made"))?;
    Ok(Size { flash, ram, stack })
}

fn failed(name: &str, board: &Board, output: &str) -> Failure {
    Failure::new(
        &format!("{name} failed on {}, so its size says nothing: {output}", board.machine),
        "run it alone, as firmware/README.md says",
    )
}

/// The locks and the futures, of which a waiting task has one.
fn memory(firmware: &Firmware, board: &Board) -> Result<String> {
    let run = firmware.run(board, "release", "memory")?;
    let numbers = numbers(&run.output);
    if run.status != Some(0) || numbers.is_empty() {
        return Err(failed("memory", board, &run.output));
    }
    let mut text = String::from("### RAM, in bytes\n\n| | fifolock | embassy-sync |\n|---|--:|--:|\n");
    for pair in numbers.chunks(2) {
        let [(ours, our_bytes), (embassys, their_bytes)] = pair else {
            return Err(failed("memory", board, &run.output));
        };
        let (Some(what), true) = (ours.strip_suffix("/fifolock"), embassys.ends_with("/embassy-sync")) else {
            return Err(failed("memory", board, &run.output));
        };
        let _ = writeln!(text, "| {what} | {our_bytes} | {their_bytes} |");
    }
    Ok(text)
}

/// What a program printed as `name: 0x…`.
fn numbers(output: &str) -> Vec<(&str, i64)> {
    output
        .lines()
        .filter_map(|line| line.rsplit_once(": 0x"))
        .filter_map(|(name, number)| Some((name, i64::from_str_radix(number, 16).ok()?)))
        .collect()
}

/// Flash and static RAM of a 32-bit ELF file. Initialised data take both.
fn elf_sizes(file: &[u8]) -> Option<(i64, i64)> {
    const NOBITS: u32 = 8;
    const WRITE: u32 = 1;
    const ALLOC: u32 = 2;

    let word = |at: usize| Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?));
    let half = |at: usize| Some(usize::from(u16::from_le_bytes(file.get(at..at + 2)?.try_into().ok()?)));
    if !file.starts_with(b"\x7fELF\x01\x01") {
        return None;
    }
    let (table, entry, count) = (word(0x20)? as usize, half(0x2e)?, half(0x30)?);
    let (mut flash, mut ram) = (0, 0);
    for section in (0..count).map(|index| table + index * entry) {
        let (kind, flags, size) = (word(section + 4)?, word(section + 8)?, i64::from(word(section + 20)?));
        if flags & ALLOC != 0 && kind != NOBITS {
            flash += size;
        }
        if flags & (ALLOC | WRITE) == ALLOC | WRITE {
            ram += size;
        }
    }
    Some((flash, ram))
}

fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    rest.split('"').next()
}

/// The page with this as the part between the marks, which are added at its end if it has none.
fn replace_part(page: &str, part: &str) -> Result<String> {
    let Some((before, rest)) = page.split_once(BEGIN) else {
        return Ok(format!("{}\n\n## Flash and RAM\n\n{BEGIN}\n\n{part}\n{END}\n", page.trim_end()));
    };
    let (_, after) = rest.split_once(END).ok_or_else(|| {
        Failure::new(&format!("{PAGE} has the first of two marks, but not `{END}`"), "put it back after the tables")
    })?;
    Ok(format!("{before}{BEGIN}\n\n{part}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with these sections: kind, flags, size.
    fn elf(sections: &[(u32, u32, u32)]) -> Vec<u8> {
        let mut file = vec![0; 0x34];
        file[..6].copy_from_slice(b"\x7fELF\x01\x01");
        file[0x20] = 0x34;
        file[0x2e] = 40;
        file[0x30] = sections.len() as u8;
        for &(kind, flags, size) in sections {
            let mut section = [0; 40];
            section[4..8].copy_from_slice(&kind.to_le_bytes());
            section[8..12].copy_from_slice(&flags.to_le_bytes());
            section[20..24].copy_from_slice(&size.to_le_bytes());
            file.extend(section);
        }
        file
    }

    #[test]
    fn initialised_data_take_flash_and_ram() {
        let (text, data, bss, debug) = ((1, 6, 1000), (1, 3, 20), (8, 3, 300), (1, 0, 9999));
        assert_eq!(elf_sizes(&elf(&[text, data, bss, debug])), Some((1020, 320)));
        assert_eq!(elf_sizes(b"\x7fELF\x02\x01"), None);
        assert_eq!(elf_sizes(&elf(&[text])[..60]), None);
    }

    #[test]
    fn numbers_are_read_and_the_rest_is_not() {
        assert_eq!(numbers("stack: 0x00000040\nwarning: x\na: b: 0x7\n"), [("stack", 64), ("a: b", 7)]);
    }

    #[test]
    fn the_part_is_replaced_and_the_rest_of_the_page_stays() {
        let once = replace_part("# Page\n\nText.\n", "old\n").unwrap();
        assert!(once.starts_with("# Page\n\nText.\n\n## Flash and RAM\n"), "{once}");
        let more = format!("{once}\n## More\n");
        let twice = replace_part(&more, "new\n").unwrap();
        assert!(twice.contains("new") && !twice.contains("old") && twice.ends_with("## More\n"), "{twice}");
        assert!(replace_part(&format!("# Page\n{BEGIN}\n"), "x").is_err());
    }

    #[test]
    fn versions_are_found_in_the_lock_file() {
        let lock = "[[package]]\nname = \"a-b\"\nversion = \"1.2.3\"\nsource = \"x\"\n";
        assert_eq!(locked_version(lock, "a-b"), Some("1.2.3"));
        assert_eq!(locked_version(lock, "a"), None);
    }
}

//! The flash and the RAM of the locks: the same program without a lock, with fifolock's and with embassy-sync's.

use core::fmt::Write as _;
use std::fs;

use super::elf::Elf;
use super::{BOARDS, Board, Firmware};
use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

const TARGETS: &[&str] = &["thumbv6m-none-eabi", "thumbv7m-none-eabi"];

/// The limit of the flash that the lock adds, as a multiple of what embassy-sync's lock adds.
const FLASH_RATIO_MAX: f64 = 1.5;

const PAGE: &str = "docs/BENCHMARKS.md";
const BEGIN: &str = "<!-- What follows is written by `cargo xtask firmware --sizes`. -->";
const END: &str = "<!-- Here ends what `cargo xtask firmware --sizes` writes. -->";

/// The programs: a description, and the end of the image's name.
const PROGRAMS: [(&str, &str); 4] = [
    ("one place, and a `try_lock`", ""),
    ("three places", "_3"),
    ("six places, two kinds of data", "_6"),
    ("twelve places, four kinds of data", "_12"),
];

/// The forms of locking: a description, and the part of the image's name after the mutex.
const FORMS: [(&str, &str); 2] = [("`lock`", ""), ("timeouts", "_timeout")];

/// The mutexes, by their names in the tables and in the images.
const MUTEXES: [(&str, &str); 2] = [("fifolock", "fifolock"), ("embassy-sync", "embassy_sync")];

/// The text above the tables.
const PROSE: &str = "\
The tables compare programs without a lock, with fifolock's mutex and with embassy-sync's; the difference is the lock's. There are
four programs:

- one place in the code that locks: three tasks of one kind take turns, and another one tries with `try_lock`;
- three places: three tasks with code of their own share a bus;
- six places, two kinds of data: each of these tasks also writes into a log behind a second mutex;
- twelve places, four kinds of data: each also adjusts settings behind a third mutex, and counts behind a fourth.

With timeouts the programs use `lock_timeout`, and embassy-time's `with_timeout` around `lock`. The raw mutex is
`CriticalSectionRawMutex`; the build has `opt-level = \"s\"`, LTO and no messages.

fifolock's share has a part that comes once, and a smaller part for each place that locks. embassy-sync's share comes with each
place: its `lock` is an `async fn`, which is compiled where it is awaited. There is little to share, since its mutex is a flag and
the waker of the last waiter; each new waiter displaces the waker before it, and the displaced task is woken to ask again. The part
of fifolock that comes once is the queue:

- `poll_slow`: a waiter is linked behind the others, keeps its place when its waker changes, claims its grant, and takes over a
  grant that its own task has left unclaimed (half of the function);
- `release_slow`: the first waiter is taken out, becomes the owner, and is woken alone;
- `claim_or_leave`, `leave_queued`: a waiter that times out or is dropped leaves from anywhere in the queue, and passes on a grant;
- `poll_waiting`: a grant that comes together with the end of the time is kept, and a duration past the end of the clock waits
  without end.

So a program with one place to lock pays most for the order. The tables say which programs stay within the limit.
";

/// The memory of an image, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    flash: i64,
    ram: i64,
    /// The most that the stack has used.
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
        let _ = write!(text, "\n{}", instructions(&firmware, board)?);
    }
    let board = boards().next().expect("there are two boards");
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
        "`nm -S --size-sort -C` on the images in target/firmware shows the functions; find the functions that the change added",
    ))
}

fn introduction(firmware: &Firmware) -> Result<String> {
    let lock = firmware.sh.read_file(firmware.folder.join("Cargo.lock")).or_tell("build the images first")?;
    let mut versions = vec![firmware.version(&firmware.rustc)?, firmware.version("qemu-system-arm")?];
    for package in ["embassy-sync", "embassy-time", "embassy-executor"] {
        versions.push(format!("{package} {}", locked_version(&lock, package).unwrap_or("of an unknown version")));
    }
    Ok(format!(
        "{PROSE}\n- Command: `cargo xtask firmware --sizes` (the images: `firmware/sizes`)\n- Versions: {}\n",
        versions.join("; ")
    ))
}

/// The flash that the locks add to each program, and the part that each place adds.
fn programs(firmware: &Firmware, board: &Board, over: &mut Vec<String>) -> Result<String> {
    let mut text = format!(
        "### {} (`{}`)\n\n\
         | places to lock | form | mutex | flash | RAM | stack | flash added | to embassy-sync's | at most {FLASH_RATIO_MAX} | RAM added |\n\
         |---|---|---|--:|--:|--:|--:|--:|---|--:|\n",
        board.core, board.target
    );
    // For each form and mutex, the bytes that it adds to the programs.
    let mut added = [[[0; PROGRAMS.len()]; MUTEXES.len()]; FORMS.len()];
    for (place, (program, end)) in PROGRAMS.into_iter().enumerate() {
        let without = measure(firmware, board, &format!("without{end}"))?;
        let Size { flash, ram, stack } = without;
        let _ = writeln!(text, "| {program} | – | none | {flash} | {ram} | {stack} | – | – | – | – |");
        for (form, (how, middle)) in FORMS.into_iter().enumerate() {
            let sizes = MUTEXES.map(|(_, image)| measure(firmware, board, &format!("{image}{middle}{end}")));
            let [ours, embassys] = sizes;
            let sizes = [ours?, embassys?];
            let flash_added = sizes.map(|size| size.flash - without.flash);
            let ratio = flash_added[0] as f64 / flash_added[1] as f64;
            for (mutex, (name, _)) in MUTEXES.into_iter().enumerate() {
                let Size { flash, ram, stack } = sizes[mutex];
                let (flash_added, ram_added) = (flash_added[mutex], ram - without.ram);
                let ratio = if mutex == 0 { ratio } else { 1.0 };
                let verdict = if ratio > FLASH_RATIO_MAX { "no" } else { "yes" };
                let _ = writeln!(
                    text,
                    "| {program} | {how} | {name} | {flash} | {ram} | {stack} | {flash_added} | {ratio:.2} | {verdict} | {ram_added} |"
                );
                added[form][mutex][place] = flash_added;
            }
            if ratio > FLASH_RATIO_MAX {
                over.push(format!("{ratio:.2} times on {}, {program}, {how}", board.core));
            }
        }
    }
    text.push_str("\nThis table shows the bytes of flash that come once, and those that come with each place: a line through three places and twelve.\nWhere little comes once, the line may begin below zero.\n\n");
    text.push_str("| form | mutex | once | each place |\n|---|---|--:|--:|\n");
    let mut limits = Vec::new();
    for ((how, _), added) in FORMS.into_iter().zip(added) {
        let lines = added.map(|[_, three, _, twelve]| Line::through((3, three), (12, twelve)));
        for ((name, _), Line { once, each }) in MUTEXES.into_iter().zip(lines) {
            let _ = writeln!(text, "| {how} | {name} | {once:.0} | {each:.0} |");
        }
        limits.push(match lines[0].falls_below(lines[1].times(FLASH_RATIO_MAX)) {
            Some(places) => format!("with {how} from {places} places on"),
            None => format!("with {how} for no number of places"),
        });
    }
    let _ = writeln!(text, "\nBy these lines {FLASH_RATIO_MAX} times is kept {}.", limits.join(", and "));
    for (form, (how, middle)) in FORMS.into_iter().enumerate() {
        text.push_str(&functions(firmware, board, how, &format!("fifolock{middle}"), added[form][0][0])?);
    }
    Ok(text)
}

/// The bytes that a mutex adds, as a line over the number of places.
#[derive(Clone, Copy, Debug)]
struct Line {
    once: f64,
    each: f64,
}

impl Line {
    fn through((x, y): (i64, i64), (x2, y2): (i64, i64)) -> Self {
        let each = (y2 - y) as f64 / (x2 - x) as f64;
        Self { once: y as f64 - x as f64 * each, each }
    }

    fn times(self, factor: f64) -> Self {
        Self { once: self.once * factor, each: self.each * factor }
    }

    /// The number of places from which on this line is not above another one.
    fn falls_below(self, other: Self) -> Option<u64> {
        let gains = other.each - self.each;
        (gains > 0.0).then(|| ((self.once - other.once) / gains).ceil().max(1.0) as u64)
    }
}

/// A line of text about the functions that an image has for the lock.
fn functions(firmware: &Firmware, board: &Board, how: &str, image: &str, added: i64) -> Result<String> {
    let file = fs::read(firmware.image(board, "release", image))
        .or_tell("the image was built a moment ago; run the command again")?;
    let functions = Elf::new(&file).and_then(|elf| elf.functions_of("fifolock_core")).ok_or_else(|| no_elf(image))?;
    let shared: i64 = functions.iter().map(|(_, size)| size).sum();
    let list: Vec<String> = functions.iter().map(|(name, size)| format!("`{name}` {size}")).collect();
    Ok(format!(
        "\nOf the {added} bytes for one place, {how}: {}; the rest, {}, lies in the tasks.\n",
        list.join(", "),
        added - shared
    ))
}

/// Runs an image, which must pass, and reads its file.
fn measure(firmware: &Firmware, board: &Board, name: &str) -> Result<Size> {
    let run = firmware.run(board, "release", name)?;
    let numbers = numbers(&run.output);
    let [("stack", stack)] = numbers[..] else { return Err(failed(name, board, &run.output)) };
    if run.status != Some(0) {
        return Err(failed(name, board, &run.output));
    }
    let file = fs::read(firmware.image(board, "release", name))
        .or_tell("the image was built a moment ago; run the command again")?;
    let (flash, ram) = Elf::new(&file).and_then(|elf| elf.sizes()).ok_or_else(|| no_elf(name))?;
    Ok(Size { flash, ram, stack })
}

fn no_elf(name: &str) -> Failure {
    Failure::new(&format!("{name} is no 32-bit ELF file"), "look at the file that the linker made")
}

fn failed(name: &str, board: &Board, output: &str) -> Failure {
    Failure::new(
        &format!("{name} failed on {}, so its size says nothing: {output}", board.machine),
        "run the image alone, as firmware/README.md says",
    )
}

/// The sizes of the locks and of the futures. A waiting task has one future.
fn memory(firmware: &Firmware, board: &Board) -> Result<String> {
    Ok(format!("### RAM, in bytes\n\n{}", beside(firmware, board, "memory")?))
}

/// The instructions that the operations execute.
fn instructions(firmware: &Firmware, board: &Board) -> Result<String> {
    let table = beside(firmware, board, "instructions")?;
    Ok(format!(
        "### Instructions, {} (`{}`)\n\nThe figures are QEMU's counts, the mean of 256 runs. The chip needs more cycles, which \
         depend on its memory. The waker\ndoes nothing.\n\n{table}",
        board.core, board.target
    ))
}

/// The numbers that an image prints, in pairs.
fn beside(firmware: &Firmware, board: &Board, image: &str) -> Result<String> {
    let run = firmware.run(board, "release", image)?;
    let numbers = numbers(&run.output);
    if run.status != Some(0) || numbers.is_empty() {
        return Err(failed(image, board, &run.output));
    }
    let of = |end: &str| -> Vec<_> {
        numbers.iter().filter_map(|(name, number)| Some((name.strip_suffix(end)?, *number))).collect()
    };
    let (ours, embassys) = (of("/fifolock"), of("/embassy-sync"));
    if !ours.iter().map(|(what, _)| what).eq(embassys.iter().map(|(what, _)| what)) {
        return Err(failed(image, board, &run.output));
    }
    let mut text = String::from("| | fifolock | embassy-sync |\n|---|--:|--:|\n");
    for ((what, our_number), (_, their_number)) in ours.into_iter().zip(embassys) {
        let _ = writeln!(text, "| {what} | {our_number} | {their_number} |");
    }
    Ok(text)
}

/// The numbers that a program prints as `name: 0x…`.
fn numbers(output: &str) -> Vec<(&str, i64)> {
    output
        .lines()
        .filter_map(|line| line.rsplit_once(": 0x"))
        .filter_map(|(name, number)| Some((name, i64::from_str_radix(number, 16).ok()?)))
        .collect()
}

fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    rest.split('"').next()
}

/// The page with this text between its two marks. If the page has no marks, they are added at its end.
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
    fn a_line_falls_below_another_where_it_gains() {
        let line = Line::through((3, 130), (12, 220));
        assert_eq!((line.once, line.each), (100.0, 10.0));
        let other = Line { once: 0.0, each: 10.0 };
        assert_eq!(line.falls_below(other.times(1.5)), Some(20));
        assert_eq!(line.falls_below(other), None);
        assert_eq!(other.falls_below(other.times(1.5)), Some(1));
    }

    #[test]
    fn versions_are_found_in_the_lock_file() {
        let lock = "[[package]]\nname = \"a-b\"\nversion = \"1.2.3\"\nsource = \"x\"\n";
        assert_eq!(locked_version(lock, "a-b"), Some("1.2.3"));
        assert_eq!(locked_version(lock, "a"), None);
    }
}

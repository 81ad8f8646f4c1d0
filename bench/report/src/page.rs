//! The page: text, tables and charts, between two marks of docs/BENCHMARKS.md.

use core::fmt::Write as _;
use std::fs;
use std::path::Path;

use results::{BuildCost, Cost, Fairness, Goodput, Instructions, Memory, Timing};

use crate::charts;
use crate::failure::{Failure, OrTell as _, Result};
use crate::machine;
use crate::measured::{Measured, cost, median, ratios, spread};
use crate::rows::{ASYNC_LOCKS, FLOOR, LOCKS, RAW_LOCKS, ROWS, TIME_TARGETS};
use crate::table::{Table, short, thousands};

const PAGE: &str = "docs/BENCHMARKS.md";
const IMAGES: &str = "docs/img";
const BEGIN: &str = "<!-- What follows is written by `cargo xtask bench`. -->";
const END: &str = "<!-- Here ends what `cargo xtask bench` writes. -->";

/// The runtime of the fairness chart.
const FAIRNESS_RUNTIME: &str = "tokio, 2 workers";

/// Writes the page and its charts.
pub(crate) fn write(root: &Path, rustc: &str, profile: &str, measured: &Measured) -> Result<()> {
    let images = root.join(IMAGES);
    fs::create_dir_all(&images).or_tell("the folder must be writable")?;
    let mut text = introduction(root, rustc, profile, measured)?;
    if let Some(instructions) = &measured.instructions {
        charts::turn(&images.join("turn.svg"), instructions)?;
        charts::growth(&images.join("growth.svg"), instructions)?;
        text.push_str(&counts(instructions));
    }
    if let Some(timings) = &measured.timings {
        text.push_str(&times(timings));
    }
    if let Some(fairness) = &measured.fairness {
        charts::fairness(&images.join("fairness.svg"), fairness, FAIRNESS_RUNTIME)?;
        text.push_str(&fair(fairness));
    }
    if let Some(goodput) = &measured.goodput {
        text.push_str(&overload(goodput));
    }
    if let Some(memory) = &measured.memory {
        text.push_str(&sizes(memory));
    }
    if let Some(build) = &measured.build {
        text.push_str(&build_cost(build));
    }
    let page = root.join(PAGE);
    let old = fs::read_to_string(&page).unwrap_or_else(|_| "# Benchmarks\n".to_owned());
    fs::write(&page, replace_part(&old, text.trim_end())?).or_tell("the page must be writable")
}

fn introduction(root: &Path, rustc: &str, profile: &str, measured: &Measured) -> Result<String> {
    let mut text = String::from(
        "This page compares fifolock's locks with their peers': instructions, time, fairness, memory. One command repeats all of it:\n\n\
         ```text\n\
         cargo xtask bench                  # everything, about ten minutes after the build; needs valgrind\n\
         cargo xtask bench --instructions   # only what is the same on every machine\n\
         cargo xtask gate                   # fifolock's instruction counts against the recorded ones: a step of CI\n\
         ```\n\n",
    );
    let lto = if profile == "lto" { "with LTO and one codegen unit" } else { "cargo's defaults: no LTO" };
    let valgrind = measured.instructions.as_ref().map_or("no valgrind", |counted| &counted.valgrind);
    let _ = writeln!(text, "- Machine: {}", machine::machine());
    let _ = writeln!(text, "- Build: {rustc}, release, {lto}; {valgrind}");
    let _ = writeln!(text, "- Versions: {}", machine::versions(root)?);
    let parts = [
        ("instructions", measured.instructions.is_none()),
        ("time", measured.timings.is_none()),
        ("fairness", measured.fairness.is_none()),
        ("overload", measured.goodput.is_none()),
        ("memory", measured.memory.is_none()),
        ("build cost (`--build-cost`)", measured.build.is_none()),
    ];
    let missing: Vec<&str> = parts.iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| *name).collect();
    if !missing.is_empty() {
        let _ = writeln!(text, "- Not measured: {}", missing.join(", "));
    }
    Ok(text)
}

fn cell(cost: Cost) -> String {
    let Cost { instructions, atomics } = cost;
    let per = if instructions < 99.95 && instructions.fract() > 0.05 && instructions.fract() < 0.95 {
        format!("{instructions:.1}")
    } else {
        thousands(instructions.round() as u64)
    };
    if atomics > 0.0 && atomics < 0.95 { format!("{per} ({atomics:.2})") } else { format!("{per} ({atomics:.0})") }
}

fn counts(instructions: &Instructions) -> String {
    let mut text = String::from(
        "\n## Instructions\n\n\
         The table shows how many instructions one operation executes on x86-64, and in brackets how many of them are atomic\n\
         read-modify-writes, which cost most. Callgrind counts one thread, around the operation alone; a figure is the mean of 128. The\n\
         figures hardly depend on the machine, so CI checks them (to 2 %), and never checks times.\n\
         \n\
         The *target* is the project's own, for fifolock over its raw lock for operating systems; **✗** marks a row that misses the target.\n\
         A peer's figure is **bold** if it is lower than fifolock's.\n\n",
    );
    if let Some(costs) = instructions.programs.get(LOCKS[0].program) {
        let of = |row: &str| costs.get(row).map_or(0.0, |cost| cost.instructions);
        let _ = writeln!(
            text,
            "The waker of these rows only counts its wakes: {:.0} instructions to clone, {:.0} to wake, {:.0} to drop. These are part of each\n\
         row with a waiter: enqueue, release, drop.\n",
            of("waker_clone"),
            of("waker_wake"),
            of("waker_drop")
        );
    }
    let names = LOCKS.iter().map(|lock| lock.name);
    let mut table = Table::new(["one operation", "target"].into_iter().chain(names));
    for row in ROWS {
        let ours = cost(instructions, LOCKS[0].program, row);
        let target = row.target.map(|(most, atomics)| match atomics {
            Some(atomics) => format!("≤ {most} ({atomics})"),
            None => format!("≤ {most}"),
        });
        let mut cells = vec![Some(row.title.to_owned()), target];
        cells.push(ours.map(|ours| format!("{}{}", cell(ours), if misses(ours, row.target) { " **✗**" } else { "" })));
        for (index, lock) in LOCKS.iter().enumerate().skip(1) {
            let theirs = cost(instructions, lock.program, row);
            // A lock that can't wait asynchronously is a floor and not a peer.
            let is_better = index < ASYNC_LOCKS
                && theirs.zip(ours).is_some_and(|(theirs, ours)| theirs.instructions < ours.instructions - 0.05);
            cells.push(theirs.map(|theirs| if is_better { format!("**{}**", cell(theirs)) } else { cell(theirs) }));
        }
        table.row(cells);
    }
    text.push_str(&table.into_text());
    text.push_str(
        "\nA lock has no figure for a leaving writer if the writer doesn't wake all readers itself, but wakes one, which wakes the next.\n\
         embassy-sync keeps one waker for all waiters: the drop of a waiter costs nothing, and a waiter that is polled wakes the one before\n\
         it. A peer's timeout is tokio's, around the peer's future; fifolock makes its timer only when it has to wait. Under valgrind a clock\n\
         read looks cheaper than it is, since valgrind makes it a system call, and the kernel's instructions are not counted.\n\n\
         ![Instructions of a contended turn](img/turn.svg)\n\n\
         ![Instructions to drop a queued waiter](img/growth.svg)\n\n\
         ### fifolock's raw locks\n\n\
         The critical section is the one for hosts, a global mutex of the standard library; a microcontroller's is three \
         instructions.\n\n",
    );
    let names = RAW_LOCKS.iter().map(|(name, _)| *name);
    let mut table = Table::new([""].into_iter().chain(names));
    for row in ROWS {
        let costs = RAW_LOCKS.iter().map(|(_, program)| cost(instructions, program, row).map(cell));
        table.row([Some(row.title.to_owned())].into_iter().chain(costs));
    }
    text.push_str(&table.into_text());
    text
}

fn misses(ours: Cost, target: Option<(f64, Option<f64>)>) -> bool {
    target.is_some_and(|(most, atomics)| {
        ours.instructions > most + 0.05 || atomics.is_some_and(|most| ours.atomics > most + 0.05)
    })
}

fn times(timings: &[Timing]) -> String {
    let mut text = String::from(
        "\n## Time\n\n\
         The first table of each section shows the time of an operation as a multiple of tokio's, the second the medians in nanoseconds. The\n\
         locks of a row follow each other in every round, and a ratio is the median of the rounds' ratios, so a slow moment of the machine\n\
         hits all locks alike. *Spread* is half the distance between the quartiles of fifolock's rounds: a smaller difference says nothing.\n\
         A figure is **bold** if the peer is faster than fifolock; **✗** marks a row in which fifolock misses its *target*. To *yield* is to\n\
         wake one's own task and to be polled again, on every runtime alike: tokio's own yield also asks its I/O driver, by a system call.\n\
         \n\
         **The floor.** Among tasks, *bare atomics* is a ring of tasks that hand a turn on, in order, by one store and one wake each. There\n\
         is no lock and no queue, and no task can leave. The ring shows what the runtime itself takes for a turn in strict order, and so the\n\
         least that a FIFO lock can reach. A lock that lets newcomers in can need fewer task switches.\n\
         \n\
         **Where FIFO loses.** Without an await inside the critical section, a lock that lets newcomers in (*barging*: async-lock, futures)\n\
         wins by a wide margin, more so on several threads. The task that has just released takes the lock again while the woken task is\n\
         still on its way. A FIFO lock has promised the lock to the woken task, so each turn costs a task switch: a *lock convoy*. If nothing\n\
         is awaited inside, and order doesn't matter, a blocking mutex is the better tool. On a machine that is busy with other work, these\n\
         rows flatter FIFO.\n",
    );
    let mut runtimes: Vec<&str> = Vec::new();
    for timing in timings {
        if !runtimes.contains(&timing.runtime.as_str()) {
            runtimes.push(&timing.runtime);
        }
    }
    for runtime in runtimes {
        let here: Vec<&Timing> = timings.iter().filter(|timing| timing.runtime == runtime).collect();
        let mut title = runtime.to_owned();
        if let Some(first) = title.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let _ = write!(text, "\n### {title}\n\n{}\n{}", times_on(&here, true), times_on(&here, false));
        text.push_str(&missed(&here));
    }
    text
}

fn times_on(timings: &[&Timing], is_ratio: bool) -> String {
    let (mut rows, mut locks): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for timing in timings {
        if !rows.contains(&timing.row.as_str()) {
            rows.push(&timing.row);
        }
    }
    for lock in LOCKS.iter().map(|lock| lock.name) {
        if timings.iter().any(|timing| timing.lock == lock) {
            locks.push(lock);
        }
    }
    let head = if is_ratio { vec!["to tokio's", "target"] } else { vec!["ns"] };
    let mut table = Table::new(head.into_iter().chain(locks.iter().copied()).chain(["spread"]));
    for row in rows {
        let find = |lock: &str| timings.iter().find(|timing| timing.row == row && timing.lock == lock);
        let rounds = |lock: &str| {
            let rounds = &find(lock)?.rounds_ns;
            Some(if is_ratio { ratios(rounds, &find("tokio")?.rounds_ns) } else { rounds.clone() })
        };
        let value = |lock: &str| rounds(lock).map(|rounds| median(&rounds));
        let ours = value(LOCKS[0].name);
        let target = TIME_TARGETS
            .iter()
            .find(|(runtime, of, _)| *of == row && find("tokio").is_some_and(|it| it.runtime == *runtime));
        let is_missed = target.zip(ours).is_some_and(|((.., most), ours)| is_late(ours, *most));
        let mut cells = vec![Some(row.to_owned())];
        if is_ratio {
            cells.push(Some(target.map(|(.., most)| format!("≤ {}", short(*most))).unwrap_or_default()));
        }
        for (index, lock) in locks.iter().enumerate() {
            let is_peer = LOCKS[1..ASYNC_LOCKS].iter().any(|peer| peer.name == *lock);
            let is_better = is_ratio && is_peer && value(lock).zip(ours).is_some_and(|(theirs, ours)| theirs < ours);
            cells.push(value(lock).map(short).map(|shown| match (is_better, is_ratio && index == 0 && is_missed) {
                (true, _) => format!("**{shown}**"),
                (_, true) => format!("{shown} **✗**"),
                _ => shown,
            }));
        }
        cells.push(rounds(LOCKS[0].name).map(|rounds| format!("±{:.0} %", spread(&rounds) * 100.0)));
        table.row(cells);
    }
    table.into_text()
}

/// The rows of fifolock that miss their target, with the row of the floor.
fn missed(timings: &[&Timing]) -> String {
    let mut text = String::new();
    for (runtime, row, most) in TIME_TARGETS {
        let find = |lock: &str| {
            timings.iter().find(|timing| timing.runtime == *runtime && timing.row == *row && timing.lock == lock)
        };
        let ratio = |lock: &str| Some(median(&ratios(&find(lock)?.rounds_ns, &find("tokio")?.rounds_ns)));
        let (Some(ours), Some(floor)) = (ratio(LOCKS[0].name), ratio(FLOOR)) else { continue };
        if is_late(ours, *most) {
            let _ = write!(
                text,
                "\n*{row}* misses its target: {} instead of {}. The floor takes {}, and a FIFO lock can't\n\
                 take less.\n",
                short(ours),
                short(*most),
                short(floor),
            );
        }
    }
    text
}

/// Compares the rounded values, as the page shows them.
fn is_late(ours: f64, most: f64) -> bool {
    ours > most + 0.005
}

fn fair(fairness: &[Fairness]) -> String {
    let mut text = String::from(
        "\n## Fairness\n\n\
         Sixteen tasks want the lock all the time and hold it over a yield, for 200 ms, nine times. The row is the run whose longest wait is\n\
         the median. *Greediest* is the number of turns of the task with the most, for each turn of the task with the fewest. Jain's index is\n\
         1 if all tasks had the same number of turns, and 1/16 if one task had all. The picture shows the throughput to the right and the\n\
         longest wait upwards, so the best place is low and to the right.\n\n\
         ![Throughput against the longest wait](img/fairness.svg)\n",
    );
    let mut runtimes: Vec<&str> = fairness.iter().map(|point| point.runtime.as_str()).collect();
    runtimes.sort_unstable();
    runtimes.dedup();
    for runtime in runtimes {
        let mut table = Table::new([
            runtime,
            "turns per s",
            "greediest to poorest",
            "Jain's index",
            "wait p50, µs",
            "p99, µs",
            "longest, ms",
        ]);
        for point in fairness.iter().filter(|point| point.runtime == runtime) {
            let ratio = match point.least {
                0 => "one had none".to_owned(),
                least => short(point.most as f64 / least as f64),
            };
            table.row(
                [
                    point.lock.clone(),
                    thousands(point.turns_per_s.round() as u64),
                    ratio,
                    format!("{:.3}", point.jain),
                    short(point.wait_p50_us),
                    short(point.wait_p99_us),
                    short(point.wait_max_us / 1e3),
                ]
                .map(Some),
            );
        }
        let _ = write!(text, "\n{}", table.into_text());
    }
    text
}

fn overload(goodput: &[Goodput]) -> String {
    let mut text = String::from(
        "\n## Overload, with deadlines\n\n\
         Every 5 ms a call comes that holds the lock for 10 ms and waits at most 100 ms: twice as many calls as can be served. The figures are\n\
         on tokio's paused clock, so they are exact, and the same everywhere. At best half of the calls are served, and the lock is at work\n\
         all the time. *Drained* is the time from the last call to the end of the last wait or work. embassy-sync is left out: two waiters\n\
         wake each other without end, and a paused clock moves only when no task runs.\n\n",
    );
    let mut table = Table::new(["", "calls", "served", "lock at work", "drained after, ms"]);
    for point in goodput {
        table.row(
            [
                point.lock.clone(),
                thousands(point.calls),
                thousands(point.served),
                format!("{:.0} %", point.busy * 100.0),
                short(point.drain_ms),
            ]
            .map(Some),
        );
    }
    text.push_str(&table.into_text());
    text
}

fn sizes(memory: &[Memory]) -> String {
    let mut text = String::from(
        "\n## Memory\n\n\
         The figures are bytes on a 64-bit machine. A lock is counted without its data. A waiter lives in its future, and where the last columns\n\
         are not 0, on the heap.\n\n",
    );
    let mut table = Table::new([
        "",
        "mutex",
        "`lock` future",
        "with a timeout",
        "read-write lock",
        "`read` future",
        "`write` future",
        "heap per waiter",
        "allocations",
    ]);
    for lock in memory {
        let sizes =
            [lock.mutex, lock.mutex_future, lock.mutex_timeout, lock.rwlock, lock.read_future, lock.write_future];
        let cells = sizes.into_iter().map(|size| size.map(|size| thousands(size as u64)));
        let heap = [lock.heap_per_waiter, lock.allocations_per_waiter];
        let heap =
            heap.map(|value| Some(if value.fract() < 0.05 { format!("{value:.0}") } else { format!("{value:.1}") }));
        table.row([Some(lock.lock.clone())].into_iter().chain(cells).chain(heap));
    }
    text.push_str(&table.into_text());
    text
}

fn build_cost(build: &[BuildCost]) -> String {
    let mut text = String::from(
        "\n## Build cost\n\n\
         The crate depends on the locks and nothing else. The columns show the crates in its tree, and the time of a release build from clean.\n\n",
    );
    let mut table = Table::new(["", "version", "crates", "seconds"]);
    for cost in build {
        let crates = cost.crates.to_string();
        table.row([cost.lock.clone(), cost.version.clone(), crates, format!("{:.1}", cost.seconds)].map(Some));
    }
    text.push_str(&table.into_text());
    text
}

/// The page with this text between its two marks. If the page has no marks, the text goes below the title.
fn replace_part(page: &str, part: &str) -> Result<String> {
    let part = format!("{BEGIN}\n\n{part}\n\n{END}");
    let Some((before, rest)) = page.split_once(BEGIN) else {
        let (title, rest) = page.split_once('\n').unwrap_or((page, ""));
        return Ok(format!("{title}\n\n{part}\n\n{}", rest.trim_start()));
    };
    let (_, after) = rest.split_once(END).ok_or_else(|| {
        Failure::new(&format!("{PAGE} has the first of two marks, but not `{END}`"), "put it back after the tables")
    })?;
    Ok(format!("{before}{part}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_is_replaced_and_the_rest_of_the_page_stays() {
        let once = replace_part("# Page\n\n## Flash\n\nTable.\n", "old").unwrap();
        assert!(once.starts_with("# Page\n\n<!--") && once.ends_with("-->\n\n## Flash\n\nTable.\n"), "{once}");
        let twice = replace_part(&once, "new").unwrap();
        assert_eq!(twice, once.replace("old", "new"));
        assert!(replace_part(&format!("# Page\n{BEGIN}\n"), "x").is_err());
    }

    #[test]
    fn a_missed_target_is_seen() {
        let cost = |instructions, atomics| Cost { instructions, atomics };
        assert!(misses(cost(20.0, 2.0), Some((18.0, Some(2.0)))));
        assert!(misses(cost(18.0, 3.0), Some((18.0, Some(2.0)))));
        assert!(!misses(cost(18.0, 2.0), Some((18.0, Some(2.0)))));
        assert!(!misses(cost(999.0, 9.0), None));
    }
}

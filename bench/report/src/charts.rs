//! The charts, as SVG. Equal figures make equal files.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use results::{Fairness, Instructions};

use crate::failure::{OrTell as _, Result};
use crate::rows::{ASYNC_LOCKS, LOCKS, TURN};
use crate::table::thousands;

const FONT: &str = "sans-serif";
const OURS: RGBColor = RGBColor(0xc0, 0x39, 0x2b);
const GREYS: [RGBColor; 3] = [RGBColor(0x34, 0x49, 0x5e), RGBColor(0x5d, 0x8a, 0xa8), RGBColor(0xae, 0xc6, 0xcf)];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn area(path: &Path, size: (u32, u32)) -> Result<Area<'_>> {
    let area = SVGBackend::new(path, size).into_drawing_area();
    area.fill(&WHITE).or_tell("the folder must be writable")?;
    Ok(area)
}

/// The label of a number at an axis.
fn whole(value: &f64) -> String {
    thousands(value.round() as u64)
}

/// Horizontal bars: the instructions of a contended turn, in its parts.
pub(crate) fn turn(path: &Path, instructions: &Instructions) -> Result<()> {
    const WIDEST: f64 = 1_000.0;
    let locks: Vec<(&str, [f64; 3])> = LOCKS[..ASYNC_LOCKS]
        .iter()
        .filter_map(|lock| {
            let costs = instructions.programs.get(lock.program)?;
            let mut parts = [0.0; 3];
            for (part, name) in parts.iter_mut().zip(TURN) {
                *part = costs.get(*name)?.instructions;
            }
            Some((lock.name, parts))
        })
        .collect();
    let remedy = "see which figure is out of range";
    let area = area(path, (760, 60 + 34 * locks.len() as u32))?;
    let area = area.titled("Instructions of a contended turn", (FONT, 18)).or_tell(remedy)?;
    let text = (FONT, 13).into_font();
    let x = |value: f64| 140 + (value.min(WIDEST) * 0.52) as i32;
    for (index, (name, parts)) in locks.iter().enumerate() {
        let top = 34 + index as i32 * 32;
        area.draw(&Text::new(*name, (8, top + 5), text.clone())).or_tell(remedy)?;
        let mut start = 0.0;
        for (part, value) in parts.iter().enumerate() {
            let colour = if index == 0 { OURS.mix([1.0, 0.7, 0.4][part]) } else { GREYS[part].mix(1.0) };
            let bar = Rectangle::new([(x(start), top), (x(start + value), top + 22)], colour.filled());
            area.draw(&bar).or_tell(remedy)?;
            start += value;
        }
        // A bar that doesn't fit is cut off, and its label says so.
        let label = if start > WIDEST { format!("{start:.0}, cut off") } else { format!("{start:.0}") };
        area.draw(&Text::new(label, (x(start) + 6, top + 5), text.clone())).or_tell(remedy)?;
    }
    for (part, name) in ["enqueue", "release", "claim"].iter().enumerate() {
        let left = 140 + part as i32 * 90;
        area.draw(&Rectangle::new([(left, 10), (left + 14, 24)], GREYS[part].filled())).or_tell(remedy)?;
        area.draw(&Text::new(*name, (left + 20, 11), text.clone())).or_tell(remedy)?;
    }
    area.present().or_tell(remedy)
}

/// Throughput against the longest wait: right and down is better.
pub(crate) fn fairness(path: &Path, fairness: &[Fairness], runtime: &str) -> Result<()> {
    let points: Vec<&Fairness> = fairness.iter().filter(|point| point.runtime == runtime).collect();
    let remedy = "see which figure is out of range";
    let bounds = |of: fn(&Fairness) -> f64| {
        let values = || points.iter().map(|point| of(point));
        let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
        (least / 1.6)..(most * 4.0)
    };
    let area = area(path, (760, 460))?;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("Throughput against the longest wait: 16 tasks, {runtime}"), (FONT, 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d(
            bounds(|point| point.turns_per_s).log_scale(),
            bounds(|point| point.wait_max_us / 1e3).log_scale(),
        )
        .or_tell(remedy)?;
    chart
        .configure_mesh()
        .x_desc("turns per second")
        .x_label_formatter(&whole)
        .y_desc("longest wait, ms")
        .label_style((FONT, 13))
        .light_line_style(WHITE)
        .draw()
        .or_tell(remedy)?;
    for point in points {
        let colour = if point.lock == LOCKS[0].name { OURS } else { GREYS[0] };
        let at = (point.turns_per_s, point.wait_max_us / 1e3);
        let dot = EmptyElement::at(at)
            + Circle::new((0, 0), 5, colour.filled())
            + Text::new(
                point.lock.clone(),
                (8, if colour == OURS { 2 } else { -6 }),
                (FONT, 13).into_font().color(&colour),
            );
        chart.draw_series([dot]).or_tell(remedy)?;
    }
    area.present().or_tell(remedy)
}

/// The cost of dropping a queued waiter, by the length of the queue.
pub(crate) fn growth(path: &Path, instructions: &Instructions) -> Result<()> {
    const LENGTHS: [(f64, &str); 3] =
        [(1.0, "mutex/drop_queued_1"), (100.0, "mutex/drop_queued_100"), (10_000.0, "mutex/drop_queued_10000")];
    let remedy = "see which figure is out of range";
    let area = area(path, (760, 420))?;
    let mut chart = ChartBuilder::on(&area)
        .caption("Instructions to drop a queued waiter", (FONT, 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d((1.0..200_000.0).log_scale(), (0.8..1e6).log_scale())
        .or_tell(remedy)?;
    chart
        .configure_mesh()
        .x_desc("queued")
        .x_label_formatter(&whole)
        .y_label_formatter(&whole)
        .y_desc("instructions")
        .label_style((FONT, 13))
        .light_line_style(WHITE)
        .draw()
        .or_tell(remedy)?;
    let mut lines: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
    for lock in &LOCKS[..ASYNC_LOCKS] {
        let Some(costs) = instructions.programs.get(lock.program) else { continue };
        let points = LENGTHS.iter().filter_map(|(length, row)| Some((*length, costs.get(*row)?.instructions.max(1.0))));
        lines.push((lock.name, points.collect()));
    }
    let end = |points: &[(f64, f64)]| points.last().copied().unwrap_or((1.0, 1.0));
    lines.sort_by(|(_, one), (_, other)| end(one).1.total_cmp(&end(other).1));
    let mut free_from = 0.0;
    for (name, points) in lines {
        let (x, y) = end(&points);
        let colour = if name == LOCKS[0].name { OURS } else { GREYS[0] };
        chart.draw_series(LineSeries::new(points, colour.stroke_width(2))).or_tell(remedy)?;
        // A label that would cover the one below is moved up.
        let label_y = y.max(free_from);
        free_from = label_y * 1.65;
        let text = Text::new(name, (8, -7), (FONT, 13).into_font().color(&colour));
        chart.draw_series([EmptyElement::at((x, label_y)) + text]).or_tell(remedy)?;
    }
    area.present().or_tell(remedy)
}
